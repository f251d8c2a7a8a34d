"""Validation of request bodies beyond their types."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from thinkback.server.routes.requests import (
    EraseAllRequest,
    RecallRequest,
    SummaryRequest,
    TurnRequest,
)


def test_time_must_be_text_with_zone() -> None:
    said = TurnRequest.model_validate({"query": "x", "at": "2024-05-31T18:30:00+02:00"})
    assert said.at == datetime(2024, 5, 31, 16, 30, tzinfo=UTC)
    for wrong in ("2024-05-31T18:30:00", "yesterday", 1717173000, True, "0001-01-01T00:00:00+14:00", ""):
        with pytest.raises(ValidationError):
            TurnRequest.model_validate({"query": "x", "at": wrong})


def test_integral_float_is_accepted() -> None:
    assert RecallRequest.model_validate({"query": "x", "k": 5.0}).k == 5
    for wrong in (5.5, "5", True, float("nan"), float("inf"), 0, 101, 10**400):
        with pytest.raises(ValidationError):
            RecallRequest.model_validate({"query": "x", "k": wrong})


@pytest.mark.parametrize("wrong", [1, 1.0, "true", False, None])
def test_erase_all_needs_true(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        EraseAllRequest.model_validate({"all": wrong})


def test_unknown_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="sesion"):
        TurnRequest.model_validate({"query": "x", "sesion": "trip"})


def test_summary_texts_are_cleaned() -> None:
    given = SummaryRequest.model_validate({"version": 0, "needs": ["a\0b"], "topic": "one\r\ntwo"})
    assert (given.needs, given.topic) == (["a\ufffdb"], "one\ntwo")
