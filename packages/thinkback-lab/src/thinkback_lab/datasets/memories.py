"""memories: a few messages of one user, with questions that they answer and questions that they do not.

A file has one JSON object per line, plain or gzipped:

  {"lang", "messages": [{"at", "text"}], "questions": [{"q", "answered_by": [0, 3]}], "outdated": [[0, 3]]}

Messages are numbered from 0, the oldest first. A question with an empty `answered_by` was never answered
("absent"); `outdated` lists the pairs (older, newer) in which the newer message makes the older one outdated.

Further questions about a life (`datasets/lives.py`) have the same form, and name the turns of the life:

  {"life", "questions": [{"q", "answered_by": [12, 30]}]}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from thinkback_lab.files import read_models

NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)


class Message(_FrozenModel):
    at: str
    text: NonEmptyStr


class MemoryQuestion(_FrozenModel):
    """A question and the messages that answer it; none if it is absent."""

    q: NonEmptyStr
    answered_by: tuple[int, ...]


class LifeQuestions(_FrozenModel):
    """Questions about the life with the id `life`; the turns that answer them are counted from 1."""

    life: NonEmptyStr
    questions: tuple[MemoryQuestion, ...]


class ToldMemory(_FrozenModel):
    """What one user told, in order."""

    lang: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    questions: tuple[MemoryQuestion, ...]
    outdated: tuple[tuple[int, int], ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(message.text for message in self.messages)

    @property
    def labelled_pairs(self) -> list[tuple[str, str, bool]]:
        """Every message with every later one: (older, newer, whether the older one is outdated by it)."""
        texts, outdated = self.texts, set(self.outdated)
        return [
            (texts[old], texts[new], (old, new) in outdated)
            for old in range(len(texts))
            for new in range(old + 1, len(texts))
        ]

    @model_validator(mode="after")
    def _numbers_are_valid(self) -> ToldMemory:
        count = len(self.messages)
        for question in self.questions:
            if wrong := [number for number in question.answered_by if not 0 <= number < count]:
                raise ValueError(f"{question.q!r} is answered by message {wrong[0]}, which does not exist")
        if wrong_pairs := [pair for pair in self.outdated if not 0 <= pair[0] < pair[1] < count]:
            raise ValueError(
                f"outdated {list(wrong_pairs[0])}: must be the numbers of an older and a newer message"
            )
        return self


def read_memories(paths: Iterable[Path]) -> list[ToldMemory]:
    """Read all memories of files and folders, in order.

    Raises:
        LabError: a line is not a valid memory, or there is none.
    """
    return read_models(paths, ToldMemory, "memory")
