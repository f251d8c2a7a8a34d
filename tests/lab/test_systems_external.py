"""Third-party memory systems: faults are reported in one line, valid results pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.errors import LabError
from thinkback_lab.harness import Setup
from thinkback_lab.systems.external import check_system
from thinkback_lab.systems.interface import Resources, RetrievedMemory
from thinkback_lab.systems.resources import load_resources

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TEA = HistoryItem(id="tea", query="I drink tea", at=NOON)
KIT = load_resources(Setup(embedder="hashing"))


class Gives:
    """A memory that gives what it is made with."""

    def __init__(self, given: Callable[[], Any], whole: bool = False) -> None:
        self.given, self.returns_everything = given, whole

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.told = items

    def recall(self, question: str, k: int, at: datetime) -> Any:
        return self.given()


def recalled(given: Callable[[], Any], k: int = 2, *, whole: bool = False) -> Sequence[RetrievedMemory]:
    memory = check_system(lambda _: Gives(given, whole), "mine.py:Mine")(KIT)
    memory.add_items([TEA])
    assert hasattr(memory, "recall")
    given_back: Sequence[RetrievedMemory] = memory.recall("tea?", k, NOON)
    return given_back


def test_valid_result_passes_with_plain_numbers() -> None:
    (plain,) = recalled(lambda: found("tea", ["tea"], np.float32(0.5)))
    assert plain == RetrievedMemory("tea", ("tea",), 0.5)
    assert type(plain.score) is float
    assert len(recalled(lambda: [RetrievedMemory("tea", ())] * 9, 2, whole=True)) == 9


def found(text: Any, sources: Any, score: Any = 0.0) -> list[RetrievedMemory]:
    """Any values in a Found, as an untyped file may put them there."""
    return [RetrievedMemory(text, sources, score)]


def fails() -> list[RetrievedMemory]:
    raise KeyError("tea")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (fails, r"recall failed: KeyError: 'tea' \(.*test_systems_external\.py, line \d+\)"),
        (lambda: None, "recall returned None: expected a list of RetrievedMemory"),
        (lambda: "tea", "recall returned 'tea': expected a list"),
        (lambda: ["tea"], "recall returned 'tea' in its list"),
        (lambda: [RetrievedMemory("tea", ())] * 3, "3 memories where 2 were requested"),
        (lambda: found("tea", "tea"), "sources must be a tuple of item ids, not 'tea'"),
        (lambda: found("tea", (1,)), "sources must be a tuple of item ids"),
        (lambda: found("tea", ("coffee",)), "'coffee' is not the id of a stored item"),
        (lambda: found("tea", (), float("nan")), "score nan"),
        (lambda: found("tea", (), "high"), "score 'high'"),
        (lambda: found(7, ()), "expected a RetrievedMemory"),
    ],
)
def test_invalid_result_is_reported_with_scheme(given: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(LabError, match=f"^mine.py:Mine: .*{complaint}"):
        recalled(given)


def test_factory_without_memory_is_rejected() -> None:
    def broken(_: Resources) -> Gives:
        raise OSError("no")

    with pytest.raises(LabError, match=r"mine: cannot be made: OSError: no"):
        check_system(broken, "mine")(KIT)
    with pytest.raises(LabError, match="mine: object has no method 'add_items'"):
        check_system(lambda _: object(), "mine")(KIT)


def test_oracle_system_is_checked_too() -> None:
    class Knowing:
        def add_items(self, items: Sequence[HistoryItem]) -> None: ...

        def recall_with_gold(self, question: Question, k: int) -> list[RetrievedMemory]:
            return [RetrievedMemory("gold", question.gold)]

        def close(self) -> None:
            raise ValueError("shut")

    memory = check_system(lambda _: Knowing(), "mine")(KIT)
    memory.add_items([TEA])
    assert hasattr(memory, "recall_with_gold")
    assert not hasattr(memory, "recall")
    (gold,) = memory.recall_with_gold(Question(id="1", text="?", at=NOON, gold=("tea",)), 1)
    assert gold.sources == ("tea",)
    with pytest.raises(LabError, match="close failed: ValueError: shut"):
        memory.close()  # type: ignore[attr-defined]
