"""A question -> the times it is about and whether it asks for now or for before: soft filters for recall.

A memory lies behind us, so a date without a year is the last one, unless the question looks ahead. What
only looks like a time gives none: a title in quotes, an age, a duration, a birthday's date, "may" the verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from thinkback.text.questions.asked_tense import Tense, asked_tense, happened
from thinkback.text.times import feasts, loose_words
from thinkback.text.times.dates import Table, When, apart, resolve
from thinkback.text.times.no_time import is_no_time
from thinkback.text.traditional import simplified

_I = re.IGNORECASE
_LONGEST = 2000  # characters: the question is at the beginning of a longer text
_LONG_AGO = timedelta(days=30)
_REACH = timedelta(days=3660)  # nobody asks a memory for more than ten years ahead
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to, not including, `end`; None is open. `words`: how the question says it."""

    start: datetime | None
    end: datetime | None
    words: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The times a question is about, in the order they are said, and the state of things it asks for."""

    spans: tuple[Span, ...]
    tense: Tense


@dataclass(frozen=True, slots=True)
class _Said:
    """A span while its neighbours are looked at; said at `text[lo:hi]`."""

    start: datetime | None
    end: datetime | None
    lo: int
    hi: int


_QUOTED = re.compile(
    "《[^《》\n]{1,80}》|〈[^〈〉\n]{1,80}〉|「[^「」\n]{1,80}」|『[^『』\n]{1,80}』"
    '|“[^“”\n]{1,120}”|"[^"\n]{1,120}"'
    r"|(?<!\w)'[^'\n]{1,80}'(?!\w)|(?<!\w)‘[^‘’\n]{1,80}’(?!\w)"
)
_WHOLE = re.compile('\\A\\s*["“「](?P<inside>[^"“”「」]*)["”」]\\s*\\Z')
_BLANK = "\ufffc"  # stands for a character of a title: no letter, no space
_AHEAD = re.compile(
    r"\b(?:next|tomorrow|tonight|upcoming|coming|will|going to|gonna|plan(?:s|ned|ning)?|scheduled?"
    r"|appointments?|calendar|agenda|due|deadline|do i have"
    r"|(?:am i|are we|is \w+|i'm|we're) (?:going|doing|flying|meeting"
    r"|seeing|having|visiting|leaving|travel+ing|starting))\b|\w'll\b"
    "|打算|计划|准备|安排|日程|即将|将要|[我们]要[去做见参开交考]|[明后下](?=[天周月年个])"
    "|有(?:什么|哪些|没有)?(?:会议|约会|考试|课|事)",
    _I,
)
_NAMED = Table(*loose_words.ENGLISH, *loose_words.CHINESE, *feasts.NAMED)
_RECURRING = Table(*feasts.RECURRING, *loose_words.RECURRING)
_WEEKDAY = re.compile(r"\b[a-z]+day\b|周|星期|礼拜", _I)
_EVERY_WEEK = re.compile(r"(?:on \w+day(?: \w+)?|(?:over|at|on) the weekend)", _I)
_A_YEAR = re.compile(
    r"(?:19|20)\d\d|[一二][〇零九][〇零一二三四五六七八九]{2}年|[前去今明后]年|\b(?:last|this|next|ago)\b", _I
)
_A_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|月", _I)
_OF_THE_YEAR = re.compile(r"(?:\s|,|of|in|on|at|over|during|around|the|'s|的|在)*", _I)
_TO = re.compile(r"\s*(?P<word>to|through|thru|until|till|-|–|—|~|到|至|和|and|与|跟)\s*", _I)
_BETWEEN = re.compile(r"(?:\b(?:between|from)\s+|[从在自])\Z", _I)
_TO_NOW = re.compile(r"\s*(?:(?:to|until|till|up to) (?:now|the present)\b|到(?:现在|目前|如今)|至今)", _I)
_LEAD = re.compile(
    r"(?:\bthe (?P<unit>day|night|week|month|year) (?P<side>before|after)"
    r"|\b(?P<before>before|prior to|earlier than)|\b(?P<until>until|till|up to|by)"
    r"|\b(?P<after>after|following)|(?P<since>\b(?:ever )?since|自从?)|\b(?P<about>around|roughly))"
    r"\s*(?:the )?\Z",
    _I,
)
_OWN_LEAD = re.compile(r"(?:(?P<since>since)|(?P<until>until|by))\b", _I)
_TAIL = re.compile(
    "的?(?:(?P<about>前后|左右)|(?P<before>之前|以前|前(?![后面往半任]))|(?P<after>之后|以后|后(?![来面天半]))"
    "|(?P<since>以来|起(?![床来])|开始))"
    r"|\s*(?P<on>on ?wards?\b|on\b(?=\s*[,.?!]|\s*\Z))",
    _I,
)
_RELATIONS = ("unit", "before", "until", "after", "since", "on", "about")
_UNIT_DAYS = {"day": 1, "night": 1, "week": 7, "month": 31, "year": 366}


_FROM_NOW = re.compile(
    r"\b(?:last|this|past|previous|next|ago|yesterday|today|tonight|tomorrow|week|night|morning|evening|day)s?\b"
    "|[昨今前明]天|[昨今]晚|[上这本下]个?(?:周末?|星期|礼拜)",
    _I,
)


_ANYTHING = re.compile(
    r"\b(?:what|which|did|do|does|done|doing|have|has|had|was|were|is|are|i|we|you|me|us|my|our|tell|told|say|said"
    r"|talk(?:ed|ing)?|mention(?:ed)?|happen(?:s|ed|ing)?|go|went|going|on|about|of|the|in|to|at|over|during|can"
    r"|could|remember|remind|any|some|every|things?|anything|everything|stuff|new|up|all|there)\b|'s"
    "|什么|发生|哪些|哪|事情|事儿|告诉|提到|提过|记得|聊天|[我你您们咱都了过的是在有和跟说做干聊讲谈啥事吗呢呀还]",
    _I,
)


class Untimed(NamedTuple):
    """What a query asks for besides a time; `anything` that was then, if nothing else."""

    text: str
    anything: bool = False


def untimed(query: str, asked: Asked) -> Untimed:
    """The query without words that mean another day whenever they are said.

    "Yesterday" in an old memory is not the yesterday that is asked for; "May" and "summer" may well be.
    """
    rest = query
    lasting = [_FROM_NOW.sub(" ", span.words) for span in asked.spans]
    for span, words in zip(asked.spans, lasting, strict=True):
        query = query.replace(span.words, words, 1)
        rest = rest.replace(span.words, " ", 1)
    if asked.spans and not re.search(r"\w", _ANYTHING.sub(" ", rest)):
        return Untimed(" ".join(lasting), anything=True)
    return Untimed(query)


def asked_when(query: str, now: datetime) -> Asked:
    """The times and the tense of a question that is asked at `now`."""
    text = _without_titles(simplified(query[:_LONGEST])).replace("’", "'")
    past = happened(text)
    ahead = not past and bool(_AHEAD.search(text))
    found = _joined(text, _times(text, now, past=not ahead, told=past or ahead))
    said = [one for one in (_related(text, one) for one in found) if _within_reason(one, now)]
    over = any(one.end is not None and one.end <= now - _LONG_AGO for one in said)
    for one in said:  # in "before March" nothing is former
        text = text[: one.lo] + "," * (one.hi - one.lo) + text[one.hi :]
    return Asked(
        tuple(Span(one.start, one.end, query[one.lo : one.hi]) for one in said),
        asked_tense(text, timed=bool(said), long_ago=over),
    )


def _without_titles(text: str) -> str:
    """The text with its quoted titles blanked out, each place kept; a query quoted as a whole is no title."""
    if whole := _WHOLE.match(text):
        start, end = whole.span("inside")
        text = " " * start + whole["inside"] + " " * (len(text) - end)
    return _QUOTED.sub(_blank, text)


def _blank(m: re.Match[str]) -> str:
    """A question in plain quotes is somebody's words."""
    return m.group() if m.group()[0] in '"“' and "?" in m.group() else _BLANK * len(m.group())


