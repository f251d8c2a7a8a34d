"""Wrapper for third-party memory systems: checks what they return, and names them in errors.

An unnoticed wrong result would be a wrong figure; for example, a source must be an item that was stored.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Any, SupportsFloat

from thinkback import ThinkbackError
from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.errors import LabError
from thinkback_lab.systems.interface import (
    MemorySystem,
    OracleSystem,
    Resources,
    RetrievedMemory,
    SystemFactory,
)


def check_system(scheme: Callable[[Resources], Any], named: str) -> SystemFactory:
    """Wrap a system factory so that its memories are checked; `named` is the spec used in errors."""

    def made(kit: Resources) -> MemorySystem | OracleSystem:
        with _named_errors(named, "cannot be made"):
            memory = scheme(kit)
        knowing = hasattr(memory, "recall_with_gold")
        for method in ("add_items", "recall_with_gold" if knowing else "recall"):
            if not callable(getattr(memory, method, None)):
                raise LabError(f"{named}: {type(memory).__name__} has no method {method!r}")
        return _CheckedOracle(memory, named) if knowing else _CheckedSystem(memory, named)

    return made


@dataclass(slots=True)
class _CheckedMemory:
    memory: Any
    named: str
    told: set[str] = field(default_factory=set)

    @property
    def returns_everything(self) -> bool:
        return bool(getattr(self.memory, "returns_everything", False))

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.told.update(item.id for item in items)
        with _named_errors(self.named, "add_items failed"):
            self.memory.add_items(items)

    def close(self) -> None:
        with _named_errors(self.named, "close failed"):
            if close := getattr(self.memory, "close", None):
                close()

    def checked(self, k: int, recall: Callable[[], Any]) -> list[RetrievedMemory]:
        with _named_errors(self.named, "recall failed"):
            result = recall()
        if not isinstance(result, Sequence) or isinstance(result, str):
            raise LabError(
                f"{self.named}: recall returned {_short_repr(result)}: expected a list of RetrievedMemory"
            )
        if len(result) > k and not self.returns_everything:
            raise LabError(f"{self.named}: recall returned {len(result)} memories where {k} were requested")
        return [self._found(each) for each in result]

    def _found(self, memory: Any) -> RetrievedMemory:
        if not isinstance(memory, RetrievedMemory) or not isinstance(memory.text, str):
            raise LabError(
                f"{self.named}: recall returned {_short_repr(memory)} in its list: expected a RetrievedMemory"
            )
        sources = memory.sources
        if not isinstance(sources, tuple | list) or not all(isinstance(source, str) for source in sources):
            raise LabError(f"{self.named}: sources must be a tuple of item ids, not {_short_repr(sources)}")
        if unknown := [source for source in sources if source not in self.told]:
            raise LabError(
                f"{self.named}: the source {_short_repr(unknown[0])} is not the id of a stored item"
            )
        if not isinstance(memory.score, SupportsFloat) or not isfinite(memory.score):
            raise LabError(
                f"{self.named}: recall returned the score {memory.score!r}: expected a finite number"
            )
        return RetrievedMemory(
            memory.text, tuple(sources), float(memory.score)
        )  # numpy numbers cannot be written as JSON


@dataclass(slots=True)
class _CheckedSystem(_CheckedMemory):
    def recall(self, question: str, k: int, at: datetime) -> Sequence[RetrievedMemory]:
        return self.checked(k, lambda: self.memory.recall(question, k, at))


@dataclass(slots=True)
class _CheckedOracle(_CheckedMemory):
    def recall_with_gold(self, question: Question, k: int) -> Sequence[RetrievedMemory]:
        return self.checked(k, lambda: self.memory.recall_with_gold(question, k))


@contextmanager
def _named_errors(named: str, what: str) -> Iterator[None]:
    """Convert foreign exceptions to LabErrors with the place in the foreign code."""
    try:
        yield
    except ThinkbackError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}, line {last.lineno}"
        raise LabError(f"{named}: {what}: {type(error).__name__}: {error} ({where})") from error


def _short_repr(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
