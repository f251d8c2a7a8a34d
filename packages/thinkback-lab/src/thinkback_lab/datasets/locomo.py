"""LoCoMo: ten long conversations between two friends, and questions whose evidence turns are noted.

`locomo10.json` is a list of {"sample_id", "conversation": {"speaker_a", "speaker_b", "session_N":
[{"speaker", "dia_id", "text", "blip_caption"?}], "session_N_date_time"}, "qa": [{"question", "answer",
"evidence": ["D1:3"], "category"}]}. One conversation is one case; one utterance, with the caption of the
picture it shows, is one item.

Evidence is noted by hand and not always cleanly ("D8:6; D9:17", "D:11:26", "D30:05", turns that are not
there): every turn that can be read from it and exists is gold, and `settings` counts what was left out.
Category 5 stands apart: its questions ask for what was never said, so nothing should come back, whatever turn
misled the asker; its `adversarial_answer` is the wrong answer to fall for, never the right one, and not kept.
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
    conversation: dict[str, Any]  # session_1, session_2 ...: read one by one below
    qa: tuple[_QuestionEntry, ...]


_FILE_ADAPTER = TypeAdapter(tuple[_Sample, ...])
_TURNS_ADAPTER = TypeAdapter(tuple[_Turn, ...])


def load(folder: Path | None) -> Dataset:
    """`settings` says how many pieces of evidence name no turn."""
    path = require_file(
        data_folder(folder, ORIGIN), ("locomo/locomo10.json", "locomo10.json", "data/locomo10.json"), ORIGIN
    )
    read = read_json(path, _FILE_ADAPTER, "a LoCoMo file")
    cases = tuple(_make_case(f"{path}: {at}.conversation", at, each) for at, each in enumerate(read))
    lost = sum(
        _count_unknown_evidence(asked.evidence, {item.id for item in case.items})
        for case, each in zip(cases, read, strict=True)
        for asked in each.qa
    )
    return Dataset(name="locomo", cases=cases, settings={"unknown_evidence": lost})


def _make_case(where: str, number: int, sample: _Sample) -> Case:
    name = sample.sample_id or f"conversation-{number}"
    items = tuple(_history_items(where, sample.conversation))
    if not items:
        raise LabError(f"{where}: no session_1, session_2 ... with turns in it")
    turns = {item.id for item in items}
    after = items[-1].at + timedelta(days=1)
    asked = tuple(_make_question(f"{name}-{at}", each, turns, after) for at, each in enumerate(sample.qa))
    return Case(id=name, items=items, questions=asked)


def _history_items(where: str, conversation: dict[str, Any]) -> Iterator[HistoryItem]:
    """The turns of the sessions by number; a date without a session is a session nobody wrote."""
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        key = f"session_{number}"
        try:
            turns = _TURNS_ADAPTER.validate_python(conversation[key])
        except ValidationError as error:
            raise LabError(f"{where}.{key}: {format_validation_error(error)}") from error
        start = _parse_time(f"{where}.{key}_date_time", conversation.get(f"{key}_date_time"))
        for at, turn in enumerate(turns):
            shown = f" [{turn.blip_caption}]" if turn.blip_caption else ""
            yield HistoryItem(
                id=_normalise_turn_id(turn.dia_id),
                query=f"{turn.speaker}: {turn.text}{shown}",
                at=start + timedelta(minutes=at),
                session=key,
            )


def _parse_time(where: str, told: object) -> datetime:
    try:
        return datetime.strptime(str(told), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise LabError(f"{where}: {told!r} is not a time like '1:56 pm on 8 May, 2023'") from error


def _make_question(id: str, asked: _QuestionEntry, turns: Collection[str], at: datetime) -> Question:
    answerable = asked.category != ADVERSARIAL
    named = dict.fromkeys(turn for told in asked.evidence for turn in _find_turn_ids(told))
    return Question(
        id=id,
        text=asked.question,
        at=at,
        gold=tuple(turn for turn in named if turn in turns) if answerable else (),
        answerable=answerable,
        answer="" if asked.answer is None or not answerable else str(asked.answer),
        category=CATEGORIES.get(asked.category, str(asked.category)),
    )


def _normalise_turn_id(turn: str) -> str:
    """D30:05 is D30:5."""
    return next(_find_turn_ids(turn), turn)


def _find_turn_ids(told: str) -> Iterator[str]:
    return (f"D{int(found[1])}:{int(found[2])}" for found in _EVIDENCE.finditer(told))


def _count_unknown_evidence(evidence: Collection[str], turns: Collection[str]) -> int:
    """Pieces that name no turn at all, and turns named that are not there."""
    pieces = [tuple(_find_turn_ids(told)) for told in evidence]
    return sum(1 if not named else sum(turn not in turns for turn in named) for named in pieces)
