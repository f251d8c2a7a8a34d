"""GVD: MemoryBank's fifteen virtual users, ten days of talk each, and questions that probe the memory of it.

`memory_bank_{en,cn}.json` is {user: {"history": {date: [{"query", "response"}]}}}, and every line of
`probing_questions_{en,cn}.jsonl` {user: [question]}; users stand in one order in all files, and the two
languages tell the same days. The questions come without answers. Two annotations make up for it:

- `gold_turns_en_users_0_7.json`, where it lies beside the data: [{"user_index", "q_index", "gold_turns":
  ["2023-04-27#2"]}], the turns that hold the answer; an empty list says that none does. Read on the English
  turns, it holds in Chinese for a user who has as many turns on every single day in both languages.
- `gvd_answers.json` in this package, our own: for each question with gold turns a short answer in our words,
  and its anchors, fragments as they stand in those turns; written by hand, turn by turn. An answer whose
  anchors are not all in a user's turns belongs to other data, and is left out.

A question without gold turns is asked, but its retrieval is not scored.
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
    """What is known of the questions, by (user, question) number."""

    gold: Mapping[tuple[int, int], tuple[str, ...]]
    answers: Mapping[str, _Answer]


_BANK_ADAPTER = TypeAdapter(dict[str, _User])
_QUESTIONS_ADAPTER = TypeAdapter(dict[str, tuple[str, ...]])
_GOLD_ADAPTER = TypeAdapter(tuple[_GoldTurns, ...])
_ANSWERS_ADAPTER = TypeAdapter(dict[str, dict[str, _Answer]])


def load(folder: Path | None, lang: str = "en") -> Dataset:
    """One case a user; `settings` says how many questions have their turns noted, and how many an answer."""
    check_choice("language", lang, LANGS)
    home = data_folder(folder, ORIGIN)
    bank = _load_bank(home, lang)
    asked = _load_questions(home, lang, [name for name, _ in bank])
    gold = _load_gold(home)
    if lang != "en" and gold:
        english = _load_bank(home, "en")
        alike = {at for at, pair in enumerate(zip(english, bank, strict=True)) if _same_turn_counts(*pair)}
        gold = {place: turns for place, turns in gold.items() if place[0] in alike}
    notes = _Annotations(gold, _load_answers().get(lang, {}))
    cases = tuple(
        _make_case(at, name, user, questions, notes, lang)
        for at, ((name, user), questions) in enumerate(zip(bank, asked, strict=True))
    )
    answered = sum(bool(question.answer) for case in cases for question in case.questions)
    settings = {"lang": lang, "annotated": len(gold), "answered": answered}
    return Dataset(name="gvd", cases=cases, settings=settings)


def _load_bank(home: Path, lang: str) -> list[tuple[str, _User]]:
    path = require_file(home, _file_names(lang, f"memory_bank_{lang}.json"), ORIGIN)
    found = read_json(path, _BANK_ADAPTER, "a memory bank of GVD")
    return [(name.strip(), user) for name, user in found.items()]


def _load_questions(home: Path, lang: str, users: Sequence[str]) -> list[tuple[str, ...]]:
    """Every user's questions, in the bank's order, which is the file's."""
    path = require_file(home, _file_names(lang, f"probing_questions_{lang}.jsonl"), ORIGIN)
    lines = read_json_lines(path, _QUESTIONS_ADAPTER, "probing questions of GVD")
    told = [(name.strip(), questions) for _, line in lines for name, questions in line.items()]
    if [name for name, _ in told] != list(users):
        raise LabError(f"{path}: its users are not those of memory_bank_{lang}.json, in the same order")
    return [tuple(map(_strip_quotes, questions)) for _, questions in told]


def _strip_quotes(question: str) -> str:
    """Some questions stand in quotation marks as a whole: a trace of how the file was made."""
    text = question.strip()
    return (
        text[1:-1].strip() if text.startswith('"') and text.endswith('"') and text.count('"') == 2 else text
    )


def _load_gold(home: Path) -> dict[tuple[int, int], tuple[str, ...]]:
    """Empty where nobody put the annotation beside the data: MemoryBank's own release has none."""
    path = find_file(home, _file_names("en", GOLD_FILE))
    if path is None:
        return {}
    read = read_json(path, _GOLD_ADAPTER, "gold turns of GVD")
    return {(each.user_index, each.q_index): each.gold_turns for each in read}


def _load_answers() -> dict[str, dict[str, _Answer]]:
    return _ANSWERS_ADAPTER.validate_json((files("thinkback_lab.datasets") / "gvd_answers.json").read_bytes())


def _file_names(lang: str, name: str) -> tuple[str, ...]:
    return (f"gvd/{name}", name, f"eval_data/{lang}/{name}", f"{lang}/{name}")


def _same_turn_counts(one: tuple[str, _User], other: tuple[str, _User]) -> bool:
    ours, theirs = ({day: len(turns) for day, turns in user.history.items()} for _, user in (one, other))
    return ours == theirs


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
    asked = tuple(
        _make_question(number, at, text, after, notes, history) for at, text in enumerate(questions)
    )
    told = {item.id for item in items}
    if strange := [turn for question in asked for turn in question.gold if turn not in told]:
        raise LabError(
            f"{GOLD_FILE}: user {number} ({name}) has no turn {strange[0]}: the files do not belong together"
        )
    return Case(id=name, items=items, questions=asked, lang="zh" if lang == "cn" else "en")


def _make_question(
    user: int, number: int, text: str, at: datetime, notes: _Annotations, history: str
) -> Question:
    gold = notes.gold.get((user, number))
    note = notes.answers.get(f"{user}:{number}")
    ours = note is not None and all(anchor in history for anchor in note.anchors)
    return Question(
        id=f"{user}:{number}",
        text=text,
        at=at,
        gold=gold or (),
        answerable=gold != (),
        answer=note.answer if note and ours else "",
        anchors=note.anchors if note and ours else (),
    )
