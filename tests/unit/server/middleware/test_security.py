"""The security middleware in process, in front of an echo application."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.auth_matrix import AppResponse, scope_of, send_request
from tests.unit.server.fake_keys import (
    ALL,
    READ,
    FakeKeyStore,
    ManualClock,
    RecordingTelemetry,
    echo_app,
    secure_app,
)

from thinkback.errors import Conflict, StoreUnavailable
from thinkback.server.middleware import auth
from thinkback.server.middleware.security import SecurityMiddleware
from thinkback.server.services import Options
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import ApiKey

PAGE = "https://chat.example"
FOR_PAGES = Options(allow_origins=(PAGE,))


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(threads=4)
    yield pool
    pool.close()


@pytest.fixture
def key_store() -> FakeKeyStore:
    key_store = FakeKeyStore()
    key_store.add("tb-all")
    key_store.add("tb-read", scopes=READ)
    return key_store


def asked(middleware: SecurityMiddleware, method: str, path: str, **how: object) -> AppResponse:
    return asyncio.run(send_request(middleware, method, path, **how))  # type: ignore[arg-type]


# --- keys ---


def test_loopback_without_keys_is_open(pool: ThreadPool) -> None:
    response = asked(secure_app(pool, FakeKeyStore()), "POST", "/v1/memory/turns")
    assert response.status == 200
    assert (response.json()["tenant"], response.json()["scopes"]) == ("", sorted(ALL))


def test_other_address_without_keys_is_closed(pool: ThreadPool) -> None:
    middleware = secure_app(pool, FakeKeyStore(), options=Options(host="0.0.0.0"))
    assert asked(middleware, "GET", "/v1/memory/thoughts").status == 401
    assert asked(middleware, "GET", "/metrics").status == 401


def test_first_key_closes_open_server(pool: ThreadPool) -> None:
    key_store, clock = FakeKeyStore(), ManualClock()
    middleware = secure_app(pool, key_store, clock=clock)
    assert asked(middleware, "GET", "/memories").status == 200
    key_store.add("tb-all")
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(middleware, "GET", "/memories").status == 401
    key_store.keys.clear()
    clock.now += 100
    assert asked(middleware, "GET", "/memories").status == 401, "it does not open again"


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer tb-all"),
        (b"authorization", b"bearer   tb-all "),
        (b"authorization", b"Token tb-all"),
        (b"x-api-key", b"tb-all"),
    ],
)
def test_key_is_accepted_in_three_headers_and_removed(
    pool: ThreadPool, key_store: FakeKeyStore, header: tuple[bytes, bytes]
) -> None:
    response = asked(secure_app(pool, key_store), "POST", "/memories", headers=[header])
    assert response.status == 200
    assert (response.json()["tenant"], response.json()["key"]) == ("t", "k0")
    assert b"tb-all" not in response.body


def test_authorization_is_kept_if_x_api_key_is_used(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    headers = [(b"x-api-key", b"tb-all"), (b"authorization", b"Bearer sk-upstream")]
    response = asked(secure_app(pool, key_store), "POST", "/v1/chat/completions", headers=headers)
    assert ["authorization", "Bearer sk-upstream"] in response.json()["headers"]
    assert b"tb-all" not in response.body


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"authorization", b"")],
        [(b"authorization", b"tb-all")],
        [(b"authorization", b"Basic tb-all")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"Bearer tb-all x")],
        [(b"authorization", b"Bearer tb-al")],
        [(b"authorization", b"Bearer \xff\xfe")],
        [(b"authorization", b"Bearer " + b"x" * 100_000)],
        [(b"authorization", b"Bearer tb-all"), (b"authorization", b"Bearer tb-all")],
        [(b"x-api-key", b"wrong"), (b"authorization", b"Bearer tb-all")],
        [(b"cookie", b"tb-all")],
    ],
)
def test_invalid_credentials_are_refused(
    pool: ThreadPool, key_store: FakeKeyStore, headers: list[tuple[bytes, bytes]]
) -> None:
    response = asked(secure_app(pool, key_store), "GET", "/memories", headers=headers)
    assert (response.status, response.code) == (401, "invalid_api_key")
    assert (response.header("www-authenticate") or "").startswith("Bearer")
    assert b"tb-al" not in response.body


def test_key_in_query_string_is_ignored(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    assert asked(secure_app(pool, key_store), "GET", "/memories?api_key=tb-all").status == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/ready", 200),
        ("GET", "/metrics", 200),
        ("GET", "/memories", 200),
        ("POST", "/search", 200),
        ("POST", "/v1/chat/completions", 200),
        ("POST", "/mcp", 200),
        ("POST", "/memories", 403),
        ("DELETE", "/v1/memory/turns/1", 403),
        ("GET", "/v1/memory/users", 403),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/chat/completions", 405),
        ("GET", "/memories/\n", 404),
        ("GET", "/v1/memory/users\n", 404),
    ],
)
def test_read_key_may_only_read(
    pool: ThreadPool, key_store: FakeKeyStore, method: str, path: str, status: int
) -> None:
    assert asked(secure_app(pool, key_store), method, path, key="tb-read").status == status


def test_health_needs_no_key(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    middleware = secure_app(pool, key_store, options=Options(host="0.0.0.0"))
    assert asked(middleware, "GET", "/health").json()["scopes"] == []
    assert asked(middleware, "GET", "/metrics").status == 401
    assert asked(middleware, "GET", "/metrics", key="tb-read").status == 403
    assert asked(middleware, "GET", "/metrics", key="tb-all").status == 200


def test_unknown_route_without_key_is_unauthorized(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    assert asked(secure_app(pool, key_store), "GET", "/nowhere").status == 401


# --- known for two seconds ---


def test_verification_is_cached_and_revocation_takes_effect(
    pool: ThreadPool, key_store: FakeKeyStore
) -> None:
    clock = ManualClock()
    middleware = secure_app(pool, key_store, clock=clock)
    for _ in range(50):
        assert asked(middleware, "GET", "/memories", key="tb-all").status == 200
    assert key_store.asked == 1
    del key_store.keys["tb-all"]
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(middleware, "GET", "/memories", key="tb-all").status == 401


def test_invalid_key_is_cached(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    middleware = secure_app(pool, key_store)
    for _ in range(50):
        assert asked(middleware, "GET", "/memories", key="tb-wrong").status == 401
    assert key_store.asked == 1


def test_cache_is_bounded_and_contains_no_credential(
    pool: ThreadPool, key_store: FakeKeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "MAX_CACHED_CREDENTIALS", 10)
    middleware = secure_app(pool, key_store)

    async def flood() -> None:
        for number in range(100):
            await send_request(middleware, "GET", "/memories", key=f"tb-wrong-{number}")
            await send_request(middleware, "GET", "/memories", key="tb-all")

    asyncio.run(flood())
    assert len(middleware._authenticator._cache) == 10
    assert key_store.asked == 101, "a key in use is not pushed out by wrong ones"
    gc.collect()
    assert "tb-wrong-99" not in repr(middleware._authenticator._cache)


def test_concurrent_requests_share_one_verification(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    may = threading.Event()

    class Slow(FakeKeyStore):
        def verify(self, credential: str) -> ApiKey | None:
            may.wait(5)
            return super().verify(credential)

    slow = Slow()
    slow.keys = key_store.keys
    middleware = secure_app(pool, slow)

    async def together() -> list[int]:
        first = asyncio.ensure_future(send_request(middleware, "GET", "/memories", key="tb-all"))
        others = [
            asyncio.ensure_future(send_request(middleware, "GET", "/memories", key="tb-all"))
            for _ in range(20)
        ]
        await asyncio.sleep(0.02)
        first.cancel()
        may.set()
        return [(await other).status for other in others]

    assert asyncio.run(together()) == [200] * 20
    assert slow.asked == 1


def test_database_failure_is_reported_and_retried(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    middleware = secure_app(pool, key_store)
    key_store.fails = StoreUnavailable("the database is locked")
    assert asked(middleware, "GET", "/memories", key="tb-all").status == 503
    key_store.fails = None
    assert asked(middleware, "GET", "/memories", key="tb-all").status == 200


def test_recently_verified_key_is_trusted_during_outage(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    clock = ManualClock()
    middleware = secure_app(pool, key_store, clock=clock)
    assert asked(middleware, "GET", "/memories", key="tb-all").status == 200
    assert asked(middleware, "GET", "/memories", key="tb-wrong").status == 401
    key_store.fails = StoreUnavailable("the database is locked")
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(middleware, "GET", "/memories", key="tb-wrong").status == 503, (
        "nobody knows of a wrong one now"
    )
    statuses = []
    while clock.now <= 1000 + auth.OUTAGE_TRUST_SECONDS:
        statuses.append(asked(middleware, "GET", "/memories", key="tb-all").status)
        clock.now += auth.KEY_CACHE_SECONDS
    assert set(statuses) == {200}
    assert key_store.asked > len(statuses), "it is asked again all the while"
    assert asked(middleware, "GET", "/memories", key="tb-all").status == 503
    assert asked(middleware, "GET", "/memories", key="tb-read").status == 503


def test_requests_wait_for_first_key_check(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    async def at_once() -> set[int]:
        middleware = secure_app(pool, key_store)
        return {
            response.status
            for response in await asyncio.gather(
                *(send_request(middleware, "GET", "/memories") for _ in range(20))
            )
        }

    assert asyncio.run(at_once()) == {401}


def test_unreadable_key_store_refuses_requests(pool: ThreadPool) -> None:
    class Broken(FakeKeyStore):
        def has_keys(self) -> bool:
            if self.fails:
                raise self.fails
            return super().has_keys()

    key_store = Broken()
    key_store.fails = StoreUnavailable("the database is locked")
    middleware = secure_app(pool, key_store)
    assert asked(middleware, "GET", "/memories").status == 503
    key_store.fails = None
    assert asked(middleware, "GET", "/memories").status == 200


# --- pages ---


def test_only_allowed_origins_are_answered(pool: ThreadPool) -> None:
    middleware = secure_app(pool, FakeKeyStore(), options=FOR_PAGES)
    response = asked(middleware, "GET", "/memories", headers=[(b"origin", PAGE.encode())])
    assert (response.status, response.header("access-control-allow-origin"), response.header("vary")) == (
        200,
        PAGE,
        "Origin",
    )
    for origin in (b"null", b"https://evil.example"):
        response = asked(middleware, "GET", "/memories", headers=[(b"origin", origin)])
        assert (response.status, response.header("access-control-allow-origin")) == (403, None)
    assert asked(middleware, "GET", "/memories").header("access-control-allow-origin") is None


def test_preflight_needs_no_key(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    middleware = secure_app(pool, key_store, options=FOR_PAGES)
    question = [
        (b"access-control-request-method", b"POST"),
        (b"access-control-request-headers", b"authorization"),
    ]
    response = asked(
        middleware, "OPTIONS", "/v1/chat/completions", headers=[(b"origin", PAGE.encode()), *question]
    )
    assert (response.status, response.body) == (204, b"")
    assert response.header("access-control-allow-origin") == PAGE
    assert response.header("access-control-allow-headers") == "authorization"
    assert response.header("access-control-allow-credentials") is None
    response = asked(
        middleware,
        "OPTIONS",
        "/v1/chat/completions",
        headers=[(b"origin", b"https://evil.example"), *question],
    )
    assert (response.status, response.header("access-control-allow-origin")) == (403, None)
    assert asked(middleware, "OPTIONS", "/v1/chat/completions", headers=question).status == 401


def test_error_response_has_cors_headers(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    response = asked(
        secure_app(pool, key_store, options=FOR_PAGES),
        "GET",
        "/memories",
        headers=[(b"origin", PAGE.encode())],
    )
    assert (response.status, response.header("access-control-allow-origin")) == (401, PAGE)


@pytest.mark.parametrize(("host", "status"), [(b"evil.example", 421), (None, 400), (b"localhost:1", 200)])
def test_host_is_checked_first(pool: ThreadPool, host: bytes | None, status: int) -> None:
    for path in ("/memories", "/health"):
        assert asked(secure_app(pool, FakeKeyStore()), "GET", path, host=host).status == status


# --- limits ---


def test_body_arrives_unchanged(pool: ThreadPool) -> None:
    body = json.dumps({"text": "ä[" * 100}).encode()
    middleware = secure_app(pool, FakeKeyStore())
    assert asked(middleware, "POST", "/memories", body=body).json()["body"].encode() == body
    assert (
        asked(middleware, "POST", "/memories", body=[body[:50], b"", body[50:]]).json()["body"].encode()
        == body
    )


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ([], b"x" * 2000, 413),
        ([], [b"x" * 600, b"x" * 600], 413),
        ([], b"[" * 65, 400),
        ([(b"content-type", b"text/plain")], b"[" * 65, 400),
        ([], [b"[" * 40, b"[" * 40], 400),
        ([(b"content-encoding", b"gzip")], b"x", 415),
        ([(b"content-length", b"1")], b"x", 400),
        ([(b"content-length", b"-1")], b"", 400),
        ([(b"content-length", b"\xb2")], b"", 400),
    ],
)
def test_invalid_bodies_are_refused(
    pool: ThreadPool, headers: list[tuple[bytes, bytes]], body: bytes | list[bytes], status: int
) -> None:
    middleware = secure_app(pool, FakeKeyStore(), options=Options(max_body_bytes=1000))
    assert asked(middleware, "POST", "/memories", headers=headers, body=body).status == status


def test_rate_limit_per_key_or_address(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    middleware = secure_app(pool, key_store, options=Options(rate=2.0))
    assert [asked(middleware, "GET", "/memories", key="tb-all").status for _ in range(3)] == [200, 200, 429]
    response = asked(middleware, "GET", "/memories", key="tb-all", client="10.0.0.9")
    assert (response.status, response.header("retry-after")) == (429, "1")
    assert asked(middleware, "GET", "/memories", key="tb-read").status == 200
    assert [asked(middleware, "GET", "/health").status for _ in range(5)] == [200] * 5

    middleware = secure_app(pool, FakeKeyStore(), options=Options(rate=1.0))
    assert [asked(middleware, "GET", "/memories", client=client).status for client in ("a", "a", "b")] == [
        200,
        429,
        200,
    ]


def test_concurrent_requests_are_limited(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    async def several() -> list[int]:
        may = asyncio.Event()

        async def waits(scope: Scope, receive: Receive, send: Send) -> None:
            await may.wait()
            await echo_app(scope, receive, send)

        middleware = secure_app(pool, key_store, app=waits, options=Options(max_concurrent_requests=2))
        tasks = [
            asyncio.ensure_future(send_request(middleware, "GET", "/memories", key="tb-all"))
            for _ in range(5)
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        other = asyncio.ensure_future(send_request(middleware, "GET", "/memories", key="tb-read"))
        await asyncio.sleep(0.02)
        may.set()
        statuses = [(await task).status for task in [*tasks, other]]
        return [*statuses, (await send_request(middleware, "GET", "/memories", key="tb-all")).status]

    assert asyncio.run(several()) == [200, 200, 429, 429, 429, 200, 200]


# --- answers ---


def test_default_response_headers(pool: ThreadPool, key_store: FakeKeyStore) -> None:
    for key, status in (("tb-all", 200), ("wrong", 401)):
        response = asked(secure_app(pool, key_store), "GET", "/memories", key=key)
        assert response.status == status
        assert response.header("x-content-type-options") == "nosniff"
        assert response.header("cache-control") == "no-store"
        assert response.header("x-request-id")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"abc-123", True),
        (b"x" * 64, True),
        (b"x" * 65, False),
        (b"a b", False),
        (b"\xff", False),
        (b"", False),
    ],
)
def test_client_request_id_is_used_if_valid(pool: ThreadPool, given: bytes, kept: bool) -> None:
    response = asked(secure_app(pool, FakeKeyStore()), "GET", "/memories", headers=[(b"x-request-id", given)])
    made = response.header("x-request-id")
    assert made == response.json()["request_id"]
    assert (made == given.decode("latin-1")) is kept
    assert made


def test_headers_set_by_route_are_kept(pool: ThreadPool) -> None:
    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"Cache-Control", b"no-cache"), (b"x-request-id", b"upstream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    response = asked(secure_app(pool, FakeKeyStore(), app=route), "GET", "/memories")
    assert (response.header("cache-control"), response.header("x-request-id")) == ("no-cache", "upstream")


def failing(error: Exception, after_start: bool = False) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if after_start:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    return route


def test_unexpected_error_is_reported_without_its_message(
    pool: ThreadPool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = asked(
            secure_app(pool, FakeKeyStore(), app=failing(KeyError("a secret"))), "GET", "/memories"
        )
    assert (response.status, response.code) == (500, "internal")
    assert b"secret" not in response.body
    assert "secret" not in caplog.text
    assert "KeyError" in caplog.text
    assert (response.header("x-request-id") or "?") in caplog.text


def test_expected_error_is_reported(pool: ThreadPool) -> None:
    response = asked(secure_app(pool, FakeKeyStore(), app=failing(Conflict("moved on"))), "GET", "/memories")
    assert (response.status, response.json()["detail"]) == (409, "moved on")


def test_error_after_response_start_sends_no_second_response(pool: ThreadPool) -> None:
    response = asked(
        secure_app(pool, FakeKeyStore(), app=failing(KeyError("x"), after_start=True)), "GET", "/memories"
    )
    assert (response.status, response.body) == (200, b"")


def test_refusals_are_counted_by_reason(
    pool: ThreadPool, key_store: FakeKeyStore, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = RecordingTelemetry()
    with caplog.at_level(logging.DEBUG):
        middleware = secure_app(pool, key_store, telemetry=telemetry)
        asked(middleware, "GET", "/memories", key="tb-nearly")
        asked(middleware, "POST", "/memories", key="tb-read")
    reasons = [
        labels["reason"] for name, labels in telemetry.counted if name == "thinkback_requests_refused_total"
    ]
    assert reasons == ["invalid_api_key", "forbidden"]
    assert "tb-" not in caplog.text + repr(telemetry.counted)


def test_stalled_client_ends_response(pool: ThreadPool) -> None:
    ended: list[str] = []

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await endless_body(send)
        finally:
            ended.append("route")

    async def unread() -> None:
        sent = 0

        async def send(message: Message) -> None:
            nonlocal sent
            sent += 1
            if sent > 3:
                await asyncio.Event().wait()

        async def receive() -> Message:
            raise AssertionError

        scope = scope_of("GET", "/memories", [(b"host", b"localhost")])
        scope["state"]["connection"] = Unread(lambda: ended.append("connection"))
        await secure_app(pool, FakeKeyStore(), app=endless, options=Options(stall_timeout_seconds=0.02))(
            scope, receive, send
        )

    asyncio.run(unread())
    assert ended == ["connection", "route"]


def test_route_that_watches_for_disconnect_ends_by_itself(pool: ThreadPool) -> None:
    ended: list[str] = []

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        streaming = asyncio.ensure_future(endless_body(send))
        while (await receive())["type"] != "http.disconnect":
            pass
        ended.append("noticed")
        streaming.cancel()

    async def unread() -> None:
        gone = asyncio.Event()

        async def send(message: Message) -> None:
            await asyncio.Event().wait()

        async def receive() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        telemetry = RecordingTelemetry()
        scope = scope_of("GET", "/memories", [(b"host", b"localhost")])
        scope["state"]["connection"] = Unread(gone.set)
        options = Options(stall_timeout_seconds=0.02)
        await secure_app(pool, FakeKeyStore(), app=watching, options=options, telemetry=telemetry)(
            scope, receive, send
        )
        assert telemetry.counted == [("thinkback_clients_cut_total", {"reason": "stalled"})]

    asyncio.run(unread())
    assert ended == ["noticed"]


@dataclass
class Unread:
    """A connection whose client does not read."""

    abort: Callable[[], None]
    write_blocked: bool = True


async def endless_body(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x", "more_body": True})


def test_request_id_of_outer_middleware_is_kept(pool: ThreadPool) -> None:
    middleware = secure_app(pool, FakeKeyStore())

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["request_id"] = "watched"
        await middleware(scope, receive, send)

    response = asyncio.run(send_request(watched, "GET", "/memories", headers=[(b"x-request-id", b"mine")]))
    assert (response.header("x-request-id"), response.json()["request_id"]) == ("watched", "watched")


def test_websocket_is_refused(pool: ThreadPool) -> None:
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope = scope_of("GET", "/memories", []) | {"type": "websocket"}
    asyncio.run(secure_app(pool, FakeKeyStore())(scope, receive, send))
    assert [message["type"] for message in said] == ["websocket.close"]
