"""No model at all: memory answers for itself, by the rules of `recall/answer.py`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused
from thinkback.apps.server.proxy.upstreams import forms
from thinkback.apps.server.proxy.upstreams.own import Own
from thinkback.apps.server.proxy.upstreams.upstream import Incoming, Outgoing
from thinkback.ports import Embedder
from thinkback.recall.answer import from_memory
from thinkback.types import Recollection

NAME = "thinkback"


class Itself(Own):
    """What it says is what was said to it: no answer of it is remembered as news."""

    def __init__(self, desk: Desk, embedder: Embedder, recalled: int) -> None:
        super().__init__(NAME, desk, embedder)
        self._recalled = recalled

    async def answer(self, request: Outgoing, asked: dict[str, Any], *, bare: bool) -> Incoming:
        if not request.text.strip():
            raise Refused(
                400, "nothing is asked: give a message of the user, or a prompt, in words", "no_text"
            )
        text = await self._desk.do(lambda: from_memory(request.text, self._found(request)))
        if not asked.get("stream"):
            return forms.whole(forms.completion(text, NAME, bare=bare), by_memory=True)
        return Incoming(200, forms.STREAM, _events(forms.pieces(text, NAME, bare=bare)), by_memory=True)

    async def close(self) -> None:
        """Nothing is open."""

    def _found(self, request: Outgoing) -> Recollection:
        """What was recalled on the way; an answer from memory waits for it, as no other does."""
        if request.found is not None:
            return request.found
        if request.memory is None:
            return Recollection(query=request.text, items=())
        return request.memory.recall(request.text, k=self._recalled)


async def _events(pieces: list[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield forms.event(piece)
    yield forms.END
