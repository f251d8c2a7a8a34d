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

from thinkback.apps.server.faults import fault, told
from thinkback.errors import ThinkbackError
from thinkback.text.clean import clean

_NAMED = 5  # problems told at most
_LONGEST = 100  # characters of the name of what is wrong


class Problem(BaseModel):
    model_config = ConfigDict(extra="forbid")
    message: str
    type: str
    param: str | None
    code: str


class Fault(BaseModel):
    """An error as clients of OpenAI's API read it; `detail` is the message again, for those of FastAPI."""

    model_config = ConfigDict(extra="forbid")
    error: Problem
    detail: str


def _documented(**statuses: str) -> dict[int | str, dict[str, Any]]:
    return {int(name[1:]): {"model": Fault, "description": text} for name, text in statuses.items()}


FAULTS = _documented(
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

MODEL_FAULTS = _documented(_502="The model failed", _504="The model did not answer in time")
"""What one may answer that asks a model or an embedder."""

UNSUPPORTED = _documented(_415="Another kind of content is asked for")

DISK_FAULTS = _documented(_507="The disk is full; nothing was half-written")
"""What one may answer that writes."""

ANY = {**FAULTS, **MODEL_FAULTS, **DISK_FAULTS}


def register(app: FastAPI) -> None:
    """Give an application these forms of refusal."""
    app.add_exception_handler(ThinkbackError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, ThinkbackError)  # noqa: S101 - what it is registered for
    return told(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    problems = error.errors()
    lines = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in problems[:_NAMED]]
    if len(problems) > _NAMED:
        lines.append(f"and {len(problems) - _NAMED} more")
    return fault(422, "; ".join(lines), "invalid_input")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "bad_request")
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
    return fault(error.status_code, str(error.detail), code, headers)


def _methods(request: Request) -> list[str]:
    """What a path can be asked, by all routes that have it: Starlette names those of the first alone."""
    path = request.scope["path"]
    routes = iter_route_contexts(request.app.routes)
    fitting = (each for each in routes if each.path and compile_path(each.path)[0].match(path))
    return sorted({method for each in fitting for method in each.methods or ()})


def _place(loc: tuple[int | str, ...]) -> str:
    """`body.query`; a name the client made up may hold what no reply can."""
    return clean(".".join(str(part) for part in loc))[:_LONGEST]
