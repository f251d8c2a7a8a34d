"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

Only certain dates are written. "in May" may mean the last or the next one: the one that the tense of its
clause or sentence says (went, will, is getting married, 了, 打算); without a tense the next one, if it is
clearly nearer. "on Friday" needs the tense. The rest is left alone.
"""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions, format_interval
from thinkback.language.writing_systems import has_han

_ABSOLUTE = re.compile(r"(?:19|20)\d\d")
_PAST = re.compile(
    r"\b(?:was|were|wasn'?t|weren'?t|had|did|didn'?t|went|came|got|took|made|said|told|saw|met|bought|lost|found"
    r"|left(?! (?:knee|hand|arm|leg|foot|ear|eye|side|shoulder|hip|ankle|wrist))|broke|died|began|started"
    r"|became|ran|won(?!')|fell|felt|gave|kept|paid|sold|sent|since|ago|been|moved|ate|drove|flew|grew|knew|spoke"
    r"|wrote|woke|wore|stole|sang|swam|threw|caught|taught|thought|brought|fought|built|spent|slept|sat|stood|held"
    r"|heard|lent|rode|rang|shook|stuck|swore|tore|chose|forgot|blew|drew|froze|meant|quit"
    r"|(?!booked|planned|scheduled|expected|supposed|invited|excited|tired|worried|scared|hundred|married"
    r"|engaged|interested)\w{3,}ed)\b"
    r"|了|过(?![来去年节期敏]|生日)|已经|曾|刚|当时|那时|自从|从.{1,8}?(?:开始|起)|的(?=\W|\Z)|[领分下离结]的[证手单婚]",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won't|wont|shall|going to|gonna|i'll|we'll|he'll|she'll|they'll|it'll|next|hope|hoping"
    r"|starts?|begins?|leaves?|leaving|moving|flying|driving|heading|visiting|coming|getting|going|seeing|meeting"
    r"|having|opens?|ends?|expires?|runs? out|arriv(?:es?|ing)|visits?|due|plan(?:s|ned|ning)?|booked"
    r"|expected|appointment|scheduled|supposed|invited|until|til|till|deadline|exam)\b"
    r"|\b(?:am|is|are|im|hes|shes|theyre)\b|\b(?:i|he|she|it|we|you|they|that|there)'(?:m|s|re)\b"
    r"|[要将]|(?<![乐唱聚开晚社机约动宴展年])会(?!议|计)|准备|打算|预产期|定在|截止|报名|考试|下(?:个|周|月)|等到|预计"
    r"|计划|到期",
    re.IGNORECASE,
)
# What stands directly before the new time of something that was put off or booked.
_ARRANGED_FOR = re.compile(
    r"\b(?:moved|pushed|shifted|switched|changed|rescheduled|rebooked|postponed|delayed|put|brought)\b.{0,30}?"
    r"\b(?:to|til|till|until)(?: (?:in|on|the))*\s*\Z"
    r"|\b(?:booked|scheduled|planned|invited|signed up|tickets?)\b.{0,40}?"
    r"\b(?:for|on)(?: (?:in|on|the))*\s*\Z"
    r"|(?:改|推迟|延期?|提前|挪|推|换|约|排|订|定)(?:[到成在]|了在?)\s*\Z",
    re.IGNORECASE,
)
_IMMINENT = re.compile(
    r"\b(?:getting|be) \w+ed\b|要.{0,8}了|[快将]要|等.{1,10}[就再]|抢到.{0,2}票", re.IGNORECASE
)
_CLAUSE_END = re.compile(
    r"[,;:](?!\d)|[!?\n，。；：！？、]|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)\.(?!\d)"
    r"|\b(?:but|because|cos|cuz|then|when|which)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[!?\n。！？]|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)\.(?!\d)", re.IGNORECASE)
_MAX_SENTENCE = 200  # characters to each side in which the tense is looked for
_WEEKDAY_EN = re.compile(r"day\b", re.IGNORECASE)
_NUMBER_FOLLOWS = re.compile(r"\s*[\d〇零一二两三四五六七八九十]")
_CLEARLY_NEARER = 0.6


def add_dates(text: str, at: datetime) -> str:
    """Write the dates of the relative times of a text in parentheses after them; `at` is when it was said."""
    result: list[str] = []
    done = 0
    earlier = find_time_expressions(text, at, past=True)
    later = {time.span: time for time in find_time_expressions(text, at, past=False)}
    for past in earlier:
        start, end = past.span
        future = later.get(past.span)
        words = text[start:end]
        # 2月15 and 一月两千 go on after the words that were recognised
        cut_off = words.endswith(("月", "年")) and _NUMBER_FOLLOWS.match(text, end)
        if future is None or _ABSOLUTE.search(words) or cut_off:
            continue
        time = past if past == future else _choose(past, future, words, text, at)
        if time is not None:
            result += [text[done:end], f" ({format_interval(time)})"]
            done = end
    return "".join([*result, text[done:]])


def _choose(
    past: TimeExpression, future: TimeExpression, words: str, text: str, at: datetime
) -> TimeExpression | None:
    """The last or the next such time, if the tense says which, or if the next one is clearly nearer."""
    is_weekday = (past.end - past.start).days <= 1 and (future.start - past.start).days <= 14
    if is_weekday and not _WEEKDAY_EN.search(words):
        return None
    tenses = _find_tenses(text.replace("’", "'"), past.span)
    if tenses:
        return {"past": past, "future": future}[min(tenses)] if len(tenses) == 1 else None
    since, until = abs((at - past.start).days), abs((future.start - at).days)
    return None if is_weekday or until > _CLEARLY_NEARER * since else future


def _find_tenses(text: str, span: tuple[int, int]) -> set[str]:
    """The tenses ("past", "future") of the clause around a part of a text, or else of its sentence."""
    for end in (_CLAUSE_END, _SENTENCE_END):
        low, high = max(0, span[0] - _MAX_SENTENCE), span[1] + _MAX_SENTENCE
        start = max((match.end() for match in end.finditer(text, low, span[0])), default=low)
        after = end.search(text, span[1], high)
        clause = text[start : after.start() if after else high]
        if _ARRANGED_FOR.search(text[start : span[0]]):
            return {"future"}
        tenses = find_tenses(clause)
        if tenses or has_han(clause):  # in Chinese 了 in another clause says nothing about this one
            return tenses
    return set()


def find_tenses(text: str) -> set[str]:
    """The tenses that the words of a text are in: "past", "future", both or none."""
    if _IMMINENT.search(text):
        return {"future"}
    found = {"past": _PAST.search(text), "future": _FUTURE.search(text)}
    return {tense for tense, match in found.items() if match}
