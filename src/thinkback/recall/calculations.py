"""Durations and differences that a question asks for, computed from two of the recalled memories.

"How long after the stroke did I read in church?" needs the dates of two memories, "How much did I lose?" two
amounts of one unit. The result is added to the text of the better one of the two, with both operands, so that
a model need not calculate and a reader can check it:

    The user read Psalm 118 on 2026-04-05. (computed: 2025-06-17 to 2026-04-05 is 292 days = 9 months 19 days)

A duration needs a question that names two events ("after A did I B", "between A and B", 从A到B), each of them
found in a memory with a date. A difference needs two amounts of one unit, of one subject or relation. Of
several pairs the one that shares most words with the question is used; in doubt nothing is computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import combinations, permutations

from thinkback.language.names import normalise_name
from thinkback.language.query_rewrite import content_terms
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import has_han
from thinkback.types import Candidate, Ref, Thought

_MAX_ITEMS = 6  # of the best memories that are searched for operands
_MAX_TEXT_CHARS = 600
_MAX_RATIO = 12.0  # two amounts of one thing rarely differ by more

_DURATION = re.compile(
    r"\bhow (?:long|many (?:more )?(?:days|weeks|months|years)|old)\b|\bhow far apart\b"
    r"|多久|多[长長]时间|[几幾](?:天|日|周|年|个月|個月|个星期|個星期)|多少(?:天|日|周|年|个月|個月)",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\bhow (?:much|many)\b|\bdifference\b|多少|[几幾]", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:more|less|fewer|versus|vs|differen\w+|compared|cheaper|dearer|faster|slower"
    r"|los[et]\w*|gain\w*|sav(?:e|ed|ing)|giv(?:e|ing) up|gave up|drop\w*|raise|r[io]se\w*|increas\w*"
    r"|decreas\w*"
    r"|gr[eo]w\w*|improv\w*|go up|went up|came? down|put on|go over|went over|above|exceed\w*"
    r"|better|worse|extra)\b"
    r"|[差涨漲降掉瘦轻輕胖省贴貼亏虧]|进步|進步|退步|长高|長高|[长長高重快慢多少贵貴][了咗]|便宜[了咗]|增加|超[过過出]"
    r"|比.{1,14}[多少高低快慢贵貴重]|减少|減少",
    re.IGNORECASE,
)
_TWO_EVENTS = (
    re.compile(
        r"\b(?:after|before|past|since) (?P<one>.+?) (?:did|do|does|was|were|had|have|has|will|is|are)\b"
        r"(?P<other>.+)",
        re.IGNORECASE,
    ),
    re.compile(r"\bbetween (?P<one>.+?) and (?P<other>.+)", re.IGNORECASE),
    re.compile(r"\bfrom (?P<one>.+?) (?:to|till|until) (?P<other>.+)", re.IGNORECASE),
    re.compile(r"(?P<one>.+?) (?:before|after|when|until|till|by the time) (?P<other>.+)", re.IGNORECASE),
    re.compile("从(?P<one>.+?)[到至](?P<other>.+)"),
    re.compile("(?P<one>.+?)[和跟与與离離比](?P<other>.+?)(?:之间|之間|相隔|隔|早|晚|有)"),
    re.compile("(?P<one>.+?)(?:之?后|以后|之?前|以前|，到|到)(?P<other>.+)"),
)
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:-(\d\d)-(\d\d)(?!\d)|年(\d{1,2})月(\d{1,2})[日号號])")
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_MONTH = re.compile(
    rf"(?<!\d)((?:19|20)\d\d)年(\d{{1,2}})月(?!\d)|\b({'|'.join(_MONTH_NAMES)}) ((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_UNITS = (
    "kilograms|kilogram|kilos|kilo|kg|pounds|pound|lbs|lb|km|miles|mile|cm|minutes|minute|hours|hour|euros|euro"
    "|dollars|dollar|points|point|percent|million"
    "|公斤|厘米|公分|澳元|美元|欧元|港币|人民币|分钟|小时|斤|克|元|块|塊|欧|歐|名|分|米|岁|歲|人|只|隻|次|度|平|炉|爐|桌"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z0-9.,-])(?P<currency>(?:[A-Z]{{1,3}})?[$€£¥₹]|R(?=\d))?\s?(?P<digits>\d(?:[\d,]*\d)?(?:\.\d+)?)(?![\d-])"
    rf"(?P<scale>k\b|万|萬|亿|億|千(?!克))?\s?(?P<unit>%|(?:{_UNITS})(?![a-z]))?",
    re.IGNORECASE,
)
_SCALES = {"k": 1_000, "千": 1_000, "万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}


@dataclass(frozen=True, slots=True)
class _Statement:
    """One sentence of a recalled memory, its words, and those of the question among them."""

    position: int
    ref: Ref
    text: str
    terms: frozenset[str]
    covered: frozenset[str]
    since: date | None = None  # the told start; None if only the day of the message is known
    subject: str = ""  # of a thought; a raw turn has no subject and no relation
    relation: str = ""


@dataclass(frozen=True, slots=True)
class _Date:
    statement: _Statement
    day: date
    exact: bool  # False: only the month is known


@dataclass(frozen=True, slots=True)
class _Quantity:
    statement: _Statement
    value: float
    unit: str
    written: str


def add_calculation(
    items: Sequence[Candidate], question: str, days_said: Callable[[Thought], Collection[date]]
) -> list[Candidate]:
    """The items; one of them with a computed duration or difference, if the question asks for one.

    `days_said` are the days when a thought was said. A thought that is valid from one of them has no date of
    its own: its event may have been long before.
    """
    result = list(items)
    wants_duration = _DURATION.search(question) is not None
    wants_change = bool(_AMOUNT.search(question) and _CHANGE.search(question))
    if not (wants_duration or wants_change):
        return result
    statements = list(_statements(items[:_MAX_ITEMS], frozenset(content_terms(question)), days_said))
    note, used = "", tuple[_Statement, ...]()
    if wants_duration:
        note, used = _duration(statements, question)
    if not note and wants_change:
        note, used = _difference(statements)
    if note:
        position = min(statement.position for statement in used)
        others = [str(statement.ref) for statement in used if statement.ref != items[position].ref]
        text = f"（计算：{note}）" if has_han(question) else f" (computed: {note})"
        reason = f"; computed with {', '.join(others)}" if others else "; computed from it"
        item = result[position]
        result[position] = replace(item, text=item.text + text, reason=item.reason + reason)
    return result


def _statements(
    items: Sequence[Candidate], wanted: frozenset[str], days_said: Callable[[Thought], Collection[date]]
) -> Iterator[_Statement]:
    for position, item in enumerate(items):
        if item.thoughts:
            for thought in item.thoughts:
                since = None if thought.valid_from is None else thought.valid_from.date()
                if since in days_said(thought):
                    since = None
                statement = _make_statement(position, thought.ref, thought.sentence, wanted)
                yield replace(
                    statement,
                    since=since,
                    subject=normalise_name(thought.subject),
                    relation=thought.relation,
                )
        elif item.turn is not None:
            yield _make_statement(position, item.ref, item.turn.query[:_MAX_TEXT_CHARS], wanted)


def _make_statement(position: int, ref: Ref, text: str, wanted: frozenset[str]) -> _Statement:
    terms = frozenset(extract_terms(text))
    return _Statement(position, ref, text, terms, terms & wanted)


def _duration(statements: Sequence[_Statement], question: str) -> tuple[str, tuple[_Statement, ...]]:
    """The time between the two events of a question."""
    dates = [found for statement in statements for found in _find_dates(statement)]
    for one, other in _find_events(question):
        best = max(
            (
                (_shared(a, one, other) + _shared(b, other, one), a.exact + b.exact, -n, a, b)
                for n, (a, b) in enumerate(permutations(dates, 2))
                if a.day != b.day and _shared(a, one, other) and _shared(b, other, one)
            ),
            default=None,
            key=lambda pair: pair[:3],
        )
        if best is not None:
            first, last = sorted(best[3:], key=lambda found: found.day)
            return _format_duration(first, last, chinese=has_han(question)), (first.statement, last.statement)
    return "", ()


def _find_events(question: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The words of the two events that a question names, for every way to read it."""
    for pattern in _TWO_EVENTS:
        if found := pattern.search(question):
            one, other = (frozenset(content_terms(found[name])) for name in ("one", "other"))
            if one - other and other - one:
                yield one, other


