"""Dependencies of the routes (services, principal, the user's memory) and helpers that build JSON replies.

A router has `dependencies=[Depends(ProvideServices(services))]`, and its routes ask for `ReadAccess`,
`WriteAccess`, `ChangeAccess` (both) or `AdminAccess`: a route without one of them has no access to a memory.
Replies are encoded in the thread pool, so that the event loop is not blocked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from thinkback.language.safety.quarantine import redact, redact_memory
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.identity import (
    USER_HEADER,
    Principal,
    RequiredScope,
    agreed_user,
    check_parameters,
    get_principal,
    read_name_header,
    require_scope,
)
from thinkback.server.services import Services
from thinkback.types import Turn
from thinkback.validation import MAX_NAME_CHARS

CREATE_MEMORY = "create_memory"
JSON_MEDIA_TYPE = "application/json"
_Result = TypeVar("_Result")
_Value = TypeVar("_Value")

UserParameter = Annotated[
    str | None,
    Query(
        json_schema_extra={"minLength": 1, "maxLength": MAX_NAME_CHARS},
        description=f"The user. The header {USER_HEADER} and the key must name the same user, if they do.",
    ),
]


@dataclass(frozen=True, slots=True)
class ProvideServices:
    """Dependency that gives every request of a router the services, and checks its query parameters."""

    services: Services

    async def __call__(self, request: Request) -> None:
        check_parameters(request.query_params)
        request.state.services = self.services


@dataclass(frozen=True, slots=True)
class RequestContext:
    """An authorized request: the memory it is about, and the services to work with."""

    services: Services
    principal: Principal
    memory: Memory

    async def run(self, work: Callable[[Memory], _Result], operation: str = "") -> _Result:
        """Run `work` in the thread pool; with an `operation` name of the GenAI conventions, in a span.

        Adding to memory is refused while too many turns are pending.
        """
        if operation == CREATE_MEMORY:
            await self.services.pool.run(self.services.backlog.check, tenant=self.principal.tenant)
        if not operation:
            return await self.services.pool.run(lambda: work(self.memory), tenant=self.principal.tenant)
        with self.services.telemetry.span(operation, {"gen_ai.operation.name": operation}):
            return await self.services.pool.run(lambda: work(self.memory), tenant=self.principal.tenant)


def request_context(request: Request, scope: RequiredScope, user: str | None) -> RequestContext:
    """The context of a request. `user` is the user that the request itself names, if any."""
    services: Services = request.state.services
    principal = get_principal(request.scope)
    require_scope(principal, scope)
    user = agreed_user(read_name_header(request.headers, USER_HEADER), user)
    memory = services.memories.for_principal(principal, user)
    return RequestContext(services, principal, memory)


async def _read_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "read", user)


async def _write_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "write", user)


async def _change_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "change", user)


async def _admin_context(request: Request, user: UserParameter = None) -> RequestContext:
    return request_context(request, "admin", user)


ReadAccess = Annotated[RequestContext, Depends(_read_context)]
WriteAccess = Annotated[RequestContext, Depends(_write_context)]
ChangeAccess = Annotated[RequestContext, Depends(_change_context)]
AdminAccess = Annotated[RequestContext, Depends(_admin_context)]


class StrictJsonRequest(Request):
    """A request whose JSON may not repeat a key: which value counts would depend on the reader."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = json.loads(await self.body(), object_pairs_hook=_unique_keys)
        return self._json


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise json.JSONDecodeError("a key is repeated in a JSON object", "", 0)
    return found


class StrictJsonRoute(APIRoute):
    """A route that reads its body as `StrictJsonRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictJsonRequest(request.scope, request.receive))

        return handle_strictly


def tagged_router(name: str) -> APIRouter:
    """A router whose operation ids are the names of its functions."""
    return APIRouter(tags=[name], generate_unique_id_function=_operation_id, route_class=StrictJsonRoute)


def _operation_id(route: APIRoute) -> str:
    return route.name


async def json_reply(ctx: RequestContext, make: Callable[[Memory], Any], operation: str = "") -> Response:
    """Reply with the result of `make` as JSON."""
    content = await ctx.run(lambda memory: encode_json(make(memory)), operation)
    return Response(content, media_type=JSON_MEDIA_TYPE)


def encode_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def turn_to_json(turn: Turn) -> Any:
    """A turn as the API shows it: without secrets and instructions, like the memories that are recalled."""
    shown = redact_memory(turn)
    checks = tuple(replace(check, words=redact(check.words)) for check in shown.checks)
    return to_json(replace(shown, checks=checks) if checks else shown)


def make_page(
    values: Sequence[_Value],
    limit: int,
    cursor: Callable[[_Value], int],
    to_json: Callable[[_Value], Any],
) -> dict[str, Any]:
    """One page of `values`, which were read with one more than `limit`; `next` is the next page's `after`."""
    page = values[:limit]
    return {
        "items": [to_json(value) for value in page],
        "next": cursor(page[-1]) if len(values) > limit else None,
    }


def make_offset_page(
    values: Sequence[_Value], after: int, limit: int, to_json: Callable[[_Value], Any]
) -> dict[str, Any]:
    """One page of values without ids: `after` is the number of values on the pages before."""
    page = values[after : after + limit]
    next_after = after + limit if len(values) > after + limit else None
    return {"items": [to_json(value) for value in page], "next": next_after}
