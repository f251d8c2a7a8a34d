"""A model server with minimal cost: one asyncio protocol and precomputed answers.

python benchmarks/proxy/upstream.py PORT
"""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

ANSWER_WORDS = ["That ", "sounds ", "like ", "a ", "good ", "plan, ", "tell ", "me ", "more."]
CHUNK_DELAY_SECONDS = 0.002  # between two chunks of a stream


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


_MESSAGE = {"role": "assistant", "content": "".join(ANSWER_WORDS)}
_PLAIN = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }
).encode()
PLAIN = (
    f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(_PLAIN)}\r\n\r\n".encode()
    + _PLAIN
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CONTENT_CHUNKS = [_chunk({"content": piece}) for piece in ANSWER_WORDS]
CHUNKS = [_chunk({"role": "assistant"}), *CONTENT_CHUNKS, _chunk({}, "stop")]
DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


class ModelProtocol(asyncio.Protocol):
    """A keep-alive connection, one request at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out: asyncio.Transport = transport  # type: ignore[assignment]
        self._in = b""
        self._speaking: asyncio.Task[None] | None = None

    def data_received(self, data: bytes) -> None:
        self._in += data
        while (end := self._in.find(b"\r\n\r\n")) >= 0:
            head = self._in[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._in) < end + 4 + length:
                return
            body, self._in = self._in[end + 4 : end + 4 + length], self._in[end + 4 + length :]
            if b'"stream": true' in body or b'"stream":true' in body:
                self._speaking = asyncio.ensure_future(self._speak())
            else:
                self._out.write(PLAIN)

    async def _speak(self) -> None:
        self._out.write(HEAD)
        for chunk in CHUNKS:
            self._out.write(chunk)
            await asyncio.sleep(CHUNK_DELAY_SECONDS)
        self._out.write(DONE)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(ModelProtocol, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
