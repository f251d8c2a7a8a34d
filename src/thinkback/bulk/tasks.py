"""What runs on the nodes of a cluster. Each process of a node keeps its models and its database open."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from thinkback.config import Settings, create_embedder, open_memory
from thinkback.errors import EmbedderMismatch, StoreError
from thinkback.indexing import EncodedTexts, encode_texts
from thinkback.types import IndexedTexts

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.protocols import Embedder

MAX_PROBLEMS = 20  # of one task that are reported


@dataclass(frozen=True, slots=True)
class EncodedBatches:
    """The results of several batches and the seconds they took."""

    batches: tuple[EncodedTexts, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkReport:
    """What one task of thinking did. `pending` turns are left in the space; None if that is unknown."""

    turns: int = 0
    failed: int = 0
    pending: int | None = None
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    problems: tuple[str, ...] = ()


def encode_batches(
    settings: Settings, embedder_name: str, batches: Sequence[Sequence[IndexedTexts]], terms: bool
) -> EncodedBatches:
    """Vectors and terms of several batches of texts. Depends on the texts and the embedder only."""
    embedder = _embedder(settings)
    if embedder.name != embedder_name:
        raise EmbedderMismatch(f"this node has embedder {embedder.name!r}, not {embedder_name!r}")
    started = time.perf_counter()
    encoded = tuple(encode_texts(embedder, texts, terms=terms) for texts in batches)
    return EncodedBatches(encoded, time.perf_counter() - started)


def think_space(settings: Settings, space: str, limit: int) -> ThinkReport:
    """Think about at most `limit` pending turns of a space.

    Turns are claimed with leases and applied in one transaction each, so running it twice changes nothing.
    """
    memory = _memory(settings).for_space(space)
    try:
        result = memory.post_think(limit=limit)
        pending = memory.store.pending(space)
    except StoreError as error:  # restarted or overloaded; the driver tries again
        return ThinkReport(problems=(f"{type(error).__name__}: {error}",))
    return ThinkReport(
        turns=result.turns,
        failed=result.failed,
        pending=pending,
        llm_calls=result.usage.llm_calls,
        prompt_tokens=result.usage.prompt_tokens,
        completion_tokens=result.usage.completion_tokens,
        problems=tuple(result.problems[:MAX_PROBLEMS]),
    )


@cache
def _embedder(settings: Settings) -> Embedder:
    return create_embedder(settings)


@cache
def _memory(settings: Settings) -> Memory:
    return open_memory(settings, background=False)
