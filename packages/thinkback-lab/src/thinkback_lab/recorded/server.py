"""HTTP server that answers OpenAI chat completions from recorded replies.

    GET  /v1/models, /v1/models/NAME
    POST /v1/chat/completions           with or without `"stream": true`

A prompt without a recorded reply is answered with status 424 (Failed Dependency), the error code
`reply_not_recorded` and `x-should-retry: false`. The openai library and thinkback's client take 424 as final.
Other statuses mislead them: 503 and 429 are retried, 503 and 404 make thinkback's server stop calling the
model, and after 400 and 422 thinkback's client tries other request formats, which are other prompts.

Requests are not logged, and no error message contains text of a prompt.
"""

from __future__ import annotations

import json
import socket
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from thinkback_lab.errors import LabError
from thinkback_lab.recorded.folder import MissingReply, Prompt, Recordings
from thinkback_lab.recorded.llm import estimate_usage, split_words

MAX_REQUEST_BYTES = 8 * 1024 * 1024
IDLE_CONNECTION_SECONDS = 60
MAX_PORT = 65535
NOT_RECORDED_CODE = "reply_not_recorded"


class RequestError(Exception):
    """A request that cannot be answered, with its status and error code."""

    def __init__(self, status: HTTPStatus, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class RecordedServer(ThreadingHTTPServer):
    """Serves recorded replies with one thread per connection; port 0 takes a free port."""

    daemon_threads = True
    block_on_close = False  # idle connections of clients must not delay the end

    def __init__(self, recordings: Recordings, *, host: str, port: int, model: str = "recorded") -> None:
        self.recordings = recordings
        self.model = model
        self._host = host
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise LabError(
                f"cannot listen at {host}, port {port} ({error.strerror or error}): "
                "choose another --port or --host"
            ) from error

    @property
    def url(self) -> str:
        """The base URL for clients."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report the kind of an unexpected error only: its message may contain text of a prompt."""
        error = sys.exception()
        if not isinstance(error, OSError):  # the client disconnected
            sys.stderr.write(f"error: a request failed ({type(error).__name__})\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "thinkback-lab"
    sys_version = ""
    timeout = IDLE_CONNECTION_SECONDS

    @property
    def _owner(self) -> RecordedServer:
        return cast(RecordedServer, self.server)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""

    def do_GET(self) -> None:
        model = {"id": self._owner.model, "object": "model", "created": 0, "owned_by": "thinkback-lab"}
        match urlsplit(self.path).path:
            case "/v1/models":
                self._send_json(HTTPStatus.OK, {"object": "list", "data": [model]})
            case path if path == f"/v1/models/{self._owner.model}":
                self._send_json(HTTPStatus.OK, model)
            case _:
                self._send_error(RequestError(HTTPStatus.NOT_FOUND, "not_found", "no such path or model"))

    def do_POST(self) -> None:
        try:
            body = self._read_json()
            if urlsplit(self.path).path != "/v1/chat/completions":
                raise RequestError(HTTPStatus.NOT_FOUND, "not_found", "the path must be /v1/chat/completions")
            self._answer(body)
        except RequestError as error:
            self._send_error(error)

    def _read_json(self) -> Any:
        """The request body. Bodies that are refused unread end the connection."""
        length = self.headers.get("Content-Length", "")
        try:
            if not length.isascii() or not length.isdecimal():
                raise RequestError(HTTPStatus.LENGTH_REQUIRED, "length_required", "Content-Length is missing")
            if int(length) > MAX_REQUEST_BYTES:
                limit = f"the request is larger than {MAX_REQUEST_BYTES >> 20} MB"
                raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "request_too_large", limit)
            # A browser cannot send this type to another site without permission, which is never given.
            if self.headers.get_content_type() != "application/json":
                message = "the content type must be application/json"
                raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
        except RequestError:
            self.close_connection = True
            raise
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise RequestError(HTTPStatus.BAD_REQUEST, "invalid_json", "the body is not JSON") from None

    def _answer(self, body: Any) -> None:
        try:
            prompt = Prompt.from_request(body)
        except (ValueError, RecursionError) as error:
            message = str(error) if isinstance(error, ValueError) else "the body is nested too deeply"
            raise RequestError(HTTPStatus.BAD_REQUEST, "invalid_request", message) from None
        try:
            text = self._owner.recordings.find_reply(prompt)
        except MissingReply as error:
            message = f"no reply is recorded for this prompt, see pending/{error.pending.name}"
            raise RequestError(HTTPStatus.FAILED_DEPENDENCY, NOT_RECORDED_CODE, message) from None
        except LabError as error:
            raise RequestError(HTTPStatus.FAILED_DEPENDENCY, "pending_not_written", str(error)) from None
        reply = estimate_usage(prompt, text)
        usage = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        }
        completion = {"id": f"recorded-{prompt.key}", "created": 0, "model": self._owner.model}
        if not body.get("stream"):
            message_ = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message_, "finish_reason": "stop"}
            completion |= {"object": "chat.completion", "choices": [choice], "usage": usage}
            self._send_json(HTTPStatus.OK, completion)
            return
        options = body.get("stream_options")
        include_usage = isinstance(options, dict) and options.get("include_usage") is True
        completion["object"] = "chat.completion.chunk"
        self._send_stream(completion, text, usage if include_usage else None)

    def _send_stream(self, head: dict[str, Any], text: str, usage: dict[str, int] | None) -> None:
        """Send server-sent events; the reply is known as a whole, so that they can have a Content-Length."""
        deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in split_words(text))]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        events: list[dict[str, Any]] = [{**head, "choices": [choice]} for choice in choices]
        events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if usage is not None:
            events.append({**head, "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        self._send(HTTPStatus.OK, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

    def _send_json(self, status: HTTPStatus, value: object) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send_error(self, error: RequestError) -> None:
        content = {"message": str(error), "type": "recorded_reply_error", "param": None, "code": error.code}
        self._send_json(error.status, {"error": content})

    def _send(self, status: HTTPStatus, content_type: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        if status >= HTTPStatus.BAD_REQUEST:
            self.send_header("x-should-retry", "false")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
