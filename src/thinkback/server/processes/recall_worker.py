"""The process that recalls for the chats of every tenant, and does nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from thinkback.server.options import Options
from thinkback.server.principal import Principal
from thinkback.server.proxy import ipc_client
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.recall_client import recall_memories
from thinkback.server.services import MemoryRegistry
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool

RECALL_THREADS = 4  # an embedder on the network is waited for; one here leaves the interpreter's lock
MAX_QUEUED_RECALLS = 256  # that may wait: later ones would be late anyhow


class RecallWorker:
    """A few threads recall; an errand whose time is over is not begun."""

    def __init__(self, memories: MemoryRegistry, options: Options) -> None:
        self._memories = memories
        self._options = options
        self._recalls = ThreadPool(threads=RECALL_THREADS, max_queued=MAX_QUEUED_RECALLS)
        self._stop = asyncio.Event()
        self.connections: set[_WorkerConnection] = set()

    async def serve(self, path: str, ready: Callable[[Callable[[], None]], None]) -> None:
        """At a Unix socket, until told to stop by what `ready` is given, from any thread."""
        loop = asyncio.get_running_loop()
        if os.path.exists(path):
            os.unlink(path)  # of one that died
        server = await loop.create_unix_server(lambda: _WorkerConnection(self), path)
        ready(lambda: _call_threadsafe(loop, self._stop.set))
        try:
            await self._stop.wait()
        finally:
            server.close()
            for counter in list(self.connections):
                await counter.close()
            self._recalls.close()

    async def recall(
        self, deadline: float, tenant: str, user: str, text: str, said: list[str]
    ) -> ipc_client.FrameFields:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        memory = self._memories.for_principal(Principal(tenant), user)
        found = await self._recalls.run_within(
            left, lambda: recall_memories(memory, ChatQuery(text=text, texts=tuple(said)), self._options)
        )
        return ["found", ipc_client.encode_used(found.used), found.block, round(found.seconds, 6)]


def _call_threadsafe(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """From another thread; a loop that has ended has nothing left to do."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(act)


class _WorkerConnection(asyncio.Protocol):
    """One connection: errands in, replies out in whatever order they are done."""

    def __init__(self, office: RecallWorker) -> None:
        self._counters = office.connections
        self._recall = office.recall
        self._frames = ipc_client.FrameDecoder()
        self._running: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out: asyncio.Transport = transport  # type: ignore[assignment]
        self._counters.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._counters.discard(self)

    async def close(self) -> None:
        """After the errands in hand."""
        if self._running:
            await asyncio.wait(self._running)
        self._out.close()
        await asyncio.sleep(0)  # for the transport to say so

    def data_received(self, data: bytes) -> None:
        for number, *given in self._frames.feed(data):
            task = asyncio.ensure_future(self._reply(number, self._recall(*given)))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _reply(self, number: int, errand: Coroutine[Any, Any, ipc_client.FrameFields]) -> None:
        try:
            reply = await errand
        except Exception as error:  # told by its kind alone: its words may be the user's
            reply = ["failed", type(error).__name__]
        if not self._out.is_closing():
            self._out.write(ipc_client.encode_frame([number, *reply]))
