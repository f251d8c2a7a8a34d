"""Checks of callers' texts, names and limits."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput, InvalidName
from thinkback.validation import (
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    checked_limit,
    checked_name,
    checked_text,
)


@given(st.text(alphabet=st.characters(), max_size=50))
def test_checked_text_is_idempotent(text: str) -> None:
    clean = checked_text(text, "query")
    assert checked_text(clean, "query") == clean
    assert "\x00" not in clean
    assert clean.encode().decode() == clean


@pytest.mark.parametrize("value", [None, 5, b"x", ["x"]])
def test_other_types_than_text_are_rejected(value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"query must be text, not {type(value).__name__}"):
        checked_text(value, "query")


def test_text_length_is_limited() -> None:
    assert len(checked_text("x" * MAX_TEXT_CHARS, "query")) == MAX_TEXT_CHARS
    with pytest.raises(InvalidInput, match="split it"):
        checked_text("x" * (MAX_TEXT_CHARS + 1), "query")


@pytest.mark.parametrize("name", ["a", "a b", "安娜", "Zoë 🦜", "a" * MAX_NAME_CHARS])
def test_printable_names_are_accepted(name: str) -> None:
    assert checked_name(name, "user") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " a",
        "a\u3000",
        "a\nb",
        "\u200f",
        "a\x00",
        "\ud800",
        "a\ufffd",
        "a" * (MAX_NAME_CHARS + 1),
        None,
    ],
)
def test_invalid_names_are_rejected_with_a_short_message(name: Any) -> None:
    with pytest.raises(InvalidName, match="user") as refused:
        checked_name(name, "user")
    assert len(str(refused.value)) < 150


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_names_are_kept_exactly_except_for_their_unicode_form(name: str) -> None:
    try:
        accepted = checked_name(name, "user")
    except InvalidName:
        return
    assert accepted == unicodedata.normalize("NFC", name)
    assert checked_name(accepted, "user") == accepted


def test_composed_and_decomposed_names_are_the_same() -> None:
    assert checked_name("e\u0308" * MAX_NAME_CHARS, "user") == "\u00eb" * MAX_NAME_CHARS


@pytest.mark.parametrize("limit", [None, 0, 7])
def test_checked_limit(limit: int | None) -> None:
    assert checked_limit(limit) == limit
