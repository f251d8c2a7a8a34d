"""The model on this machine: it blocks, so each answer comes from a thread of its own, piece by piece."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import closing, suppress
from typing import Any

from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused
from thinkback.apps.server.proxy.upstreams import forms
from thinkback.apps.server.proxy.upstreams.own import Own
from thinkback.apps.server.proxy.upstreams.upstream import Broken, Incoming, Outgoing
from thinkback.errors import ModelRefused
from thinkback.models.local import LocalLLM
from thinkback.ports import Embedder

Answer = dict[str, Any]


class Local(Own):
    """A GGUF file's own answers in OpenAI's form, one question at a time."""

    def __init__(self, llm: LocalLLM, desk: Desk, embedder: Embedder) -> None:
        super().__init__(llm.name, desk, embedder)
        self._llm = llm

    async def answer(self, request: Outgoing, asked: dict[str, Any], *, bare: bool) -> Incoming:
        answers = _heard(self._llm.respond(asked, bare=bare))
        try:
            first = await anext(answers)
        except ModelRefused as error:
            raise Refused(400, str(error), "invalid_request") from None
        except StopAsyncIteration:
            first = {}
        if "error" in first:  # in llama.cpp's own words, which are OpenAI's
            await answers.aclose()
            return forms.whole(first, int(first["error"].get("code") or 400))
        if not asked.get("stream"):
            return forms.whole(first)
        return Incoming(200, forms.STREAM, _events(first, answers))

    async def close(self) -> None:
        """The model is the memory's, and closes with it."""


async def _events(first: Answer, answers: AsyncGenerator[Answer, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield forms.event(first)
        async for each in answers:
            yield forms.event(each)
            if "error" in each:
                raise Broken("the model failed")
        yield forms.END
    except ModelRefused as error:
        raise Broken(str(error)) from None
    finally:
        await answers.aclose()


async def _heard(answers: Generator[Answer, None, None]) -> AsyncGenerator[Answer, None]:
    """What a blocking generator gives, as it comes. Whoever stops listening stops it at its next piece."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Answer | BaseException | None] = asyncio.Queue()
    left = threading.Event()

    def put(piece: Answer | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody listens
            loop.call_soon_threadsafe(queue.put_nowait, piece)

    def work() -> None:
        try:
            with closing(answers):
                for answer in answers:
                    put(answer)
                    if left.is_set():
                        break
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=work, name="thinkback-answering", daemon=True).start()
    try:
        while (piece := await queue.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        left.set()
