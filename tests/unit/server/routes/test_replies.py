"""Pages and JSON replies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.server.routes.dependencies import encode_json, make_offset_page, make_page


@given(st.lists(st.integers(1, 10**6), unique=True).map(sorted), st.integers(1, 10))
def test_pages_by_id_contain_everything_once(numbers: list[int], limit: int) -> None:
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        read = [number for number in numbers if number > after][: limit + 1]
        told = make_page(read, limit, lambda number: number, lambda number: number)
        assert len(told["items"]) <= limit
        seen += told["items"]
        after = told["next"]
    assert seen == numbers


@given(st.lists(st.text(max_size=3)), st.integers(1, 10))
def test_pages_by_offset_contain_everything_once(names: list[str], limit: int) -> None:
    seen: list[str] = []
    after: int | None = 0
    while after is not None:
        told = make_offset_page(names, after, limit, str)
        seen += told["items"]
        after = told["next"]
    assert seen == names


def test_last_page_has_no_next() -> None:
    assert make_page([1, 2], 2, lambda number: number, str)["next"] is None
    assert make_offset_page([1, 2], 0, 2, str)["next"] is None


def test_reply_is_strict_json() -> None:
    assert json.loads(encode_json({"text": "安娜 \u2028"})) == {"text": "安娜 \u2028"}
    with pytest.raises(ValueError, match="JSON"):
        encode_json({"score": float("nan")})
