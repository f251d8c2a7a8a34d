"""Structured logs: one JSON object a line on standard error, or a readable line where that is a terminal.

A line tells what happened to a request and never what was said in it: rooms give names and numbers, libraries
are quoted only where their words are known to hold no content, and an error is told by its kind and place.
Whatever still looks like a credential is redacted, as a second line of defence.
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
TRUSTED_LOGGERS = ("thinkback", "uvicorn")  # whose messages hold no content; of others only the place is told
MAX_TRACEBACK_FRAMES = 6  # of a traceback, innermost last
MAX_VALUE_CHARS = 400  # characters of one value
REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"authorization|api_?key|secret|password|cookie|credential", re.IGNORECASE)
_SECRETS = re.compile(
    r"\b(?:bearer|basic|token)\s+[^\s,;\"']+"  # what an Authorization header holds
    r"|\b(?:sk|pk|tb|tbk|thinkback|hf|gsk|xai)[-_][A-Za-z0-9_\-.]{8,}"  # keys by their well-known beginnings
    r"|(?<=://)[^/\s@]{1,256}@"  # user:password@ of an address
    r"|\b[A-Za-z0-9_\-]{40,}\b",  # anything else as long and dense as a key
    re.IGNORECASE,
)
_encode_json = json.JSONEncoder().encode
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class TrustedText(str):
    """A text of our own making, known to hold no secret: it is written as it is, for that is quicker."""

    __slots__ = ()


@lru_cache(maxsize=1024)  # routes, tenants and outcomes come again with every request
def redact(text: str) -> str:
    """The text without anything that looks like a credential, on one line and not endless."""
    return _CONTROL.sub(" ", _SECRETS.sub(REDACTED, text[: MAX_VALUE_CHARS * 4]))[:MAX_VALUE_CHARS]


class EventLog:
    """Where events go. `level` is the least that is told; without a stream nothing is."""

    def __init__(
        self, stream: TextIO | None = None, level: str = "info", *, human: bool | None = None
    ) -> None:
        self._stream = stream
        self._least = LEVELS[level]
        self._human = bool(stream and stream.isatty()) if human is None else human

    def is_enabled(self, level: int) -> bool:
        return self._stream is not None and level >= self._least

    def __call__(self, level: int, event: str, **fields: Any) -> None:
        """One event; fields that are None are left out."""
        if self._stream is None or level < self._least:
            return
        told = {name: _clean_value(name, value) for name, value in fields.items() if value is not None}
        line = self._readable(level, event, told) if self._human else self._json(level, event, told)
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads any more: the server goes on
            self._stream = None

    def log_error(self, event: str, error: BaseException, level: int = logging.ERROR, **fields: Any) -> None:
        """An error by its kind and its place; its message may hold what was said, so it is left out."""
        place = format_location(error.__traceback__)
        self(level, event, error=type(error).__name__, where=place, **fields)

    @staticmethod
    def _json(level: int, event: str, told: dict[str, Any]) -> str:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return (
            _encode_json({"time": now, "level": LEVEL_NAMES.get(level, "info"), "event": event, **told})
            + "\n"
        )

    @staticmethod
    def _readable(level: int, event: str, told: dict[str, Any]) -> str:
        now = datetime.now().astimezone().strftime("%H:%M:%S")
        rest = "  ".join(f"{name}={value}" for name, value in told.items() if value != "")
        return f"{now} {LEVEL_NAMES.get(level, 'info'):7} {event}  {rest}\n"


def format_location(place: TracebackType | None) -> str:
    """`module.py:12 function < ...`, innermost first: code, never values."""
    frames = traceback.extract_tb(place)[-MAX_TRACEBACK_FRAMES:]
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
    """What libraries log, as events of ours."""

    def __init__(self, logs: EventLog) -> None:
        super().__init__()
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        if not self._logs.is_enabled(record.levelno):
            return
        if record.name == "uvicorn.error" and record.exc_info:  # a request's: the watch has told it
            return
        known = record.name.split(".")[0] in TRUSTED_LOGGERS
        message = record.getMessage() if known else f"{record.module}:{record.lineno} {record.funcName}"
        level = min(LEVEL_NAMES, key=lambda number: abs(number - record.levelno))
        if record.exc_info and record.exc_info[1] is not None:
            self._logs.log_error("library", record.exc_info[1], level, logger=record.name, message=message)
        else:
            self._logs(level, "library", logger=record.name, message=message)


def configure_logging(level: str) -> EventLog:
    """The logs of this process on standard error; libraries tell their warnings there too."""
    logs = EventLog(sys.stderr, level)
    root = logging.getLogger()
    root.handlers[:] = [LibraryLogHandler(logs)]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
    return logs
