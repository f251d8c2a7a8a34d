"""An upstream that fails in many ways and records each byte it sends.

with FaultyUpstream() as upstream:
    a request to upstream.url with "model": "reset" is reset; "metadata": {"id": "7"} finds what was sent:
    upstream.sent["7"]

It speaks raw HTTP/1.1 from its own thread, so that it can break off anywhere.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

FAULTS = (
    *("timeout", "reset", "429", "429-retry-after", "500", "malformed", "truncated-json", "truncated-stream"),
    *("wrong-schema", "wrong-language", "refusal", "empty", "10mb", "drip", "duplicate-keys"),
)
"""Fourteen faults (429 with and without Retry-After); the model "ok" answers normally."""
LARGE_ANSWER_BYTES = 10 << 20
SILENCE_SECONDS = 15.0  # longer than any timeout in the tests


@dataclass
class SentAnswer:
    """The answer to one request: body bytes without framing, and whether it was complete."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    text: str = ""  # the assistant's text in the sent bytes
    ended: bool = False


class BreakConnection(Exception):
    """Raised to break the connection."""


class FaultyUpstream:
    """Starts on entering the context, stops on leaving it."""

    def __init__(self) -> None:
        self.sent: dict[str, SentAnswer] = {}
        self.asked: dict[str, dict[str, Any]] = {}
        self.connections = 0
        self.open = 0
        self.drops = False  # close a connection when it is reused
        self._stop = threading.Event()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        while not self._stop.is_set():
            await asyncio.sleep(0.02)
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            try:
                await self._answer(await _request(reader), reader, writer)
                while asked := await _request(reader):
                    if self.drops:
                        raise BreakConnection
                    await self._answer(asked, reader, writer)
            except BreakConnection as broke:
                if str(broke) == "reset":
                    writer.transport.abort()
                else:
                    writer.close()
        writer.close()
        self.open -= 1

    async def _answer(
        self, asked: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        number = asked["metadata"]["id"]
        self.asked[number] = asked
        sent = self.sent[number] = SentAnswer()
        said = FaultyAnswer(sent, reader, writer, asked)
        await (said.stream() if asked.get("stream") else said.plain())


async def _request(reader: asyncio.StreamReader) -> dict[str, Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)
    body: dict[str, Any] = json.loads(await reader.readexactly(length))
    return body


class FaultyAnswer:
    """One answer, with or without a fault."""

    def __init__(
        self,
        sent: SentAnswer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        asked: dict[str, Any],
    ) -> None:
        self._sent = sent
        self._reader = reader
        self._writer = writer
        self._fault: str = asked["model"]
        self._answer = f"The answer to {asked['metadata']['id']} is blue, round and friendly."
        if self._fault == "wrong-language":
            self._answer = f"第{asked['metadata']['id']}个答案是蓝色的。"
        if self._fault == "10mb":
            self._answer += "x" * (LARGE_ANSWER_BYTES - len(self._answer))

    async def plain(self) -> None:
        fault = self._fault
        if await self._failed():
            return
        message: dict[str, Any] = {"role": "assistant", "content": self._answer}
        if fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
        if fault == "empty":
            message["content"] = ""
        raw = json.dumps(
            {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message}]},
            ensure_ascii=False,
        ).encode()
        if fault in ("ok", "wrong-language", "10mb", "duplicate-keys"):
            self._sent.text = self._answer
        if fault == "malformed":
            raw = b'{"choices": [}'
        if fault == "wrong-schema":
            raw = b'{"unexpected": 1}'
        if fault == "duplicate-keys":
            raw = b'{"id": "a", "choices": [], ' + raw[1:]
        if fault == "truncated-json":
            await self._head(200, "application/json", length=len(raw))
            await self._cut(raw)
        elif fault == "truncated-stream":
            await self._head(200, "application/json")
            await self._cut(raw, self._chunk)
        elif fault == "drip":
            self._sent.text = self._answer
            await self._head(200, "application/json", length=len(raw))
            async for byte in _dripping(raw):
                await self._write(byte)
            self._sent.ended = True
        else:
            await self._whole(200, raw)

    async def _failed(self) -> bool:
        """Faults before the answer starts; returns True if the request was answered."""
        if self._fault == "timeout":
            await self._silence()
        if self._fault == "reset":
            raise BreakConnection("reset")
        if self._fault in ("429", "429-retry-after", "500"):
            status = int(self._fault[:3])
            more = {"Retry-After": "7"} if self._fault == "429-retry-after" else {}
            await self._whole(status, b'{"error": {"message": "not now", "type": "server_error"}}', more)
            return True
        return False

    async def _silence(self) -> None:
        """Send nothing until the other side disconnects."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._reader.read(1), SILENCE_SECONDS)
        raise BreakConnection

    async def _cut(self, raw: bytes, write: Callable[[bytes], Any] | None = None) -> None:
        """Send three quarters, which ends within the answer's text, and break the connection."""
        part = raw[: len(raw) * 3 // 4]
        self._sent.text = part.decode(errors="ignore").partition('"content": "')[2]
        await (write or self._write)(part)
        raise BreakConnection

    async def stream(self) -> None:
        fault = self._fault
        if fault not in ("timeout", "reset") and await self._failed():
            return
        await self._head(200, "text/event-stream")
        if fault == "wrong-schema":
            await self._chunk(b'data: {"unexpected": 1}\n\n')
        elif fault == "refusal":
            await self._event({"refusal": "I would rather not."})
        elif fault == "empty":
            await self._event({"role": "assistant", "content": ""})
        else:
            await self._pieces()
        await self._event({}, "stop")
        await self._chunk(b"data: [DONE]\n\n")
        await self._write(b"0\r\n\r\n", framing=True)
        self._sent.ended = True

    async def _pieces(self) -> None:
        size = 1 << 16 if self._fault == "10mb" else 8
        pieces = [self._answer[at : at + size] for at in range(0, len(self._answer), size)]
        for number, piece in enumerate(pieces):
            if number == 3:
                await self._interrupted()
            self._sent.text += piece
            await self._event({"content": piece})

    async def _interrupted(self) -> None:
        fault = self._fault
        if fault == "timeout":
            await self._silence()
        if fault == "reset":
            await asyncio.sleep(0.05)  # a reset discards bytes that are still in transit
            raise BreakConnection("reset")
        if fault == "malformed":
            await self._chunk(b"data: {not json\n\n")
        if fault == "truncated-json":
            await self._chunk(b'data: {"choices": [{"index": 0, "delta": {"content": "')
            raise BreakConnection
        if fault == "truncated-stream":
            await self._write(b"0\r\n\r\n", framing=True)
            self._sent.ended = True
            raise BreakConnection

    async def _event(self, delta: dict[str, Any], finish: str | None = None) -> None:
        raw = _event(delta, finish)
        if self._fault == "duplicate-keys":
            raw = b'data: {"choices": [], ' + raw.removeprefix(b"data: {")
        if self._fault == "drip":
            async for byte in _dripping(raw):
                await self._chunk(byte)
        else:
            await self._chunk(raw)

    async def _whole(self, status: int, raw: bytes, more: dict[str, str] | None = None) -> None:
        await self._head(status, "application/json", length=len(raw), more=more)
        await self._write(raw)
        self._sent.ended = True

    async def _head(
        self, status: int, kind: str, *, length: int | None = None, more: dict[str, str] | None = None
    ) -> None:
        framing = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
        self._sent.status = status
        self._sent.headers = {"Content-Type": kind, "X-Request-Id": "req-1", **(more or {})}
        lines = [
            f"HTTP/1.1 {status} So",
            *(f"{k}: {v}" for k, v in {**self._sent.headers, **framing}.items()),
        ]
        await self._write("\r\n".join([*lines, "", ""]).encode(), framing=True)

    async def _chunk(self, raw: bytes) -> None:
        self._sent.body += raw
        await self._write(b"%x\r\n%s\r\n" % (len(raw), raw), framing=True)

    async def _write(self, raw: bytes, *, framing: bool = False) -> None:
        if not framing:
            self._sent.body += raw
        self._writer.write(raw)
        await self._writer.drain()


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


async def _dripping(raw: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(raw), 3):
        yield raw[at : at + 3]
        await asyncio.sleep(0.001)
