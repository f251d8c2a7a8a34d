"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

Only likely dates are written. A day or month of the year is the last one if that was less than three months
ago, and the next one if that is less than five months ahead and its clause has no past tense. Between the
two, and for "on Friday", the tense of the clause or sentence decides (went, will, is getting married, 了,
打算). The rest is left alone.
"""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions, format_interval
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.writing_systems import has_han

_ABSOLUTE = re.compile(r"(?:19|20)\d\d")
_PAST = re.compile(
    r"\b(?:was|were|wasn'?t|weren'?t|had|did|didn'?t|went|came|got|took|made|said|told|saw|met|bought|lost|found"
    r"|left(?! (?:knee|hand|arm|leg|foot|ear|eye|side|shoulder|hip|ankle|wrist))|broke|died|began|started"
    r"|became|born|ran|won(?!')|fell|felt|gave|kept|paid|sold|sent|since|ago|been|moved|ate|drove|flew|grew|knew|spoke"
    r"|wrote|woke|wore|stole|sang|swam|threw|caught|taught|thought|brought|fought|built|spent|slept|sat|stood|held"
    r"|heard|lent|rode|rang|shook|stuck|swore|tore|chose|forgot|blew|drew|froze|meant|quit"
    r"|(?!booked|planned|scheduled|expected|supposed|invited|excited|tired|worried|scared|hundred|married"
    r"|engaged|interested)\w{3,}ed)\b"
    r"|了|出生|过(?![来去年节期敏]|生日)|已经|曾|刚|当时|那时|自从|从.{1,8}?(?:开始|起)|的(?=\W|\Z)|(?:领的证|分的手|下的单|[离结]的婚|[入辞离]的职|毕的业|开的学(?!习)|退的[休学]|[出住]的院(?!子)|转的[岗学正]|升的[职学]|搬的家|动的刀)",
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
    r"|\b(?:(?:re)?booked|booking|scheduled|planned|invited|signed up|tickets?|reserved|reservation"
    r"|appointment)\b.{0,40}?\b(?:for|on)(?: (?:in|on|the))*\s*\Z"
    r"|\b(?:tickets?|reservation|appointment|booking)\s*[,:(]\s*\Z"
    r"|(?:改|推迟|延期?|提前|挪|推|换|排)(?:[到成在]|了在?)\s*\Z"
    r"|(?:订|定|约|挂|抢)(?:好了?|[到在上]|了在?|的是?)[\u4e00-\u9fff]{0,6}\s*\Z",
    re.IGNORECASE,
)
# Things that are bought or booked for a day, which stands beside them: 机票买了12月18号的, 买了1月8号回家的票
_BOOKED_ZH = re.compile("票(?![房据价])|酒店|民宿|航班|餐厅|包间|包厢|座位|位[子置]|门诊|专家号|预约")
_LEADING_PREPOSITION = re.compile(r"(?:(?:for|on|the)\s+)+", re.IGNORECASE)
_IMMINENT = re.compile(
    r"\b(?:getting|be) (?:\w+ed|born)\b|[预要将].{0,8}出生|要.{0,8}了|[快将]要|等.{1,10}[就再]|抢到.{0,2}票",
    re.IGNORECASE,
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
_MIN_YEAR_DAYS = 300  # between the last and the next one of a day or month of the year
# Days until the next one. In the lives that the project learns from, all 466 days and months that come again
# within 150 days meant the next one, and all 108 that take more than 275 days meant the last one.
_SOON_DAYS = 150
_LIKELY_AHEAD_DAYS = 245  # without a tense, the next one up to here
_RECENT_DAYS = 275
_SOON_DAY_OF_MONTH = 12  # days until the next day of a number ("the 15th"), if no tense tells which is meant
_UNLIKELY_PAST = 7  # with a past tense, the last one would be more than three weeks ago
_DAY_PREPOSITION = re.compile(
    r"(?:(?P<past>since)|by|until|till|before|from|starting|closes|ends)\b", re.IGNORECASE
)
_WEEKDAY = re.compile(
    r"\b(?P<en>mon|tue|wed|thu|fri|sat|sun)(?:(?:s|nes|rs|ur)?day)?\b|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])",
    re.IGNORECASE,
)
# A month beside a bare day is probably that of the day.
_NAMES_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|month|months)\b|\b(?:in|of|this|next|last) may\b"
    r"|[\d一二三四五六七八九十个上下这本]月|五一|国庆|元旦|春节",
    re.IGNORECASE,
)
_MAX_DAYS_AHEAD = 330  # to a day for which something was booked


def add_dates(text: str, at: datetime) -> str:
    """Write the dates of the relative times of a text in parentheses after them; `at` is when it was said."""
    result: list[str] = []
    done = 0
    for end, date in _find_dates(text, at):
        result += [text[done:end], f" ({date})"]
        done = end
    return "".join([*result, text[done:]])


@cache_by_digest(8192, min_characters=1)
def _find_dates(text: str, at: datetime) -> tuple[tuple[int, str], ...]:
    """Where the relative times of a text end, with their dates."""
    found: list[tuple[int, str]] = []
    earlier = find_time_expressions(text, at, past=True)
    if not earlier:
        return ()
    later = {time.span: time for time in find_time_expressions(text, at, past=False)}
    for past in earlier:
        start, end = past.span
        future = later.get(past.span)
        words = text[start:end]
        # 2月15 and 一月两千 go on after the words that were recognised
        cut_off = words.endswith(("月", "年")) and _NUMBER_FOLLOWS.match(text, end)
        if future is None or _ABSOLUTE.search(words) or cut_off:
            continue
        if past == future:
            time: TimeExpression | None = past
        elif _is_monthly(past, future):
            time = _choose_month(past, future, text.replace("’", "'"), at)
        else:
            time = _choose(past, future, words, text, at)
        if time is not None:
            found.append((end, format_interval(time)))
    return tuple(found)


def _choose(
    past: TimeExpression, future: TimeExpression, words: str, text: str, at: datetime
) -> TimeExpression | None:
    """The last or the next such time, if one of them is likely enough."""
    is_weekday = (past.end - past.start).days <= 1 and (future.start - past.start).days <= 14
    if is_weekday and not _WEEKDAY_EN.search(words):
        return None
    plain = text.replace("’", "'")
    until = abs((future.start - at).days)
    if until <= _MAX_DAYS_AHEAD and _is_arranged(plain, past.span):
        return future
    tenses = _find_tenses(plain, past.span)
    is_yearly = (future.start - past.start).days > _MIN_YEAR_DAYS
    if is_yearly and until <= _SOON_DAYS:
        return None if _clause_tenses(plain, past.span) == {"past"} else future
    if is_yearly and until > _RECENT_DAYS and tenses != {"future"}:
        return past
    if tenses:
        return {"past": past, "future": future}[min(tenses)] if len(tenses) == 1 else None
    return future if is_yearly and until <= _LIKELY_AHEAD_DAYS else None


def _is_monthly(past: TimeExpression, future: TimeExpression) -> bool:
    """Whether the two are the last and the next day of a number ("the 15th")."""
    return (past.end - past.start).days == 1 and 14 < (future.start - past.start).days <= 62


def _choose_month(
    past: TimeExpression, future: TimeExpression, text: str, at: datetime
) -> TimeExpression | None:
    """The last or the next day of a number, if its weekday, preposition, tense or distance tells which."""
    sentence = text[slice(*_find_clause(text, past.span, _SENTENCE_END))]
    weekdays = {_weekday_number(match) for match in _WEEKDAY.finditer(sentence)}
    fitting = [time for time in (past, future) if {time.start.weekday()} == weekdays]
    if len(fitting) == 1:
        return fitting[0]
    if _NAMES_MONTH.search(sentence):
        return None
    if preposition := _DAY_PREPOSITION.match(text, past.span[0]):
        return past if preposition["past"] else future
    if _is_arranged(text, past.span):  # 改到20号了 lies ahead, 改到20号才搬的 does not
        end = _find_clause(text, past.span, _CLAUSE_END)[1]
        return past if find_tenses(text[past.span[1] + 1 : end]) == {"past"} else future
    until = (future.start - at).days
    tenses = _clause_tenses(text, past.span)
    if len(tenses) != 1:
        return future if until <= _SOON_DAY_OF_MONTH else None
    return future if tenses == {"future"} else past if until > _UNLIKELY_PAST else None


def _weekday_number(match: re.Match[str]) -> int:
    """The weekday that is named, from 0 for Monday."""
    if match["en"]:
        return ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(match["en"].lower())
    return "一二三四五六日".index(match["zh"].replace("天", "日"))


def _is_arranged(text: str, span: tuple[int, int]) -> bool:
    """Whether a time is the one for which something was put off, bought or booked."""
    start, end = _find_clause(text, span, _SENTENCE_END)
    preposition = _LEADING_PREPOSITION.match(text, *span)
    before = text[start : preposition.end() if preposition else span[0]]
    if _ARRANGED_FOR.search(before):
        return True
    bought = before.endswith(("买了", "买到", "买好", "买的", "买的是"))
    is_attribute = text.startswith("的", span[1])
    return (bought or is_attribute) and _BOOKED_ZH.search(text[start:end]) is not None


def _find_clause(text: str, span: tuple[int, int], end: re.Pattern[str]) -> tuple[int, int]:
    """Where the clause or sentence around a part of a text begins and ends."""
    low, high = max(0, span[0] - _MAX_SENTENCE), span[1] + _MAX_SENTENCE
    start = max((match.end() for match in end.finditer(text, low, span[0])), default=low)
    after = end.search(text, span[1], high)
    return start, after.start() if after else min(high, len(text))


def _clause_tenses(text: str, span: tuple[int, int]) -> set[str]:
    """The tenses of the clause around a part of a text, of its sentence if the part is the whole clause.

    Spaces separate clauses in Chinese, too.
    """
    start, end = _find_clause(text, span, _CLAUSE_END)
    if has_han(text[start:end]):
        start = max(start, text.rfind(" ", start, span[0]) + 1)
        space = text.find(" ", span[1], end)
        end = end if space < 0 else space
    is_alone = not (text[start : span[0]] + text[span[1] : end]).strip()
    return _find_tenses(text, span) if is_alone else find_tenses(text[start:end])


def _find_tenses(text: str, span: tuple[int, int]) -> set[str]:
    """The tenses ("past", "future") of the clause around a part of a text, or else of its sentence."""
    for end in (_CLAUSE_END, _SENTENCE_END):
        clause = text[slice(*_find_clause(text, span, end))]
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
