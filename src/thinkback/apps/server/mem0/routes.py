"""The paths of mem0's open-source server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response

from thinkback.apps.server import ids
from thinkback.apps.server.caller import USER_HEADER, Caller, caller_of, named, require
from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.mem0 import finding, keeping
from thinkback.apps.server.mem0.forms import (
    Add,
    AddedAll,
    AgentId,
    Done,
    FoundItems,
    Item,
    Items,
    Past,
    RunId,
    Search,
    Update,
    UserId,
)
from thinkback.apps.server.mem0.whose import Whose, whose
from thinkback.apps.server.outcome import SETTLE_S, Outcome, outcome, settle
from thinkback.apps.server.services import Services
from thinkback.apps.server.who import Bring
from thinkback.errors import InvalidInput, NotFound, ThinkbackError
from thinkback.memory import Memory
from thinkback.types import KeyScope, Turn

IGNORED = "X-Thinkback-Ignored"
PENDING = "X-Thinkback-Pending"
FOUND = 20  # memories a search gives, as mem0's does
LISTED = 100
_NOT_KEPT = ("metadata", "prompt", "memory_type", "expiration_date", "immutable", "custom_categories")
_NARROWS = ("user_id", "agent_id", "run_id")

_Result = TypeVar("_Result")


class Asking:
    """One request that was let in: whom it may speak for, and where its work is done."""

    def __init__(self, request: Request) -> None:
        self._services: Services = request.state.services
        self.caller: Caller = caller_of(request.scope)
        self.own = self.caller.user or named(request.headers, USER_HEADER) or ""

    def of(self, user: str | None, scope: KeyScope) -> Memory:
        require(self.caller, scope)
        return self._services.memories.of(self.caller, user)

    def by_id(self, id_: str, scope: KeyScope) -> Memory:
        """The memory of whom an id names; another's is not found."""
        user = ids.read(id_).user
        if self.own and user != self.own:
            raise NotFound(f"Memory with id {id_[:40]!r} not found")
        return self.of(user, scope)

    async def do(self, work: Callable[[], _Result]) -> _Result:
        return await self._services.desk.do(work)

    async def add(self, work: Callable[[], _Result]) -> _Result:
        """The same, unless too much waits to be thought over already."""
        await self.do(self._services.backlog.check)
        return await self.do(work)

    async def thought_over(self, memory: Memory, turns: list[Turn]) -> list[Outcome]:
        """What came of turns that are kept: however the thinking goes, nobody is to send them again."""
        try:
            return await self._services.desk.within(2 * SETTLE_S, partial(settle, memory, turns))
        except (TooSlow, ThinkbackError):
            return await self.do(lambda: [outcome(memory, turn.id) for turn in turns])


def router(services: Services) -> APIRouter:
    """Every path; errors are those of our tree, which the application tells."""
    whole = APIRouter(dependencies=[Depends(Bring(services))])
    whole.include_router(paths)
    return whole


async def _asking(request: Request) -> Asking:
    return Asking(request)


Asked = Annotated[Asking, Depends(_asking)]
paths = APIRouter(tags=["mem0"])


@paths.post("/memories")
async def add(asked: Asked, body: Add, response: Response) -> AddedAll:
    """Remember messages, think them over, and tell which memories that added, updated or deleted.

    The answer waits for the thinking for some seconds at most; X-Thinkback-Pending counts the turns that
    are still to be thought over then. They are kept: do not send them again. Metadata is not kept;
    X-Thinkback-Ignored names what was sent and not used.
    """
    about = whose(body.user_id, body.agent_id, body.run_id, asked.own)
    memory = asked.of(about.user, "write")
    said = body.messages if isinstance(body.messages, str) else [each.model_dump() for each in body.messages]
    at = keeping.moment(body.timestamp)
    turns = await asked.add(lambda: keeping.remember(memory, said, about.session, at, raw=not body.infer))
    _tell_ignored(response, body.model_extra)
    if not body.infer:
        return AddedAll(results=keeping.as_said(memory, turns))
    outcomes = await asked.thought_over(memory, turns)
    if pending := sum(each.state != "done" for each in outcomes):
        response.headers[PENDING] = str(pending)
    return AddedAll(results=await asked.do(lambda: keeping.as_thought(memory, outcomes)))