def _shared(found: _Date, event: frozenset[str], other: frozenset[str]) -> int:
    """How many words of an event, which are not those of the other one, the statement of a date has."""
    return len((event - other) & found.statement.terms)


def _find_dates(statement: _Statement) -> Iterator[_Date]:
    """The first date of a statement, else the first month, else the day since which it holds."""
    if day := _DAY.search(statement.text):
        year, *rest = (int(part) for part in day.groups() if part)
        if (found := _make_date(year, *rest)) is not None:
            yield _Date(statement, found, exact=True)
    elif month := _MONTH.search(statement.text):
        year_zh, month_zh, name, year_en = month.groups()
        number = int(month_zh) if month_zh else _MONTH_NAMES.index(name.lower()) + 1
        if (found := _make_date(int(year_zh or year_en), number, 1)) is not None:
            yield _Date(statement, found, exact=False)
    elif statement.since is not None:
        yield _Date(statement, statement.since, exact=statement.since.day != 1)


def _make_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _format_duration(first: _Date, last: _Date, *, chinese: bool) -> str:
    days = (last.day - first.day).days
    months = (last.day.year - first.day.year) * 12 + last.day.month - first.day.month
    rest = last.day.day - first.day.day
    if rest < 0:
        months -= 1
        rest += (last.day - timedelta(days=last.day.day)).day  # the length of the month before
    exact = first.exact and last.exact
    start, end = (f"{d.day:%Y-%m-%d}" if d.exact else f"{d.day:%Y-%m}" for d in (first, last))
    years, odd_months = divmod(months, 12)
    if chinese:
        parts = [f"{years}年" if years else "", f"{odd_months}个月" if odd_months else ""]
        parts += [f"{rest}天" if exact and rest else ""]
        whole = "".join(parts)
        return f"{start}到{end}，{f'{days}天，' if exact else '约'}{whole or f'{days}天'}"
    units = [(years, "year"), (odd_months, "month"), *([(rest, "day")] if exact else [])]
    whole = " ".join(f"{count} {unit}{'s' if count != 1 else ''}" for count, unit in units if count)
    weeks = f", {days // 7} weeks {days % 7} days" if exact and 7 <= days < 120 else ""
    total = f"{days} days" if exact else "about"
    return f"{start} to {end} is {total}{weeks}{' = ' if exact and whole else ' '}{whole}".rstrip()


