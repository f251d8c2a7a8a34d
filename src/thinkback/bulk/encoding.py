"""`ClusterEncoder`: computes vectors and search terms on the nodes; this process reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from thinkback.bulk.cluster import Cluster
from thinkback.bulk.tasks import encode_batches
from thinkback.config import Settings
from thinkback.indexing import EncodedTexts
from thinkback.types import IndexedTexts

PAGE_SIZE = 32_768  # texts read from the database at once
TASK_SECONDS = 0.5  # a task gets as many texts as the embedder encodes in this time
FIRST_TASK_TEXTS = 128
MAX_TASK_TEXTS = 4096


class ClusterEncoder:
    """A `TextEncoder` on a cluster.

    `embedder` is the specification of an embedder (not `auto`), `name` the name that the database records.
    """

    page_size = PAGE_SIZE

    def __init__(self, cluster: Cluster, settings: Settings, *, embedder: str, name: str) -> None:
        self._cluster = cluster
        # The nodes need no database.
        self._settings = replace(settings, db="", embedder=embedder, origins={})
        self._name = name
        self._task_texts = FIRST_TASK_TEXTS

    def encode(
        self, batches: Sequence[Sequence[IndexedTexts]], *, terms: bool = True
    ) -> Iterator[EncodedTexts]:
        for done in self._cluster.map(encode_batches, self._calls(batches, terms)):
            yield from done.batches
            texts = sum(len(batch.vectors) for batch in done.batches)
            measured = int(texts * TASK_SECONDS / max(done.seconds, 1e-6))
            self._task_texts = max(1, min((self._task_texts + measured) // 2, MAX_TASK_TEXTS))

    def _calls(self, batches: Sequence[Sequence[IndexedTexts]], terms: bool) -> Iterator[Sequence[object]]:
        """The arguments of each task: successive batches with about `_task_texts` texts."""
        group: list[Sequence[IndexedTexts]] = []
        size = 0
        for texts in batches:
            if group and size + len(texts) > self._task_texts:
                yield self._settings, self._name, group, terms
                group, size = [], 0
            group.append(texts)
            size += len(texts)
        if group:
            yield self._settings, self._name, group, terms
