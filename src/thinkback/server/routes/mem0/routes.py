"""The paths of mem0's open-source server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response

from thinkback.errors import InvalidInput, NotFound, ThinkbackError
from thinkback.memory import Memory
from thinkback.server import ids
from thinkback.server.outcomes import THINK_WAIT_SECONDS, ThinkOutcome, get_outcome, think_now
from thinkback.server.principal import (
    USER_HEADER,
    Principal,
    get_principal,
    read_name_header,
    require_scope,
)
from thinkback.server.routes.dependencies import ProvideServices
from thinkback.server.routes.mem0 import operations
from thinkback.server.routes.mem0.operations import MemoryOwner, resolve_owner
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
from thinkback.types import KeyScope, Turn

IGNORED_HEADER = "X-Thinkback-Ignored"
PENDING_HEADER = "X-Thinkback-Pending"
DEFAULT_SEARCH_LIMIT = 20  # memories a search gives, as mem0's does
DEFAULT_LIST_LIMIT = 100
_IGNORED_FIELDS = ("metadata", "prompt", "memory_type", "expiration_date", "immutable", "custom_categories")
_IDENTIFIERS = ("user_id", "agent_id", "run_id")

_Result = TypeVar("_Result")


class Mem0Request:
    """One request that was let in: whom it may speak for, and where its work is done."""

    def __init__(self, request: Request) -> None:
        self._services: Services = request.state.services
        self.principal: Principal = get_principal(request.scope)
        self.bound_user = self.principal.user or read_name_header(request.headers, USER_HEADER) or ""

    def memory_of(self, user: str | None, scope: KeyScope) -> Memory:
        require_scope(self.principal, scope)
        return self._services.memories.for_principal(self.principal, user)

    def memory_by_id(self, id_: str, scope: KeyScope) -> Memory:
        """The memory of whom an id names; another's is not found."""
        user = ids.decode_id(id_).user
        if self.bound_user and user != self.bound_user:
            raise NotFound(f"Memory with id {id_[:40]!r} not found")
        return self.memory_of(user, scope)

    async def run(self, work: Callable[[], _Result]) -> _Result:
        return await self._services.pool.run(work)

    async def run_add(self, work: Callable[[], _Result]) -> _Result:
        """The same, unless too much waits to be thought over already."""
        await self.run(self._services.backlog.check)
        return await self.run(work)

    async def think_over(self, memory: Memory, turns: list[Turn]) -> list[ThinkOutcome]:
        """What came of turns that are kept: however the thinking goes, nobody is to send them again."""
        try:
            return await self._services.pool.run_within(
                2 * THINK_WAIT_SECONDS, partial(think_now, memory, turns)
            )
        except (DeadlineExceeded, ThinkbackError):
            return await self.run(lambda: [get_outcome(memory, turn.id) for turn in turns])


def create_router(services: Services) -> APIRouter:
    """Every path; errors are those of our tree, which the application tells."""
    whole = APIRouter(dependencies=[Depends(ProvideServices(services))])
    whole.include_router(router)
    return whole


async def _mem0_request(request: Request) -> Mem0Request:
    return Mem0Request(request)


Mem0RequestDependency = Annotated[Mem0Request, Depends(_mem0_request)]
router = APIRouter(tags=["mem0"])


@router.post("/memories")
async def add(asked: Mem0RequestDependency, body: Add, response: Response) -> AddedAll:
    """Remember messages, think them over, and tell which memories that added, updated or deleted.

    The answer waits for the thinking for some seconds at most; X-Thinkback-Pending counts the turns that
    are still to be thought over then. They are kept: do not send them again. Metadata is not kept;
    X-Thinkback-Ignored names what was sent and not used.
    """
    about = resolve_owner(body.user_id, body.agent_id, body.run_id, asked.bound_user)
    memory = asked.memory_of(about.user, "write")
    said = body.messages if isinstance(body.messages, str) else [each.model_dump() for each in body.messages]
    at = operations.parse_timestamp(body.timestamp)
    turns = await asked.run_add(
        lambda: operations.remember(memory, said, about.session, at, raw=not body.infer)
    )
    _report_ignored(response, body.model_extra)
    if not body.infer:
        return AddedAll(results=operations.added_turns(memory, turns))
    outcomes = await asked.think_over(memory, turns)
    if pending := sum(each.state != "done" for each in outcomes):
        response.headers[PENDING_HEADER] = str(pending)
    return AddedAll(results=await asked.run(lambda: operations.added_thoughts(memory, outcomes)))


