"""Load generator: clients on plain sockets that wait for each answer before the next request."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field

QUESTIONS = [
    "Where do I live now?",
    "What does my sister do for a living?",
    "Which food should I avoid at the party on Friday?",
    "I went hiking near the lake with my dog yesterday.",
    "What did I say about the new job?",
    "My brother moved to a town by the sea last spring.",
]


@dataclass
class Measurement:
    """Seconds to the first byte and to the end of each answer, and counts of X-Thinkback-Memory values."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.whole) / self.seconds

    def __iadd__(self, other: Measurement) -> Measurement:
        self.first += other.first
        self.whole += other.whole
        self.seconds += other.seconds
        self.wrong += other.wrong
        for kind, count in other.memory.items():
            self.memory[kind] = self.memory.get(kind, 0) + count
        return self

    def p50(self, of: list[float]) -> float:
        return sorted(of)[len(of) // 2] * 1000


async def run_load(
    port: int, clients: int, seconds: float, *, stream: bool, prefix: str = "u"
) -> Measurement:
    """Run `clients` users, each with its own connection, for `seconds`."""
    measured = Measurement()
    until = time.perf_counter() + seconds
    began = time.perf_counter()
    await asyncio.gather(*(_client(port, f"{prefix}{n}", until, stream, measured) for n in range(clients)))
    measured.seconds = time.perf_counter() - began
    return measured


async def _client(port: int, user: str, until: float, stream: bool, measured: Measurement) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    try:
        while time.perf_counter() < until:
            question = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
            number += 1
            await ask(reader, writer, port, user, question, measured, stream=stream)
    finally:
        writer.close()


async def ask(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    port: int,
    user: str,
    question: str,
    measured: Measurement,
    *,
    stream: bool,
) -> None:
    """Send one chat and wait for its answer."""
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": question}]}
    data = json.dumps(body).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Type: application/json\r\nX-Thinkback-User: {user}\r\n"
        f"X-Thinkback-Session: s\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    asked = time.perf_counter()
    writer.write(head.encode() + data)
    await _answer(reader, asked, measured)


async def _answer(reader: asyncio.StreamReader, asked: float, measured: Measurement) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = _header(head, b"content-length")
    if length:
        body = await reader.readexactly(int(length))
        first = time.perf_counter()
    else:
        body, first = b"", 0.0
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            first = first or time.perf_counter()
            await reader.readexactly(2)
        await reader.readexactly(2)
    measured.first.append(first - asked)
    measured.whole.append(time.perf_counter() - asked)
    said = _header(head, b"x-thinkback-memory").decode()
    kind = said.split(";")[0] + (said.partition("reason=")[2] and " " + said.partition("reason=")[2])
    measured.memory[kind] = measured.memory.get(kind, 0) + 1
    if not head.startswith(b"http/1.1 200") or b"sounds" not in body:
        measured.wrong += 1


def _header(head: bytes, name: bytes) -> bytes:
    at = head.find(b"\r\n" + name + b":")
    return head[at + len(name) + 3 :].split(b"\r\n", 1)[0].strip() if at >= 0 else b""
