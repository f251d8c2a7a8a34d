"""The process that recalls for the chats of every tenant, and does nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.desk import Desk, TooSlow
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.asked import Asked
from thinkback.apps.server.proxy.clerks import wire
from thinkback.apps.server.proxy.clerks.clerk import look
from thinkback.apps.server.services import Memories

THREADS = 4  # an embedder on the network is waited for; one here leaves the interpreter's lock
RECALLS = 256  # that may wait: later ones would be late anyhow


class Office:
    """A few threads recall; an errand whose time is over is not begun."""

    def __init__(self, memories: Memories, options: Options) -> None:
        self._memories = memories
        self._options = options
        self._recalls = Desk(threads=THREADS, waiting=RECALLS)
        self._stop = asyncio.Event()
        self.counters: set[_Counter] = set()

    async def serve(self, path: str, ready: Callable[[Callable[[], None]], None]) -> None:
        """At a Unix socket, until told to stop by what `ready` is given, from any thread."""
        loop = asyncio.get_running_loop()
        if os.path.exists(path):
            os.unlink(path)  # of one that died
        server = await loop.create_unix_server(lambda: _Counter(self), path)
        ready(lambda: _at(loop, self._stop.set))
        try:
            await self._stop.wait()
        finally:
            server.close()
            for counter in list(self.counters):
                await counter.close()
            self._recalls.close()

    async def recall(self, deadline: float, tenant: str, user: str, text: str, said: list[str]) -> wire.Words:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TooSlow
        memory = self._memories.of(Caller(tenant), user)
        found = await self._recalls.within(
            left, lambda: look(memory, Asked(text=text, said=tuple(said)), self._options)
        )
        return ["found", wire.told(found.used), found.block, round(found.seconds, 6)]


def _at(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """From another thread; a loop that has ended has nothing left to do."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(act)


class _Counter(asyncio.Protocol):
    """One connection: errands in, replies out in whatever order they are done."""

    def __init__(self, office: Office) -> None:
        self._counters = office.counters
        self._recall = office.recall
        self._frames = wire.Frames()
        self._at_work: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out: asyncio.Transport = transport  # type: ignore[assignment]
        self._counters.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._counters.discard(self)

    async def close(self) -> None:
        """After the errands in hand."""
        if self._at_work:
            await asyncio.wait(self._at_work)
        self._out.close()
        await asyncio.sleep(0)  # for the transport to say so

    def data_received(self, data: bytes) -> None:
        for number, *given in self._frames.feed(data):
            task = asyncio.ensure_future(self._do(number, self._recall(*given)))
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)

    async def _do(self, number: int, errand: Coroutine[Any, Any, wire.Words]) -> None:
        try:
            reply = await errand
        except Exception as error:  # told by its kind alone: its words may be the user's
            reply = ["failed", type(error).__name__]
        if not self._out.is_closing():
            self._out.write(wire.frame([number, *reply]))
