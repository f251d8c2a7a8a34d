"""Routes of mem0's REST API (`/memories`, `/search`), so that mem0 clients work unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response

from thinkback.errors import InvalidName, NotFound, ThinkbackError
from thinkback.memory import Memory
from thinkback.server import identity
from thinkback.server.identity import (
    USER_HEADER,
    Principal,
    RequiredScope,
    get_principal,
    read_name_header,
    require_scope,
)
from thinkback.server.routes.dependencies import ProvideServices, StrictJsonRoute
from thinkback.server.routes.mem0 import operations
from thinkback.server.routes.mem0.filters import IDENTIFIERS, not_supported, split_filters
from thinkback.server.routes.mem0.operations import SearchRequest, resolve_owner
from thinkback.server.routes.mem0.schemas import (
    Add,
    AddedAll,
    AgentId,
    FoundItems,
    HistoryEntry,
    Item,
    Items,
    RunId,
    Search,
    StatusMessage,
    Update,
    UserId,
)
from thinkback.server.services import Services
from thinkback.server.thread_pool import DeadlineExceeded
from thinkback.server.turn_status import THINK_WAIT_SECONDS, ThinkOutcome, get_outcome, think_now
from thinkback.types import Turn

__all__ = ["create_router"]

IGNORED_HEADER = "X-Thinkback-Ignored"
PENDING_HEADER = "X-Thinkback-Pending"
DEFAULT_SEARCH_LIMIT = 20  # as in mem0
DEFAULT_LIST_LIMIT = 100
UNSUPPORTED_FIELDS = (
    *("prompt", "memory_type", "expiration_date", "immutable", "custom_categories", "custom_instructions"),
    *("includes", "excludes", "enable_graph", "rerank", "keyword_search", "filter_memories", "categories"),
    *("fields", "only_metadata_based_search"),
)
"""Fields of mem0 that change what is stored or found: answered with 501 if they are set."""
UNSUPPORTED_PATHS = (
    *("/configure", "/reset", "/entities", "/v1/memories", "/v2/memories", "/v3/memories", "/v1/entities"),
    *("/v1/events", "/v1/exports", "/v1/feedback", "/v1/batch", "/v1/ping"),
)
"""Paths of mem0's servers that this one does not have: answered with 501."""

_FIELD = re.compile(r"\w{1,40}", re.ASCII)
_Result = TypeVar("_Result")


class Mem0Request:
    """An authenticated request: the user it may act for, and the services to work with."""

    def __init__(self, request: Request) -> None:
        self._services: Services = request.state.services
        self.principal: Principal = get_principal(request.scope)
        self.bound_user = self.principal.user or read_name_header(request.headers, USER_HEADER) or ""

    def memory_of(self, user: str | None, scope: RequiredScope) -> Memory:
        require_scope(self.principal, scope)
        return self._services.memories.for_principal(self.principal, user)

    def memory_by_id(self, id_: str, scope: RequiredScope) -> Memory:
        """The memory of the user that an id contains; an id of another user is not found."""
        user = identity.decode_id(id_).user
        if self.bound_user and user != self.bound_user:
            raise NotFound(f"Memory with id {id_[:40]!r} not found")
        return self.memory_of(user, scope)

    async def run(self, work: Callable[[], _Result]) -> _Result:
        return await self._services.pool.run(work, tenant=self.principal.tenant)

    async def run_add(self, work: Callable[[], _Result]) -> _Result:
        """Run work that adds memories, unless too many turns are pending."""
        await self.run(self._services.backlog.check)
        return await self.run(work)

    async def think_over(self, memory: Memory, turns: list[Turn]) -> list[ThinkOutcome]:
        """Think over stored turns. Never raises, because the client must not send the turns again."""
        try:
            return await self._services.pool.run_within(
                2 * THINK_WAIT_SECONDS, partial(think_now, memory, turns), tenant=self.principal.tenant
            )
        except (DeadlineExceeded, ThinkbackError):
            return await self.run(lambda: [get_outcome(memory, turn.id) for turn in turns])


def create_router(services: Services) -> APIRouter:
    """Create the router. Errors are handled by the application."""
    mem0_router = APIRouter(dependencies=[Depends(ProvideServices(services))])
    mem0_router.include_router(router)
    return mem0_router


async def _mem0_request(request: Request) -> Mem0Request:
    return Mem0Request(request)


Mem0RequestDependency = Annotated[Mem0Request, Depends(_mem0_request)]
router = APIRouter(tags=["mem0"], route_class=StrictJsonRoute)


@router.post("/memories")
async def add(ctx: Mem0RequestDependency, body: Add, response: Response) -> AddedAll:
    """Remember messages, think them over, and return the memories that were added, updated or deleted.

    Waits a few seconds for the thinking; X-Thinkback-Pending is the number of turns that are still pending
    then. They are stored: do not send them again. A key without the scope `read` gets what it sent. Metadata
    is kept with the memories. X-Thinkback-Ignored lists unknown fields, which are ignored.
    """
    _check_fields(response, body.model_extra)
    owner = resolve_owner(body.user_id, body.agent_id, body.run_id, ctx.bound_user)
    memory = ctx.memory_of(owner.user, "write")
    messages: operations.Messages = (
        body.messages
        if isinstance(body.messages, str)
        else [message.model_dump() for message in body.messages]
    )
    at = operations.parse_timestamp(body.timestamp)
    turns = await ctx.run_add(
        lambda: operations.remember(
            memory, messages, owner.session, at, raw=not body.infer, metadata=body.metadata
        )
    )
    if not body.infer:
        return AddedAll(results=await ctx.run(lambda: operations.added_turns(memory, turns)))
    outcomes = await ctx.think_over(memory, turns)
    if pending := sum(outcome.state != "done" for outcome in outcomes):
        response.headers[PENDING_HEADER] = str(pending)
    if "read" not in ctx.principal.scopes:  # what was remembered before is not shown
        return AddedAll(results=await ctx.run(lambda: operations.added_turns(memory, turns)))
    return AddedAll(results=await ctx.run(lambda: operations.added_thoughts(memory, outcomes)))