def _times(text: str, now: datetime, *, past: bool, told: bool) -> list[_Said]:
    """Every time expression; one that comes again every year only where something is `told` of it."""
    exact = resolve(text, now, past=past)
    now = now.astimezone(UTC)
    named = _NAMED.read(text, now, past) + exact
    again = _RECURRING.read(text, now, past)
    kept = apart([when for when in named + again if not is_no_time(text, when.span, past)])
    comes_again = {when.span for when in again} - {when.span for when in named}
    comes_again |= {when.span for when in exact if _EVERY_WEEK.fullmatch(text, *when.span)}
    return [
        _Said(when.start, when.end, *when.span)
        for when in _of_their_years(text, kept, comes_again)
        if told or when.span not in comes_again
    ]


def _of_their_years(text: str, found: list[When], comes_again: set[tuple[int, int]]) -> Iterator[When]:
    """Christmas last year, 去年的5月: a time without a year beside a year is one time."""
    held: When | None = None
    for when in found:
        if held is None:
            held = when
        elif one := _of_its_year(text, held, when, comes_again):
            held = one
        else:
            yield held
            held = when
    if held is not None:
        yield held


def _of_its_year(text: str, first: When, second: When, comes_again: set[tuple[int, int]]) -> When | None:
    if not _OF_THE_YEAR.fullmatch(text, first.span[1], second.span[0]):
        return None
    for year, part in ((first, second), (second, first)):
        words = text[slice(*part.span)]
        yearless = part.span in comes_again or (_A_MONTH.search(words) and not _A_YEAR.search(words))
        if yearless and (year.start.month, year.start.day, year.start.year + 1) == (1, 1, year.end.year):
            by = year.start.year - (part.start + (part.end - part.start) / 2).year
            span = (first.span[0], second.span[1])
            return When(_moved(part.start, by), _moved(part.end, by), span)
    return None


