"""GVD: MemoryBank's fifteen virtual users, ten days of dialogue each, and questions about them.

`memory_bank_{en,cn}.json` is {user: {"history": {date: [{"query", "response"}]}}}; every line of
`probing_questions_{en,cn}.jsonl` is {user: [question]}. Users have the same order in all files, and both
languages describe the same days. The questions have no answers, so two annotations are used:

- `gold_turns_en_users_0_7.json`, if it is beside the data: [{"user_index", "q_index", "gold_turns":
  ["2023-04-27#2"]}], the turns that contain the answer; an empty list means that there is none. It was made
  on the English turns and is used in Chinese for users with the same number of turns on every day.
- `gvd_answers.json` in this package: for each question with gold turns a short answer and its anchors
  (fragments of those turns), written by hand. An answer is skipped if the user's turns do not contain all of
  its anchors.

Questions without gold turns are asked, but their retrieval is not scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.datasets.loading import (
    check_choice,
    data_folder,
    find_file,
    read_json,
    read_json_lines,
    require_file,
)
from thinkback_lab.errors import LabError

LANGS = ("en", "cn")
GOLD_FILE = "gold_turns_en_users_0_7.json"
ORIGIN = (
    "GVD is the folder eval_data/ of the repository zhongwanjun/MemoryBank-SiliconFriend on GitHub: "
    "en/memory_bank_en.json, en/probing_questions_en.jsonl and so on"
)
DAY_START = time(9, tzinfo=UTC)


class _Turn(BaseModel):
    model_config = ConfigDict(frozen=True)

    query: str
    response: str


class _User(BaseModel):
    model_config = ConfigDict(frozen=True)

    history: dict[date, tuple[_Turn, ...]] = Field(min_length=1)


class _GoldTurns(BaseModel):
    model_config = ConfigDict(frozen=True)

    user_index: int
    q_index: int
    gold_turns: tuple[str, ...]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    answer: str
    anchors: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class _Annotations:
    """Gold turns and answers by (user, question) number."""

    gold: Mapping[tuple[int, int], tuple[str, ...]]
    answers: Mapping[str, _Answer]


_BANK_ADAPTER = TypeAdapter(dict[str, _User])
_QUESTIONS_ADAPTER = TypeAdapter(dict[str, tuple[str, ...]])
_GOLD_ADAPTER = TypeAdapter(tuple[_GoldTurns, ...])
_ANSWERS_ADAPTER = TypeAdapter(dict[str, dict[str, _Answer]])


def load(folder: Path | None, lang: str = "en") -> Dataset:
    """Load one case per user; `settings` counts the questions with gold turns and with answers."""
    check_choice("language", lang, LANGS)
    home = data_folder(folder, ORIGIN)
    bank = _load_bank(home, lang)
    questions_by_user = _load_questions(home, lang, [name for name, _ in bank])
    gold = _load_gold(home)
    if lang != "en" and gold:
        english = _load_bank(home, "en")
        comparable = {
            at for at, pair in enumerate(zip(english, bank, strict=True)) if _same_turn_counts(*pair)
        }
        gold = {key: turns for key, turns in gold.items() if key[0] in comparable}
    notes = _Annotations(gold, _load_answers().get(lang, {}))
    cases = tuple(
        _make_case(at, name, user, questions, notes, lang)
        for at, ((name, user), questions) in enumerate(zip(bank, questions_by_user, strict=True))
    )
    answered = sum(bool(question.answer) for case in cases for question in case.questions)
    settings = {"lang": lang, "annotated": len(gold), "answered": answered}
    return Dataset(name="gvd", cases=cases, settings=settings)


def _load_bank(home: Path, lang: str) -> list[tuple[str, _User]]:
    path = require_file(home, _file_names(lang, f"memory_bank_{lang}.json"), ORIGIN)
    users = read_json(path, _BANK_ADAPTER, "a memory bank of GVD")
    return [(name.strip(), user) for name, user in users.items()]


def _load_questions(home: Path, lang: str, users: Sequence[str]) -> list[tuple[str, ...]]:
    """The questions of every user, in the order of the memory bank."""
    path = require_file(home, _file_names(lang, f"probing_questions_{lang}.jsonl"), ORIGIN)
    lines = read_json_lines(path, _QUESTIONS_ADAPTER, "probing questions of GVD")
    questions_by_name = [(name.strip(), questions) for _, line in lines for name, questions in line.items()]
    if [name for name, _ in questions_by_name] != list(users):
        raise LabError(f"{path}: the users differ from those of memory_bank_{lang}.json, or their order does")
    return [tuple(map(_strip_quotes, questions)) for _, questions in questions_by_name]


def _strip_quotes(question: str) -> str:
    """Remove quotation marks around a whole question, an artefact of the file."""
    text = question.strip()
    return (
        text[1:-1].strip() if text.startswith('"') and text.endswith('"') and text.count('"') == 2 else text
    )


def _load_gold(home: Path) -> dict[tuple[int, int], tuple[str, ...]]:
    """The gold annotation; empty if it is not there (MemoryBank's own release has none)."""
    path = find_file(home, _file_names("en", GOLD_FILE))
    if path is None:
        return {}
    annotations = read_json(path, _GOLD_ADAPTER, "gold turns of GVD")
    return {(each.user_index, each.q_index): each.gold_turns for each in annotations}


def _load_answers() -> dict[str, dict[str, _Answer]]:
    return _ANSWERS_ADAPTER.validate_json((files("thinkback_lab.datasets") / "gvd_answers.json").read_bytes())


def _file_names(lang: str, name: str) -> tuple[str, ...]:
    return (f"gvd/{name}", name, f"eval_data/{lang}/{name}", f"{lang}/{name}")


def _same_turn_counts(one: tuple[str, _User], other: tuple[str, _User]) -> bool:
    first, second = ({day: len(turns) for day, turns in user.history.items()} for _, user in (one, other))
    return first == second


def _make_case(
    number: int, name: str, user: _User, questions: Sequence[str], notes: _Annotations, lang: str
) -> Case:
    items = tuple(
        HistoryItem(
            id=f"{day}#{at}",
            query=turn.query,
            response=turn.response,
            at=datetime.combine(day, DAY_START) + timedelta(minutes=at),
            session=str(day),
        )
        for day, turns in sorted(user.history.items())
        for at, turn in enumerate(turns)
    )
    after = datetime.combine(max(user.history) + timedelta(days=1), DAY_START)
    history = "\n".join(item.text for item in items)
    questions_made = tuple(
        _make_question(number, at, text, after, notes, history) for at, text in enumerate(questions)
    )
    known_ids = {item.id for item in items}
    if unknown := [turn for question in questions_made for turn in question.gold if turn not in known_ids]:
        raise LabError(
            f"{GOLD_FILE}: user {number} ({name}) has no turn {unknown[0]}: the files do not belong together"
        )
    return Case(id=name, items=items, questions=questions_made, lang="zh" if lang == "cn" else "en")


def _make_question(
    user: int, number: int, text: str, at: datetime, notes: _Annotations, history: str
) -> Question:
    gold = notes.gold.get((user, number))
    annotation = notes.answers.get(f"{user}:{number}")
    matches = annotation is not None and all(anchor in history for anchor in annotation.anchors)
    return Question(
        id=f"{user}:{number}",
        text=text,
        at=at,
        gold=gold or (),
        answerable=gold != (),
        answer=annotation.answer if annotation and matches else "",
        anchors=annotation.anchors if annotation and matches else (),
    )
