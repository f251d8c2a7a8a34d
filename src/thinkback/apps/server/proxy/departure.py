"""A client that goes away ends what is done for it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from starlette.types import Receive


class Gone(Exception):
    """The client has closed its connection."""


class Departure:
    """`async with Departure(receive)`: what stands inside is cancelled, as by `asyncio.timeout`, and ends
    with Gone. The request's body has been read before."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._gone = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be left")
        self._task = task
        self._watch = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.cancel()
        if self._gone and self._task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise Gone from error

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._task.cancel()
