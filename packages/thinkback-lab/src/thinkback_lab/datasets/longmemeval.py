"""LongMemEval: 500 questions to an assistant, each with its own haystack of sessions to find the answer in.

A file is a list of {"question_id", "question_type", "question", "answer", "question_date",
"haystack_session_ids", "haystack_dates", "haystack_sessions": [[{"role", "content", "has_answer"?}]],
"answer_session_ids"}; `size` chooses it: "s" (about 40 sessions a question), "m" (about 500), "oracle" (only
those with evidence). One question is one case; what the user said and the assistant's reply are one item.

`grain` is what has to come back: "turn", the turns marked `has_answer` (all turns of the answer sessions
where none is marked), or "session", any turn of the answer sessions. Questions whose id ends in `_abs` ask
for what was never said.
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
    """An item, the session it belongs to in the data's own words, and whether it is marked as evidence."""

    item: HistoryItem
    session: str
    marked: bool


_FILE_ADAPTER = TypeAdapter(tuple[_QuestionEntry, ...])


def load(folder: Path | None, size: str = "s", grain: str = "turn") -> Dataset:
    """One case a question."""
    check_choice("size", size, SIZES)
    check_choice("grain", grain, GRAINS)
    names = (f"longmemeval_{size}.json", f"longmemeval_{size}_cleaned.json", f"longmemeval_{size}")
    path = require_file(
        data_folder(folder, ORIGIN),
        [f"{place}{name}" for place in ("longmemeval/", "", "data/") for name in names],
        ORIGIN,
    )
    read = read_json(path, _FILE_ADAPTER, "a LongMemEval file")
    cases = tuple(
        _make_case(f"{path}: {at} ({each.question_id})", each, grain) for at, each in enumerate(read)
    )
    return Dataset(name="longmemeval", cases=cases, settings={"size": size, "grain": grain})


def _make_case(where: str, asked: _QuestionEntry, grain: str) -> Case:
    told = _history_turns(where, asked)
    answerable = not asked.question_id.endswith("_abs")
    evidence = [each for each in told if each.session in asked.answer_session_ids]
    marked = [each for each in told if each.marked] if grain == "turn" else []
    question = Question(
        id=asked.question_id,
        text=asked.question,
        at=_parse_time(f"{where}.question_date", asked.question_date),
        gold=tuple(each.item.id for each in marked or evidence) if answerable else (),
        answerable=answerable,
        answer=str(asked.answer),
        category=asked.question_type,
    )
    return Case(id=asked.question_id, items=tuple(each.item for each in told), questions=(question,))


def _history_turns(where: str, asked: _QuestionEntry) -> list[_HistoryTurn]:
    """Every exchange in time's order: the oracle file's sessions are not sorted."""
    if len({len(asked.haystack_session_ids), len(asked.haystack_dates), len(asked.haystack_sessions)}) != 1:
        raise LabError(f"{where}: haystack_session_ids, _dates and _sessions are not of one length")
    dated = (
        (_parse_time(f"{where}.haystack_dates.{at}", told), name, session)
        for at, (told, name, session) in enumerate(
            zip(asked.haystack_dates, asked.haystack_session_ids, asked.haystack_sessions, strict=True)
        )
    )
    seen: Counter[str] = Counter()
    told = []
    for start, name, session in sorted(dated, key=lambda each: each[0]):
        seen[name] += 1
        key = name if seen[name] == 1 else f"{name}@{seen[name]}"  # a filler session may be drawn twice
        for at, (query, response, marked) in enumerate(_pair_messages(session)):
            when = start + timedelta(seconds=at)
            item = HistoryItem(id=f"{key}#{at}", query=query, response=response, at=when, session=key)
            told.append(_HistoryTurn(item, name, marked))
    return told


def _pair_messages(session: Sequence[_Message]) -> Iterator[tuple[str, str, bool]]:
    """(said, replied, marked): a reply belongs to what was said before it; either may stand alone."""
    waiting: _Message | None = None
    for message in session:
        if message.role == "assistant":
            said = waiting.content if waiting else ""
            marked = message.has_answer or bool(waiting and waiting.has_answer)
            yield said, message.content, marked
            waiting = None
        else:
            if waiting:
                yield waiting.content, "", waiting.has_answer
            waiting = message
    if waiting:
        yield waiting.content, "", waiting.has_answer


def _parse_time(where: str, told: str) -> datetime:
    try:
        return datetime.strptime(_WEEKDAY.sub(" ", told).strip(), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise LabError(f"{where}: {told!r} is not a time like '2023/05/20 (Sat) 02:21'") from error
