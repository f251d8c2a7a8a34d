"""The cache: never heavier than it may be, least recently used goes first, safe between threads."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import index_entry

from thinkback.index.cache import EMPTY_SPACE_BYTES, CachedSpace, LruCache, SpaceCache
from thinkback.types import Hashing, IndexDelta, ItemKind, VersionStamp

MOST = 10


def test_what_was_used_least_recently_goes_first() -> None:
    kept = LruCache[str, str](MOST)
    for name in "abc":
        kept.put(name, name.upper(), 3)
    assert kept.get("a") == "A"
    kept.put("d", "D", 4)
    assert [kept.get(name) for name in "abcd"] == ["A", None, "C", "D"]


def test_what_grows_pushes_others_out_but_not_itself() -> None:
    kept = LruCache[str, str](MOST)
    for name in "abc":
        kept.put(name, name, 3)
    kept.put("a", "a, grown", 9)
    assert [kept.get(name) for name in "abc"] == ["a, grown", None, None]
    kept.put("a", "a, huge", 99)
    assert (len(kept), kept.weight, kept.get("a")) == (1, 99, "a, huge")
    kept.put("b", "b", 1)
    assert (len(kept), kept.weight, kept.get("a")) == (1, 1, None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 12))))
def test_it_is_what_a_list_in_order_of_use_would_be(steps: list[tuple[bool, int, int]]) -> None:
    kept = LruCache[int, int](MOST)
    model: list[tuple[int, int]] = []  # key and weight, least recently used first
    for put, key, weight in steps:
        known = dict(model)
        if put:
            kept.put(key, weight, weight)
            model = [*(each for each in model if each[0] != key), (key, weight)]
            while sum(each[1] for each in model) > MOST and len(model) > 1:
                model.pop(0)
        else:
            assert kept.get(key) == known.get(key)
            if key in known:
                model = [*(each for each in model if each[0] != key), (key, known[key])]
        assert (len(kept), kept.weight) == (len(model), sum(weight for _, weight in model))


def test_many_threads_lose_no_count() -> None:
    kept = LruCache[int, int](MOST)

    def work(seed: int) -> None:
        for n in range(2000):
            key = (n * seed) % 17
            kept.put(key, key, 1 + key % 3)
            assert kept.get(key) in (key, None)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [key for key in range(17) if kept.get(key) is not None]
    assert kept.weight == sum(1 + key % 3 for key in held) <= MOST


def filled(view: CachedSpace, count: int) -> CachedSpace:
    kinds: tuple[ItemKind, ...] = ("turn", "thought")
    new = tuple(index_entry(kind, n, f"{kind} {n}") for n in range(1, count + 1) for kind in kinds)
    view.index.apply(IndexDelta(VersionStamp(1, 1), entries=new))
    return view


def test_one_space_of_one_tenant_has_one_view() -> None:
    views = SpaceCache()
    assert views.get(("acme", "ann")) is views.get(("acme", "ann"))
    assert views.get(("acme", "ann")) is not views.get(("umbra", "ann"))
    assert views.get(("acme", "ann")) is not views.get(("acme", "bob"))


def test_a_view_weighs_what_is_in_it() -> None:
    empty, few, many = CachedSpace(), filled(CachedSpace(), 10), filled(CachedSpace(), 1000)
    vectors = 2 * 1000 * 16 * 4
    assert 0 < empty.nbytes < few.nbytes < many.nbytes
    assert many.nbytes > vectors
    before = many.nbytes
    matrix = np.zeros((16, 8), np.float32)
    many.hashing = Hashing(matrix, 1, False, 1, 1)
    assert many.nbytes >= before + matrix.nbytes


def test_nobody_is_kept_for_nothing() -> None:
    """Asking for users who are not there must not fill the memory."""
    views = SpaceCache(10 * EMPTY_SPACE_BYTES)
    for n in range(1000):
        views.get(("acme", f"stranger {n}"))
    assert len(views) <= 10


def test_what_has_grown_makes_others_go_and_whoever_holds_them_reads_on() -> None:
    views = SpaceCache(filled(CachedSpace(), 100).nbytes * 5 // 2)
    held = [filled(views.get(("", name)), 100) for name in "abc"]
    for name, view in zip("abc", held, strict=True):
        views.update_size(("", name), view)
    assert len(views) == 2
    assert views.get(("", "b")) is held[1]
    assert views.get(("", "c")) is held[2]
    assert views.get(("", "a")) is not held[0]
    assert held[0].index.size("turn") == 100
    assert (
        held[0].index.vector_of("thought", 7).tolist()
        == index_entry("thought", 7, "thought 7").vector.tolist()
    )
