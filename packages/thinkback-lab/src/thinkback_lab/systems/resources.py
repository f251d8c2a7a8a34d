"""Shared resources of a run: models loaded once, and an embedder that embeds each text once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING

from thinkback import Embedder, Memory
from thinkback_lab.harness import IN_MEMORY, Setup
from thinkback_lab.llms import resolve_llm
from thinkback_lab.systems.interface import Resources, TypeClassifier

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Row = npt.NDArray[np.float32]

_WARM_UP_TEXT = "I warm up. 我在热身。"


class CachingEmbedder:
    """Caches all vectors of another embedder; unbounded, because the texts of one run fit into memory.

    New texts of a call are embedded as one batch. Thread-safe: a text that another thread is embedding is
    waited for.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = Lock()
        self._rows: dict[str, Future[Row]] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        with self._lock:
            new: dict[str, Future[Row]] = {text: Future() for text in texts if text not in self._rows}
            self._rows.update(new)
            rows = [self._rows[text] for text in texts]
        if new:
            self._fill(new)
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        for position, row in enumerate(rows):
            out[position] = row.result()
        return out

    def _fill(self, new: dict[str, Future[Row]]) -> None:
        try:
            vectors = self._embedder.embed(list(new))
        except BaseException as error:
            with self._lock:
                for text, row in new.items():
                    del self._rows[text]  # the next caller tries again
                    row.set_exception(error)
            raise
        for row, vector in zip(new.values(), vectors, strict=True):
            row.set_result(vector)


def load_resources(setup: Setup, classifier: TypeClassifier | None = None) -> Resources:
    """Load the models that the systems of a run share."""
    memory = Memory.open(IN_MEMORY, llm=resolve_llm(setup.llm), embedder=setup.embedder, background=False)
    memory.store.close()  # close the store only: `memory.close()` would also close the shared models
    shared = CachingEmbedder(memory.embedder)
    shared.embed([_WARM_UP_TEXT])
    return Resources(shared, memory.llm, setup, classifier)
