"""The structured record of a patient: rows by category, values over time, and safety facts.

Only the patient's own words count, never the assistant's. A sentence from which a thought was drawn gets the
validity of the thought, so that what was replaced or forgotten is shown as past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from thinkback.language.safety.quarantine import redact, redact_values, secret_values, turn_findings
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.tokens import fold_text
from thinkback.recall.constraints import find_constraints
from thinkback.server.clinic.lexicon import OTHER, Lexicon, Measurement, load_lexicon, parse_number
from thinkback.types import SAID, SAME_AS, Thought, Turn

NOTICE = "Supports and does not replace a clinician."
MEASUREMENT = "measurement"
MAX_GENERIC_NAME_WORDS = 4
_DENIABLE = frozenset(("allergy", "medication", "procedure", "history", "symptom"))
_FILLERS = frozenset(
    ("my", "the", "it", "is", "was", "now", "a", "an", "of", "and", "last", "this", "today", "says", "said")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One statement of the patient, first said `at` and last said `last_at`.

    `current` is false if it was replaced, forgotten or has ended; `denied` is true if it says that something
    is not the case.
    """

    category: str
    item: str
    result: str
    at: datetime
    last_at: datetime
    denied: bool
    valid_from: datetime | None
    valid_to: datetime | None
    current: bool
    thought: int | None
    turn: int
    quote: str


@dataclass(frozen=True, slots=True)
class Value:
    """One measured value, or a pair such as 150/95."""

    at: datetime
    values: tuple[float, ...]
    text: str
    turn: int
    quote: str


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a quantity in both languages."""

    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one quantity over time."""

    item: str
    label: Label
    unit: str
    points: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SafetyFact:
    """An allergy, a diet, a refusal or a contraindication that answers must respect."""

    kind: str
    text: str
    thought: int
    at: datetime


@dataclass(frozen=True, slots=True)
class ClinicalRecord:
    rows: tuple[RecordRow, ...]
    constraints: tuple[SafetyFact, ...]
    findings: tuple[Series, ...]

    @property
    def medication(self) -> tuple[RecordRow, ...]:
        return tuple(row for row in self.rows if row.category == "medication" and not row.denied)


@dataclass(frozen=True, slots=True)
class _Measured:
    item: str
    measurement: Measurement | None
    unit: str
    value: Value
    span: tuple[int, int]  # in the folded sentence


def build_record(turns: Sequence[Turn], thoughts: Sequence[Thought]) -> ClinicalRecord:
    """The record of a space; `thoughts` include retired ones."""
    lexicon = load_lexicon()
    drawn: dict[int, list[Thought]] = {}
    for thought in thoughts:
        if thought.relation != SAME_AS:
            for source in thought.sources:
                drawn.setdefault(source.turn, []).append(thought)
    rows: list[RecordRow] = []
    measured: list[_Measured] = []
    for turn in sorted(turns, key=lambda each: (each.at, each.id)):
        secrets = secret_values(turn.query, turn_findings(turn, "query").secrets)
        for sentence in split_sentences(turn.query):
            if is_question(sentence.text):
                continue
            source_thought = _thought_of(drawn.get(turn.id, ()), turn.id, sentence.start, sentence.end)
            shown = redact(redact_values(sentence.text, secrets))
            values = list(_measure(shown, turn, lexicon))
            measured += values
            rows += _rows(shown, turn, source_thought, values, lexicon)
    said_at = {turn.id: turn.at for turn in turns}
    rows = _merge_repeated(rows)
    return ClinicalRecord(_mark_replaced(rows), _safety_facts(thoughts, said_at), _series(measured))


def _thought_of(thoughts: Iterable[Thought], turn: int, start: int, end: int) -> Thought | None:
    """The thought drawn from a sentence; a current one is preferred."""
    found = [
        thought
        for thought in thoughts
        if any(
            source.turn == turn and source.side == "query" and source.start < end and start < source.end
            for source in thought.sources
        )
    ]
    return max(found, key=lambda thought: (thought.current, thought.id), default=None)


def _rows(
    text: str, turn: Turn, thought: Thought | None, values: Sequence[_Measured], lexicon: Lexicon
) -> Iterator[RecordRow]:
    for each in values:
        label = each.measurement.label_en if each.measurement else each.item
        yield _row(MEASUREMENT, label, f"{each.value.text} {each.unit}".strip(), turn, thought, text, False)
    category = lexicon.category_of(_without_values(text, values))
    if category == OTHER and (values or thought is None):
        return
    denied = category in _DENIABLE and lexicon.denies(text)
    if values or thought is None or thought.relation == SAID:
        yield _row(category, category, text, turn, thought, text, denied)
    else:
        yield _row(category, thought.relation, thought.object, turn, thought, text, denied)


