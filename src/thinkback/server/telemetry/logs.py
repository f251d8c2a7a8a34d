"""Structured logs on standard error: one JSON object per line, or readable lines on a terminal.

Logs never contain message content: events have names and numbers, messages of libraries are only logged if
they are known to contain no content, and errors are logged by type and code location. As a second line of
defence, anything that looks like a credential is redacted.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from types import TracebackType
from typing import Any, TextIO

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
LEVEL_NAMES = {number: name for name, number in LEVELS.items()} | {50: "error"}
TRUSTED_LOGGERS = ("thinkback", "uvicorn")  # their messages contain no content; of others, log the location
MAX_TRACEBACK_FRAMES = 6
MAX_VALUE_CHARS = 400
REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"authorization|api_?key|secret|password|cookie|credential", re.IGNORECASE)
_SECRETS = re.compile(
    r"\b(?:bearer|basic|token)\s+[^\s,;\"']+"  # Authorization header
    r"|\b(?:sk|pk|tb|tbk|thinkback|hf|gsk|xai)[-_][A-Za-z0-9_\-.]{8,}"  # keys with a well-known prefix
    r"|(?<=://)[^/\s@]{1,256}@"  # user:password@ in a URL
    r"|\b[A-Za-z0-9_\-]{40,}\b",  # any other long token
    re.IGNORECASE,
)
_encode_json = json.JSONEncoder().encode
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class TrustedText(str):
    """Text made by the server itself. It contains no secret, so it is written without the slow redaction."""

    __slots__ = ()


@lru_cache(maxsize=1024)  # routes, tenants and outcomes repeat with every request
def redact(text: str) -> str:
    """Remove what looks like a credential, put the text on one line and limit its length."""
    return _CONTROL.sub(" ", _SECRETS.sub(REDACTED, text[: MAX_VALUE_CHARS * 4]))[:MAX_VALUE_CHARS]


class EventLog:
    """Writes events to a stream. `level` is the lowest level written; without a stream nothing is written."""

    def __init__(
        self, stream: TextIO | None = None, level: str = "info", *, human: bool | None = None
    ) -> None:
        self._stream = stream
        self._level = LEVELS[level]
        self._human = bool(stream and stream.isatty()) if human is None else human

    def is_enabled(self, level: int) -> bool:
        return self._stream is not None and level >= self._level

    def __call__(self, level: int, event: str, **fields: Any) -> None:
        """Write one event; fields that are None are left out."""
        if self._stream is None or level < self._level:
            return
        values = {name: _clean_value(name, value) for name, value in fields.items() if value is not None}
        line = self._readable(level, event, values) if self._human else self._json(level, event, values)
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads standard error any more: the server continues
            self._stream = None

    def log_error(self, event: str, error: BaseException, level: int = logging.ERROR, **fields: Any) -> None:
        """Log an error by type and code location. Its message may contain content, so it is left out."""
        location = format_location(error.__traceback__)
        self(level, event, error=type(error).__name__, where=location, **fields)

    @staticmethod
    def _json(level: int, event: str, values: dict[str, Any]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        level_name = LEVEL_NAMES.get(level, "info")
        return _encode_json({"time": now, "level": level_name, "event": event, **values}) + "\n"

    @staticmethod
    def _readable(level: int, event: str, values: dict[str, Any]) -> str:
        now = datetime.now().astimezone().strftime("%H:%M:%S")
        fields = "  ".join(f"{name}={value}" for name, value in values.items() if value != "")
        return f"{now} {LEVEL_NAMES.get(level, 'info'):7} {event}  {fields}\n"


def format_location(trace: TracebackType | None) -> str:
    """`module.py:12 function < ...`, innermost frame first; code locations, never values."""
    frames = traceback.extract_tb(trace)[-MAX_TRACEBACK_FRAMES:]
    return " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames[::-1]
    )


def _clean_value(name: str, value: Any) -> Any:
    if isinstance(value, (int, float, TrustedText)):
        return value
    return REDACTED if _is_secret(name) else redact(str(value))


@lru_cache(maxsize=1024)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


class LibraryLogHandler(logging.Handler):
    """Writes log records of libraries as events."""

    def __init__(self, logs: EventLog) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        if not self._logs.is_enabled(record.levelno):
            return
        if record.name == "uvicorn.error" and record.exc_info:  # TelemetryMiddleware has logged it
            return
        trusted = record.name.split(".")[0] in TRUSTED_LOGGERS
        message = record.getMessage() if trusted else f"{record.module}:{record.lineno} {record.funcName}"
        level = min(LEVEL_NAMES, key=lambda number: abs(number - record.levelno))
        if record.exc_info and record.exc_info[1] is not None:
            self._logs.log_error("library", record.exc_info[1], level, logger=record.name, message=message)
        else:
            self._logs(level, "library", logger=record.name, message=message)


def configure_logging(level: str) -> EventLog:
    """Send this process's logs, and the warnings of libraries, to standard error."""
    logs = EventLog(sys.stderr, level)
    root = logging.getLogger()
    root.handlers[:] = [LibraryLogHandler(logs)]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    return logs
