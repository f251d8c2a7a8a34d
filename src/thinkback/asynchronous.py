"""AsyncMemory: the same memory for asyncio, each call in a thread, for SQLite and numpy are synchronous."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from thinkback.memory import Memory

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


def _threaded(
    method: Callable[Concatenate[Memory, _Params], _Result],
) -> Callable[Concatenate[AsyncMemory, _Params], Coroutine[Any, Any, _Result]]:
    @wraps(method)
    async def call(self: AsyncMemory, /, *args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return call


class AsyncMemory:
    """`await AsyncMemory.open(...)`, then the methods of Memory, awaited."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        return cls(await asyncio.to_thread(partial(Memory.open, *args, **kwargs)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def for_user(self, user: str) -> Self:
        return type(self)(self.memory.for_user(user))

    def for_tenant(self, tenant: str) -> Self:
        return type(self)(self.memory.for_tenant(tenant))

    def close_also(self, *models: object) -> Self:
        self.memory.close_also(*models)
        return self

    close = _threaded(Memory.close)
    hand_back = _threaded(Memory.hand_back)
    remember = _threaded(Memory.remember)
    remember_messages = _threaded(Memory.remember_messages)
    post_think = _threaded(Memory.post_think)
    organise = _threaded(Memory.organise)
    wait = _threaded(Memory.wait)
    recall = _threaded(Memory.recall)
    kinds = _threaded(Memory.kinds)
    chat = _threaded(Memory.chat)
    synthesise = _threaded(Memory.synthesise)
    context = _threaded(Memory.context)
    context_before = _threaded(Memory.context_before)
    summary = _threaded(Memory.summary)
    summary_history = _threaded(Memory.summary_history)
    revise_summary = _threaded(Memory.revise_summary)
    undo_summary = _threaded(Memory.undo_summary)
    thoughts = _threaded(Memory.thoughts)
    turns = _threaded(Memory.turns)
    journal = _threaded(Memory.journal)
    entities = _threaded(Memory.entities)
    history = _threaded(Memory.history)
    failures = _threaded(Memory.failures)
    retry_failures = _threaded(Memory.retry_failures)
    why = _threaded(Memory.why)
    audit = _threaded(Memory.audit)
    stats = _threaded(Memory.stats)
    forget = _threaded(Memory.forget)
    correct = _threaded(Memory.correct)
    undo = _threaded(Memory.undo)
    erase = _threaded(Memory.erase)
    import_ = _threaded(Memory.import_)

    @staticmethod
    async def reembed(*args: Any, **kwargs: Any) -> int:
        return await asyncio.to_thread(partial(Memory.reembed, *args, **kwargs))

    async def export(self) -> list[str]:
        return await asyncio.to_thread(lambda: list(self.memory.export()))

    async def chat_stream(self, message: str, *, session: str = "default", k: int = 5) -> AsyncIterator[str]:
        """The pieces of the answer as they come."""
        stream = await asyncio.to_thread(partial(self.memory.chat_stream, message, session=session, k=k))
        try:
            while (piece := await asyncio.to_thread(next, stream, None)) is not None:
                yield piece
        finally:
            await asyncio.to_thread(stream.close)
