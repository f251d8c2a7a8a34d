"""A fake OpenAI-compatible server on loopback that fails on command; the only fake in the test suite.

with Upstream() as upstream:
    upstream.faults.extend(["500", "429:2"])     # one fault per request, then normal answers
    upstream.reply = lambda body: "hello"        # or a whole message with tool calls

Faults: timeout, reset, drip, 429, 429:SECONDS, 500, 401, 400:MESSAGE, malformed, truncated, no-choice, 10mb,
wrong-schema, refusal, empty, and for streams cut, no-done, broken-event, error-event.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIM = 16


@dataclass
class SeenRequest:
    """A received request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ServedFile:
    """A file to download. Each `cut` closes a connection after so many bytes; `linked`: the hub's digest."""

    data: bytes
    etag: str = '"v1"'
    cut: deque[int] = field(default_factory=deque)
    linked: str = ""
    token: str = ""
    redirect: str = ""
    ranges: bool = True
    status: deque[int] = field(default_factory=deque)


def fake_embedding(text: str) -> list[float]:
    """Words hashed into a few dimensions: texts with equal words have similar vectors."""
    vector = [0.0] * DIM
    for word in text.lower().split() or [text]:
        digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        vector[digest[0] % DIM] += 1.0
        vector[digest[1] % DIM] += 0.5
    return vector


