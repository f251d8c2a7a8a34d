"""The cache of spaces: bounded memory, least recently used dropped first, safe between threads."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import index_entry

from thinkback.index.cache import EMPTY_SPACE_BYTES, CachedSpace, SpaceCache
from thinkback.types import Hashing, IndexDelta, ItemKind, SpaceKey, VersionStamp

MAX_UNITS = 10
UNIT = 100 * EMPTY_SPACE_BYTES


class Derived:
    """Derived data of a given size."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.deltas: list[IndexDelta] = []

    def invalidate(self, delta: IndexDelta) -> None:
        self.deltas.append(delta)


def key(name: object) -> SpaceKey:
    return "acme", str(name)


def put(cache: SpaceCache, name: object, units: int) -> CachedSpace:
    """Put a space of exactly this size into the cache."""
    space = cache.get(key(name))
    space.derived = None
    space.derived = Derived(units * UNIT - space.nbytes)
    cache.update_size(key(name), space)
    return space


def test_least_recently_used_space_is_dropped_first() -> None:
    cache = SpaceCache(MAX_UNITS * UNIT)
    spaces = {name: put(cache, name, 3) for name in "abc"}
    assert cache.get(key("a")) is spaces["a"]
    spaces["d"] = put(cache, "d", 4)
    assert [name for name in "acd" if cache.get(key(name)) is spaces[name]] == ["a", "c", "d"]
    assert cache.get(key("b")) is not spaces["b"]


def test_growing_space_displaces_others_but_not_itself() -> None:
    cache = SpaceCache(MAX_UNITS * UNIT)
    spaces = {name: put(cache, name, 3) for name in "abc"}
    put(cache, "a", 9)
    assert (len(cache), cache.nbytes) == (1, 9 * UNIT)
    assert cache.get(key("a")) is spaces["a"]
    put(cache, "a", 99)
    assert (len(cache), cache.get(key("a")) is spaces["a"]) == (1, True)
    assert cache.nbytes == MAX_UNITS * UNIT  # a space that is too large counts as the whole cache
    put(cache, "b", 1)
    assert (len(cache), cache.nbytes) == (1, UNIT)
    assert cache.get(key("a")) is not spaces["a"]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 12))))
def test_cache_behaves_like_a_list_in_order_of_use(steps: list[tuple[bool, int, int]]) -> None:
    cache = SpaceCache(MAX_UNITS * UNIT)
    model: list[tuple[int, int]] = []  # name and size in bytes, least recently used first

    def use(name: int, size: int) -> None:
        others = [entry for entry in model if entry[0] != name]
        model[:] = [*others, (name, min(size, MAX_UNITS * UNIT))]
        while sum(size for _, size in model) > MAX_UNITS * UNIT:
            model.pop(0)

    empty = CachedSpace().nbytes
    for grows, name, units in steps:
        known = dict(model)
        use(name, known.get(name, empty))
        if grows:
            put(cache, name, units)
            use(name, units * UNIT)
        else:
            cache.get(key(name))
        assert (len(cache), cache.nbytes) == (len(model), sum(size for _, size in model))


def test_concurrent_use_keeps_the_size_correct() -> None:
    cache = SpaceCache(MAX_UNITS * UNIT)

    def work(seed: int) -> None:
        for n in range(500):
            name = (n * seed) % 17
            put(cache, name, 1 + name % 3)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.nbytes <= MAX_UNITS * UNIT
    for name in range(17):
        cache.drop(key(name))
    assert (len(cache), cache.nbytes) == (0, 0)


def test_delta_invalidates_derived_data_and_a_new_epoch_drops_it() -> None:
    space = CachedSpace()
    derived = space.derived = Derived(0)
    delta = IndexDelta(VersionStamp(1, 1))
    space.apply(delta)
    assert (derived.deltas, space.stamp) == ([delta], delta.stamp)
    space.clear(None)
    assert space.derived is None


def filled(space: CachedSpace, count: int) -> CachedSpace:
    kinds: tuple[ItemKind, ...] = ("turn", "thought")
    new = tuple(index_entry(kind, n, f"{kind} {n}") for n in range(1, count + 1) for kind in kinds)
    space.index.apply(IndexDelta(VersionStamp(1, 1), entries=new))
    return space


def test_each_space_of_each_tenant_is_cached_separately() -> None:
    cache = SpaceCache()
    assert cache.get(("acme", "ann")) is cache.get(("acme", "ann"))
    assert cache.get(("acme", "ann")) is not cache.get(("umbra", "ann"))
    assert cache.get(("acme", "ann")) is not cache.get(("acme", "bob"))


def test_size_of_a_space_grows_with_its_content() -> None:
    empty, few, many = CachedSpace(), filled(CachedSpace(), 10), filled(CachedSpace(), 1000)
    vectors = 2 * 1000 * 16 * 4
    assert 0 < empty.nbytes < few.nbytes < many.nbytes
    assert many.nbytes > vectors
    before = many.nbytes
    matrix = np.zeros((16, 8), np.float32)
    many.hashing = Hashing(matrix, 1, False, 1, 1)
    assert many.nbytes >= before + matrix.nbytes


def test_unknown_users_do_not_fill_the_memory() -> None:
    cache = SpaceCache(10 * EMPTY_SPACE_BYTES)
    for n in range(1000):
        cache.get(("acme", f"stranger {n}"))
    assert len(cache) <= 10


def test_dropped_space_stays_usable_for_its_holder() -> None:
    cache = SpaceCache(filled(CachedSpace(), 100).nbytes * 5 // 2)
    held = [filled(cache.get(("", name)), 100) for name in "abc"]
    for name, space in zip("abc", held, strict=True):
        cache.update_size(("", name), space)
    assert len(cache) == 2
    assert cache.get(("", "b")) is held[1]
    assert cache.get(("", "c")) is held[2]
    assert cache.get(("", "a")) is not held[0]
    assert held[0].index.size("turn") == 100
    assert (
        held[0].index.vector_of("thought", 7).tolist()
        == index_entry("thought", 7, "thought 7").vector.tolist()
    )
