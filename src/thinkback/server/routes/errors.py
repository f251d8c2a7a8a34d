"""Error handlers of the FastAPI application, and the error responses that OpenAPI documents.

All errors have the format of `server.errors`. No message repeats the value it rejects, which may be of any
size.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from thinkback.errors import ThinkbackError
from thinkback.language.writing_systems import clean_text
from thinkback.server.errors import error_response, json_error

_MAX_PROBLEMS = 5  # reported in one message
_MAX_LOCATION_CHARS = 100


class ErrorDetail(BaseModel):
    model_config = ConfigDict(extra="forbid")
    message: str
    type: str
    param: str | None
    code: str


class ErrorResponse(BaseModel):
    """An error in the format of OpenAI's API; `detail` repeats the message for clients of FastAPI servers."""

    model_config = ConfigDict(extra="forbid")
    error: ErrorDetail
    detail: str


def _error_responses(**statuses: str) -> dict[int | str, dict[str, Any]]:
    return {int(name[1:]): {"model": ErrorResponse, "description": text} for name, text in statuses.items()}


COMMON_ERRORS = _error_responses(
    _400="The body cannot be parsed, or a name of a user or session is invalid",
    _401="No valid API key",
    _403="The key does not allow this",
    _404="Not found in this memory",
    _409="The memory has changed meanwhile",
    _413="The body is too large",
    _422="Invalid value",
    _429="Too many requests: see Retry-After",
    _503="The server is busy: see Retry-After",
)
"""Errors of any operation."""

MODEL_ERRORS = _error_responses(_502="The model failed", _504="The model did not answer in time")
"""Errors of operations that use a model or embedder."""

MEDIA_TYPE_ERRORS = _error_responses(_415="Unsupported content type")

WRITE_ERRORS = _error_responses(_507="The disk is full; nothing was partially written")
"""Errors of operations that write."""

UNSUPPORTED_ERRORS = _error_responses(_501="mem0 offers this, but this server does not")

ALL_ERRORS = {**COMMON_ERRORS, **MODEL_ERRORS, **WRITE_ERRORS}


def register_error_handlers(app: FastAPI) -> None:
    """Make an application answer all errors in this format."""
    app.add_exception_handler(ThinkbackError, _handle_thinkback_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_http_error)


async def _handle_thinkback_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ThinkbackError)  # noqa: S101 - registered for this type
    return error_response(error)


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    problems = error.errors()
    lines = [f"{_format_location(problem['loc'])}: {problem['msg']}" for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"and {len(problems) - _MAX_PROBLEMS} more")
    return json_error(422, "; ".join(lines), "invalid_input")


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    return json_error(error.status_code, str(error.detail), code, headers)


def _allowed_methods(request: Request) -> list[str]:
    """The methods of all routes with this path; Starlette only reports those of the first."""
    path = request.scope["path"]
    routes = iter_route_contexts(request.app.routes)
    matching = (route for route in routes if route.path and compile_path(route.path)[0].match(path))
    return sorted({method for route in matching for method in route.methods or ()})


def _format_location(loc: tuple[int | str, ...]) -> str:
    """`body.query`. Client-chosen names are cleaned, because they may contain any characters."""
    return clean_text(".".join(str(part) for part in loc))[:_MAX_LOCATION_CHARS]
