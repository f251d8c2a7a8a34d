"""Somebody else's memory: what it does wrongly is told in one line, what it does right goes through."""

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
        self.given, self.whole = given, whole

    def tell(self, items: Sequence[HistoryItem]) -> None:
        self.told = items

    def recall(self, question: str, k: int, at: datetime) -> Any:
        return self.given()


def recalled(given: Callable[[], Any], k: int = 2, *, whole: bool = False) -> Sequence[RetrievedMemory]:
    memory = check_system(lambda _: Gives(given, whole), "mine.py:Mine")(KIT)
    memory.tell([TEA])
    assert hasattr(memory, "recall")
    given_back: Sequence[RetrievedMemory] = memory.recall("tea?", k, NOON)
    return given_back


def test_what_is_right_goes_through_in_plain_numbers() -> None:
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
        (fails, r"recall failed: KeyError: 'tea' \(.*test_guarded\.py, line \d+\)"),
        (lambda: None, "recall gave None: a list of Found"),
        (lambda: "tea", "recall gave 'tea': a list of Found"),
        (lambda: ["tea"], "recall gave 'tea' among its memories"),
        (lambda: [RetrievedMemory("tea", ())] * 3, "3 memories where 2 were asked for"),
        (lambda: found("tea", "tea"), "sources are a tuple of item ids, not 'tea'"),
        (lambda: found("tea", (1,)), "sources are a tuple of item ids"),
        (lambda: found("tea", ("coffee",)), "'coffee' is no item that it was told"),
        (lambda: found("tea", (), float("nan")), "score nan"),
        (lambda: found("tea", (), "high"), "score 'high'"),
        (lambda: found(7, ()), "a Found is wanted"),
    ],
)
def test_what_is_wrong_is_named_with_its_scheme(given: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(LabError, match=f"^mine.py:Mine: .*{complaint}"):
        recalled(given)


def test_a_scheme_that_makes_no_memory() -> None:
    def broken(_: Resources) -> Gives:
        raise OSError("no")

    with pytest.raises(LabError, match=r"mine: cannot be made: OSError: no"):
        check_system(broken, "mine")(KIT)
    with pytest.raises(LabError, match="mine: object has no method 'tell'"):
        check_system(lambda _: object(), "mine")(KIT)


def test_one_that_is_told_the_gold_is_guarded_alike() -> None:
    class Knowing:
        def tell(self, items: Sequence[HistoryItem]) -> None: ...

        def recall_knowing(self, question: Question, k: int) -> list[RetrievedMemory]:
            return [RetrievedMemory("gold", question.gold)]

        def close(self) -> None:
            raise ValueError("shut")

    memory = check_system(lambda _: Knowing(), "mine")(KIT)
    memory.tell([TEA])
    assert hasattr(memory, "recall_knowing")
    assert not hasattr(memory, "recall")
    (gold,) = memory.recall_knowing(Question(id="1", text="?", at=NOON, gold=("tea",)), 1)
    assert gold.sources == ("tea",)
    with pytest.raises(LabError, match="close failed: ValueError: shut"):
        memory.close()  # type: ignore[attr-defined]
