"""An in-memory key store, and the security middleware in front of an echo application."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.server.identity import get_principal
from thinkback.server.middleware.security import SecurityMiddleware
from thinkback.server.services import Options
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import ApiKey, KeyScope

READ: tuple[KeyScope, ...] = ("read",)
ALL: tuple[KeyScope, ...] = ("read", "write", "admin")


class ManualClock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeKeyStore:
    """Key store that counts verifications."""

    def __init__(self) -> None:
        self.keys: dict[str, ApiKey] = {}
        self.asked = 0
        self.fails: Exception | None = None

    def add(
        self, credential: str, tenant: str = "t", scopes: tuple[KeyScope, ...] = ALL, user: str | None = None
    ) -> str:
        made = datetime(2026, 1, 1, tzinfo=UTC)
        self.keys[credential] = ApiKey(
            id=f"k{len(self.keys)}",
            tenant=tenant,
            scopes=frozenset(scopes),
            digest=b"",
            user=user,
            created_at=made,
        )
        return credential

    def verify(self, credential: str) -> ApiKey | None:
        self.asked += 1
        if self.fails:
            raise self.fails
        return self.keys.get(credential)

    def verify_session(self, token: str) -> ApiKey | None:
        return self.verify(token.removeprefix("session-")) if token.startswith("session-") else None

    def has_keys(self) -> bool:
        return bool(self.keys)

    def is_active(self, key_id: str) -> bool:
        return any(key.id == key_id for key in self.keys.values())


class RecordingTelemetry(Telemetry):
    def __init__(self) -> None:
        self.counted: list[tuple[str, dict[str, str]]] = []

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        self.counted.append((name, labels))


async def echo_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the request it received."""
    body = b""
    more = "content-length" in {name.decode() for name, _ in scope["headers"]}
    more = more or any(name == b"transfer-encoding" for name, _ in scope["headers"])
    while more:
        message: Message = await receive()
        body += message["body"]
        more = message["more_body"]
    principal = get_principal(scope)
    seen: dict[str, Any] = {
        "tenant": principal.tenant,
        "scopes": sorted(principal.scopes),
        "key": principal.key,
        "user": principal.user,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "body": body.decode(),
        "request_id": scope["state"]["request_id"],
    }
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode(), "more_body": False})


def secure_app(
    pool: ThreadPool,
    key_store: FakeKeyStore,
    *,
    app: ASGIApp = echo_app,
    options: Options | None = None,
    clock: ManualClock | None = None,
    telemetry: Telemetry | None = None,
) -> SecurityMiddleware:
    return SecurityMiddleware(
        app,
        options=options or Options(),
        keys=key_store,
        pool=pool,
        telemetry=telemetry or Telemetry(),
        clock=clock or ManualClock(),
    )
