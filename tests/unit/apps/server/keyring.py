"""Keys in a dictionary, and a gate before a room that tells what it was given."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.apps.server.caller import caller_of
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.gate.gate import Gate
from thinkback.apps.server.options import Options
from thinkback.apps.server.telemetry import Telemetry
from thinkback.types import Key, KeyScope

READ: tuple[KeyScope, ...] = ("read",)
ALL: tuple[KeyScope, ...] = ("read", "write", "admin")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Ring:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}
        self.asked = 0
        self.fails: Exception | None = None

    def add(
        self, credential: str, tenant: str = "t", scopes: tuple[KeyScope, ...] = ALL, user: str | None = None
    ) -> str:
        made = datetime(2026, 1, 1, tzinfo=UTC)
        self.keys[credential] = Key(
            id=f"k{len(self.keys)}",
            tenant=tenant,
            scopes=frozenset(scopes),
            digest=b"",
            user=user,
            created_at=made,
        )
        return credential

    def verify(self, credential: str) -> Key | None:
        self.asked += 1
        if self.fails:
            raise self.fails
        return self.keys.get(credential)

    def any(self) -> bool:
        return bool(self.keys)


class Counting(Telemetry):
    def __init__(self) -> None:
        self.counted: list[tuple[str, dict[str, str]]] = []

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        self.counted.append((name, labels))


async def mirror(scope: Scope, receive: Receive, send: Send) -> None:
    """A room that answers with what it sees."""
    body = b""
    more = "content-length" in {name.decode() for name, _ in scope["headers"]}
    more = more or any(name == b"transfer-encoding" for name, _ in scope["headers"])
    while more:
        message: Message = await receive()
        body += message["body"]
        more = message["more_body"]
    caller = caller_of(scope)
    seen: dict[str, Any] = {
        "tenant": caller.tenant,
        "scopes": sorted(caller.scopes),
        "key": caller.key,
        "user": caller.user,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "body": body.decode(),
        "request_id": scope["state"]["request_id"],
    }
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode(), "more_body": False})


def gated(
    desk: Desk,
    ring: Ring,
    *,
    app: ASGIApp = mirror,
    options: Options | None = None,
    clock: Clock | None = None,
    telemetry: Telemetry | None = None,
) -> Gate:
    return Gate(
        app,
        options=options or Options(),
        keys=ring,
        desk=desk,
        telemetry=telemetry or Telemetry(),
        clock=clock or Clock(),
    )
