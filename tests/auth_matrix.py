"""In-process requests to an ASGI app, and a check that every route of an app enforces its access rule.

await check_all_routes(app, list_routes(app.routes), Credentials(wrong="...", reader="...", ...))
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message

from thinkback.server.middleware.auth import AccessTable, RequiredAccess

Headers = list[tuple[bytes, bytes]]


@dataclass
class AppResponse:
    """A response."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        found = [value for known, value in self.headers if known == name]
        assert len(found) < 2, f"{name} is said twice: {found}"
        return found[0] if found else None

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json()["error"]["code"])


def scope_of(method: str, path: str, headers: Headers, client: str = "127.0.0.1") -> dict[str, Any]:
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape"),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": (client, 50000),
        "server": ("127.0.0.1", 8765),
        "state": {},
    }


async def send_request(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    key: str | None = None,
    headers: Headers | None = None,
    body: bytes | list[bytes] = b"",
    client: str = "127.0.0.1",
    host: bytes | None = b"127.0.0.1:8765",
) -> AppResponse:
    """Send one request in process; a list of bodies arrives in chunks."""
    pieces = [body] if isinstance(body, bytes) else list(body)
    said: Headers = [(b"host", host)] if host is not None else []
    if key is not None:
        said.append((b"authorization", b"Bearer " + key.encode()))
    if isinstance(body, list):
        said.append((b"transfer-encoding", b"chunked"))
    elif body:
        said.append((b"content-length", str(len(body)).encode()))
    response = AppResponse()

    async def receive() -> Message:
        if pieces:
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not response.status, "a second response"
            response.status = message["status"]
            response.headers = [(name.decode().lower(), value.decode()) for name, value in message["headers"]]
        else:
            response.body += message.get("body", b"")

    await app(scope_of(method, path, said + (headers or []), client), receive, send)
    return response


