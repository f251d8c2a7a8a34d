"""Errors as HTTP responses in the format of OpenAI's API: a status and `{"error": {...}}`.

The message is repeated as `detail`, where clients of FastAPI servers (mem0's) expect it.
"""

from __future__ import annotations

import logging

from starlette.responses import JSONResponse

from thinkback import errors

STORE_RETRY_SECONDS = 5.0  # after which a client may try a database again that was not reachable

_log = logging.getLogger("thinkback.server")


class RequestRefused(errors.ThinkbackError):
    """The request is rejected, or cannot be served now; carries the HTTP status and error code."""

    def __init__(self, status: int, message: str, code: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or {}


def forbidden(message: str) -> RequestRefused:
    return RequestRefused(403, message, "forbidden")


def busy(message: str, retry_after: float = 1.0) -> RequestRefused:
    return RequestRefused(503, message, "busy", {"Retry-After": f"{max(1, round(retry_after))}"})


_STATUS_BY_ERROR: tuple[tuple[type[errors.ThinkbackError], int, str], ...] = (
    (errors.InvalidName, 400, "invalid_name"),
    (errors.InvalidInput, 422, "invalid_input"),
    (errors.NotFound, 404, "not_found"),
    (errors.Conflict, 409, "conflict"),
    (errors.StoreUnavailable, 503, "store_unavailable"),
    (errors.DiskFull, 507, "disk_full"),
    (errors.StoreError, 500, "store_error"),
    (errors.RateLimited, 429, "rate_limited"),
    (errors.ModelTimeout, 504, "model_timeout"),
    (errors.ModelError, 502, "model_error"),
    (errors.MissingExtra, 501, "missing_extra"),
)


_PUBLIC_MESSAGES = {
    "store_unavailable": "the database cannot be read or written now: try again later",
    "disk_full": "the server's disk is full; nothing was partially written",
    "store_error": "the database failed; see the server's log",
}
"""Replacements for messages that would show the server's file names to clients."""


def error_response(error: errors.ThinkbackError) -> JSONResponse:
    """The response for an expected error."""
    if isinstance(error, RequestRefused):
        return json_error(error.status, str(error), error.code, error.headers)
    if isinstance(error, errors.StoreError):
        _log.error("%s: %s", type(error).__name__, error)
    for error_type, status, code in _STATUS_BY_ERROR:
        if isinstance(error, error_type):
            message = _PUBLIC_MESSAGES.get(code, str(error))
            return json_error(status, message, code, _retry_header(error))
    return json_error(500, str(error), "error")


def _retry_header(error: errors.ThinkbackError) -> dict[str, str] | None:
    """When to try again, for a database that is busy or not reachable."""
    if not isinstance(error, errors.StoreUnavailable):
        return None
    seconds = error.retry_after if isinstance(error, errors.StoreBusy) else STORE_RETRY_SECONDS
    return {"Retry-After": f"{max(1, round(seconds))}"}


def json_error(status: int, message: str, code: str, headers: dict[str, str] | None = None) -> JSONResponse:
    error_type = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": message, "type": error_type, "param": None, "code": code}
    return JSONResponse({"error": error, "detail": message}, status, headers)
