"""How a reply is made: at the desk, as JSON the library's own codec gives, so that the event loop makes none.

A `response_model` tells OpenAPI what it looks like; schemathesis holds the two against each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.responses import Response

from thinkback.apps.server.who import Asked
from thinkback.memory import Memory

JSON = "application/json"
_Value = TypeVar("_Value")


def theme(name: str) -> APIRouter:
    """A router whose operations go by the names of their functions."""
    return APIRouter(tags=[name], generate_unique_id_function=_by_name)


def _by_name(route: APIRoute) -> str:
    return route.name


async def reply(asked: Asked, make: Callable[[Memory], Any], operation: str = "") -> Response:
    """What `make` gives, as JSON."""
    content = await asked.do(lambda memory: encoded(make(memory)), operation)
    return Response(content, media_type=JSON)


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def page(
    found: Sequence[_Value],
    limit: int,
    place: Callable[[_Value], int],
    shown: Callable[[_Value], Any],
) -> dict[str, Any]:
    """One page of what was read with one more than `limit`; `next` is the `after` of the next page."""
    kept = found[:limit]
    return {
        "items": [shown(each) for each in kept],
        "next": place(kept[-1]) if len(found) > limit else None,
    }


def slice_of(
    found: Sequence[_Value], after: int, limit: int, shown: Callable[[_Value], Any]
) -> dict[str, Any]:
    """One page of what has no numbers of its own: `after` counts what was seen."""
    kept = found[after : after + limit]
    follows = after + limit if len(found) > after + limit else None
    return {"items": [shown(each) for each in kept], "next": follows}
