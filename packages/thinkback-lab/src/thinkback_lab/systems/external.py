"""Somebody else's memory, held to the interface: what it raises or returns wrongly is one line that names it.

A wrong answer that goes unnoticed is a wrong figure: an item that was never told can be nobody's source.
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
    """The same scheme with its memories guarded; `named` as it was asked for."""

    def made(kit: Resources) -> MemorySystem | OracleSystem:
        with _named_errors(named, "cannot be made"):
            memory = scheme(kit)
        knowing = hasattr(memory, "recall_knowing")
        for method in ("tell", "recall_knowing" if knowing else "recall"):
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
    def whole(self) -> bool:
        return bool(getattr(self.memory, "whole", False))

    def tell(self, items: Sequence[HistoryItem]) -> None:
        self.told.update(item.id for item in items)
        with _named_errors(self.named, "tell failed"):
            self.memory.tell(items)

    def close(self) -> None:
        with _named_errors(self.named, "close failed"):
            if close := getattr(self.memory, "close", None):
                close()

    def checked(self, k: int, recall: Callable[[], Any]) -> list[RetrievedMemory]:
        with _named_errors(self.named, "recall failed"):
            given = recall()
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise LabError(f"{self.named}: recall gave {_short_repr(given)}: a list of Found is wanted")
        if len(given) > k and not self.whole:
            raise LabError(f"{self.named}: recall gave {len(given)} memories where {k} were asked for")
        return [self._found(each) for each in given]

    def _found(self, each: Any) -> RetrievedMemory:
        if not isinstance(each, RetrievedMemory) or not isinstance(each.text, str):
            raise LabError(
                f"{self.named}: recall gave {_short_repr(each)} among its memories: a Found is wanted"
            )
        sources = each.sources
        if not isinstance(sources, tuple | list) or not all(isinstance(source, str) for source in sources):
            raise LabError(f"{self.named}: sources are a tuple of item ids, not {_short_repr(sources)}")
        if strange := [source for source in sources if source not in self.told]:
            raise LabError(f"{self.named}: the source {_short_repr(strange[0])} is no item that it was told")
        if not isinstance(each.score, SupportsFloat) or not isfinite(each.score):
            raise LabError(f"{self.named}: recall gave the score {each.score!r}: a finite number is wanted")
        return RetrievedMemory(each.text, tuple(sources), float(each.score))  # numpy's numbers are not JSON's


@dataclass(slots=True)
class _CheckedSystem(_CheckedMemory):
    def recall(self, question: str, k: int, at: datetime) -> Sequence[RetrievedMemory]:
        return self.checked(k, lambda: self.memory.recall(question, k, at))


@dataclass(slots=True)
class _CheckedOracle(_CheckedMemory):
    def recall_knowing(self, question: Question, k: int) -> Sequence[RetrievedMemory]:
        return self.checked(k, lambda: self.memory.recall_knowing(question, k))


@contextmanager
def _named_errors(named: str, what: str) -> Iterator[None]:
    """Our own errors pass; any other says where in the stranger's code it came up."""
    try:
        yield
    except ThinkbackError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}, line {last.lineno}"
        raise LabError(f"{named}: {what}: {type(error).__name__}: {error} ({where})") from error


def _short_repr(value: object) -> str:
    told = repr(value)
    return told if len(told) <= 80 else told[:80] + "…"
