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
from thinkback_lab.cases import Item, Question
from thinkback_lab.errors import LabError
from thinkback_lab.schemes.scheme import Found, Kit, Knows, Remembers, Scheme


def guarded(scheme: Callable[[Kit], Any], named: str) -> Scheme:
    """The same scheme with its memories guarded; `named` as it was asked for."""

    def made(kit: Kit) -> Remembers | Knows:
        with _named(named, "cannot be made"):
            memory = scheme(kit)
        knowing = hasattr(memory, "recall_knowing")
        for method in ("tell", "recall_knowing" if knowing else "recall"):
            if not callable(getattr(memory, method, None)):
                raise LabError(f"{named}: {type(memory).__name__} has no method {method!r}")
        return _Knowing(memory, named) if knowing else _Remembering(memory, named)

    return made


@dataclass(slots=True)
class _Memory:
    memory: Any
    named: str
    told: set[str] = field(default_factory=set)

    @property
    def whole(self) -> bool:
        return bool(getattr(self.memory, "whole", False))

    def tell(self, items: Sequence[Item]) -> None:
        self.told.update(item.id for item in items)
        with _named(self.named, "tell failed"):
            self.memory.tell(items)

    def close(self) -> None:
        with _named(self.named, "close failed"):
            if close := getattr(self.memory, "close", None):
                close()

    def checked(self, k: int, recall: Callable[[], Any]) -> list[Found]:
        with _named(self.named, "recall failed"):
            given = recall()
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise LabError(f"{self.named}: recall gave {_shown(given)}: a list of Found is wanted")
        if len(given) > k and not self.whole:
            raise LabError(f"{self.named}: recall gave {len(given)} memories where {k} were asked for")
        return [self._found(each) for each in given]

    def _found(self, each: Any) -> Found:
        if not isinstance(each, Found) or not isinstance(each.text, str):
            raise LabError(f"{self.named}: recall gave {_shown(each)} among its memories: a Found is wanted")
        sources = each.sources
        if not isinstance(sources, tuple | list) or not all(isinstance(source, str) for source in sources):
            raise LabError(f"{self.named}: sources are a tuple of item ids, not {_shown(sources)}")
        if strange := [source for source in sources if source not in self.told]:
            raise LabError(f"{self.named}: the source {_shown(strange[0])} is no item that it was told")
        if not isinstance(each.score, SupportsFloat) or not isfinite(each.score):
            raise LabError(f"{self.named}: recall gave the score {each.score!r}: a finite number is wanted")
        return Found(each.text, tuple(sources), float(each.score))  # numpy's numbers are not JSON's


@dataclass(slots=True)
class _Remembering(_Memory):
    def recall(self, question: str, k: int, at: datetime) -> Sequence[Found]:
        return self.checked(k, lambda: self.memory.recall(question, k, at))


@dataclass(slots=True)
class _Knowing(_Memory):
    def recall_knowing(self, question: Question, k: int) -> Sequence[Found]:
        return self.checked(k, lambda: self.memory.recall_knowing(question, k))


@contextmanager
def _named(named: str, what: str) -> Iterator[None]:
    """Our own errors pass; any other says where in the stranger's code it came up."""
    try:
        yield
    except ThinkbackError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{last.filename}, line {last.lineno}"
        raise LabError(f"{named}: {what}: {type(error).__name__}: {error} ({where})") from error


def _shown(value: object) -> str:
    told = repr(value)
    return told if len(told) <= 80 else told[:80] + "…"
