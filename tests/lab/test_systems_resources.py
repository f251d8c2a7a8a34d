"""Shared embedder: each text is embedded once, and failures are not cached."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest

from thinkback_lab.harness import Setup
from thinkback_lab.systems.resources import CachingEmbedder, load_resources

if TYPE_CHECKING:
    import numpy.typing as npt


class Counting:
    """Rows of the texts' lengths; keeps each batch it was given, and fails on "bad" while told to."""

    name = "counting"
    dim = 2

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.failing = True
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        with self._lock:
            self.batches.append(list(texts))
        sleep(0.01)
        if self.failing and "bad" in texts:
            raise ValueError("bad")
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_new_texts_are_one_batch_and_known_ones_cached() -> None:
    inner = Counting()
    cache = CachingEmbedder(inner)
    assert cache.embed(["a", "bbb", "a"])[:, 0].tolist() == [1, 3, 1]
    assert cache.embed(["bbb", "cc"])[:, 0].tolist() == [3, 2]
    assert inner.batches == [["a", "bbb"], ["cc"]]
    assert (cache.name, cache.dim) == ("counting", 2)
    assert cache.embed([]).shape == (0, 2)


def test_returned_rows_are_copies() -> None:
    cache = CachingEmbedder(Counting())
    cache.embed(["a"])[:] = 9
    assert cache.embed(["a"]).tolist() == [[1, 1]]


def test_threads_share_the_work() -> None:
    inner = Counting()
    cache = CachingEmbedder(inner)
    start = Barrier(8)

    def work(number: int) -> list[float]:
        start.wait()
        column: list[float] = cache.embed(["x" * length for length in range(1, 20 + number)])[:, 0].tolist()
        return column

    with ThreadPoolExecutor(8) as pool:
        for number, row in enumerate(pool.map(work, range(8))):
            assert row == list(range(1, 20 + number))
    seen = [text for batch in inner.batches for text in batch]
    assert len(seen) == len(set(seen)) == 26


def test_failure_is_raised_and_retried() -> None:
    inner = Counting()
    cache = CachingEmbedder(inner)
    with pytest.raises(ValueError, match="bad"):
        cache.embed(["good", "bad"])
    inner.failing = False
    assert cache.embed(["bad", "good"])[:, 0].tolist() == [3, 4]


def test_resources_have_embedder_of_setup() -> None:
    tools = load_resources(Setup(embedder="hashing"))
    assert (tools.embedder.name, tools.llm) == ("hashing-256", None)
    (one, other) = tools.embedder.embed(["tea", "green tea"])
    assert one @ one == pytest.approx(1.0, abs=1e-6)
    assert 0 < one @ other < 1
