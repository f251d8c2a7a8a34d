"""LongMemEval: 500 questions to an assistant, each with its own haystack of sessions.

A file is a list of {"question_id", "question_type", "question", "answer", "question_date",
"haystack_session_ids", "haystack_dates", "haystack_sessions": [[{"role", "content", "has_answer"?}]],
"answer_session_ids"}. `size` selects the file: "s" (about 40 sessions per question), "m" (about 500) or
"oracle" (evidence only). A question is one case; a user message and the assistant's reply are one item.

`grain` defines the gold: "turn", the turns marked `has_answer` (all turns of the answer sessions if none is
marked), or "session", all turns of the answer sessions. Questions whose id ends in `_abs` ask for something
that was never said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.datasets.loading import check_choice, data_folder, read_json, require_file
from thinkback_lab.errors import LabError

SIZES = ("s", "m", "oracle")
GRAINS = ("turn", "session")
ORIGIN = (
    "LongMemEval is the data of the repository xiaowu0162/LongMemEval on GitHub: longmemeval_s.json, "
    "longmemeval_m.json and longmemeval_oracle.json; its README says where to fetch them"
)
_WEEKDAY = re.compile(r"\s*\([^()]*\)\s*")
_TIME_FORMAT = "%Y/%m/%d %H:%M"


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    role: Literal["user", "assistant"]
    content: str
    has_answer: bool = False


class _QuestionEntry(BaseModel):
    model_config = ConfigDict(frozen=True)

    question_id: str
    question_type: str
    question: str
    answer: str | int | float
    question_date: str
    haystack_session_ids: tuple[str, ...] = Field(min_length=1)
    haystack_dates: tuple[str, ...]
    haystack_sessions: tuple[tuple[_Message, ...], ...]
    answer_session_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _HistoryTurn:
    """An item, the original id of its session, and whether it is marked as evidence."""

    item: HistoryItem
    session: str
    marked: bool


_FILE_ADAPTER = TypeAdapter(tuple[_QuestionEntry, ...])


def load(folder: Path | None, size: str = "s", grain: str = "turn") -> Dataset:
    """Load one case per question."""
    check_choice("size", size, SIZES)
    check_choice("grain", grain, GRAINS)
    names = (f"longmemeval_{size}.json", f"longmemeval_{size}_cleaned.json", f"longmemeval_{size}")
    path = require_file(
        data_folder(folder, ORIGIN),
        [f"{folder_name}{name}" for folder_name in ("longmemeval/", "", "data/") for name in names],
        ORIGIN,
    )
    entries = read_json(path, _FILE_ADAPTER, "a LongMemEval file")
    cases = tuple(
        _make_case(f"{path}: {at} ({each.question_id})", each, grain) for at, each in enumerate(entries)
    )
    return Dataset(name="longmemeval", cases=cases, settings={"size": size, "grain": grain})


def _make_case(where: str, entry: _QuestionEntry, grain: str) -> Case:
    turns = _history_turns(where, entry)
    answerable = not entry.question_id.endswith("_abs")
    evidence = [each for each in turns if each.session in entry.answer_session_ids]
    marked = [each for each in turns if each.marked] if grain == "turn" else []
    question = Question(
        id=entry.question_id,
        text=entry.question,
        at=_parse_time(f"{where}.question_date", entry.question_date),
        gold=tuple(each.item.id for each in marked or evidence) if answerable else (),
        answerable=answerable,
        answer=str(entry.answer),
        category=entry.question_type,
    )
    return Case(id=entry.question_id, items=tuple(each.item for each in turns), questions=(question,))


def _history_turns(where: str, entry: _QuestionEntry) -> list[_HistoryTurn]:
    """All exchanges in order of time; the sessions of the oracle file are not sorted."""
    if len({len(entry.haystack_session_ids), len(entry.haystack_dates), len(entry.haystack_sessions)}) != 1:
        raise LabError(f"{where}: haystack_session_ids, _dates and _sessions have different lengths")
    dated = (
        (_parse_time(f"{where}.haystack_dates.{at}", turns), name, session)
        for at, (turns, name, session) in enumerate(
            zip(entry.haystack_dates, entry.haystack_session_ids, entry.haystack_sessions, strict=True)
        )
    )
    occurrences: Counter[str] = Counter()
    turns = []
    for start, name, session in sorted(dated, key=lambda each: each[0]):
        occurrences[name] += 1
        key = (
            name if occurrences[name] == 1 else f"{name}@{occurrences[name]}"
        )  # a filler session may occur twice
        for at, (query, response, marked) in enumerate(_pair_messages(session)):
            when = start + timedelta(seconds=at)
            item = HistoryItem(id=f"{key}#{at}", query=query, response=response, at=when, session=key)
            turns.append(_HistoryTurn(item, name, marked))
    return turns


def _pair_messages(session: Sequence[_Message]) -> Iterator[tuple[str, str, bool]]:
    """Yield (query, response, marked). A response belongs to the query before it; either may be empty."""
    pending: _Message | None = None
    for message in session:
        if message.role == "assistant":
            query = pending.content if pending else ""
            marked = message.has_answer or bool(pending and pending.has_answer)
            yield query, message.content, marked
            pending = None
        else:
            if pending:
                yield pending.content, "", pending.has_answer
            pending = message
    if pending:
        yield pending.content, "", pending.has_answer


def _parse_time(where: str, value: str) -> datetime:
    try:
        return datetime.strptime(_WEEKDAY.sub(" ", value).strip(), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise LabError(f"{where}: {value!r} is not a time like '2023/05/20 (Sat) 02:21'") from error
