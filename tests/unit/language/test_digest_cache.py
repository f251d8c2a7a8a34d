"""A memo gives what the function gives, forgets in time, and never holds the text."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.digest_cache import cache_by_digest

LONG = "I told you on Monday that my sister had moved to Turku with her cat."


def counting(size: int) -> tuple[Callable[[str], int], list[int]]:
    """The length of a text, remembered, and a list that grows with every real reading."""
    read: list[int] = []

    @cache_by_digest(size)
    def length(text: str) -> int:
        read.append(len(text))
        return len(text)

    return length, read


@given(st.lists(st.text(max_size=80), max_size=60), st.integers(2, 8))
def test_it_answers_as_the_function_does(texts: list[str], size: int) -> None:
    length, _ = counting(size)
    assert [length(text) for text in texts * 2] == [len(text) for text in texts * 2]


def test_a_long_text_is_read_once() -> None:
    length, read = counting(8)
    assert [length(LONG) for _ in range(5)] == [len(LONG)] * 5
    assert len(read) == 1
    length(LONG + "!")
    assert len(read) == 2


def test_lone_surrogates_have_a_digest_too() -> None:
    length, read = counting(8)
    assert [length("\ud800" * 50), length("\ud801" * 50)] == [50, 50]
    assert len(read) == 2


def test_nothing_is_a_result_like_others() -> None:
    read: list[str] = []

    @cache_by_digest(8)
    def nothing(text: str) -> None:
        read.append("read")

    nothing(LONG)
    nothing(LONG)
    assert read == ["read"]


def test_it_keeps_a_bounded_number_of_results() -> None:
    size = 16
    length, read = counting(size)
    for number in range(10 * size):
        length(f"{LONG} {number:03}")
    assert max(len(each) for each in _held(length) if isinstance(each, dict)) <= size // 2
    assert len(read) == 10 * size
    length(f"{LONG} 000")  # long forgotten, so it is read again
    assert len(read) == 10 * size + 1


def test_what_is_asked_for_again_and_again_is_not_forgotten() -> None:
    length, read = counting(16)
    length(LONG)
    for number in range(200):
        length(f"{LONG} {number:03}")
        length(LONG)
    assert read.count(len(LONG)) == 1


def test_no_text_is_held() -> None:
    length, _ = counting(16)
    text = "".join(["my secret is Xiaoyu", *(str(number) for number in range(30))])
    length(text)
    short = "".join(["a secret", " of mine"])
    length(short)
    held = [each for each in _reachable(length) if isinstance(each, str | bytes)]
    assert not [each for each in held if each in (text, short, text.encode(), short.encode())]
    assert not [each for each in held if isinstance(each, str) and "Xiaoyu" in each]
    assert any(isinstance(each, bytes) and len(each) == 16 for each in held)  # its digest is


def _held(function: Callable[..., Any]) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _reachable(function: Callable[..., Any]) -> list[Any]:
    """All that the function's cells hold, and what that holds, but no modules' worlds."""
    found: list[Any] = []
    waiting = _held(function)
    while waiting:
        each = waiting.pop()
        found.append(each)
        if isinstance(each, dict | list | tuple | set):
            waiting += gc.get_referents(each)
        elif callable(each) and hasattr(each, "__closure__"):
            waiting += _held(each)
    return found
