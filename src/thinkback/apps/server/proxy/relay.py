"""An answer passed on byte for byte, its last bytes held back until its turn is durable.

plain    held, if it is not long, and sent with the name of its turn; a long one but for its last chunk
events   each chunk at once, but for the one with the end mark
broken   the bytes there are, then the connection is broken: the client sees what we saw, never a clean end
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from starlette.types import Send

from thinkback.apps.server.proxy.headers import encoded, incoming
from thinkback.apps.server.proxy.reading.reading import Heard, Reading, reading
from thinkback.apps.server.proxy.upstreams.upstream import Broken, Incoming

HELD = 1 << 20  # bytes of a plain answer that may wait for their turn

Keep = Callable[[Heard], Awaitable[dict[str, str]]]
"""Remembers the turn, and gives the headers that tell what became of it."""


class Relay:
    def __init__(self, answer: Incoming, send: Send, told: dict[str, str], keep: Keep | None) -> None:
        self._answer = answer
        self._send = send
        self._told = told  # the headers we add
        self._keep = keep
        self._headers = incoming(answer.headers)
        self._reading: Reading | None = reading(answer.status, dict(self._headers)) if keep else None

    async def run(self) -> None:
        kind = dict(self._headers).get(b"content-type", b"")
        at_once = self._keep is None or kind.lower().startswith(b"text/event-stream")
        async with aclosing(self._answer.chunks):  # an upstream that is not read to its end is let go
            await (self._at_once() if at_once else self._held())

    async def kept(self, *, whole: bool) -> dict[str, str]:
        """The turn is remembered, once, with what was read so far."""
        if self._keep is None or self._reading is None:
            return {}
        keep, self._keep = self._keep, None
        return await keep(self._reading.heard(whole))

    async def _at_once(self) -> None:
        await self._start({})
        try:
            async for chunk in self._answer.chunks:
                if self._reading is not None and self._reading.feed(chunk):
                    await self.kept(whole=True)
                await self._body(chunk, more=True)
        except Broken:
            await self.kept(whole=False)
            return
        await self.kept(whole=True)
        await self._body(b"", more=False)

    async def _held(self) -> None:
        held: list[bytes] = []
        size, started = 0, False
        try:
            async for chunk in self._answer.chunks:
                if self._reading is not None:
                    self._reading.feed(chunk)
                held.append(chunk)
                size += len(chunk)
                if size > HELD:
                    if not started:
                        await self._start({})
                        started = True
                    *ready, last = held
                    held = [last]
                    if ready:
                        await self._body(b"".join(ready), more=True)
        except Broken:
            await self._finish(held, started, whole=False)
            return
        await self._finish(held, started, whole=True)

    async def _finish(self, held: list[bytes], started: bool, *, whole: bool) -> None:
        told = await self.kept(whole=whole)
        if not started:
            await self._start(told)
        await self._body(b"".join(held), more=not whole)

    async def _start(self, told: dict[str, str]) -> None:
        headers = [*self._headers, *encoded({**self._told, **told})]
        await self._send({"type": "http.response.start", "status": self._answer.status, "headers": headers})

    async def _body(self, chunk: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
