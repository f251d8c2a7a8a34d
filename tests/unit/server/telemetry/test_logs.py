"""Logs: one line per event, no secrets and no content."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.server.telemetry import logs as module
from thinkback.server.telemetry.logs import MAX_VALUE_CHARS, EventLog, LibraryLogHandler, redact

SECRETS = [
    "Bearer abc",
    "authorization: bearer eyJhbGciOiJIUzI1NiJ9.e30.x",
    "sk-proj-1234567890abcdef",
    "tb_3f2a9c_0123456789abcdef",
    "https://ann:hunter2@models.example/v1",
    "Basic YW5uOmh1bnRlcjI=",
    "0123456789abcdef0123456789abcdef0123456789abcdef",
]


def told(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("secret", SECRETS)
def test_credentials_are_redacted(secret: str) -> None:
    stream = io.StringIO()
    EventLog(stream)(20, "request", route=f"before {secret} after")
    line = stream.getvalue()
    for word in ("abc ", "eyJ", "1234567890", "3f2a9c", "hunter2", "YW5u", "0123456789abcdef"):
        assert word not in line
    assert "before" in line
    assert "[redacted]" in line


@pytest.mark.parametrize("name", ["authorization", "api_key", "apikey", "upstream_key_secret", "Cookie"])
def test_fields_with_secret_names_are_redacted(name: str) -> None:
    stream = io.StringIO()
    EventLog(stream)(20, "request", **{name: "short"})
    assert told(stream)[0][name] == "[redacted]"


def test_other_text_is_kept() -> None:
    stream = io.StringIO()
    EventLog(stream)(
        20, "request", route="/v1/memory/turns/{id}", status=200, ms=1.5, tenant="acme", key=None
    )
    (line,) = told(stream)
    assert (line["level"], line["event"], line["route"]) == ("info", "request", "/v1/memory/turns/{id}")
    assert (line["status"], line["ms"], line["tenant"]) == (200, 1.5, "acme")
    assert "key" not in line
    assert line["time"].endswith("+00:00")


@given(st.text())
def test_event_is_one_line(text: str) -> None:
    for human in (False, True):
        stream = io.StringIO()
        EventLog(stream, human=human)(20, "event", what=text)
        line = stream.getvalue()
        assert line.endswith("\n")
        assert len(line.splitlines()) == 1
        assert len(line) < 8 * MAX_VALUE_CHARS
        assert "\x1b" not in line


@pytest.mark.parametrize("beginning", ["sk-", "a", "Bearer ", "x://", "token "])
def test_redacting_takes_linear_time(beginning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VALUE_CHARS", 10_000_000)
    work = redact.__wrapped__
    assert time_growth(lambda size: work(beginning * size), 80_000) < MAX_LINEAR_GROWTH


def test_level_filters_events() -> None:
    stream = io.StringIO()
    logs = EventLog(stream, "warning")
    logs(20, "request")
    logs(30, "process_died")
    assert [line["event"] for line in told(stream)] == ["process_died"]
    assert not logs.is_enabled(20)
    assert not EventLog().is_enabled(50)


def test_error_is_logged_without_its_message() -> None:
    stream = io.StringIO()
    try:
        raise ValueError("what ann said")
    except ValueError as error:
        EventLog(stream).log_error("request_failed", error, request="r1")
    (line,) = told(stream)
    assert (line["error"], line["level"], line["request"]) == ("ValueError", "error", "r1")
    assert line["where"].startswith("test_logs.py:")
    assert "ann" not in stream.getvalue()


def test_library_messages_are_logged_only_if_trusted() -> None:
    stream = io.StringIO()
    handler = LibraryLogHandler(EventLog(stream))
    for name, message in (("uvicorn.error", "Invalid HTTP request received."), ("mcp.server", "ann said so")):
        logger = logging.Logger(name)
        logger.addHandler(handler)
        logger.warning(message)
        try:
            raise ValueError("ann said so")
        except ValueError:
            logger.exception(message)
    lines = told(stream)
    assert lines[0]["message"] == "Invalid HTTP request received."
    assert [(line["logger"], line.get("error")) for line in lines[1:]] == [
        ("mcp.server", None),
        ("mcp.server", "ValueError"),
    ]  # TelemetryMiddleware logs failed requests, so uvicorn's line is left out
    assert "ann" not in stream.getvalue()


def test_closed_stderr_does_not_stop_the_server() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    logs = EventLog(Closed())
    logs(20, "request")
    assert not logs.is_enabled(50)