@router.get("/memories")
async def get_all(
    ctx: Mem0RequestDependency,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = DEFAULT_LIST_LIMIT,
) -> Items:
    """List the newest memories of a user, agent or run."""
    owner = resolve_owner(user_id, agent_id, run_id, ctx.bound_user)
    memory = ctx.memory_of(owner.user, "read")
    return Items(results=await ctx.run(lambda: operations.list_memories(memory, owner, limit)))


@router.delete("/memories")
async def delete_all(
    ctx: Mem0RequestDependency, user_id: UserId = None, agent_id: AgentId = None, run_id: RunId = None
) -> StatusMessage:
    """Erase all memories of a user, agent or run, with their turns. This cannot be undone, as in mem0."""
    owner = resolve_owner(user_id, agent_id, run_id, ctx.bound_user)
    memory = ctx.memory_of(owner.user, "write")
    await ctx.run(lambda: operations.delete_all(memory, owner))
    return StatusMessage(message="All relevant memories deleted")


@router.get("/memories/{memory_id}")
async def get(ctx: Mem0RequestDependency, memory_id: str) -> Item:
    """Get one memory. The id of a memory that was updated returns its current version."""
    memory = ctx.memory_by_id(memory_id, "read")
    return await ctx.run(lambda: operations.get_memory(memory, memory_id))


@router.put("/memories/{memory_id}")
async def update(
    ctx: Mem0RequestDependency, memory_id: str, body: Update, response: Response
) -> StatusMessage:
    """Correct a memory: the new text is remembered, and the old memory is retired with its history."""
    _check_fields(response, body.model_extra)
    memory = ctx.memory_by_id(memory_id, "write")
    turn = await ctx.run(lambda: operations.correct(memory, memory_id, body.new_text, body.metadata))
    (outcome,) = await ctx.think_over(memory, [turn])
    added = await ctx.run(
        lambda: operations.added_thoughts(memory, [outcome]) or operations.added_turns(memory, [turn])
    )
    return StatusMessage(message="Memory updated successfully!", id=added[0].id)


@router.delete("/memories/{memory_id}")
async def delete(ctx: Mem0RequestDependency, memory_id: str) -> StatusMessage:
    """Forget a memory; the journal can restore it. A memory of raw words is erased."""
    memory = ctx.memory_by_id(memory_id, "write")
    await ctx.run(lambda: operations.delete(memory, memory_id))
    return StatusMessage(message="Memory deleted successfully!")


@router.get("/memories/{memory_id}/history")
async def history(ctx: Mem0RequestDependency, memory_id: str) -> list[HistoryEntry]:
    """The history of a memory, oldest first, with reasons."""
    memory = ctx.memory_by_id(memory_id, "read")
    return await ctx.run(lambda: operations.memory_history(memory, memory_id))


@router.post("/search")
async def search(ctx: Mem0RequestDependency, body: Search, response: Response) -> FoundItems:
    """Search memories, best first. Raw turns are included if no thought covers them."""
    _check_fields(response, body.model_extra)
    request = _search_request(body, ctx.bound_user)
    memory = ctx.memory_of(request.owner.user, "read")
    return FoundItems(results=await ctx.run(lambda: operations.search_memories(memory, request)))


async def _unsupported(request: Request) -> None:
    """mem0's API for configuration, reset, entities, and its hosted service."""
    raise not_supported(f"{request.method} {request.url.path[:60]}")


for _path in UNSUPPORTED_PATHS:
    for _below in ("", "/{rest:path}"):
        router.add_api_route(
            _path + _below,
            _unsupported,
            methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            include_in_schema=False,
        )


def _search_request(body: Search, bound_user: str) -> SearchRequest:
    """The search that a body describes. Identifiers may also be given as filters."""
    identifiers = {name: getattr(body, name) for name in IDENTIFIERS}
    in_filters, conditions = split_filters(body.filters or {})
    for name, value in in_filters.items():
        if identifiers[name] is not None and identifiers[name] != value:
            raise InvalidName(f"{name} and filters.{name} disagree: send one of them")
        identifiers[name] = value
    return SearchRequest(
        owner=resolve_owner(**identifiers, bound_user=bound_user),
        query=body.query,
        limit=body.top_k or body.limit or DEFAULT_SEARCH_LIMIT,
        threshold=body.threshold,
        conditions=conditions,
    )


def _check_fields(response: Response, sent: dict[str, Any] | None) -> None:
    """Refuse fields that are not supported (501), and report the unknown ones."""
    for name, value in (sent or {}).items():
        if name in UNSUPPORTED_FIELDS and value:
            raise not_supported(f"the field {name}")
    if ignored := sorted(name for name, value in (sent or {}).items() if value and _FIELD.fullmatch(name)):
        response.headers[IGNORED_HEADER] = ", ".join(ignored)[:1000]
