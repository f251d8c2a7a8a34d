"""Text functions: Chinese characters, sentences, token counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback_lab.text import contains_chinese, count_tokens, printable_text, split_sentences


def test_chinese_is_detected() -> None:
    assert contains_chinese("Anna 安娜")
    assert contains_chinese("㐀")
    assert not contains_chinese("Anna, あ, 。")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It cost 3.5. Dr. No paid!", ["It cost 3.5.", "Dr.", "No paid!"]),
        ("我爱吃面。你呢？\n好", ["我爱吃面。", "你呢？", "好"]),
        ("  \n ", []),
    ],
)
def test_sentences_end_at_their_marks(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


@given(st.text(max_size=60))
def test_sentences_lose_only_spaces(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_token_count_of_chinese_and_letters() -> None:
    assert [count_tokens(text) for text in ("", "four", "fours", "四个字", "四个 ab，")] == [0, 1, 2, 3, 4]


def test_unprintable_characters_become_spaces() -> None:
    assert printable_text("a\x1b[31m\u202eb\nc\ud800红") == "a [31m b\nc 红"
