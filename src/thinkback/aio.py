"""`AsyncMemory`: `Memory` for asyncio.

SQLite and numpy are synchronous, so each call runs in a thread.

async with AsyncMemory("memory.db", user="ann") as memory:
    await memory.remember("I moved to Lyon.", "How exciting!")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from functools import partial, wraps
from os import PathLike
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.memory_config import MemoryConfig, MemoryOptions
from thinkback.protocols import Store

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def _run_in_thread(
    method: Callable[Concatenate[Memory, _Params], _Result],
) -> Callable[Concatenate[AsyncMemory, _Params], Coroutine[Any, Any, _Result]]:
    @wraps(method)
    async def call(self: AsyncMemory, /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        return await asyncio.to_thread(lambda: method(self.memory, *args, **kwargs))

    return call


class AsyncMemory:
    """The methods of `Memory`, awaited; the arguments are those of `Memory`, or an open `Memory`.

    Use `async with AsyncMemory("memory.db", user="ann") as memory:`, or `memory = await AsyncMemory(...)` and
    `await memory.close()`. The database is opened in a thread by either of them, or by the first call.
    """

    def __init__(
        self,
        database: str | PathLike[str] | Store | Memory = "thinkback.db",
        config: MemoryConfig | None = None,
        **options: Unpack[MemoryOptions],
    ) -> None:
        self._lock = Lock()
        self._memory: Memory | None = None
        if not isinstance(database, Memory):
            self._open = partial(Memory, database, config, **options)
        elif config is not None or options:
            raise InvalidInput("an open Memory has its options already: give it alone")
        else:
            self._memory = database

    @classmethod
    def open(
        cls,
        url: str | PathLike[str] = "thinkback.db",
        config: MemoryConfig | None = None,
        **options: Unpack[MemoryOptions],
    ) -> Self:
        """The same as `AsyncMemory(url, config, **options)`."""
        return cls(url, config, **options)

    @property
    def memory(self) -> Memory:
        """The memory behind this one; it is opened, which blocks, if it was not used yet."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(lambda: self.memory)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the memory, as `Memory.close` does. Nothing is opened only to be closed."""
        if self._memory is not None:
            await asyncio.to_thread(self._memory.close)

    def for_user(self, user: str) -> Self:
        return type(self)(self.memory.for_user(user))

    def for_space(self, user: str, *, tenant: str | None = None) -> Self:
        return type(self)(self.memory.for_space(user, tenant=tenant))

    def for_tenant(self, tenant: str) -> Self:
        return type(self)(self.memory.for_tenant(tenant))

    def own(self, *models: object) -> Self:
        """Close these models too when this memory is closed."""
        self.memory.own(*models)
        return self

    release_claims = _run_in_thread(Memory.release_claims)
    remember = _run_in_thread(Memory.remember)
    add = remember
    remember_messages = _run_in_thread(Memory.remember_messages)
    post_think = _run_in_thread(Memory.post_think)
    organise = _run_in_thread(Memory.organise)
    wait = _run_in_thread(Memory.wait)
    recall = _run_in_thread(Memory.recall)
    search = recall
    kinds = _run_in_thread(Memory.kinds)
    chat = _run_in_thread(Memory.chat)
    synthesise = _run_in_thread(Memory.synthesise)
    ask = synthesise
    context = _run_in_thread(Memory.context)
    context_before = _run_in_thread(Memory.context_before)
    summary = _run_in_thread(Memory.summary)
    summary_history = _run_in_thread(Memory.summary_history)
    revise_summary = _run_in_thread(Memory.revise_summary)
    undo_summary = _run_in_thread(Memory.undo_summary)
    thoughts = _run_in_thread(Memory.thoughts)
    turns = _run_in_thread(Memory.turns)
    instructions = _run_in_thread(Memory.instructions)
    cached_instructions = _run_in_thread(Memory.cached_instructions)
    journal = _run_in_thread(Memory.journal)
    entities = _run_in_thread(Memory.entities)
    history = _run_in_thread(Memory.history)
    failures = _run_in_thread(Memory.failures)
    retry_failures = _run_in_thread(Memory.retry_failures)
    why = _run_in_thread(Memory.why)
    audit = _run_in_thread(Memory.audit)
    stats = _run_in_thread(Memory.stats)
    forget = _run_in_thread(Memory.forget)
    correct = _run_in_thread(Memory.correct)
    edit = _run_in_thread(Memory.edit)
    check_answer = _run_in_thread(Memory.check_answer)
    undo = _run_in_thread(Memory.undo)
    erase = _run_in_thread(Memory.erase)
    import_ = _run_in_thread(Memory.import_)
    import_users = _run_in_thread(Memory.import_users)

    @staticmethod
    async def reembed(*args: Any, **kwargs: Any) -> int:
        return await asyncio.to_thread(partial(Memory.reembed, *args, **kwargs))

    async def export(self) -> list[str]:
        return await asyncio.to_thread(lambda: list(self.memory.export()))

    async def chat_stream(
        self, message: str, *, session: str = "default", k: int = 5, key: str | None = None
    ) -> AsyncIterator[str]:
        """The pieces of the answer as they arrive."""
        stream = await asyncio.to_thread(
            lambda: self.memory.chat_stream(message, session=session, k=k, key=key)
        )
        try:
            while (piece := await asyncio.to_thread(next, stream, None)) is not None:
                yield piece
        finally:
            await asyncio.to_thread(stream.close)
