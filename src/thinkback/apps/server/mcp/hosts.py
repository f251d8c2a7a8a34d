"""Whose memory a call is about: that of a process's one user, or of whom a request over HTTP speaks for."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Protocol, TypeVar

from starlette.requests import Request

from thinkback.apps.server import ids
from thinkback.apps.server.caller import SESSION_HEADER, USER_HEADER, caller_of, named, require
from thinkback.apps.server.faults import forbidden
from thinkback.apps.server.services import Services
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.types import KeyScope

REQUEST: ContextVar[Request] = ContextVar("the HTTP request of a call")

_Result = TypeVar("_Result")
Work = Callable[[Memory], _Result]


class Host(Protocol):
    """Does a piece of work with the right memory, away from the event loop."""

    @property
    def many_users(self) -> bool:
        """Whether a call may name its user."""
        ...

    def session(self) -> str:
        """The conversation that a call without one belongs to; empty if that is not said."""
        ...

    async def at(self, user: str, id_: str, scope: KeyScope, work: Work[_Result]) -> _Result:
        """`user` is whom the call names, `id_` the id it is about; empty where it has none."""
        ...


class OneUser:
    """A process of one user: nobody else's memory can be reached through it."""

    many_users = False

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def session(self) -> str:
        return ""

    async def at(self, user: str, id_: str, scope: KeyScope, work: Work[_Result]) -> _Result:
        import anyio.to_thread

        return await anyio.to_thread.run_sync(work, self._memory)


class ManyUsers:
    """Callers that the gate has let in, each with the scopes and the tenant of its key."""

    many_users = True

    def __init__(self, services: Services) -> None:
        self._services = services

    def session(self) -> str:
        return named(REQUEST.get().headers, SESSION_HEADER) or ""

    async def at(self, user: str, id_: str, scope: KeyScope, work: Work[_Result]) -> _Result:
        """The key's user, the header's, the one named, the id's, in this order; they may not disagree."""
        request = REQUEST.get()
        caller = caller_of(request.scope)
        require(caller, scope)
        own = caller.user or named(request.headers, USER_HEADER)
        if own and user and user != own:
            raise forbidden(f"this connection speaks for the user {own!r} alone")
        whose = own or user
        if id_:
            meant = ids.read(id_).user
            if whose and meant != whose:
                raise NotFound(f"{id_[:40]!r} names no memory of this user")
            whose = meant
        memory = self._services.memories.of(caller, whose or None)
        return await self._services.desk.do(partial(self._done, memory, work, scope == "write" and not id_))

    def _done(self, memory: Memory, work: Work[_Result], adds: bool) -> _Result:
        if adds:
            self._services.backlog.check()
        return work(memory)
