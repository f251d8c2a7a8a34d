"""MADial-Bench: when should an assistant bring up, unasked, an event of a child's life?

The memory file has one {id: {"time", "scene", "emotion", "event"}} per line: events of Bart or Lisa. The
dialogue file has one {"dialogue": [utterance], "test-turn": [n], "relevant-id": [id], "user-id"} per line: at
utterance n the assistant should recall one of the relevant events.

A dialogue gives one question: everything before its first test turn, as in the benchmark's scripts (at later
test turns the event has already been named). The answer is the assistant's utterance, the category is the
scene of the first relevant event. `bank` selects the memory:

- "own": one case per child, as in the benchmark's scripts. The English file does not say whose an event is,
  but every event names exactly one child.
- "shared": all events in one case, so that the memory must also tell the children apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.datasets.loading import check_choice, data_folder, read_json_lines, require_file
from thinkback_lab.errors import LabError

LANGS = ("en", "zh")
BANKS = ("own", "shared")
CHILDREN = {1: "Bart", 2: "Lisa"}
ORIGIN = (
    "MADial-Bench is the repository hejunqing/MADial-Bench on GitHub, folder data/: "
    "en/MADial-Bench-en-memory.json, en/MADial-Bench-en-dialogue.json and so on"
)
NOON = time(12, tzinfo=UTC)
_UTTERANCE = re.compile(r"\s*<(Bart|Lisa|Assistant)>\s*[:：]?\s*(.*)", re.DOTALL)


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    time: date
    scene: str
    event: str
    user: int | None = Field(None, alias="user-id")


class _Dialogue(BaseModel):
    model_config = ConfigDict(frozen=True)

    dialogue: tuple[str, ...]
    turns: tuple[int, ...] = Field(alias="test-turn", min_length=1)
    relevant: tuple[int, ...] = Field(alias="relevant-id")
    user: int = Field(alias="user-id")


@dataclass(frozen=True, slots=True)
class _DialogueLine:
    number: int
    where: str
    dialogue: _Dialogue


_EVENTS_ADAPTER = TypeAdapter(dict[str, _Event])
_DIALOGUE_ADAPTER = TypeAdapter(_Dialogue)
_EventsById = Mapping[str, _Event]


def load(folder: Path | None, lang: str = "en", bank: str = "own") -> Dataset:
    """Load the cases; `settings` counts relevant ids that name no event."""
    check_choice("language", lang, LANGS)
    check_choice("bank", bank, BANKS)
    home = data_folder(folder, ORIGIN)
    events = _load_events(home, lang)
    path = require_file(
        home, _file_names(lang, f"MADial-Bench-{lang}-dialogue.json", f"dialogues_{lang}_even.jsonl"), ORIGIN
    )
    lines = read_json_lines(path, _DIALOGUE_ADAPTER, "a dialogue of MADial-Bench")
    dialogues = [_DialogueLine(number, where, each) for number, (where, each) in enumerate(lines)]
    children = {None: "both"} if bank == "shared" else CHILDREN
    cases = tuple(
        _make_case(
            name,
            lang,
            _events_of_child(child, events),
            [line for line in dialogues if child in (None, line.dialogue.user)],
        )
        for child, name in children.items()
    )
    unknown = sum(str(one) not in events for _, each in lines for one in each.relevant)
    return Dataset(name="madial", cases=cases, settings={"lang": lang, "bank": bank, "unknown_ids": unknown})


def _file_names(lang: str, *names: str) -> tuple[str, ...]:
    sub = "ch" if lang == "zh" else lang  # folder names of the benchmark
    return tuple(f"{folder}{name}" for folder in ("madial/", "", f"data/{sub}/", f"{sub}/") for name in names)


def _load_events(home: Path, lang: str) -> dict[str, _Event]:
    path = require_file(home, _file_names(lang, f"MADial-Bench-{lang}-memory.json"), ORIGIN)
    lines = read_json_lines(path, _EVENTS_ADAPTER, "an event of MADial-Bench")
    return {id: _with_owner(where, event) for where, line in lines for id, event in line.items()}


def _with_owner(where: str, event: _Event) -> _Event:
    if event.user is not None:
        return event
    owners = [number for number, child in CHILDREN.items() if child in event.event]
    if len(owners) != 1:
        raise LabError(f"{where}: no user-id, and the event does not name exactly one of Bart and Lisa")
    return event.model_copy(update={"user": owners[0]})


def _events_of_child(child: int | None, events: _EventsById) -> dict[str, _Event]:
    selected = {id: each for id, each in events.items() if child is None or each.user == child}
    return dict(sorted(selected.items(), key=lambda pair: pair[1].time))


def _make_case(name: str, lang: str, events: _EventsById, dialogues: Sequence[_DialogueLine]) -> Case:
    items = tuple(
        HistoryItem(
            id=id,
            query=each.event,
            at=datetime.combine(each.time, NOON),
            session=str(each.time),
            kind="event",
        )
        for id, each in events.items()
    )
    if not items:
        raise LabError(f"MADial-Bench ({lang}): no events of {name}. {ORIGIN}")
    after = items[-1].at + timedelta(days=1)
    questions = tuple(_make_question(line, events, after) for line in dialogues)
    return Case(id=name, items=items, questions=questions, lang=lang)


def _make_question(line: _DialogueLine, events: _EventsById, at: datetime) -> Question:
    utterances, turn = line.dialogue.dialogue, line.dialogue.turns[0]
    if not 0 < turn < len(utterances):
        raise LabError(f"{line.where}: test-turn {turn}, but the dialogue has {len(utterances)} lines")
    gold = tuple(str(one) for one in line.dialogue.relevant if str(one) in events)
    before = (_split_speaker(each) for each in utterances[:turn] if each.strip() != "<BOD>")
    return Question(
        id=str(line.number),
        text="\n".join(f"{speaker}: {words}" if speaker else words for speaker, words in before),
        at=at,
        gold=gold,
        answer=_split_speaker(utterances[turn])[1],
        category=events[gold[0]].scene if gold else "",
        kind="event",
    )


def _split_speaker(line: str) -> tuple[str, str]:
    """Split `<Bart>: "words"` into (speaker, words); some lines have no speaker or only angle brackets."""
    match = _UTTERANCE.fullmatch(line)
    speaker, words = (match[1], match[2]) if match else ("", line)
    return speaker, words.strip().strip('"<>').strip()
