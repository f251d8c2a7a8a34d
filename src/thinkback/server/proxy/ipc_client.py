"""Client for the recall worker processes; one Unix-socket connection per worker.

Messages are JSON arrays with a 4-byte length prefix:

request  [number, deadline, tenant, user, text, texts]
reply    [number, "found", used, block, seconds, cpu seconds]
         [number, "failed", error type]

A file beside the socket, which is mapped into memory, says how many requests the worker has (`LoadFile`).
"""

from __future__ import annotations

import asyncio
import json
import mmap
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from thinkback.memory import Memory
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.recall_client import (
    MAX_QUERY_CHARS,
    ChatTurn,
    LocalRecallClient,
    RecalledMemories,
    UnusableQuery,
)
from thinkback.server.services import Options
from thinkback.server.thread_pool import DeadlineExceeded
from thinkback.types import RecalledItem

MAX_FRAME_BYTES = 64 << 20
MAX_UNREAD_BYTES = 4 << 20  # that may wait for a worker which does not read
RECONNECT_DELAY_SECONDS = 0.2
_LENGTH_BYTES = 4
_MAX_LOAD = 255  # it is one byte, so that it is never read half-written

FrameFields = list[Any]


def encode_frame(fields: FrameFields) -> bytes:
    body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(_LENGTH_BYTES) + body


