"""What the words of a memory tell of it, once it is read: whether it is of the kind that is asked for, and
whether it could hold the answer, by its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from thinkback.recall.search import Question, Reading
from thinkback.text.kind_of import kind_of
from thinkback.text.questions.answers import answers
from thinkback.types import KINDS, Kind, Thought, Turn


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """What is told of many memories alike: one object for all of them, so that it is weighed once."""

    told: Mapping[str, float]  # by the names of their weights
    words: str


def signs(question: Question, reading: Reading) -> Callable[[Thought | Turn], Signs]:
    """How much likelier than by chance a memory's kind is asked for, and 1 if it may hold the answer."""
    kinds, holds = question.kinds, answers(question.text)
    known: dict[tuple[Kind | None, bool], Signs] = {}

    def made(kind: Kind | None, answering: bool) -> Signs:
        if (kind, answering) in known:
            return known[kind, answering]
        found = {}
        if kinds and kind:
            found["kind"] = kinds[kind] - 1 / len(KINDS)
        if answering:
            found["answers"] = 1.0
        known[kind, answering] = Signs(found, _in_words(found))
        return known[kind, answering]

    def told(memory: Thought | Turn) -> Signs:
        if isinstance(memory, Thought):
            return made(memory.kind, holds is not None and reading(holds, memory.sentence))
        kind = reading(kind_of, memory.query) if kinds and not memory.response else None
        return made(kind, holds is not None and reading(holds, memory.text))

    return told


def _in_words(found: Mapping[str, float]) -> str:
    told = []
    if "kind" in found:
        told.append("of the kind asked for" if found["kind"] > 0 else "of another kind than asked for")
    if "answers" in found:
        told.append("has the form of an answer")
    return ", ".join(told)
