"""LoCoMo: ten long conversations between two friends, and questions with annotated evidence turns.

`locomo10.json` is a list of {"sample_id", "conversation": {"speaker_a", "speaker_b", "session_N":
[{"speaker", "dia_id", "text", "blip_caption"?}], "session_N_date_time"}, "qa": [{"question", "answer",
"evidence": ["D1:3"], "category"}]}. A conversation is one case; an utterance, with the caption of its
picture, is one item.

Evidence was annotated by hand and is not always clean ("D8:6; D9:17", "D:11:26", "D30:05", turns that do not
exist). Every existing turn that can be parsed from it is gold; `settings` counts the rest. Questions of
category 5 ask for something that was never said, so nothing should be recalled; their `adversarial_answer` is
a wrong answer and is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.datasets.loading import data_folder, read_json, require_file
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
ORIGIN = "LoCoMo is the repository snap-research/locomo on GitHub: data/locomo10.json"
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"


class _Turn(BaseModel):
    model_config = ConfigDict(frozen=True)

    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _QuestionEntry(BaseModel):
    model_config = ConfigDict(frozen=True)

    question: str
    answer: str | int | float | None = None
    evidence: tuple[str, ...] = ()
    category: int


class _Sample(BaseModel):
    model_config = ConfigDict(frozen=True)

    sample_id: str = ""
    conversation: dict[str, Any]  # session_1, session_2 ... are parsed one by one
    qa: tuple[_QuestionEntry, ...]


_FILE_ADAPTER = TypeAdapter(tuple[_Sample, ...])
_TURNS_ADAPTER = TypeAdapter(tuple[_Turn, ...])


def load(folder: Path | None) -> Dataset:
    """Load one case per conversation; `settings` counts evidence that names no turn."""
    path = require_file(
        data_folder(folder, ORIGIN), ("locomo/locomo10.json", "locomo10.json", "data/locomo10.json"), ORIGIN
    )
    samples = read_json(path, _FILE_ADAPTER, "a LoCoMo file")
    cases = tuple(_make_case(f"{path}: {at}.conversation", at, each) for at, each in enumerate(samples))
    lost = sum(
        _count_unknown_evidence(question.evidence, {item.id for item in case.items})
        for case, each in zip(cases, samples, strict=True)
        for question in each.qa
    )
    return Dataset(name="locomo", cases=cases, settings={"unknown_evidence": lost})


def _make_case(where: str, number: int, sample: _Sample) -> Case:
    name = sample.sample_id or f"conversation-{number}"
    items = tuple(_history_items(where, sample.conversation))
    if not items:
        raise LabError(f"{where}: there is no session_1, session_2 ... with turns")
    turns = {item.id for item in items}
    after = items[-1].at + timedelta(days=1)
    questions = tuple(_make_question(f"{name}-{at}", each, turns, after) for at, each in enumerate(sample.qa))
    return Case(id=name, items=items, questions=questions)


def _history_items(where: str, conversation: dict[str, Any]) -> Iterator[HistoryItem]:
    """The turns of all sessions by number. A date without a session is ignored."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        key = f"session_{number}"
        try:
            turns = _TURNS_ADAPTER.validate_python(conversation[key])
        except ValidationError as error:
            raise LabError(f"{where}.{key}: {format_validation_error(error)}") from error
        start = _parse_time(f"{where}.{key}_date_time", conversation.get(f"{key}_date_time"))
        for at, turn in enumerate(turns):
            caption = f" [{turn.blip_caption}]" if turn.blip_caption else ""
            yield HistoryItem(
                id=_normalise_turn_id(turn.dia_id),
                query=f"{turn.speaker}: {turn.text}{caption}",
                at=start + timedelta(minutes=at),
                session=key,
            )


def _parse_time(where: str, value: object) -> datetime:
    try:
        return datetime.strptime(str(value), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise LabError(f"{where}: {value!r} is not a time like '1:56 pm on 8 May, 2023'") from error


def _make_question(id: str, entry: _QuestionEntry, turns: Collection[str], at: datetime) -> Question:
    answerable = entry.category != ADVERSARIAL
    evidence = dict.fromkeys(turn for piece in entry.evidence for turn in _find_turn_ids(piece))
    return Question(
        id=id,
        text=entry.question,
        at=at,
        gold=tuple(turn for turn in evidence if turn in turns) if answerable else (),
        answerable=answerable,
        answer="" if entry.answer is None or not answerable else str(entry.answer),
        category=CATEGORIES.get(entry.category, str(entry.category)),
    )


def _normalise_turn_id(turn: str) -> str:
    """Normalise `D30:05` to `D30:5`."""
    return next(_find_turn_ids(turn), turn)


def _find_turn_ids(evidence: str) -> Iterator[str]:
    return (f"D{int(match[1])}:{int(match[2])}" for match in _EVIDENCE.finditer(evidence))


def _count_unknown_evidence(evidence: Collection[str], turns: Collection[str]) -> int:
    """Count evidence that cannot be parsed or names turns that do not exist."""
    pieces = [tuple(_find_turn_ids(piece)) for piece in evidence]
    return sum(1 if not ids else sum(turn not in turns for turn in ids) for ids in pieces)