def _difference(statements: Sequence[_Statement]) -> tuple[str, tuple[_Statement, ...]]:
    """The difference of two amounts of one unit in different statements."""
    amounts = [amount for statement in statements for amount in _find_quantities(statement)]
    pairs = [
        (a, b)
        for a, b in combinations(amounts, 2)
        if a.statement is not b.statement
        and a.unit == b.unit
        and _may_be_of_one_thing(a.statement, b.statement)
        and _are_comparable(a, b)
    ]
    pairs = pairs or [pair for statement in statements for pair in _pairs_within(statement, amounts)]
    best = _best_pair([(a.statement, b.statement) for a, b in pairs])
    if best is None:
        return "", ()
    larger, smaller = sorted(pairs[best], key=lambda amount: -amount.value)
    value = larger.value - smaller.value
    note = f"{larger.written} - {smaller.written} = {_format_like(value, larger)}"
    return note, (larger.statement, smaller.statement)


def _pairs_within(
    statement: _Statement, amounts: Sequence[_Quantity]
) -> Iterator[tuple[_Quantity, _Quantity]]:
    """The two amounts of a statement that has no others: "57,300 dollars, above the budget of 55,000"."""
    own = [amount for amount in amounts if amount.statement is statement]
    if len(own) == 2 and own[0].unit == own[1].unit and _are_comparable(*own):
        yield own[0], own[1]


def _without_dates(text: str) -> str:
    return _MONTH.sub(" ", _DAY.sub(" ", text))


def _find_quantities(statement: _Statement) -> Iterator[_Quantity]:
    text = _without_dates(statement.text)
    for found in _NUMBER.finditer(text):
        value = float(found["digits"].replace(",", ""))
        value *= _SCALES.get((found["scale"] or "").lower(), 1)
        unit = found["currency"] or (found["unit"] or "").lower().rstrip("s")
        if not unit:
            continue  # a time, a count, an age or a year
        yield _Quantity(statement, value, unit, found[0].strip())


def _may_be_of_one_thing(one: _Statement, other: _Statement) -> bool:
    """Whether two statements share subject or relation. Of a raw turn, which has neither, it is not known."""
    if not (one.subject and other.subject):
        return True
    return one.subject == other.subject or one.relation == other.relation


def _are_comparable(one: _Quantity, other: _Quantity) -> bool:
    small, large = sorted((one.value, other.value))
    return 0 < small < large <= _MAX_RATIO * small


def _format_like(value: float, model: _Quantity) -> str:
    """A value with currency, scale and unit as another amount is written."""
    found = _NUMBER.search(model.written)
    if found is None:
        return f"{value:g}"
    scale = _SCALES.get((found["scale"] or "").lower(), 1)
    number = f"{round(value / scale, 4):,}" if "," in found["digits"] else f"{round(value / scale, 4):g}"
    number = number.removesuffix(".0")
    gap = " " if (found["unit"] or "").isascii() and found["unit"] not in (None, "%") else ""
    return f"{found['currency'] or ''}{number}{found['scale'] or ''}{gap}{found['unit'] or ''}"


def _best_pair(pairs: Sequence[tuple[_Statement, _Statement]]) -> int | None:
    """The position of the pair that covers most words of the question; among equals the best ranked."""

    def rank(one: _Statement, other: _Statement) -> tuple[int, int]:
        return len(one.covered | other.covered), -(one.position + other.position)

    possible = [
        (rank(one, other), -number)
        for number, (one, other) in enumerate(pairs)
        if (one.covered and other.covered)
        or ((one.covered or other.covered) and not one.terms.isdisjoint(other.terms))
    ]
    return -max(possible)[1] if possible else None