def list_routes(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    """(method, path template) of each route; a mount counts as its path with GET and POST."""
    for context in iter_route_contexts(list(routes)):
        route = context.original_route
        if isinstance(route, Mount):
            yield from ((method, context.path or "") for method in ("GET", "POST"))
        elif isinstance(route, Route):
            yield from ((method, context.path or "") for method in sorted(context.methods or ()))
        else:
            raise AssertionError(f"{route}: only HTTP routes are guarded")


def fill_path(path: str, values: dict[str, str]) -> str:
    """Fill the parameters of a path template."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: values.get(found[1], "1"), path)


JSON = b"application/json"

VALID_REQUESTS: dict[tuple[str, str], tuple[str, bytes, bytes]] = {
    ("POST", "/mcp"): ("", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', JSON),
    ("POST", "/v1/chat/completions"): ("", b'{"messages": [{"role": "user", "content": "sings?"}]}', JSON),
    ("POST", "/v1/completions"): ("", b'{"prompt": "sings?"}', JSON),
    ("POST", "/v1/embeddings"): ("", b'{"input": "sings?"}', JSON),
    ("POST", "/v1/memory/turns"): ("", b'{"query": "hello"}', JSON),
    ("POST", "/v1/memory/recall"): ("", b'{"query": "who sings?"}', JSON),
    ("POST", "/v1/memory/ask"): ("", b'{"question": "who sings?"}', JSON),
    ("POST", "/v1/memory/context"): ("", b'{"message": "who sings?"}', JSON),
    ("POST", "/v1/memory/kinds"): ("", b'{"query": "who sings?"}', JSON),
    ("POST", "/v1/memory/erase"): ("", b'{"turn": 1}', JSON),
    ("POST", "/v1/memory/import"): ("", b'{"query": "hello"}', b"application/x-ndjson"),
    ("PUT", "/v1/memory/summary"): ("", b'{"summary": {"version": 0}, "reason": "x"}', JSON),
    ("DELETE", "/v1/memory/thoughts/{id}"): ("?reason=x", b"", b""),
    ("DELETE", "/v1/memory/turns/{id}"): ("?reason=x", b"", b""),
    ("POST", "/v1/memory/turns/{id}/correct"): ("", b'{"text": "hello"}', JSON),
    ("POST", "/v1/memory/thoughts/{id}/correct"): ("", b'{"text": "hello"}', JSON),
    ("GET", "/v1/memory/history"): ("?subject=canary", b"", b""),
    ("GET", "/memories"): ("?user_id=default", b"", b""),
    ("DELETE", "/memories"): ("?user_id=default", b"", b""),
    ("POST", "/memories"): ("", b'{"messages": "hello", "user_id": "default"}', JSON),
    ("POST", "/search"): ("", b'{"query": "who sings?", "user_id": "default"}', JSON),
    ("PUT", "/memories/{memory_id}"): ("", b'{"text": "x"}', JSON),
    ("PATCH", "/v1/memory/thoughts/{id}"): ("", b'{"sentence": "x"}', JSON),
    ("POST", "/v1/memory/check"): ("", b'{"answer": "sings?"}', JSON),
    ("POST", "/v1/memory/explain"): ("", b'{"query": "who sings?"}', JSON),
    ("GET", "/v1/memory/journal/stream"): ("?seconds=0&after=0", b"", b""),
    ("POST", "/v1/clinic/consult"): ("", b'{"patient": "p1", "message": "sings?"}', JSON),
    ("GET", "/v1/lab/compare"): ("?run=a&run=b", b"", b""),
    ("POST", "/v1/web/keys"): ("", b'{"label": "x"}', JSON),
}
"""A valid request for each route, so that a refusal is because of the key and not the body."""


@dataclass(frozen=True)
class Credentials:
    """Credentials to test with: a wrong key, and valid keys of two tenants."""

    wrong: str
    reader: str  # may only read, in the tenant of the ids
    writer: str  # may only write, as a user of this tenant whose memory has the canary
    stranger: str  # all scopes, in another tenant
    ids: dict[str, str]
    writer_ids: Iterator[dict[str, str]]  # of memories of the writer's user, each unused so far
    canary: bytes  # is contained in the tenant's memories


Counts = dict[str, int]


async def check_all_routes(
    app: ASGIApp, routes: Iterable[tuple[str, str]], credentials: Credentials
) -> Counts:
    """Check 401 without a valid key, 403 for a missing scope, and no data for writers or another tenant."""
    seen = {"401": 0, "403": 0, "404": 0, "stranger": 0, "open": 0}
    for method, template in routes:
        need = AccessTable().required_access(method, fill_path(template, credentials.ids))
        assert need is not None, f"{method} {template} has no rule in access.py"
        if need in ("nothing", "optional", "operator"):
            seen["open"] += 1
        else:
            await _check_route(app, method, template, need, credentials, seen)
    return seen


async def _check_route(
    app: ASGIApp, method: str, template: str, need: RequiredAccess, credentials: Credentials, seen: Counts
) -> None:
    query, body, kind = VALID_REQUESTS.get((method, template), ("", b"", b""))
    path = fill_path(template, credentials.ids) + query
    own = next(credentials.writer_ids) if need in ("write", "change") else credentials.ids
    writer_path = fill_path(template, own) + query
    headers = [(b"content-type", kind)] if kind else []
    told = f"{method} {template} ({need})"

    async def status(key: str | None) -> tuple[int, bytes]:
        target = writer_path if key == credentials.writer else path
        response = await send_request(app, method, target, key=key, body=body, headers=headers)
        return response.status, response.body

    for key in (None, credentials.wrong):
        assert (await status(key))[0] == 401, f"{told} with {key}"
        seen["401"] += 1
    as_reader, _ = await status(credentials.reader)
    if need in ("write", "change", "admin"):
        assert as_reader == 403, f"{told} as a reader: {as_reader}"
        seen["403"] += 1
    else:
        assert as_reader not in (401, 403), f"{told}: the route requires more than the access table"
    as_writer, found = await status(credentials.writer)
    assert credentials.canary not in found, f"{told} shows memories to a key that may only write"
    if need in ("read", "change", "admin"):
        assert as_writer == 403, f"{told} as a writer: {as_writer}"
        seen["403"] += 1
    elif need == "write":
        assert as_writer != 404, f"{told} as a writer: there is nothing that it could show"
    as_stranger, found = await status(credentials.stranger)
    assert credentials.canary not in found, f"{told} leaks to another tenant"
    assert as_stranger not in (400, 415, 422), f"{told}: put a request it understands in ASKS ({found!r})"
    assert as_stranger < 500 or as_stranger == 501, f"{told} as a stranger: {as_stranger}"
    if "{" in template and need != "any":
        assert as_stranger in (403, 404), f"{told} as a stranger: {as_stranger}"
    seen["404"] += as_stranger == 404
    seen["stranger"] += 1
