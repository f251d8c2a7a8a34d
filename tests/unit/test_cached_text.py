"""No cache of this process keeps what a user said after the user was erased."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from tests.conftest import OpenMemory

from thinkback.language.proper_names import find_proper_names
from thinkback.language.restrictions import find_restriction
from thinkback.language.tokens import stem
from thinkback.server.views.topics import _content_words

SAID = "Yesterday Marguerite carried nineteen violet umbrellas through Tallinn."
PIECES = ("nineteen violet", "violet umbrellas", "carried nineteen")
MAX_DEPTH = 6


def cached_objects() -> Iterator[Any]:
    """Everything that the caches of functions refer to, by type or by closure."""
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper):
            yield from _reachable(each, MAX_DEPTH, set())
        elif isinstance(each, FunctionType) and hasattr(each, "__wrapped__"):
            for cell in each.__closure__ or ():
                if isinstance(cell.cell_contents, dict):
                    yield from _reachable(cell.cell_contents, MAX_DEPTH, set())


def _reachable(root: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    for each in gc.get_referents(root):
        if id(each) not in seen and not callable(each):
            seen.add(id(each))
            yield each
            if depth and not isinstance(each, (str, bytes, int)):
                yield from _reachable(each, depth - 1, seen)


def test_caches_keep_no_text_of_an_erased_user(open_memory: OpenMemory) -> None:
    memory = open_memory(":memory:")
    memory.remember(SAID, "Which colour did she like best?")
    memory.remember("Please forget that I carried nineteen violet umbrellas.", "Done.")
    memory.post_think()
    memory.recall("What did Marguerite carry?")
    memory.chat("Can Marguerite have violet umbrellas?")
    find_restriction(SAID)
    find_proper_names([SAID])
    _content_words(SAID)
    memory.erase(user="default")
    for question in range(10):  # the caches of queries keep the last few
        memory.recall(f"What is number {question}?")
    kept = [each for each in cached_objects() if isinstance(each, str) and any(p in each for p in PIECES)]
    assert kept == []


def test_erasing_clears_cached_words(open_memory: OpenMemory) -> None:
    memory = open_memory(":memory:")
    memory.remember("Brunhildegard keeps a quixotizing parrot.")
    memory.post_think()
    cached_stem: Any = stem
    stem("quixotizing")
    before = cached_stem.cache_info()
    stem("quixotizing")
    assert cached_stem.cache_info().hits == before.hits + 1
    memory.erase(turn=1)
    misses = cached_stem.cache_info().misses
    stem("quixotizing")
    assert cached_stem.cache_info().misses == misses + 1


def test_the_search_finds_what_a_cache_keeps() -> None:
    @functools.lru_cache(maxsize=8)
    def words(text: str) -> tuple[str, ...]:
        return tuple(text.split())

    words(SAID)
    assert SAID in [each for each in cached_objects() if isinstance(each, str)]
