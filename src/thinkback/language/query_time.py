"""The times that a question is about, and whether it asks for the present or a former state.

A memory is about the past, so a date without a year means the last one, unless the question is about the
future. Ages, durations, quoted titles, dates of birth and the verb "may" are not times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from thinkback.language import fuzzy_times, holidays
from thinkback.language.dates import TimeExpression, TimePatterns, drop_overlaps, find_time_expressions
from thinkback.language.query_tense import Tense, detect_query_tense, is_past
from thinkback.language.tokens import NUMBER_PATTERN_EN
from thinkback.language.writing_systems import to_simplified

_CONTEXT_CHARACTERS = 24  # on either side of an expression
_COUNTED_NOUNS = (
    "dollars|euros|pounds|people|words|steps|miles|met(?:er|re)s|km|pieces|calories|square|characters"
)
_WORDS_AFTER_DATE = (
    "i|we|you|he|she|they|did|do|does|was|were|is|and|or|at|with|in|to|my|our|the|about|from|for|when|where|what"
    "|how|why|which|who|that|till|until|through|last|this|of"
)
_ANNUAL_DATE = "(?:birthday|anniversary)"
_POSSESSIVE = r"(?:my|his|her|our|their|\w+'s) (?:\w+ )?"
_FORM_OF_BE = "(?:is|was|isn't|wasn't)"
_DIGITS_ZH = "一二两三四五六七八九十几\\d"
_MONTHS_USED_AS_NAMES = "(?:April|May|June|August)"

# Each line: cue words of which one must be near, then patterns for the text before, the expression, the text
# after. All of them must match.
_FALSE_TIMES: tuple[tuple[str, str, str, str], ...] = (
    # relative to another time than now: two years later
    ("later|earlier", "", r"(?:later|earlier)\Z", ""),
    ("by ", r"(?i)\bby \Z", r"day\Z", ""),  # a deadline
    ("every|each|per", r"(?i)\b(?:every|each|per) \Z", "", ""),
    ("每", "每[年个到逢]?的?\\Z", "", ""),
    # a verb or a name
    ("may|march", "", r"\A(?:[Mm]ay|[Mm]arch) \d{1,2}\Z", rf"\A\s+(?!(?:{_WORDS_AFTER_DATE})\b)[a-z]"),
    ("by ", r"(?:\w(?:ed|en)|told|made|sent|sung|said) \Z", rf"\A(?i:by {_MONTHS_USED_AS_NAMES})\Z", ""),
    ("april|may|june|august", "", rf"\A\w+ {_MONTHS_USED_AS_NAMES}\Z",
        r"\A(?:['’]s\b| (?:told|said|gave|moved|came)\b)"),
    # a title or part of one: the song Yesterday, Friday Night Lights
    ("day|last|this|next|tomorrow|tonight|recent|lately", r"\b[a-z][\w'’]* \Z",
        r"\A(?:Yesterday|Today|Tomorrow|Tonight|Last|This|Next|Recent|Lately)", ""),
    ("night|morning|evening|afternoon", "", r"(?:Night|Morning|Evening|Afternoon)\Z", r"\A [A-Z]"),
    # a count, or the last part of something
    ("19|20", "", r"(?:19|20)\d\d\Z", rf"\A (?:{_COUNTED_NOUNS})\b"),
    ("the last", r"\bthe \Z", r"\A(?i:last (?:week|month|year|weekend))\Z", r"\A of\b"),
    # a date that is asked for or stated as a value
    ("birthday|anniversary", rf"(?i)\b{_ANNUAL_DATE}(?: is| was|'s| falls)(?: not|n't)?(?: on| in)? ?\Z",
        "", ""),
    ("birthday|anniversary", rf"(?i)\b{_FORM_OF_BE} {_POSSESSIVE}{_ANNUAL_DATE} \Z", "", ""),
    ("birthday|anniversary", "", "", rf"(?i)\A {_FORM_OF_BE}(?: not)? {_POSSESSIVE}{_ANNUAL_DATE}\b"),
    ("born", r"(?i)\bborn(?: on| in| back)? ?\Z", "", ""),
    ("生日|纪念日", "(?:生日|纪念日)(?:不?是|在|于)?\\Z", "", ""),
    ("生日|纪念日", "", "", "\\A不?是.{0,6}(?:生日|纪念日)"),
    ("生", "", "", "\\A出?生的|\\A出生"),
    ("出生日期", "出生日期(?:不?是|在|于)?\\Z", "", ""),
    # characters that belong to a neighbouring word: 以前天天, 去年会, 晚上周五, 一周一次, 五月天
    ("前", "[以之目从年月天日周期]\\Z", "\\A前[天日年晚]", ""),
    ("去年", "", "\\A去年\\Z", "\\A[会货]"),
    ("上|下", "[晚早网线路身手以马世街赶碰遇楼会]\\Z", "\\A[上下](?![上下]?个)", ""),
    ("周|星期|礼拜", f"[每个{_DIGITS_ZH}叫姓]\\Z", "\\A个?(?:周|星期|礼拜)[一二三四五六日天]", ""),
    ("程", "", "周日\\Z", "\\A程"),
    ("月", f"(?:[{_DIGITS_ZH}第.叫]|每年的?)\\Z", f"\\A[{_DIGITS_ZH}]+月", ""),
    ("月", "", "月\\Z", "\\A(?:天(?![气空])|[花雪兰薪租供费卡票经球瓜]|三(?![十日号])|革命)"),
    ("后天", "", "后天\\Z", "\\A[性形养]"),
    ("日", "", "\\A[今明昨]日\\Z", "\\A[头之方重]"),
    ("今年", "", "\\A今年\\Z", "\\A.{0,3}(?:多大|几岁|多少岁|\\d+岁)"),
    ("最近", "[离距].{0,6}\\Z", "\\A最近", ""),
)  # fmt: skip
_FALSE_TIME_PATTERNS = tuple(
    (frozenset(cues.split("|")), re.compile(before), re.compile(words), re.compile(after))
    for cues, before, words, after in _FALSE_TIMES
)
_FALSE_TIME_CUES = frozenset(cue for line in _FALSE_TIME_PATTERNS for cue in line[0])
_DURATION = re.compile(
    rf"\A(?i:in {NUMBER_PATTERN_EN} (?:day|week|month|year|hour|minute)s?)\Z"
    "|[天日周期拜月年时钟](?:以后|之后|后)\\Z"
)


def is_false_time(text: str, span: tuple[int, int], past: bool) -> bool:
    """Whether the time expression at `span` only looks like one ("my birthday is on May 3", 五月天).

    In a text about the past (`past`), "in three days" is a duration and not a time.
    """
    start, end = span
    before = text[max(0, start - _CONTEXT_CHARACTERS) : start]
    words = text[start:end]
    after = text[end : end + _CONTEXT_CHARACTERS]
    if past and _DURATION.search(words):
        return True
    context = (before + words + after).lower()
    present = {cue for cue in _FALSE_TIME_CUES if cue in context}
    return any(
        not cues.isdisjoint(present)
        and words_pattern.search(words)
        and before_pattern.search(before)
        and after_pattern.search(after)
        for cues, before_pattern, words_pattern, after_pattern in _FALSE_TIME_PATTERNS
    )


_I = re.IGNORECASE
_MAX_QUERY_CHARACTERS = 2000
_LONG_AGO = timedelta(days=30)
_MAX_FUTURE = timedelta(days=3660)
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class QueryTimeSpan:
    """From `start` up to, not including, `end` (None: open), named by `words` in the question."""

    start: datetime | None
    end: datetime | None
    words: str


@dataclass(frozen=True, slots=True)
class QueryTime:
    """The times a question is about, in textual order, and whether it asks for the present or the past."""

    spans: tuple[QueryTimeSpan, ...]
    tense: Tense


@dataclass(frozen=True, slots=True)
class _TimeMention:
    """A time named by `text[text_start:text_end]`, before its neighbours are taken into account."""

    start: datetime | None
    end: datetime | None
    text_start: int
    text_end: int


_QUOTED_TITLE = re.compile(
    "《[^《》\n]{1,80}》|〈[^〈〉\n]{1,80}〉|「[^「」\n]{1,80}」|『[^『』\n]{1,80}』"
    '|“[^“”\n]{1,120}”|"[^"\n]{1,120}"'
    r"|(?<!\w)'[^'\n]{1,80}'(?!\w)|(?<!\w)‘[^‘’\n]{1,80}’(?!\w)"
)
_QUOTED_QUERY = re.compile('\\A\\s*["“「](?P<inside>[^"“”「」]*)["”」]\\s*\\Z')
_TITLE_PLACEHOLDER = "\ufffc"  # neither a letter nor a space
_FUTURE_WORDS = re.compile(
    r"\b(?:next|tomorrow|tonight|upcoming|coming|will|going to|gonna|plan(?:s|ned|ning)?|scheduled?"
    r"|appointments?|calendar|agenda|due|deadline|do i have"
    r"|(?:am i|are we|is \w+|i'm|we're) (?:going|doing|flying|meeting"
    r"|seeing|having|visiting|leaving|travel+ing|starting))\b|\w'll\b"
    "|打算|计划|准备|安排|日程|即将|将要|[我们]要[去做见参开交考]|[明后下](?=[天周月年个])"
    "|有(?:什么|哪些|没有)?(?:会议|约会|考试|课|事)",
    _I,
)
_NAMED_TIMES = TimePatterns(
    *fuzzy_times.FUZZY_TIMES_EN, *fuzzy_times.FUZZY_TIMES_ZH, *holidays.NAMED_HOLIDAYS
)
_RECURRING_TIMES = TimePatterns(*holidays.RECURRING_HOLIDAYS, *fuzzy_times.RECURRING_TIMES)
_WEEKDAY = re.compile(r"\b[a-z]+day\b|周|星期|礼拜", _I)
_WEEKLY = re.compile(r"(?:on \w+day(?: \w+)?|(?:over|at|on) the weekend)", _I)
_NAMES_YEAR = re.compile(
    r"(?:19|20)\d\d|[一二][〇零九][〇零一二三四五六七八九]{2}年|[前去今明后]年|\b(?:last|this|next|ago)\b", _I
)
_NAMES_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|月", _I)
_YEAR_CONNECTOR = re.compile(r"(?:\s|,|of|in|on|at|over|during|around|the|'s|的|在)*", _I)
_RANGE_CONNECTOR = re.compile(r"\s*(?P<word>to|through|thru|until|till|-|–|—|~|到|至|和|and|与|跟)\s*", _I)
_RANGE_START = re.compile(r"(?:\b(?:between|from)\s+|[从在自])\Z", _I)
_UNTIL_NOW = re.compile(r"\s*(?:(?:to|until|till|up to) (?:now|the present)\b|到(?:现在|目前|如今)|至今)", _I)
_PREPOSITION_BEFORE = re.compile(
    r"(?:\bthe (?P<unit>day|night|week|month|year) (?P<side>before|after)"
    r"|\b(?P<before>before|prior to|earlier than)|\b(?P<until>until|till|up to|by)"
    r"|\b(?P<after>after|following)|(?P<since>\b(?:ever )?since|自从?)|\b(?P<about>around|roughly))"
    r"\s*(?:the )?\Z",
    _I,
)
_PREPOSITION_INSIDE = re.compile(r"(?:(?P<since>since)|(?P<until>until|by))\b", _I)
_PREPOSITION_AFTER = re.compile(
    "的?(?:(?P<about>前后|左右)|(?P<before>之前|以前|前(?![后面往半任]))|(?P<after>之后|以后|后(?![来面天半]))"
    "|(?P<since>以来|起(?![床来])|开始))"
    r"|\s*(?P<on>on ?wards?\b|on\b(?=\s*[,.?!]|\s*\Z))",
    _I,
)
_RELATIONS = ("unit", "before", "until", "after", "since", "on", "about")
_UNIT_DAYS = {"day": 1, "night": 1, "week": 7, "month": 31, "year": 366}


_RELATIVE_TO_NOW = re.compile(
    r"\b(?:last|this|past|previous|next|ago|yesterday|today|tonight|tomorrow|week|night|morning|evening"
    r"|day)s?\b"
    "|[昨今前明]天|[昨今]晚|[上这本下]个?(?:周末?|星期|礼拜)",
    _I,
)


_CONTENTLESS_WORDS = re.compile(
    r"\b(?:what|which|did|do|does|done|doing|have|has|had|was|were|is|are|i|we|you|me|us|my|our|tell|told"
    r"|say|said|talk(?:ed|ing)?|mention(?:ed)?|happen(?:s|ed|ing)?|go|went|going|on|about|of|the|in|to|at|over"
    r"|during|can|could|remember|remind|any|some|every|things?|anything|everything|stuff|new|up|all|there)\b|'s"
    "|什么|发生|哪些|哪|事情|事儿|告诉|提到|提过|记得|聊天"
    "|[我你您们咱都了过的是在有和跟说做干聊讲谈啥事吗呢呀还]",
    _I,
)


class TimelessQuery(NamedTuple):
    """A query without its times; `time_only` if it asks for nothing but what happened at a time."""

    text: str
    time_only: bool = False


def remove_times(query: str, times: QueryTime) -> TimelessQuery:
    """Remove words whose meaning depends on the day they are said.

    "Yesterday" in an old memory is not the yesterday of the query; "May" and "summer" stay.
    """
    rest = query
    absolute_words = [_RELATIVE_TO_NOW.sub(" ", span.words) for span in times.spans]
    for span, words in zip(times.spans, absolute_words, strict=True):
        query = query.replace(span.words, words, 1)
        rest = rest.replace(span.words, " ", 1)
    if times.spans and not re.search(r"\w", _CONTENTLESS_WORDS.sub(" ", rest)):
        return TimelessQuery(" ".join(absolute_words), time_only=True)
    return TimelessQuery(query)


def parse_query_time(query: str, now: datetime) -> QueryTime:
    """The times and the tense of a question asked at `now`."""
    text = _blank_titles(to_simplified(query[:_MAX_QUERY_CHARACTERS])).replace("’", "'")
    past = is_past(text)
    future = not past and bool(_FUTURE_WORDS.search(text))
    candidates = _join_ranges(text, _find_mentions(text, now, past=not future, about_event=past or future))
    candidates = [_apply_preposition(text, mention) for mention in candidates]
    mentions = [mention for mention in candidates if _is_plausible(mention, now)]
    long_ago = any(mention.end is not None and mention.end <= now - _LONG_AGO for mention in mentions)
    for mention in mentions:  # "before March" does not ask for a former state
        blanks = "," * (mention.text_end - mention.text_start)
        text = text[: mention.text_start] + blanks + text[mention.text_end :]
    return QueryTime(
        tuple(
            QueryTimeSpan(mention.start, mention.end, query[mention.text_start : mention.text_end])
            for mention in mentions
        ),
        detect_query_tense(text, timed=bool(mentions), long_ago=long_ago),
    )


def _blank_titles(text: str) -> str:
    """Blank out quoted titles, keeping the length; a query that is quoted as a whole is not a title."""
    if whole := _QUOTED_QUERY.match(text):
        start, end = whole.span("inside")
        text = " " * start + whole["inside"] + " " * (len(text) - end)
    return _QUOTED_TITLE.sub(_blank_title, text)


def _blank_title(m: re.Match[str]) -> str:
    """Keep a question in plain quotes: it is quoted speech and not a title."""
    return m.group() if m.group()[0] in '"“' and "?" in m.group() else _TITLE_PLACEHOLDER * len(m.group())


def _find_mentions(text: str, now: datetime, *, past: bool, about_event: bool) -> list[_TimeMention]:
    """Find time expressions; recurring ones ("at Christmas") only if the question is about an event."""
    exact = find_time_expressions(text, now, past=past)
    now = now.astimezone(UTC)
    named = _NAMED_TIMES.find(text, now, past) + exact
    recurring = _RECURRING_TIMES.find(text, now, past)
    expressions = drop_overlaps(
        [time for time in named + recurring if not is_false_time(text, time.span, past)]
    )
    recurring_spans = {time.span for time in recurring} - {time.span for time in named}
    recurring_spans |= {time.span for time in exact if _WEEKLY.fullmatch(text, *time.span)}
    return [
        _TimeMention(time.start, time.end, *time.span)
        for time in _join_years(text, expressions, recurring_spans)
        if about_event or time.span not in recurring_spans
    ]


def _join_years(
    text: str, found: list[TimeExpression], recurring_spans: set[tuple[int, int]]
) -> Iterator[TimeExpression]:
    """Join a time without a year and a year next to it ("Christmas last year", 去年的5月)."""
    pending: TimeExpression | None = None
    for time in found:
        if pending is None:
            pending = time
        elif joined := _join_year(text, pending, time, recurring_spans):
            pending = joined
        else:
            yield pending
            pending = time
    if pending is not None:
        yield pending


def _join_year(
    text: str, first: TimeExpression, second: TimeExpression, recurring_spans: set[tuple[int, int]]
) -> TimeExpression | None:
    if not _YEAR_CONNECTOR.fullmatch(text, first.span[1], second.span[0]):
        return None
    for year, part in ((first, second), (second, first)):
        words = text[slice(*part.span)]
        yearless = part.span in recurring_spans or (
            _NAMES_MONTH.search(words) and not _NAMES_YEAR.search(words)
        )
        if yearless and (year.start.month, year.start.day, year.start.year + 1) == (1, 1, year.end.year):
            by = year.start.year - (part.start + (part.end - part.start) / 2).year
            span = (first.span[0], second.span[1])
            return TimeExpression(_shift_years(part.start, by), _shift_years(part.end, by), span)
    return None


def _shift_years(day: datetime, years: int) -> datetime:
    last = 28 if (day.month, day.day) == (2, 29) else day.day
    return day.replace(year=day.year + years, day=last)


def _join_ranges(text: str, found: list[_TimeMention]) -> list[_TimeMention]:
    """Join two times to a range ("between May 1 and May 3", 从三月到五月)."""
    result: list[_TimeMention] = []
    for mention in found:
        joined = _join_range(text, result[-1], mention) if result else None
        if joined is not None:
            result[-1] = joined
        else:
            result.append(mention)
    return result


def _join_range(text: str, first: _TimeMention, last: _TimeMention) -> _TimeMention | None:
    preposition = _PREPOSITION_INSIDE.match(text, last.text_start)
    connector = _RANGE_CONNECTOR.fullmatch(
        text, first.text_end, preposition.end() if preposition and preposition["until"] else last.text_start
    )
    range_start = _RANGE_START.search(text, max(0, first.text_start - 10), first.text_start)
    if connector is None or (connector["word"].lower() in ("and", "和", "与", "跟") and not range_start):
        return None
    start, end = first.start, last.end
    if start is None or end is None:
        return None
    if start >= end:  # one was taken as past and one as future
        weekly = _WEEKDAY.search(text, first.text_start, first.text_end)
        start = start - timedelta(days=7) if weekly else _shift_years(start, -1)
    text_start = range_start.start() if range_start else first.text_start
    return (
        replace(first, start=start, end=end, text_start=text_start, text_end=last.text_end)
        if start < end
        else None
    )


def _apply_preposition(text: str, mention: _TimeMention) -> _TimeMention:
    """Apply "before", "after", "since", "until" or "about" next to a time."""
    start, end = mention.start, mention.end
    if start is None or end is None:
        return mention
    if after := _UNTIL_NOW.match(text, mention.text_end):
        return replace(mention, end=None, text_end=after.end())
    after = _PREPOSITION_AFTER.match(text, mention.text_end)
    if after and (
        not after["on"] or _RANGE_START.search(text, max(0, mention.text_start - 10), mention.text_start)
    ):
        groups, text_start, text_end = after.groupdict(), mention.text_start, after.end()
    elif before := _PREPOSITION_BEFORE.search(text, max(0, mention.text_start - 24), mention.text_start):
        groups, text_start, text_end = before.groupdict(), before.start(), mention.text_end
    elif before := _PREPOSITION_INSIDE.match(text, mention.text_start):
        groups, text_start, text_end = before.groupdict(), mention.text_start, mention.text_end
    else:
        return mention
    start, end = _related_interval(groups, start, end)
    return _TimeMention(start, end, text_start, text_end)


def _related_interval(
    groups: dict[str, str | None], start: datetime, end: datetime
) -> tuple[datetime | None, datetime | None]:
    relation = next((name for name in _RELATIONS if groups.get(name)), "")
    if relation == "unit":  # "the week before Christmas": a holiday is vague, so it is included
        distance = timedelta(days=_UNIT_DAYS[(groups["unit"] or "").lower()])
        is_vague = end - start > timedelta(days=1)
        if (groups["side"] or "").lower() == "before":
            return start - distance, end if is_vague else start
        return start if is_vague else end, end + distance
    slack = max(timedelta(days=3), (end - start) / 2)
    return {
        "before": (None, start),
        "until": (None, end),
        "after": (end, None),
        "since": (start, None),
        "on": (start, None),
        "about": (start - slack, end + slack),
    }[relation]


def _is_plausible(mention: _TimeMention, now: datetime) -> bool:
    if mention.start is not None and mention.start > now + _MAX_FUTURE:
        return False
    return mention.end is None or mention.end > _EARLIEST