class FakeOpenAI:
    """Starts on entering the context, stops on leaving it."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.faults: deque[str] = deque()
        self.seen: list[SeenRequest] = []
        self.files: dict[str, ServedFile] = {}
        self.reply: Callable[[dict[str, Any]], str | dict[str, Any]] = lambda body: "The sky is blue today."
        self.reject: Callable[[dict[str, Any]], str | None] = lambda body: None
        self.tokens: Callable[[str], list[int]] | None = None  # answered at /tokenize, as in llama.cpp
        self.finish = "stop"
        self.stopping = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> FakeOpenAI:
        handler = type("Handler", (_Handler,), {"upstream": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self.root = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.root}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_fault(self) -> str:
        with self.lock:
            return self.faults.popleft() if self.faults else "ok"


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Broken connections are the purpose of this server; anything else is a bug in it."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    upstream: FakeOpenAI
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.upstream.seen.append(SeenRequest(self.path, self._headers(), body))
        fault = self.upstream.next_fault()
        if self._transport_fault(fault):
            return
        rejection = self.upstream.reject(body)
        if rejection is not None:
            self._json({"error": {"message": rejection}}, 400)
        elif self.path == "/v1/embeddings":
            self._embeddings(body, fault)
        elif self.path == "/v1/chat/completions":
            self._chat(body, fault)
        elif self.path == "/tokenize" and self.upstream.tokens is not None:
            self._json({"tokens": self.upstream.tokens(body["prompt"])})
        else:
            self._json({"error": {"message": "no such path"}}, 404)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.upstream.seen.append(SeenRequest(self.path, self._headers(), {}))
        file = self.upstream.files.get(path)
        if file is None:
            self._json({}, 404)
        elif file.status:
            self._json({}, file.status.popleft())
        elif file.token and self.headers.get("Authorization") != f"Bearer {file.token}":
            self._json({}, 401)
        else:
            self._file(file)

    def _headers(self) -> dict[str, str]:
        return {name.title(): value for name, value in self.headers.items()}

    def _transport_fault(self, fault: str) -> bool:
        """Faults that do not depend on the request; returns True if the request was answered."""
        kind, _, detail = fault.partition(":")
        if kind == "timeout":
            self.upstream.stopping.wait(5)
            self.close_connection = True
        elif kind == "reset":
            self._reset()
        elif kind == "429":
            headers = {"Retry-After": detail} if detail else {}
            self._json({"error": {"message": "slow down"}}, 429, headers)
        elif kind in ("500", "401", "400"):
            self._json({"error": {"message": detail or f"fault {kind}"}}, int(kind))
        elif kind == "malformed":
            self._bytes(b'{"choices": [}', "application/json")
        elif kind == "truncated":
            self._cut_off(b'{"choices": [{"message": {"content": "half')
        elif kind == "no-choice":
            self._json({"choices": [], "data": []})
        elif kind == "10mb":
            self._bytes(b'"' + b"x" * (10 << 20) + b'"', "application/json")
        elif kind == "drip":
            self._drip()
        else:
            return False
        return True

    def _chat(self, body: dict[str, Any], fault: str) -> None:
        text = {"wrong-schema": '{"unexpected": 1}', "empty": ""}.get(fault)
        said = self.upstream.reply(body) if text is None else text
        if isinstance(said, dict):
            self._as_it_is(said, bool(body.get("stream")))
            return
        text = said
        usage = {"prompt_tokens": 11, "completion_tokens": len(text.split()), "total_tokens": 11}
        if body.get("stream"):
            wanted = (body.get("stream_options") or {}).get("include_usage")
            self._stream(text, fault, usage if wanted else None)
            return
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
        choice = {"index": 0, "message": message, "finish_reason": self.upstream.finish}
        self._json({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage})

    def _as_it_is(self, message: dict[str, Any], streamed: bool) -> None:
        choice = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        if not streamed:
            self._json({"id": "c", "object": "chat.completion", "choices": [{**choice, "message": message}]})
            return
        self._head("text/event-stream")
        self._event({"choices": [{**choice, "delta": message}]})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _stream(self, text: str, fault: str, usage: dict[str, int] | None) -> None:
        self._head("text/event-stream")
        deltas: list[dict[str, Any]] = [{"content": piece} for piece in _words(text)]
        if fault == "refusal":
            deltas = [{"refusal": "I would rather not."}]
        for i, delta in enumerate(deltas):
            if fault == "no-done" and i == 2:
                self._chunk(b"")
                return
            if fault == "cut" and i == 2:
                self.close_connection = True
                return
            if fault == "broken-event" and i == 2:
                self._chunk(b"data: {not json\n\n")
            if fault == "error-event" and i == 2:
                self._event({"error": {"message": "out of memory"}})
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": self.upstream.finish}]})
        if usage:
            self._event({"choices": [], "usage": usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _embeddings(self, body: dict[str, Any], fault: str) -> None:
        vectors = [fake_embedding(text) for text in body["input"]]
        if fault == "wrong-schema":
            vectors = vectors[1:]
        if fault == "empty":
            vectors = [[float("nan")] * DIM for _ in vectors]
        data = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        self._json({"object": "list", "data": data[::-1], "usage": {}})

    def _file(self, file: ServedFile) -> None:
        if file.redirect:
            self._bytes(b"", "text/plain", 302, {"Location": file.redirect, "X-Linked-Etag": file.linked})
            return
        wanted = self.headers.get("Range") if file.ranges else None
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        size = len(file.data)
        headers = {"ETag": file.etag, "X-Linked-Etag": file.linked}
        if start >= size and wanted:
            self._bytes(b"", "text/plain", 416, {**headers, "Content-Range": f"bytes */{size}"})
            return
        if wanted:
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        part = file.data[start:]
        self.send_response(206 if wanted else 200)
        for name, value in {**headers, "Content-Length": str(len(part))}.items():
            self.send_header(name, value)
        self.end_headers()
        if file.cut:
            self.wfile.write(part[: file.cut.popleft()])
            self.wfile.flush()
            self.close_connection = True
            return
        self.wfile.write(part)

    def _json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._bytes(json.dumps(value).encode(), "application/json", status, headers)

    def _bytes(
        self, data: bytes, kind: str, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {
            **(headers or {}),
            "Content-Type": kind,
            "Content-Length": str(len(data)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(data)
        except (
            BrokenPipeError,
            ConnectionResetError,
        ):  # the client disconnected, which some tests check
            self.close_connection = True

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _event(self, value: object) -> None:
        self._chunk(f"data: {json.dumps(value)}\n\n".encode())

    def _cut_off(self, data: bytes) -> None:
        """Announce more bytes than are sent."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) + 1000))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = True

    def _drip(self) -> None:
        self._head("application/json")
        try:
            while not self.upstream.stopping.is_set():
                self._chunk(b" ")
                time.sleep(0.02)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _reset(self) -> None:
        """Reset the connection instead of closing it."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.close(self.connection.detach())
        self.close_connection = True


def _words(text: str) -> Iterator[str]:
    for i, word in enumerate(text.split(" ")):
        yield word if i == 0 else f" {word}"
