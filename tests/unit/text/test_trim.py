"""Shorter text: cut where a reader would, never inside a word, a number or an emoji."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.text.trim import GAP, chunks, count_words, shortened

FAMILY, THUMB, FLAGS = "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪🇫🇷"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("I don't like 3.5 cats.", 5),
        ("我住在北京。", 5),
        ("我用Python写代码", 6),
        ("a well-known name, 12:30", 4),
    ],
)
def test_words_are_counted_and_of_chinese_characters(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("One two. Three four.", 4, "One two. Three four."),
        ("One two. Three four.", 3, "One two."),
        ("One two three, four five", 4, "One two three…"),
        ("One two three four five", 3, "One two three…"),
        ("我住在北京。我喜欢茶。", 6, "我住在北京。"),
        ("我住在北京很久了，喜欢喝茶", 10, "我住在北京很久了…"),
        ("unbreakable", 0, ""),
    ],
)
def test_the_longest_beginning_that_fits(text: str, most: int, short: str) -> None:
    assert shortened(text, lambda each: count_words(each) <= most) == short


@pytest.mark.parametrize("whole", [FAMILY, THUMB, FLAGS[:2], "Schifffahrt", "3.14", "don't"])
def test_no_word_and_no_emoji_is_cut(whole: str) -> None:
    text = f"so {whole} {whole} {whole}"
    for most in range(len(text)):
        short = shortened(text, lambda each, most=most: len(each) <= most)  # type: ignore[misc]
        assert short.removesuffix(GAP).rstrip() in {text[: 2 + n * (len(whole) + 1)] for n in range(4)} | {""}


@given(st.text(alphabet="ab ,.。，我北👍🏽\u200d👨🇩🇪\n", max_size=120), st.integers(1, 20))
def test_chunks_hold_every_word_in_order_at_their_place(text: str, most: int) -> None:
    found = chunks(text, lambda each: len(each) <= most)
    assert "".join("".join(each.text for each in found).split()) == "".join(text.split())
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
