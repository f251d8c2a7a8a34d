"""The border: text is cleaned, names and limits are bounded, everything else is refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.validation import (
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    checked_limit,
    checked_name,
    checked_text,
)


@given(st.text(alphabet=st.characters(), max_size=50))
def test_any_text_passes_once_and_is_then_left_alone(text: str) -> None:
    clean = checked_text(text, "query")
    assert checked_text(clean, "query") == clean
    assert "\x00" not in clean
    assert clean.encode().decode() == clean


@pytest.mark.parametrize("value", [None, 5, b"x", ["x"]])
def test_what_is_no_text_is_named(value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"query must be text, not {type(value).__name__}"):
        checked_text(value, "query")


def test_text_has_a_longest() -> None:
    assert len(checked_text("x" * MAX_TEXT_CHARS, "query")) == MAX_TEXT_CHARS
    with pytest.raises(InvalidInput, match="split it"):
        checked_text("x" * (MAX_TEXT_CHARS + 1), "query")


@pytest.mark.parametrize("name", ["a", " a ", "安娜", "Zoë 🦜", "a" * MAX_NAME_CHARS])
def test_a_name_is_what_prints(name: str) -> None:
    assert checked_name(name, "user") == name.strip()


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\u200f", "a" * (MAX_NAME_CHARS + 1), None])
def test_what_is_no_name_is_refused_briefly(name: Any) -> None:
    with pytest.raises(InvalidInput, match="user") as refused:
        checked_name(name, "user")
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("limit", [None, 0, 7])
def test_a_limit_is_none_or_a_count(limit: int | None) -> None:
    assert checked_limit(limit) == limit
