"""Who asks for whom: the memory a request is about, and whether its key may do that there.

A FastAPI room gives its router `dependencies=[Depends(Bring(services))]` and asks for `Reading`, `Writing` or
`Administering`: an endpoint without one of them reaches no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Query, Request

from thinkback.apps.server.caller import USER_HEADER, Caller, caller_of, named, require
from thinkback.apps.server.services import Services
from thinkback.checks import MAX_NAME
from thinkback.memory import Memory
from thinkback.types import KeyScope

ADDS = "create_memory"
_Result = TypeVar("_Result")

User = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_NAME,
        description=f"Whose memory; the header {USER_HEADER} goes before it, a key's own user before both.",
    ),
]


@dataclass(frozen=True, slots=True)
class Bring:
    """Gives every request of a router the services it was made with."""

    services: Services

    async def __call__(self, request: Request) -> None:
        request.state.services = self.services


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that was let in: whose memory it is about, and where its work is done."""

    services: Services
    caller: Caller
    memory: Memory

    async def do(self, work: Callable[[Memory], _Result], operation: str = "") -> _Result:
        """At the desk; an `operation` the GenAI conventions have a name for is traced under it.

        To add to memory is refused while too much waits to be thought over already.
        """
        if operation == ADDS:
            await self.services.desk.do(self.services.backlog.check)
        if not operation:
            return await self.services.desk.do(lambda: work(self.memory))
        with self.services.telemetry.span(operation, {"gen_ai.operation.name": operation}):
            return await self.services.desk.do(lambda: work(self.memory))


def asked(request: Request, scope: KeyScope, user: str | None) -> Asked:
    """What an endpoint works with; `user` is what the surface itself says of whom it is about."""
    services: Services = request.state.services
    caller = caller_of(request.scope)
    require(caller, scope)
    header = named(request.headers, USER_HEADER)
    memory = services.memories.of(caller, user if header is None else header)
    return Asked(services, caller, memory)


async def _reading(request: Request, user: User = None) -> Asked:
    return asked(request, "read", user)


async def _writing(request: Request, user: User = None) -> Asked:
    return asked(request, "write", user)


async def _administering(request: Request, user: User = None) -> Asked:
    return asked(request, "admin", user)


Reading = Annotated[Asked, Depends(_reading)]
Writing = Annotated[Asked, Depends(_writing)]
Administering = Annotated[Asked, Depends(_administering)]