def _without_values(text: str, values: Sequence[_Measured]) -> str:
    """What a sentence says beside its measured values ("blood" in "blood pressure" is no symptom)."""
    rest = _folded(text)
    for start, end in sorted((each.span for each in values), reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    return rest


def _folded(text: str) -> str:
    return fold_text(text.replace("’", "'"))


def _row(
    category: str, item: str, result: str, turn: Turn, thought: Thought | None, quote: str, denied: bool
) -> RecordRow:
    return RecordRow(
        category=category,
        item=item,
        result=result,
        at=turn.at,
        last_at=turn.at,
        denied=denied,
        valid_from=thought.valid_from if thought else None,
        valid_to=thought.valid_to if thought else None,
        current=thought.current if thought else not turn.hidden,
        thought=thought.id if thought else None,
        turn=turn.id,
        quote=quote,
    )


def _merge_repeated(rows: Sequence[RecordRow]) -> list[RecordRow]:
    """A statement that is repeated at later visits is one row. Every measured value keeps its own."""
    merged: dict[object, RecordRow] = {}
    for number, row in enumerate(rows):
        same = (row.category, row.item, row.denied, fold_text(row.result).strip(" .。!！"))
        key: object = number if row.category == MEASUREMENT else same
        first = merged.get(key, row)
        merged[key] = replace(row, at=first.at, valid_from=first.valid_from)
    return list(merged.values())


def _mark_replaced(rows: Sequence[RecordRow]) -> tuple[RecordRow, ...]:
    """A measured value is current until the next one of the same quantity."""
    newest = {row.item: index for index, row in enumerate(rows) if row.category == MEASUREMENT}
    return tuple(
        replace(row, current=row.current and newest[row.item] == index)
        if row.category == MEASUREMENT
        else row
        for index, row in enumerate(rows)
    )


def _measure(text: str, turn: Turn, lexicon: Lexicon) -> Iterator[_Measured]:
    """The measured values in a sentence: named quantities, else any value with a known unit."""
    folded = _folded(text)
    taken: list[tuple[int, int]] = []
    for measurement in lexicon.measurements:
        for found in measurement.pattern.finditer(folded):
            if any(start < found.end() and found.start() < end for start, end in taken):
                continue
            taken.append(found.span())
            numbers = [found["value"], found["second"]] if measurement.values == 2 else [found["value"]]
            unit = found["unit"] or measurement.unit
            same_unit = unit == fold_text(measurement.unit)
            value = _value(numbers, turn, text)
            shown_unit = measurement.unit if same_unit else unit
            yield _Measured(measurement.id, measurement, shown_unit, value, found.span())
    for found in lexicon.any_measurement.finditer(folded):
        name = "" if lexicon.change.search(found["item"]) else _generic_name(found["item"])
        if name and not any(start < found.end() and found.start() < end for start, end in taken):
            span = (found.start("value"), found.end())
            yield _Measured(name, None, found["unit"], _value([found["value"]], turn, text), span)


def _value(numbers: Sequence[str], turn: Turn, text: str) -> Value:
    return Value(
        at=turn.at,
        values=tuple(parse_number(number) for number in numbers),
        text="/".join(numbers),
        turn=turn.id,
        quote=text,
    )


def _generic_name(words: str) -> str:
    kept = [word for word in words.split() if word not in _FILLERS]
    return " ".join(kept[-MAX_GENERIC_NAME_WORDS:])


def _series(measured: Sequence[_Measured]) -> tuple[Series, ...]:
    by_item: dict[tuple[str, str], list[_Measured]] = {}
    for each in measured:
        by_item.setdefault((each.item, each.unit), []).append(each)
    series = []
    for (item, unit), values in by_item.items():
        known = values[0].measurement
        label = Label(known.label_en, known.label_zh) if known else Label(item, item)
        series.append(Series(item, label, unit, tuple(each.value for each in values)))
    return tuple(series)


def _safety_facts(thoughts: Sequence[Thought], said_at: dict[int, datetime]) -> tuple[SafetyFact, ...]:
    current = [thought for thought in thoughts if thought.current]
    return tuple(
        SafetyFact(
            constraint.restriction.kind,
            constraint.thought.sentence,
            constraint.thought.id,
            said_at.get(constraint.thought.last_turn, constraint.thought.recorded_at),
        )
        for constraint in find_constraints(current)
    )
