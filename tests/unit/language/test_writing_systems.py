"""Text cleaning and language detection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.writing_systems import clean_text, detect_language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain 中文 😀", "plain 中文 😀"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("a\udc00", "a\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("a\r\nb\rc\u2028d\u0085e", "a\nb\nc\nd\ne"),
    ],
)
def test_clean_text(text: str, expected: str) -> None:
    assert clean_text(text) == expected


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "L", "Zl"])))
def test_clean_text_is_encodable_and_idempotent(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert clean_text(cleaned) == cleaned
    assert not {"\x00", "\r"} & set(cleaned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Hello there", "en"), ("I love 北京", "en"), ("我用Python写code", "zh"), ("你好", "zh"), (
        "ひらがな漢字", "ja"),
     ("한국어", "ko"), ("привет", "ru"), ("שלום", "he"), ("مرحبا", "ar"), ("123 !", "und"), ("", "und")],
)  # fmt: skip
def test_detect_language(text: str, expected: str) -> None:
    assert detect_language(text) == expected
