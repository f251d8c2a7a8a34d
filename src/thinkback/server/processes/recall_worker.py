"""Worker process that recalls for the chats of all tenants; see `proxy.ipc_client` for the protocol."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from thinkback.server.identity import Principal
from thinkback.server.proxy import ipc_client
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.recall_client import count_recall_threads, recall_memories
from thinkback.server.services import MemoryRegistry, Options
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool

_log = logging.getLogger("thinkback.server.recalling")

MAX_QUEUED_RECALLS = 256  # more would miss their deadline anyway


class RecallWorker:
    """Recalls in a few threads. A request whose deadline has passed is not started."""

    def __init__(self, memories: MemoryRegistry, options: Options) -> None:
        self._memories = memories
        self._options = options
        threads = count_recall_threads(memories.root.embedder.name)
        self._pool = ThreadPool(threads, max_queued=MAX_QUEUED_RECALLS)
        self._stop = asyncio.Event()
        self._load_file: ipc_client.LoadFile | None = None
        self._requests = 0
        self.connections: set[_WorkerConnection] = set()

    async def serve(self, path: str, ready: Callable[[Callable[[], None]], None]) -> None:
        """Serve a Unix socket until stopped. `ready` is given a function that stops it, from any thread."""
        loop = asyncio.get_running_loop()
        if os.path.exists(path):
            os.unlink(path)  # left by a worker that died
        try:
            self._load_file = ipc_client.LoadFile.create(path)
        except OSError as error:  # recall works without it
            _log.warning("cannot publish how busy this process is: %s", error)
        server = await loop.create_unix_server(lambda: _WorkerConnection(self), path)
        ready(lambda: _call_threadsafe(loop, self._stop.set))
        try:
            await self._stop.wait()
        finally:
            server.close()
            for connection in list(self.connections):
                await connection.close()
            self._pool.close()

    def count_request(self, change: int) -> None:
        """Count a request that arrived (1) or was answered (-1), and publish how many there are."""
        self._requests += change
        if self._load_file is not None:
            self._load_file.requests = self._requests

    async def recall(
        self, deadline: float, tenant: str, user: str, text: str, texts: list[str]
    ) -> ipc_client.FrameFields:
        """Answer one request; the arguments are the fields of its frame."""
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            raise DeadlineExceeded
        memory = self._memories.for_principal(Principal(tenant), user)
        query = ChatQuery(text=text, texts=tuple(texts))
        found = await self._pool.run_within(
            seconds_left, lambda: recall_memories(memory, query, self._options), tenant=tenant
        )
        times = round(found.seconds, 6), round(found.cpu_seconds, 6)
        return ["found", ipc_client.encode_used(found.used), found.block, *times]


def _call_threadsafe(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Call from another thread; nothing happens if the loop is already closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)


class _WorkerConnection(asyncio.Protocol):
    """One client connection. Requests are answered in the order in which they finish."""

    def __init__(self, worker: RecallWorker) -> None:
        self._worker = worker
        self._frames = ipc_client.FrameDecoder()
        self.running: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._worker.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._worker.connections.discard(self)

    async def close(self) -> None:
        """Finish the running requests, then close the connection."""
        if self.running:
            await asyncio.wait(self.running)
        self._transport.close()
        await asyncio.sleep(0)  # let the transport call connection_lost

    def data_received(self, data: bytes) -> None:
        for number, *fields in self._frames.feed(data):
            recall = self._worker.recall(*fields)
            self._worker.count_request(1)
            task = asyncio.ensure_future(self._reply(number, recall))
            self.running.add(task)
            task.add_done_callback(self.running.discard)

    async def _reply(self, number: int, recall: Coroutine[Any, Any, ipc_client.FrameFields]) -> None:
        try:
            reply = await recall
        except Exception as error:  # only the type: the message may contain the user's words
            reply = ["failed", type(error).__name__]
        finally:  # before the reply, because the user's next request may follow at once
            self._worker.count_request(-1)
        if not self._transport.is_closing():
            self._transport.write(ipc_client.encode_frame([number, *reply]))
