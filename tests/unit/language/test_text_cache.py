"""The digest cache returns the results of the function, is bounded, and never keeps a text."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.text_cache import cache_by_digest, clear_cached_words

LONG = "I told you on Monday that my sister had moved to Turku with her cat."


def make_counting_cache(size: int) -> tuple[Callable[[str], int], list[int]]:
    """A cached function that returns the length of a text, and a list that grows with every computation."""
    computed: list[int] = []

    @cache_by_digest(size)
    def length(text: str) -> int:
        computed.append(len(text))
        return len(text)

    return length, computed


@given(st.lists(st.text(max_size=80), max_size=60), st.integers(2, 8))
def test_cache_returns_result_of_function(texts: list[str], size: int) -> None:
    length, _ = make_counting_cache(size)
    assert [length(text) for text in texts * 2] == [len(text) for text in texts * 2]


def test_cache_computes_long_text_once() -> None:
    length, computed = make_counting_cache(8)
    assert [length(LONG) for _ in range(5)] == [len(LONG)] * 5
    assert len(computed) == 1
    length(LONG + "!")
    assert len(computed) == 2


def test_cache_accepts_lone_surrogates() -> None:
    length, computed = make_counting_cache(8)
    assert [length("\ud800" * 50), length("\ud801" * 50)] == [50, 50]
    assert len(computed) == 2


def test_cache_stores_none() -> None:
    computed: list[str] = []

    @cache_by_digest(8)
    def nothing(text: str) -> None:
        computed.append("call")

    nothing(LONG)
    nothing(LONG)
    assert computed == ["call"]


def test_results_for_other_arguments_are_computed() -> None:
    computed: list[int] = []

    @cache_by_digest(8)
    def repeated(text: str, times: int) -> int:
        computed.append(times)
        return len(text) * times

    assert [repeated(LONG, times) for times in (1, 2, 1, 2)] == [len(LONG), 2 * len(LONG)] * 2
    assert repeated(LONG, times=3) == 3 * len(LONG)
    assert computed == [1, 2, 3]


def test_words_of_texts_are_dropped_after_an_erasure() -> None:
    computed: list[str] = []

    @cache_by_digest(8, holds_words=True)
    def words(text: str) -> list[str]:
        computed.append(text)
        return text.split()

    assert words(LONG) == words(LONG) == LONG.split()
    assert len(computed) == 1
    clear_cached_words()
    assert not any(each for each in _closure_values(words) if isinstance(each, dict))
    assert words(LONG) == LONG.split()
    assert len(computed) == 2


def test_cache_is_bounded() -> None:
    size = 16
    length, computed = make_counting_cache(size)
    for number in range(10 * size):
        length(f"{LONG} {number:03}")
    assert max(len(each) for each in _closure_values(length) if isinstance(each, dict)) <= size // 2
    assert len(computed) == 10 * size
    length(f"{LONG} 000")  # dropped long ago, so it is computed again
    assert len(computed) == 10 * size + 1


def test_cache_keeps_frequently_used_results() -> None:
    length, computed = make_counting_cache(16)
    length(LONG)
    for number in range(200):
        length(f"{LONG} {number:03}")
        length(LONG)
    assert computed.count(len(LONG)) == 1


def test_cache_keeps_no_text() -> None:
    length, _ = make_counting_cache(16)
    text = "".join(["my secret is Xiaoyu", *(str(number) for number in range(30))])
    length(text)
    short = "".join(["a secret", " of mine"])
    length(short)
    kept = [each for each in _reachable(length) if isinstance(each, str | bytes)]
    assert not [each for each in kept if each in (text, short, text.encode(), short.encode())]
    assert not [each for each in kept if isinstance(each, str) and "Xiaoyu" in each]
    assert any(isinstance(each, bytes) and len(each) == 16 for each in kept)  # but its digest is kept


def _closure_values(function: Callable[..., Any]) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _reachable(function: Callable[..., Any]) -> list[Any]:
    """All objects in the closure of the function, and in the containers and closures among them."""
    found: list[Any] = []
    waiting = _closure_values(function)
    while waiting:
        each = waiting.pop()
        found.append(each)
        if isinstance(each, dict | list | tuple | set):
            waiting += gc.get_referents(each)
        elif callable(each) and hasattr(each, "__closure__"):
            waiting += _closure_values(each)
    return found
