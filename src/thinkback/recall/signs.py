"""What the words of a memory tell of it, once it is read: whether it is of the kind that is asked for, and
whether it could hold the answer, by its form."""

from __future__ import annotations

from collections.abc import Callable

from thinkback.recall.kinds import kind_of_memory
from thinkback.recall.search import Question
from thinkback.text.questions.answers import answers
from thinkback.types import KINDS, Thought, Turn

Signs = dict[str, float]  # by the names of their weights


def signs(question: Question) -> Callable[[Thought | Turn], Signs]:
    """How much likelier than by chance a memory's kind is asked for, and 1 if it may hold the answer."""
    kinds, holds = question.kinds, answers(question.text)

    def told(memory: Thought | Turn) -> Signs:
        found: Signs = {}
        if kinds and (kind := kind_of_memory(memory)):
            found["kind"] = kinds[kind] - 1 / len(KINDS)
        if holds is not None and holds(memory.text if isinstance(memory, Turn) else memory.sentence):
            found["answers"] = 1.0
        return found

    return told


def in_words(found: Signs) -> str:
    told = []
    if "kind" in found:
        told.append("of the kind asked for" if found["kind"] > 0 else "of another kind than asked for")
    if "answers" in found:
        told.append("has the form of an answer")
    return ", ".join(told)