class FrameDecoder:
    """Decodes frames from chunks of bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[FrameFields]:
        """Add a chunk and yield the complete frames. Raises `ValueError` if a frame is too long."""
        self._buffer += data
        while len(self._buffer) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._buffer[:_LENGTH_BYTES])
            if end > MAX_FRAME_BYTES:
                raise ValueError("frame too long")
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH_BYTES:end])
            del self._buffer[:end]
            fields: FrameFields = json.loads(body.decode("utf-8", "surrogatepass"))
            yield fields


def encode_used(used: tuple[RecalledItem, ...]) -> FrameFields:
    return [[item.kind, item.id, item.score, item.cosine, item.lexical, item.group] for item in used]


def decode_used(fields: FrameFields) -> tuple[RecalledItem, ...]:
    return tuple(RecalledItem(*item) for item in fields)


class LoadFile:
    """The number of requests that a worker has from all answering processes, at most 255.

    The worker writes it, and the answering processes read it: what one of them knows from its replies is too
    old to choose the less busy worker.
    """

    def __init__(self, file: BinaryIO, access: int) -> None:
        self._map = mmap.mmap(file.fileno(), 1, access=access)

    @classmethod
    def create(cls, socket_path: str) -> LoadFile:
        """Create it. A former one stays as it is for those who have mapped it; raises `OSError`."""
        path = _load_path(socket_path)
        path.unlink(missing_ok=True)
        with path.open("x+b") as file:
            file.write(b"\0")
            file.flush()
            return cls(file, mmap.ACCESS_WRITE)

    @classmethod
    def open(cls, socket_path: str) -> LoadFile | None:
        """Map the existing one; None if there is none."""
        try:
            with _load_path(socket_path).open("rb") as file:
                return cls(file, mmap.ACCESS_READ)
        except (OSError, ValueError):  # none, or an empty one
            return None

    @property
    def requests(self) -> int:
        return self._map[0]

    @requests.setter
    def requests(self, number: int) -> None:
        self._map[0] = min(number, _MAX_LOAD)


def _load_path(socket_path: str) -> Path:
    return Path(f"{socket_path}.load")


class RemoteError(Exception):
    """Recall failed in the worker; the message is the type of the error."""


class WorkerUnavailable(ConnectionError):
    """The worker process cannot be reached."""


class IpcRecallClient:
    """Recalls in worker processes. Each user has two of them, so that their caches stay warm.

    The first one recalls, or the second one while the first is busier or away (it died and starts again).
    While both are away, this process recalls for their users.
    """

    def __init__(self, options: Options, local: LocalRecallClient) -> None:
        self._options = options
        self._local = local
        self._connections = [_ClientConnection(path) for path in options.recall_sockets]

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        for connection in self._connections:
            connection.on_reconnect = callback

    async def recall(self, memory: Memory, query: ChatQuery) -> RecalledMemories:
        texts = query.texts if query.has_history else ()
        deadline = time.monotonic() + self._options.recall_timeout_seconds
        fields = [deadline, memory.tenant, memory.user, query.text[-MAX_QUERY_CHARS:], texts]
        try:
            used, block, seconds, cpu_seconds = await self._connection_for(memory).request(
                fields, self._options.recall_timeout_seconds
            )
        except WorkerUnavailable:
            return await self._local.recall(memory, query)
        return RecalledMemories(decode_used(used), block, seconds=seconds, cpu_seconds=cpu_seconds)

    async def remember(self, memory: Memory, turn: ChatTurn) -> str:
        """Store the turn in this process: a write computes little and must not wait for recalls."""
        return await self._local.remember(memory, turn)

    async def close(self) -> None:
        for connection in self._connections:
            connection.close()
        await self._local.close()

    def _connection_for(self, memory: Memory) -> _ClientConnection:
        count = len(self._connections)
        if count == 1:
            return self._connections[0]
        hashed = zlib.crc32(f"{memory.tenant}\0{memory.user}".encode())
        first = hashed % count
        one = self._connections[first]
        other = self._connections[(first + 1 + hashed // count % (count - 1)) % count]
        if one.is_lost or other.is_lost:
            return other if one.is_lost and not other.is_lost else one
        return other if one.load > other.load else one


class _ClientConnection(asyncio.Protocol):
    """The connection to one worker. Opened when it is needed; after it broke, it opens itself again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._waiting: dict[int, asyncio.Future[list[Any]]] = {}
        self._number = 0
        self._transport: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._reconnecting: asyncio.Task[None] | None = None
        self._closed = False
        self._load_file: LoadFile | None = None
        self.on_reconnect: Callable[[], None] = lambda: None

    @property
    def is_lost(self) -> bool:
        """Whether the worker is away: it ended, or could not be reached."""
        return self._reconnecting is not None

    @property
    def load(self) -> int:
        """How many requests the worker has. Those of this process may still be on their way to it."""
        own = len(self._waiting)
        return own if self._load_file is None else max(own, self._load_file.requests)

    async def request(self, fields: FrameFields, seconds: float) -> list[Any]:
        if self._transport is None:
            await self._ensure_open()
        transport = self._transport
        if transport is None or transport.is_closing():
            raise WorkerUnavailable("the recall worker is not connected")
        if transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            raise DeadlineExceeded
        self._number += 1
        number = self._number
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[list[Any]] = loop.create_future()
        self._waiting[number] = reply
        transport.write(encode_frame([number, *fields]))
        timer = loop.call_later(seconds, _expire, reply)
        try:
            return await reply
        finally:
            timer.cancel()
            self._waiting.pop(number, None)

    def close(self) -> None:
        self._closed = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        if self._transport is not None:
            self._transport.close()

    def _start_reconnecting(self) -> None:
        if not self._closed and self._reconnecting is None:
            self._reconnecting = asyncio.ensure_future(self._reconnect())

    async def _reconnect(self) -> None:
        """Try until the worker is back, whether or not chats ask for it."""
        while self._transport is None:
            await asyncio.sleep(RECONNECT_DELAY_SECONDS)
            with suppress(WorkerUnavailable):
                await self._ensure_open()
        self._reconnecting = None
        self.on_reconnect()

    async def _ensure_open(self) -> None:
        if self._opening is None:
            if time.monotonic() < self._not_before:
                raise WorkerUnavailable("the recall worker is not running yet")
            self._opening = asyncio.ensure_future(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, self._path)
        except OSError as error:
            self._not_before = time.monotonic() + RECONNECT_DELAY_SECONDS
            self._start_reconnecting()
            raise WorkerUnavailable(type(error).__name__) from None
        finally:
            self._opening = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._frames = FrameDecoder()
        self._load_file = LoadFile.open(self._path)
        if self._closed:  # closed while the connection was being opened
            transport.close()

    def data_received(self, data: bytes) -> None:
        for number, kind, *rest in self._frames.feed(data):
            reply = self._waiting.get(number)
            if reply is None or reply.done():
                continue
            if kind == "failed":
                reply.set_exception(_decode_error(*rest))
            else:
                reply.set_result(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = self._load_file = None
        self._start_reconnecting()
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(WorkerUnavailable("the recall worker has disconnected"))


def _expire(reply: asyncio.Future[list[Any]]) -> None:
    if not reply.done():
        reply.set_exception(DeadlineExceeded())


def _decode_error(error_type: str) -> Exception:
    known: dict[str, Exception] = {
        DeadlineExceeded.__name__: DeadlineExceeded(),
        UnusableQuery.__name__: UnusableQuery(),
    }
    return known.get(error_type) or RemoteError(error_type)
