"""FastAPI dependencies of the routes (services, principal, the user's memory) and helpers that build JSON replies in the thread pool."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.server.principal import (
    USER_HEADER,
    Principal,
    get_principal,
    read_name_header,
    require_scope,
)
from thinkback.server.services import Services
from thinkback.types import KeyScope
from thinkback.validation import MAX_NAME_CHARS

CREATE_MEMORY = "create_memory"
_Result = TypeVar("_Result")

UserParameter = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_NAME_CHARS,
        description=f"Whose memory; the header {USER_HEADER} goes before it, a key's own user before both.",
    ),
]


@dataclass(frozen=True, slots=True)
class ProvideServices:
    """Gives every request of a router the services it was made with."""

    services: Services

    async def __call__(self, request: Request) -> None:
        request.state.services = self.services


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request that was let in: whose memory it is about, and where its work is done."""

    services: Services
    principal: Principal
    memory: Memory

    async def run(self, work: Callable[[Memory], _Result], operation: str = "") -> _Result:
        """At the desk; an `operation` the GenAI conventions have a name for is traced under it.

        To add to memory is refused while too much waits to be thought over already.
        """
        if operation == CREATE_MEMORY:
            await self.services.pool.run(self.services.backlog.check)
        if not operation:
            return await self.services.pool.run(lambda: work(self.memory))
        with self.services.telemetry.span(operation, {"gen_ai.operation.name": operation}):
            return await self.services.pool.run(lambda: work(self.memory))


def request_context(request: Request, scope: KeyScope, user: str | None) -> RequestContext:
    """What an endpoint works with; `user` is what the surface itself says of whom it is about."""
    services: Services = request.state.services
    caller = get_principal(request.scope)
    require_scope(caller, scope)
    header = read_name_header(request.headers, USER_HEADER)
    memory = services.memories.for_principal(caller, user if header is None else header)
    return RequestContext(services, caller, memory)


async def _read_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "read", user)


async def _write_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "write", user)


async def _admin_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "admin", user)


ReadAccess = Annotated[RequestContext, Depends(_read_context)]
WriteAccess = Annotated[RequestContext, Depends(_write_context)]
AdminAccess = Annotated[RequestContext, Depends(_admin_context)]

JSON_MEDIA_TYPE = "application/json"
_Value = TypeVar("_Value")


def tagged_router(name: str) -> APIRouter:
    """A router whose operations go by the names of their functions."""
    return APIRouter(tags=[name], generate_unique_id_function=_operation_id)


def _operation_id(route: APIRoute) -> str:
    return route.name


async def json_reply(asked: RequestContext, make: Callable[[Memory], Any], operation: str = "") -> Response:
    """What `make` gives, as JSON."""
    content = await asked.run(lambda memory: encode_json(make(memory)), operation)
    return Response(content, media_type=JSON_MEDIA_TYPE)


def encode_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def make_page(
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


def make_offset_page(
    found: Sequence[_Value], after: int, limit: int, shown: Callable[[_Value], Any]
) -> dict[str, Any]:
    """One page of what has no numbers of its own: `after` counts what was seen."""
    kept = found[after : after + limit]
    follows = after + limit if len(found) > after + limit else None
    return {"items": [shown(each) for each in kept], "next": follows}