def _moved(day: datetime, years: int) -> datetime:
    last = 28 if (day.month, day.day) == (2, 29) else day.day
    return day.replace(year=day.year + years, day=last)


def _joined(text: str, found: list[_Said]) -> list[_Said]:
    """Between May 1 and May 3, 从三月到五月: two times with "to" between them are one."""
    out: list[_Said] = []
    for one in found:
        range_ = _range(text, out[-1], one) if out else None
        if range_ is not None:
            out[-1] = range_
        else:
            out.append(one)
    return out


def _range(text: str, first: _Said, last: _Said) -> _Said | None:
    own = _OWN_LEAD.match(text, last.lo)
    to = _TO.fullmatch(text, first.hi, own.end() if own and own["until"] else last.lo)
    between = _BETWEEN.search(text, max(0, first.lo - 10), first.lo)
    if to is None or (to["word"].lower() in ("and", "和", "与", "跟") and not between):
        return None
    start, end = first.start, last.end
    if start is None or end is None:
        return None
    if start >= end:  # each leant to its own side of today
        weekly = _WEEKDAY.search(text, first.lo, first.hi)
        start = start - timedelta(days=7) if weekly else _moved(start, -1)
    lo = between.start() if between else first.lo
    return replace(first, start=start, end=end, lo=lo, hi=last.hi) if start < end else None


def _related(text: str, one: _Said) -> _Said:
    """Before, after, since, until or about it, by the words on either side."""
    start, end = one.start, one.end
    if start is None or end is None:
        return one
    if tail := _TO_NOW.match(text, one.hi):
        return replace(one, end=None, hi=tail.end())
    tail = _TAIL.match(text, one.hi)
    if tail and (not tail["on"] or _BETWEEN.search(text, max(0, one.lo - 10), one.lo)):
        told, lo, hi = tail.groupdict(), one.lo, tail.end()
    elif lead := _LEAD.search(text, max(0, one.lo - 24), one.lo):
        told, lo, hi = lead.groupdict(), lead.start(), one.hi
    elif lead := _OWN_LEAD.match(text, one.lo):
        told, lo, hi = lead.groupdict(), one.lo, one.hi
    else:
        return one
    start, end = _by_relation(told, start, end)
    return _Said(start, end, lo, hi)


def _by_relation(
    told: dict[str, str | None], start: datetime, end: datetime
) -> tuple[datetime | None, datetime | None]:
    word = next((name for name in _RELATIONS if told.get(name)), "")
    if word == "unit":  # the week before Christmas: a feast is told loosely, so it counts with it
        by = timedelta(days=_UNIT_DAYS[(told["unit"] or "").lower()])
        loose = end - start > timedelta(days=1)
        if (told["side"] or "").lower() == "before":
            return start - by, end if loose else start
        return start if loose else end, end + by
    slack = max(timedelta(days=3), (end - start) / 2)
    return {
        "before": (None, start),
        "until": (None, end),
        "after": (end, None),
        "since": (start, None),
        "on": (start, None),
        "about": (start - slack, end + slack),
    }[word]


def _within_reason(one: _Said, now: datetime) -> bool:
    if one.start is not None and one.start > now + _REACH:
        return False
    return one.end is None or one.end > _EARLIEST
