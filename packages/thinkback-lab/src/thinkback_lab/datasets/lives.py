"""lives: long natural conversations of one user with an assistant, with exact gold facts and questions.

A file has one life per line, as JSON, plain or gzipped:

  {"id", "lang", "style", "people": [{"name", "is", "also"}],
   "turns": [{"n", "session", "at", "user", "assistant", "ends", "forget",
              "facts": [{"id", "about", "relation", "value", "text", "kind", "quote", "from", "to",
                         "replaces"}]}],
   "questions": [{"q", "at", "answer", "accept", "reject", "evidence", "facts", "kind"}]}

`replaces`, `ends` and `forget` name facts of earlier turns that no longer hold; `quote` is an exact substring
of the turn. A right answer contains one alternative of every `accept` group and no `reject` value. Questions
of kind `absent` ask for something that was never said. A question may be asked between two turns.

Times are local and have no zone; they are read as UTC. Unknown fields are ignored, but every field that is
scored is required, so that a misspelt `reject` is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from thinkback_lab.cases import Kind
from thinkback_lab.datasets.loading import data_folder, read_json_lines, require_file
from thinkback_lab.errors import DatasetNotFound, LabError

LifeLanguage = Literal["en", "zh", "mix"]
QuestionKind = Literal["single", "multi", "list", "temporal", "update", "past", "who", "preference", "absent"]
LANGUAGES: tuple[LifeLanguage, ...] = ("en", "zh", "mix")
QUESTION_KINDS: tuple[QuestionKind, ...] = (
    "single", "multi", "list", "temporal", "update", "past", "who", "preference", "absent",
)  # fmt: skip
FactStatus = Literal["valid", "replaced", "ended", "forgotten"]
SPLITS = ("dev", "train")
ORIGIN = (
    "lives was written for this project: dev.jsonl.gz and train.jsonl.gz in the folder lives/ of its data"
)
_FILE_ENDINGS = (".jsonl", ".jsonl.gz")


def _to_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
PartialDate = Annotated[str, StringConstraints(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")]
UtcDatetime = Annotated[datetime, AfterValidator(_to_utc)]


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)


class Person(_FrozenModel):
    """Somebody the user talks about, with other mentions of the same person."""

    name: NonEmptyStr
    description: str = Field(validation_alias="is")
    also: tuple[str, ...] = ()


class GoldFact(_FrozenModel):
    """One fact that a turn states; `quote` is where it states it, `text` says it in one whole sentence."""

    id: NonEmptyStr
    about: NonEmptyStr
    relation: NonEmptyStr
    value: NonEmptyStr
    text: NonEmptyStr
    kind: Kind
    quote: NonEmptyStr
    valid_from: PartialDate | None = Field(validation_alias="from")
    valid_to: PartialDate | None = Field(validation_alias="to")
    replaces: tuple[str, ...]


class LifeTurn(_FrozenModel):
    """One exchange, with the facts it states and the ids of earlier facts it ends or asks to forget."""

    n: int
    session: NonEmptyStr
    at: UtcDatetime
    user: NonEmptyStr
    assistant: str
    facts: tuple[GoldFact, ...]
    ends: tuple[str, ...]
    forget: tuple[str, ...]


class LifeQuestion(_FrozenModel):
    """A question with its time, accepted and rejected values, and the turns that contain the answer."""

    q: NonEmptyStr
    at: UtcDatetime
    answer: str
    accept: tuple[Annotated[tuple[NonEmptyStr, ...], Field(min_length=1)], ...]
    reject: tuple[NonEmptyStr, ...]
    evidence: tuple[int, ...]
    facts: tuple[str, ...]
    kind: QuestionKind

    @property
    def answerable(self) -> bool:
        return self.kind != "absent"

    @model_validator(mode="after")
    def _has_gold(self) -> LifeQuestion:
        if self.answerable and not (self.accept and self.evidence):
            raise ValueError("a question that is not absent needs accept and evidence")
        return self


class Life(_FrozenModel):
    """The conversations of one user, in order, and the questions about them."""

    id: NonEmptyStr
    lang: LifeLanguage
    style: str = ""
    people: tuple[Person, ...] = ()
    turns: Annotated[tuple[LifeTurn, ...], Field(min_length=1)]
    questions: tuple[LifeQuestion, ...]

    @property
    def fact_statuses(self) -> dict[str, FactStatus]:
        """What became of each fact by the end of the life, in the order in which the facts were stated."""
        statuses: dict[str, FactStatus] = {fact.id: "valid" for turn in self.turns for fact in turn.facts}
        for turn in self.turns:
            statuses |= dict.fromkeys((id_ for fact in turn.facts for id_ in fact.replaces), "replaced")
            statuses |= dict.fromkeys(turn.ends, "ended")
            statuses |= dict.fromkeys(turn.forget, "forgotten")
        return statuses

    @model_validator(mode="after")
    def _is_consistent(self) -> Life:
        if fault := next(self._faults(), None):
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        known: set[str] = set()
        for number, turn in enumerate(self.turns, start=1):
            if turn.n != number:
                yield f"turn {number} has n={turn.n}: turns must be numbered from 1"
            if number > 1 and turn.at <= self.turns[number - 2].at:
                yield f"turn {number} is not later than the turn before"
            for position, fact in enumerate(turn.facts):
                if fact.id in known or any(fact.id == other.id for other in turn.facts[:position]):
                    yield f"turn {number}: duplicate fact {fact.id}"
                if fact.quote not in turn.user and fact.quote not in turn.assistant:
                    yield f"turn {number}: the quote of {fact.id} is not in the turn: {fact.quote!r}"
                if unknown := sorted(set(fact.replaces) - known):
                    yield f"turn {number}: {fact.id} replaces {unknown[0]}, which no earlier turn states"
            known |= {fact.id for fact in turn.facts}
            if unknown := sorted({*turn.ends, *turn.forget} - known):
                yield f"turn {number}: ends or forget names the unknown fact {unknown[0]}"
        for question in self.questions:
            if wrong := [n for n in question.evidence if not 1 <= n <= len(self.turns)]:
                yield f"question {question.q!r}: evidence names turn {wrong[0]}, which does not exist"
            if unknown := sorted(set(question.facts) - known):
                yield f"question {question.q!r} names the unknown fact {unknown[0]}"


_LIFE = TypeAdapter(Life)


def load_lives(folder: Path | None, split: str = "dev", lang: LifeLanguage | None = None) -> list[Life]:
    """Load the lives of a split (`dev`, `train`) of the data folder, or of a file named by `split`.

    Raises:
        DatasetNotFound: there is no such file; the message says where the data comes from.
        LabError: a line is not a valid life, or no life has the language.
    """
    path = _find_file(folder, split)
    lives: dict[str, Life] = {}
    for where, life in read_json_lines(path, _LIFE, "a life"):
        if life.id in lives:
            raise LabError(f"{where}: duplicate id {life.id!r}")
        lives[life.id] = life
    if not lives:
        raise LabError(f"{path} contains no life: each line must be a JSON object")
    selected = [life for life in lives.values() if lang in (None, life.lang)]
    if not selected:
        raise LabError(f"{path} has no life in {lang!r}")
    return selected


def _find_file(folder: Path | None, split: str) -> Path:
    if split in SPLITS:
        names = (f"lives/{split}.jsonl", f"{split}.jsonl")
        return require_file(data_folder(folder, ORIGIN), names, ORIGIN)
    if not split.endswith(_FILE_ENDINGS):
        raise LabError(
            f"unknown split {split!r}: choose dev, train, or a file that ends with .jsonl or .jsonl.gz"
        )
    path = Path(split)
    if not path.is_file():
        raise DatasetNotFound(f"{path}: no such file. {ORIGIN}")
    return path
