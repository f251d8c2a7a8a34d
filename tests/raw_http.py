"""One HTTP request over a plain socket: all received bytes, and whether the response was complete."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class RawResponse:
    status: int
    headers: dict[str, str]
    body: bytes
    ended: bool


async def post(url: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> RawResponse:
    """Send a request and read until the connection ends."""
    where = urlsplit(url)
    raw = json.dumps(body).encode()
    sent = {
        "Host": where.netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(raw)),
        "Connection": "close",
        **(headers or {}),
    }
    reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1 << 20)
    try:
        lines = [f"POST {where.path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + raw)
        await writer.drain()
        answer = bytearray()
        while part := await reader.read(1 << 20):
            answer += part
    except ConnectionResetError:
        pass
    finally:
        writer.close()
    return _parsed(bytes(answer))


def _parsed(answer: bytes) -> RawResponse:
    head, _, rest = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    status = int(first.split()[1]) if first else 0
    if headers.get("transfer-encoding") == "chunked":
        return RawResponse(status, headers, *_unchunked(rest))
    return RawResponse(status, headers, rest, len(rest) == int(headers.get("content-length", -1)))


def _unchunked(rest: bytes) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    at = 0
    while (end := rest.find(b"\r\n", at)) >= 0:
        size = int(rest[at:end], 16)
        if size == 0:
            return b"".join(parts), True
        parts.append(rest[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(parts), False
