"""The cache: never heavier than it may be, least recently used goes first, safe between threads."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from thinkback.index.lru import Lru

MOST = 10


def test_what_was_used_least_recently_goes_first() -> None:
    kept = Lru[str, str](MOST)
    for name in "abc":
        kept.put(name, name.upper(), 3)
    assert kept.get("a") == "A"
    kept.put("d", "D", 4)
    assert [kept.get(name) for name in "abcd"] == ["A", None, "C", "D"]


def test_what_grows_pushes_others_out_but_not_itself() -> None:
    kept = Lru[str, str](MOST)
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
    kept = Lru[int, int](MOST)
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
    kept = Lru[int, int](MOST)

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
