"""Client for the recall worker processes: length-prefixed JSON frames, one Unix-socket connection per worker."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import Iterator
from typing import Any

from thinkback.memory import Memory
from thinkback.server.options import Options
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.recall_client import (
    MAX_QUERY_CHARS,
    ChatTurn,
    LocalRecallClient,
    RecalledMemories,
    UnusableQuery,
)
from thinkback.server.thread_pool import DeadlineExceeded
from thinkback.types import RecalledItem

MAX_FRAME_BYTES = 64 << 20
_LENGTH_BYTES = 4

FrameFields = list[Any]


def encode_frame(words: FrameFields) -> bytes:
    body = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(_LENGTH_BYTES) + body


class FrameDecoder:
    """Bytes as they come -> what they say."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[FrameFields]:
        """ValueError where it is no frame."""
        self._held += data
        while len(self._held) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._held[:_LENGTH_BYTES])
            if end > MAX_FRAME_BYTES:
                raise ValueError("a frame that is too long")
            if len(self._held) < end:
                return
            body = bytes(self._held[_LENGTH_BYTES:end])
            del self._held[:end]
            words: FrameFields = json.loads(body.decode("utf-8", "surrogatepass"))
            yield words


def encode_used(used: tuple[RecalledItem, ...]) -> FrameFields:
    return [[each.kind, each.id, each.score, each.cosine, each.lexical, each.group] for each in used]


def decode_used(words: FrameFields) -> tuple[RecalledItem, ...]:
    return tuple(RecalledItem(*each) for each in words)


MAX_UNREAD_BYTES = 4 << 20  # bytes that may wait for an office which does not read
RECONNECT_DELAY_SECONDS = 0.2  # until a connection that could not be made is tried again


class RemoteError(Exception):
    """The errand failed there; the message names the kind of error."""


class WorkerUnavailable(ConnectionError):
    """The office cannot be reached now."""


class IpcRecallClient:
    """One office of several by the user, so that each keeps its own users in mind; the desk stands in."""

    def __init__(self, options: Options, local: LocalRecallClient) -> None:
        self._options = options
        self._local = local
        self._connections = [_ClientConnection(path) for path in options.recall_sockets]

    async def recall(self, memory: Memory, asked: ChatQuery) -> RecalledMemories:
        said = asked.texts if asked.has_history else ()
        deadline = time.monotonic() + self._options.recall_timeout_seconds
        words = [deadline, memory.tenant, memory.user, asked.text[-MAX_QUERY_CHARS:], said]
        used, block, seconds = await self._connection_for(memory).request(
            words, self._options.recall_timeout_seconds
        )
        return RecalledMemories(decode_used(used), block, seconds=seconds)

    async def remember(self, memory: Memory, said: ChatTurn) -> str:
        """Done here: a write waits for the disk and hardly computes, and must not wait for who does."""
        return await self._local.remember(memory, said)

    async def close(self) -> None:
        for box in self._connections:
            box.close()
        await self._local.close()

    def _connection_for(self, memory: Memory) -> _ClientConnection:
        if len(self._connections) == 1:
            return self._connections[0]
        return self._connections[
            zlib.crc32(f"{memory.tenant}\0{memory.user}".encode()) % len(self._connections)
        ]


class _ClientConnection(asyncio.Protocol):
    """One connection, made when it is needed, and again when it broke."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._waiting: dict[int, asyncio.Future[list[Any]]] = {}
        self._number = 0
        self._out: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None
        self._not_before = 0.0

    async def request(self, words: FrameFields, seconds: float) -> list[Any]:
        if self._out is None:
            await self._ensure_open()
        out = self._out
        if out is None or out.is_closing():
            raise WorkerUnavailable("the office is not there")
        if out.get_write_buffer_size() > MAX_UNREAD_BYTES:
            raise DeadlineExceeded
        self._number += 1
        number = self._number
        reply: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        out.write(encode_frame([number, *words]))
        try:
            async with asyncio.timeout(seconds):
                return await reply
        except TimeoutError:
            raise DeadlineExceeded from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        if self._out is not None:
            self._out.close()

    async def _ensure_open(self) -> None:
        if self._opening is None:
            if time.monotonic() < self._not_before:
                raise WorkerUnavailable("the office is not there yet")
            self._opening = asyncio.ensure_future(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, self._path)
        except OSError as error:
            self._not_before = time.monotonic() + RECONNECT_DELAY_SECONDS
            raise WorkerUnavailable(type(error).__name__) from None
        finally:
            self._opening = None

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out = transport  # type: ignore[assignment]
        self._frames = FrameDecoder()

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
        self._out = None
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(WorkerUnavailable("the office has gone"))


def _decode_error(kind: str) -> Exception:
    known: dict[str, Exception] = {
        DeadlineExceeded.__name__: DeadlineExceeded(),
        UnusableQuery.__name__: UnusableQuery(),
    }
    return known.get(kind) or RemoteError(kind)
