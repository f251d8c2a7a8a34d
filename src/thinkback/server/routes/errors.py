"""What is refused, in one shape: FastAPI's errors as `faults` tells ours, and what OpenAPI says of them.

No message repeats the value it refuses: that may be anything, of any size.
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
from thinkback.language.scripts import clean_text
from thinkback.server.errors import error_response, json_error

_MAX_PROBLEMS = 5  # problems told at most
_MAX_LOCATION_CHARS = 100  # characters of the name of what is wrong


class ErrorDetail(BaseModel):
    model_config = ConfigDict(extra="forbid")
    message: str
    type: str
    param: str | None
    code: str


class ErrorResponse(BaseModel):
    """An error as clients of OpenAI's API read it; `detail` is the message again, for those of FastAPI."""

    model_config = ConfigDict(extra="forbid")
    error: ErrorDetail
    detail: str


def _error_responses(**statuses: str) -> dict[int | str, dict[str, Any]]:
    return {int(name[1:]): {"model": ErrorResponse, "description": text} for name, text in statuses.items()}


COMMON_ERRORS = _error_responses(
    _400="The body cannot be read",
    _401="No key, or none that is known here",
    _403="This key may not do that",
    _404="There is no such thing in this memory",
    _409="The memory has moved on",
    _413="The body is too large",
    _422="A value cannot be used",
    _429="Too many requests: Retry-After says when to come again",
    _503="Busy: Retry-After says when to come again",
)
"""What any operation may answer."""

MODEL_ERRORS = _error_responses(_502="The model failed", _504="The model did not answer in time")
"""What one may answer that asks a model or an embedder."""

MEDIA_TYPE_ERRORS = _error_responses(_415="Another kind of content is asked for")

WRITE_ERRORS = _error_responses(_507="The disk is full; nothing was half-written")
"""What one may answer that writes."""

ALL_ERRORS = {**COMMON_ERRORS, **MODEL_ERRORS, **WRITE_ERRORS}


def register_error_handlers(app: FastAPI) -> None:
    """Give an application these forms of refusal."""
    app.add_exception_handler(ThinkbackError, _handle_thinkback_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_http_error)


async def _handle_thinkback_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ThinkbackError)  # noqa: S101 - what it is registered for
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
    """What a path can be asked, by all routes that have it: Starlette names those of the first alone."""
    path = request.scope["path"]
    routes = iter_route_contexts(request.app.routes)
    fitting = (each for each in routes if each.path and compile_path(each.path)[0].match(path))
    return sorted({method for each in fitting for method in each.methods or ()})


def _format_location(loc: tuple[int | str, ...]) -> str:
    """`body.query`; a name the client made up may hold what no reply can."""
    return clean_text(".".join(str(part) for part in loc))[:_MAX_LOCATION_CHARS]