@paths.get("/memories")
async def get_all(
    asked: Asked,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = LISTED,
) -> Items:
    """The newest memories of a user, agent or run."""
    about = whose(user_id, agent_id, run_id, asked.own)
    memory = asked.of(about.user, "read")
    return Items(results=await asked.do(lambda: finding.listed(memory, about, limit)))


@paths.delete("/memories")
async def delete_all(
    asked: Asked, user_id: UserId = None, agent_id: AgentId = None, run_id: RunId = None
) -> Done:
    """Erase all memories of a user, agent or run, with all that was said: for good, as in mem0."""
    about = whose(user_id, agent_id, run_id, asked.own)
    memory = asked.of(about.user, "write")
    await asked.do(lambda: keeping.delete_all(memory, about))
    return Done(message="All relevant memories deleted")


@paths.get("/memories/{memory_id}")
async def get(asked: Asked, memory_id: str) -> Item:
    """One memory. The id of one that was updated since leads to what is held true now."""
    memory = asked.by_id(memory_id, "read")
    return await asked.do(lambda: finding.got(memory, memory_id))


@paths.put("/memories/{memory_id}")
async def update(asked: Asked, memory_id: str, body: Update, response: Response) -> Done:
    """Correct a memory: the new text is remembered, the old memory retired for it, with its history."""
    memory = asked.by_id(memory_id, "write")
    turn = await asked.do(lambda: keeping.correct(memory, memory_id, body.words))
    (came,) = await asked.thought_over(memory, [turn])
    _tell_ignored(response, body.model_extra)
    added = await asked.do(lambda: keeping.as_thought(memory, [came]) or keeping.as_said(memory, [turn]))
    return Done(message="Memory updated successfully!", id=added[0].id)


@paths.delete("/memories/{memory_id}")
async def delete(asked: Asked, memory_id: str) -> Done:
    """Forget a memory: it is found no more, and the journal can bring it back. Raw words are erased."""
    memory = asked.by_id(memory_id, "write")
    await asked.do(lambda: keeping.delete(memory, memory_id))
    return Done(message="Memory deleted successfully!")


@paths.get("/memories/{memory_id}/history")
async def history(asked: Asked, memory_id: str) -> list[Past]:
    """What happened to a memory, oldest first, with the reasons."""
    memory = asked.by_id(memory_id, "read")
    return await asked.do(lambda: finding.history(memory, memory_id))


@paths.post("/search")
async def search(asked: Asked, body: Search) -> FoundItems:
    """The memories that matter for a query, best first; raw words too, where no thought tells it."""
    about = _sought(body, asked.own)
    memory = asked.of(about.user, "read")
    limit = body.top_k or body.limit or FOUND
    found = await asked.do(lambda: finding.searched(memory, about, body.query, limit, body.threshold))
    return FoundItems(results=found)


def _sought(body: Search, own: str) -> Whose:
    """Whom a search means; identifiers may stand among the filters, and nothing else can be filtered by."""
    given = {name: getattr(body, name) for name in _NARROWS}
    for name, value in (body.filters or {}).items():
        if name not in _NARROWS or not isinstance(value, str):
            raise InvalidInput(
                "filters can name user_id, agent_id and run_id, each as text: no metadata is kept"
            )
        given[name] = given[name] or value
    return whose(given["user_id"], given["agent_id"], given["run_id"], own)


def _tell_ignored(response: Response, sent: dict[str, Any] | None) -> None:
    if named := [name for name in _NOT_KEPT if (sent or {}).get(name)]:
        response.headers[IGNORED] = ", ".join(named)
