"""The clerk in another process, as the pass-through sees it: errands out, replies in, none in vain."""

from __future__ import annotations

import asyncio
import time
import zlib
from typing import Any

from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.asked import Asked
from thinkback.apps.server.proxy.clerks import wire
from thinkback.apps.server.proxy.clerks.clerk import LONGEST, AtTheDesk, Exchanged, Found, Unfit
from thinkback.memory import Memory

UNREAD = 4 << 20  # bytes that may wait for an office which does not read
AGAIN_S = 0.2  # until a connection that could not be made is tried again


class Failed(Exception):
    """The errand failed there; the message names the kind of error."""


class Away(ConnectionError):
    """The office cannot be reached now."""


class ByPost:
    """One office of several by the user, so that each keeps its own users in mind; the desk stands in."""

    def __init__(self, options: Options, own: AtTheDesk) -> None:
        self._options = options
        self._own = own
        self._boxes = [_Box(path) for path in options.offices]

    async def recall(self, memory: Memory, asked: Asked) -> Found:
        said = asked.said if asked.goes_on else ()
        deadline = time.monotonic() + self._options.recall_s
        words = [deadline, memory.tenant, memory.user, asked.text[-LONGEST:], said]
        used, block, seconds = await self._box(memory).ask(words, self._options.recall_s)
        return Found(wire.read(used), block, seconds=seconds)

    async def remember(self, memory: Memory, said: Exchanged) -> str:
        """Done here: a write waits for the disk and hardly computes, and must not wait for who does."""
        return await self._own.remember(memory, said)

    async def close(self) -> None:
        for box in self._boxes:
            box.close()
        await self._own.close()

    def _box(self, memory: Memory) -> _Box:
        if len(self._boxes) == 1:
            return self._boxes[0]
        return self._boxes[zlib.crc32(f"{memory.tenant}\0{memory.user}".encode()) % len(self._boxes)]


class _Box(asyncio.Protocol):
    """One connection, made when it is needed, and again when it broke."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._waiting: dict[int, asyncio.Future[list[Any]]] = {}
        self._number = 0
        self._out: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None
        self._not_before = 0.0

    async def ask(self, words: wire.Words, seconds: float) -> list[Any]:
        if self._out is None:
            await self._opened()
        out = self._out
        if out is None or out.is_closing():
            raise Away("the office is not there")
        if out.get_write_buffer_size() > UNREAD:
            raise TooSlow
        self._number += 1
        number = self._number
        reply: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        out.write(wire.frame([number, *words]))
        try:
            async with asyncio.timeout(seconds):
                return await reply
        except TimeoutError:
            raise TooSlow from None
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        if self._out is not None:
            self._out.close()

    async def _opened(self) -> None:
        if self._opening is None:
            if time.monotonic() < self._not_before:
                raise Away("the office is not there yet")
            self._opening = asyncio.ensure_future(self._open())
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, self._path)
        except OSError as error:
            self._not_before = time.monotonic() + AGAIN_S
            raise Away(type(error).__name__) from None
        finally:
            self._opening = None

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out = transport  # type: ignore[assignment]
        self._frames = wire.Frames()

    def data_received(self, data: bytes) -> None:
        for number, kind, *rest in self._frames.feed(data):
            reply = self._waiting.get(number)
            if reply is None or reply.done():
                continue
            if kind == "failed":
                reply.set_exception(_error(*rest))
            else:
                reply.set_result(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self._out = None
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(Away("the office has gone"))


def _error(kind: str) -> Exception:
    known: dict[str, Exception] = {TooSlow.__name__: TooSlow(), Unfit.__name__: Unfit()}
    return known.get(kind) or Failed(kind)
