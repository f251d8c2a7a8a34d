"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

Only certain dates are written. "in May" may mean the last or the next one: the one that the tense of its
clause says (went, will, is getting married, 了, 打算), else the one that is clearly nearer. "on Friday" needs
the tense. The rest is left alone.
"""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions, format_interval

_ABSOLUTE = re.compile(r"(?:19|20)\d\d")
_PAST = re.compile(
    r"\b(?:was|were|wasn'?t|weren'?t|had|did|didn'?t|went|came|got|took|made|said|told|saw|met|bought|lost|found"
    r"|left|broke|died|began|started|became|ran|won|fell|felt|gave|kept|paid|sold|sent|since|ago|been|moved|ate"
    r"|drove|flew|grew|knew|spoke|wrote|woke|wore|stole|sang|swam|threw|caught|taught|thought|brought|fought"
    r"|built|spent|slept|sat|stood|held|heard|led|lent|rode|rang|shook|stuck|swore|tore|chose|forgot|bit|blew"
    r"|drew|froze|hid|meant|quit|last|(?!booked|planned|scheduled|expected|supposed|invited)\w{3,}ed)\b"
    r"|了|过(?![来去年节期敏]|生日)|已经|曾|刚|当时|那时|自从|从.{1,8}?(?:开始|起)|的(?=\W|\Z)|[领分下离结]的[证手单婚]",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won'?t|shall|going to|gonna|i'll|we'll|he'll|she'll|they'll|it'll|next|hope|hoping|starts?"
    r"|begins?|leaves?|leaving|moving|flying|driving|heading|visiting|coming|getting|going|seeing|meeting|having"
    r"|opens?|ends?|expires?|runs? out|arriv(?:es?|ing)|visits?|due|plan(?:s|ned|ning)?|booked|expected"
    r"|appointment|scheduled|supposed|invited|until|til|till|by|deadline|exam)\b"
    r"|\b(?:am|is|are|im|hes|shes|theyre)\b|\b(?:i|he|she|it|we|you|they|that|there)['’](?:m|s|re)\b"
    r"|[要将]|会(?!议|计)|准备|打算|预产期|定在|截止|报名|考试|下(?:个|周|月)|等到|预计|计划|到期",
    re.IGNORECASE,
)
# A change or booking that was made, of something that is still to come.
_ARRANGED = re.compile(
    r"\b(?:moved|pushed|shifted|switched|changed|rescheduled|rebooked|postponed|delayed|put|brought)\b"
    r"[^.!?]{0,40}?\b(?:to|till?|until|forward|back)\b"
    r"|\b(?:booked|scheduled|planned|supposed|expected|invited|signed up|tickets?)\b"
    r"|\b(?:getting|be) \w+ed\b"
    r"|(?:改|推迟|延|提前|挪|推|换|约|排|订|定)[到成在]|[约订定排报]了|抢到|买了.{0,8}票|要.{0,8}了|[快将]要|等.{1,10}[就再]",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,.;:!?\n，。；：！？、]|\b(?:but|and|because|cos|cuz|then|when|which)\b", re.IGNORECASE
)
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
    """The last or the next such time, if the distance or the tense of the sentence says which."""
    speaks_of_past = is_past(_clause_around(text, past.span))
    is_weekday = (past.end - past.start).days <= 1 and (future.start - past.start).days <= 14
    if is_weekday and not _WEEKDAY_EN.search(words):
        return None
    if speaks_of_past is not None:
        return past if speaks_of_past else future
    since, until = abs((at - past.start).days), abs((future.start - at).days)
    return None if is_weekday or until > _CLEARLY_NEARER * since else future


def _clause_around(text: str, span: tuple[int, int]) -> str:
    """The clause that contains a part of a text."""
    start = max((match.end() for match in _CLAUSE_END.finditer(text, 0, span[0])), default=0)
    after = _CLAUSE_END.search(text, span[1])
    return text[start : after.start() if after else len(text)]


def is_past(text: str) -> bool | None:
    """Whether a clause speaks of the past (True) or the future (False); None if it does not say."""
    if _ARRANGED.search(text):
        return False
    future, past = _FUTURE.search(text), _PAST.search(text)
    if bool(future) == bool(past):
        return None
    return past is not None
