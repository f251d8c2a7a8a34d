"""What bodies are refused for, beyond what types say."""

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


def test_a_time_has_a_zone_and_is_text() -> None:
    said = TurnRequest.model_validate({"query": "x", "at": "2024-05-31T18:30:00+02:00"})
    assert said.at == datetime(2024, 5, 31, 16, 30, tzinfo=UTC)
    for wrong in ("2024-05-31T18:30:00", "yesterday", 1717173000, True, "0001-01-01T00:00:00+14:00", ""):
        with pytest.raises(ValidationError):
            TurnRequest.model_validate({"query": "x", "at": wrong})


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert RecallRequest.model_validate({"query": "x", "k": 5.0}).k == 5
    for wrong in (5.5, "5", True, float("nan"), float("inf"), 0, 101, 10**400):
        with pytest.raises(ValidationError):
            RecallRequest.model_validate({"query": "x", "k": wrong})


@pytest.mark.parametrize("wrong", [1, 1.0, "true", False, None])
def test_everything_is_erased_only_for_true(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        EraseAllRequest.model_validate({"all": wrong})


def test_a_misspelt_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="sesion"):
        TurnRequest.model_validate({"query": "x", "sesion": "trip"})


def test_what_a_person_writes_into_a_summary_is_cleaned() -> None:
    given = SummaryRequest.model_validate({"version": 0, "needs": ["a\0b"], "topic": "one\r\ntwo"})
    assert (given.needs, given.topic) == (["a\ufffdb"], "one\ntwo")
    with pytest.raises(ValidationError):
        SummaryRequest.model_validate({"version": 0, "session": "\x07"})