@router.get("/memories")
async def get_all(
    asked: Mem0RequestDependency,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = DEFAULT_LIST_LIMIT,
) -> Items:
    """The newest memories of a user, agent or run."""
    about = resolve_owner(user_id, agent_id, run_id, asked.bound_user)
    memory = asked.memory_of(about.user, "read")
    return Items(results=await asked.run(lambda: operations.list_memories(memory, about, limit)))


@router.delete("/memories")
async def delete_all(
    asked: Mem0RequestDependency, user_id: UserId = None, agent_id: AgentId = None, run_id: RunId = None
) -> StatusMessage:
    """Erase all memories of a user, agent or run, with all that was said: for good, as in mem0."""
    about = resolve_owner(user_id, agent_id, run_id, asked.bound_user)
    memory = asked.memory_of(about.user, "write")
    await asked.run(lambda: operations.delete_all(memory, about))
    return StatusMessage(message="All relevant memories deleted")


@router.get("/memories/{memory_id}")
async def get(asked: Mem0RequestDependency, memory_id: str) -> Item:
    """One memory. The id of one that was updated since leads to what is held true now."""
    memory = asked.memory_by_id(memory_id, "read")
    return await asked.run(lambda: operations.get_memory(memory, memory_id))


@router.put("/memories/{memory_id}")
async def update(
    asked: Mem0RequestDependency, memory_id: str, body: Update, response: Response
) -> StatusMessage:
    """Correct a memory: the new text is remembered, the old memory retired for it, with its history."""
    memory = asked.memory_by_id(memory_id, "write")
    turn = await asked.run(lambda: operations.correct(memory, memory_id, body.words))
    (came,) = await asked.think_over(memory, [turn])
    _report_ignored(response, body.model_extra)
    added = await asked.run(
        lambda: operations.added_thoughts(memory, [came]) or operations.added_turns(memory, [turn])
    )
    return StatusMessage(message="Memory updated successfully!", id=added[0].id)


@router.delete("/memories/{memory_id}")
async def delete(asked: Mem0RequestDependency, memory_id: str) -> StatusMessage:
    """Forget a memory: it is found no more, and the journal can bring it back. Raw words are erased."""
    memory = asked.memory_by_id(memory_id, "write")
    await asked.run(lambda: operations.delete(memory, memory_id))
    return StatusMessage(message="Memory deleted successfully!")


@router.get("/memories/{memory_id}/history")
async def history(asked: Mem0RequestDependency, memory_id: str) -> list[HistoryEntry]:
    """What happened to a memory, oldest first, with the reasons."""
    memory = asked.memory_by_id(memory_id, "read")
    return await asked.run(lambda: operations.memory_history(memory, memory_id))


@router.post("/search")
async def search(asked: Mem0RequestDependency, body: Search) -> FoundItems:
    """The memories that matter for a query, best first; raw words too, where no thought tells it."""
    about = _search_owner(body, asked.bound_user)
    memory = asked.memory_of(about.user, "read")
    limit = body.top_k or body.limit or DEFAULT_SEARCH_LIMIT
    found = await asked.run(
        lambda: operations.search_memories(memory, about, body.query, limit, body.threshold)
    )
    return FoundItems(results=found)


def _search_owner(body: Search, own: str) -> MemoryOwner:
    """Whom a search means; identifiers may stand among the filters, and nothing else can be filtered by."""
    given = {name: getattr(body, name) for name in _IDENTIFIERS}
    for name, value in (body.filters or {}).items():
        if name not in _IDENTIFIERS or not isinstance(value, str):
            raise InvalidInput(
                "filters can name user_id, agent_id and run_id, each as text: no metadata is kept"
            )
        given[name] = given[name] or value
    return resolve_owner(given["user_id"], given["agent_id"], given["run_id"], own)


def _report_ignored(response: Response, sent: dict[str, Any] | None) -> None:
    if named := [name for name in _IGNORED_FIELDS if (sent or {}).get(name)]:
        response.headers[IGNORED_HEADER] = ", ".join(named)
