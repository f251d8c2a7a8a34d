"""The gate in process, before a room that tells what it was given."""

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
from thinkback.server.options import Options
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import ApiKey

PAGE = "https://chat.example"
FOR_PAGES = Options(allow_origins=(PAGE,))


@pytest.fixture
def desk() -> Iterator[ThreadPool]:
    desk = ThreadPool(threads=4)
    yield desk
    desk.close()


@pytest.fixture
def ring() -> FakeKeyStore:
    ring = FakeKeyStore()
    ring.add("tb-all")
    ring.add("tb-read", scopes=READ)
    return ring


def asked(gate: SecurityMiddleware, method: str, path: str, **how: object) -> AppResponse:
    return asyncio.run(send_request(gate, method, path, **how))  # type: ignore[arg-type]


# --- keys ---


def test_without_keys_loopback_is_open(desk: ThreadPool) -> None:
    heard = asked(secure_app(desk, FakeKeyStore()), "POST", "/v1/memory/turns")
    assert heard.status == 200
    assert (heard.json()["tenant"], heard.json()["scopes"]) == ("", sorted(ALL))


def test_without_keys_no_other_address_is_open(desk: ThreadPool) -> None:
    gate = secure_app(desk, FakeKeyStore(), options=Options(host="0.0.0.0"))
    assert asked(gate, "GET", "/v1/memory/thoughts").status == 401
    assert asked(gate, "GET", "/metrics").status == 401


def test_the_first_key_closes_an_open_server(desk: ThreadPool) -> None:
    ring, clock = FakeKeyStore(), ManualClock()
    gate = secure_app(desk, ring, clock=clock)
    assert asked(gate, "GET", "/memories").status == 200
    ring.add("tb-all")
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(gate, "GET", "/memories").status == 401
    ring.keys.clear()
    clock.now += 100
    assert asked(gate, "GET", "/memories").status == 401, "it does not open again"


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer tb-all"),
        (b"authorization", b"bearer   tb-all "),
        (b"authorization", b"Token tb-all"),
        (b"x-api-key", b"tb-all"),
    ],
)
def test_a_key_is_told_in_three_ways_and_goes_no_further(
    desk: ThreadPool, ring: FakeKeyStore, header: tuple[bytes, bytes]
) -> None:
    heard = asked(secure_app(desk, ring), "POST", "/memories", headers=[header])
    assert heard.status == 200
    assert (heard.json()["tenant"], heard.json()["key"]) == ("t", "k0")
    assert b"tb-all" not in heard.body


def test_beside_x_api_key_the_authorization_is_the_upstreams(desk: ThreadPool, ring: FakeKeyStore) -> None:
    headers = [(b"x-api-key", b"tb-all"), (b"authorization", b"Bearer sk-upstream")]
    heard = asked(secure_app(desk, ring), "POST", "/v1/chat/completions", headers=headers)
    assert ["authorization", "Bearer sk-upstream"] in heard.json()["headers"]
    assert b"tb-all" not in heard.body


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
def test_a_credential_that_is_none(
    desk: ThreadPool, ring: FakeKeyStore, headers: list[tuple[bytes, bytes]]
) -> None:
    heard = asked(secure_app(desk, ring), "GET", "/memories", headers=headers)
    assert (heard.status, heard.code) == (401, "invalid_api_key")
    assert (heard.header("www-authenticate") or "").startswith("Bearer")
    assert b"tb-al" not in heard.body


def test_a_query_is_no_place_for_a_key(desk: ThreadPool, ring: FakeKeyStore) -> None:
    assert asked(secure_app(desk, ring), "GET", "/memories?api_key=tb-all").status == 401


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
def test_what_a_reader_may(desk: ThreadPool, ring: FakeKeyStore, method: str, path: str, status: int) -> None:
    assert asked(secure_app(desk, ring), method, path, key="tb-read").status == status


def test_health_needs_no_key_and_has_no_rights(desk: ThreadPool, ring: FakeKeyStore) -> None:
    gate = secure_app(desk, ring, options=Options(host="0.0.0.0"))
    assert asked(gate, "GET", "/health").json()["scopes"] == []
    assert asked(gate, "GET", "/metrics").status == 401
    assert asked(gate, "GET", "/metrics", key="tb-read").status == 403
    assert asked(gate, "GET", "/metrics", key="tb-all").status == 200


def test_nobody_learns_of_routes_without_a_key(desk: ThreadPool, ring: FakeKeyStore) -> None:
    assert asked(secure_app(desk, ring), "GET", "/nowhere").status == 401


# --- known for two seconds ---


def test_a_busy_key_asks_the_database_once_and_a_revoked_one_stops(
    desk: ThreadPool, ring: FakeKeyStore
) -> None:
    clock = ManualClock()
    gate = secure_app(desk, ring, clock=clock)
    for _ in range(50):
        assert asked(gate, "GET", "/memories", key="tb-all").status == 200
    assert ring.asked == 1
    del ring.keys["tb-all"]
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(gate, "GET", "/memories", key="tb-all").status == 401


def test_a_wrong_key_is_remembered_as_well(desk: ThreadPool, ring: FakeKeyStore) -> None:
    gate = secure_app(desk, ring)
    for _ in range(50):
        assert asked(gate, "GET", "/memories", key="tb-wrong").status == 401
    assert ring.asked == 1


def test_what_is_known_is_bounded_and_holds_no_credential(
    desk: ThreadPool, ring: FakeKeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "MAX_CACHED_CREDENTIALS", 10)
    gate = secure_app(desk, ring)

    async def flood() -> None:
        for number in range(100):
            await send_request(gate, "GET", "/memories", key=f"tb-wrong-{number}")
            await send_request(gate, "GET", "/memories", key="tb-all")

    asyncio.run(flood())
    assert len(gate._authenticator._known) == 10
    assert ring.asked == 101, "a key in use is not pushed out by wrong ones"
    gc.collect()
    assert "tb-wrong-99" not in repr(gate._authenticator._known)


def test_requests_at_once_wait_for_one_verification_even_if_the_first_goes_away(
    desk: ThreadPool, ring: FakeKeyStore
) -> None:
    may = threading.Event()

    class Slow(FakeKeyStore):
        def verify(self, credential: str) -> ApiKey | None:
            may.wait(5)
            return super().verify(credential)

    slow = Slow()
    slow.keys = ring.keys
    gate = secure_app(desk, slow)

    async def together() -> list[int]:
        first = asyncio.ensure_future(send_request(gate, "GET", "/memories", key="tb-all"))
        others = [
            asyncio.ensure_future(send_request(gate, "GET", "/memories", key="tb-all")) for _ in range(20)
        ]
        await asyncio.sleep(0.02)
        first.cancel()
        may.set()
        return [(await other).status for other in others]

    assert asyncio.run(together()) == [200] * 20
    assert slow.asked == 1


def test_a_database_that_fails_is_told_and_asked_again(desk: ThreadPool, ring: FakeKeyStore) -> None:
    gate = secure_app(desk, ring)
    ring.fails = StoreUnavailable("the database is locked")
    assert asked(gate, "GET", "/memories", key="tb-all").status == 503
    ring.fails = None
    assert asked(gate, "GET", "/memories", key="tb-all").status == 200


def test_while_the_database_fails_who_was_let_in_stays_in_for_a_moment(
    desk: ThreadPool, ring: FakeKeyStore
) -> None:
    clock = ManualClock()
    gate = secure_app(desk, ring, clock=clock)
    assert asked(gate, "GET", "/memories", key="tb-all").status == 200
    assert asked(gate, "GET", "/memories", key="tb-wrong").status == 401
    ring.fails = StoreUnavailable("the database is locked")
    clock.now += auth.KEY_CACHE_SECONDS
    assert asked(gate, "GET", "/memories", key="tb-wrong").status == 503, "nobody knows of a wrong one now"
    statuses = []
    while clock.now <= 1000 + auth.OUTAGE_TRUST_SECONDS:
        statuses.append(asked(gate, "GET", "/memories", key="tb-all").status)
        clock.now += auth.KEY_CACHE_SECONDS
    assert set(statuses) == {200}
    assert ring.asked > len(statuses), "it is asked again all the while"
    assert asked(gate, "GET", "/memories", key="tb-all").status == 503
    assert asked(gate, "GET", "/memories", key="tb-read").status == 503


def test_requests_that_come_before_the_first_look_are_not_let_in(
    desk: ThreadPool, ring: FakeKeyStore
) -> None:
    async def at_once() -> set[int]:
        gate = secure_app(desk, ring)
        return {
            heard.status
            for heard in await asyncio.gather(*(send_request(gate, "GET", "/memories") for _ in range(20)))
        }

    assert asyncio.run(at_once()) == {401}


def test_a_database_that_cannot_tell_of_keys_lets_nobody_in(desk: ThreadPool) -> None:
    class Broken(FakeKeyStore):
        def has_keys(self) -> bool:
            if self.fails:
                raise self.fails
            return super().has_keys()

    ring = Broken()
    ring.fails = StoreUnavailable("the database is locked")
    gate = secure_app(desk, ring)
    assert asked(gate, "GET", "/memories").status == 503
    ring.fails = None
    assert asked(gate, "GET", "/memories").status == 200


# --- pages ---


def test_a_named_page_is_answered_and_no_other(desk: ThreadPool) -> None:
    gate = secure_app(desk, FakeKeyStore(), options=FOR_PAGES)
    heard = asked(gate, "GET", "/memories", headers=[(b"origin", PAGE.encode())])
    assert (heard.status, heard.header("access-control-allow-origin"), heard.header("vary")) == (
        200,
        PAGE,
        "Origin",
    )
    for origin in (b"null", b"https://evil.example"):
        heard = asked(gate, "GET", "/memories", headers=[(b"origin", origin)])
        assert (heard.status, heard.header("access-control-allow-origin")) == (403, None)
    assert asked(gate, "GET", "/memories").header("access-control-allow-origin") is None


def test_a_preflight_is_answered_by_the_gate_without_a_key(desk: ThreadPool, ring: FakeKeyStore) -> None:
    gate = secure_app(desk, ring, options=FOR_PAGES)
    question = [
        (b"access-control-request-method", b"POST"),
        (b"access-control-request-headers", b"authorization"),
    ]
    heard = asked(gate, "OPTIONS", "/v1/chat/completions", headers=[(b"origin", PAGE.encode()), *question])
    assert (heard.status, heard.body) == (204, b"")
    assert heard.header("access-control-allow-origin") == PAGE
    assert heard.header("access-control-allow-headers") == "authorization"
    assert heard.header("access-control-allow-credentials") is None
    heard = asked(
        gate, "OPTIONS", "/v1/chat/completions", headers=[(b"origin", b"https://evil.example"), *question]
    )
    assert (heard.status, heard.header("access-control-allow-origin")) == (403, None)
    assert asked(gate, "OPTIONS", "/v1/chat/completions", headers=question).status == 401


def test_a_refusal_can_be_read_by_a_named_page(desk: ThreadPool, ring: FakeKeyStore) -> None:
    heard = asked(
        secure_app(desk, ring, options=FOR_PAGES), "GET", "/memories", headers=[(b"origin", PAGE.encode())]
    )
    assert (heard.status, heard.header("access-control-allow-origin")) == (401, PAGE)


@pytest.mark.parametrize(("host", "status"), [(b"evil.example", 421), (None, 400), (b"localhost:1", 200)])
def test_the_host_is_checked_before_all_else(desk: ThreadPool, host: bytes | None, status: int) -> None:
    for path in ("/memories", "/health"):
        assert asked(secure_app(desk, FakeKeyStore()), "GET", path, host=host).status == status


# --- limits ---


def test_a_body_arrives_as_it_was_sent(desk: ThreadPool) -> None:
    body = json.dumps({"text": "ä[" * 100}).encode()
    gate = secure_app(desk, FakeKeyStore())
    assert asked(gate, "POST", "/memories", body=body).json()["body"].encode() == body
    assert asked(gate, "POST", "/memories", body=[body[:50], b"", body[50:]]).json()["body"].encode() == body


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
def test_bodies_that_are_refused(
    desk: ThreadPool, headers: list[tuple[bytes, bytes]], body: bytes | list[bytes], status: int
) -> None:
    gate = secure_app(desk, FakeKeyStore(), options=Options(max_body_bytes=1000))
    assert asked(gate, "POST", "/memories", headers=headers, body=body).status == status


def test_a_rate_for_each_key_and_for_each_address_of_an_open_server(
    desk: ThreadPool, ring: FakeKeyStore
) -> None:
    gate = secure_app(desk, ring, options=Options(rate=2.0))
    assert [asked(gate, "GET", "/memories", key="tb-all").status for _ in range(3)] == [200, 200, 429]
    heard = asked(gate, "GET", "/memories", key="tb-all", client="10.0.0.9")
    assert (heard.status, heard.header("retry-after")) == (429, "1")
    assert asked(gate, "GET", "/memories", key="tb-read").status == 200
    assert [asked(gate, "GET", "/health").status for _ in range(5)] == [200] * 5

    gate = secure_app(desk, FakeKeyStore(), options=Options(rate=1.0))
    assert [asked(gate, "GET", "/memories", client=client).status for client in ("a", "a", "b")] == [
        200,
        429,
        200,
    ]


def test_so_many_at_once(desk: ThreadPool, ring: FakeKeyStore) -> None:
    async def several() -> list[int]:
        may = asyncio.Event()

        async def waits(scope: Scope, receive: Receive, send: Send) -> None:
            await may.wait()
            await echo_app(scope, receive, send)

        gate = secure_app(desk, ring, app=waits, options=Options(max_concurrent_requests=2))
        tasks = [
            asyncio.ensure_future(send_request(gate, "GET", "/memories", key="tb-all")) for _ in range(5)
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        other = asyncio.ensure_future(send_request(gate, "GET", "/memories", key="tb-read"))
        await asyncio.sleep(0.02)
        may.set()
        statuses = [(await task).status for task in [*tasks, other]]
        return [*statuses, (await send_request(gate, "GET", "/memories", key="tb-all")).status]

    assert asyncio.run(several()) == [200, 200, 429, 429, 429, 200, 200]


# --- answers ---


def test_headers_of_every_response(desk: ThreadPool, ring: FakeKeyStore) -> None:
    for key, status in (("tb-all", 200), ("wrong", 401)):
        heard = asked(secure_app(desk, ring), "GET", "/memories", key=key)
        assert heard.status == status
        assert heard.header("x-content-type-options") == "nosniff"
        assert heard.header("cache-control") == "no-store"
        assert heard.header("x-request-id")


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
def test_a_requests_id_is_the_clients_if_it_is_short_and_printable(
    desk: ThreadPool, given: bytes, kept: bool
) -> None:
    heard = asked(secure_app(desk, FakeKeyStore()), "GET", "/memories", headers=[(b"x-request-id", given)])
    made = heard.header("x-request-id")
    assert made == heard.json()["request_id"]
    assert (made == given.decode("latin-1")) is kept
    assert made


def test_what_a_room_says_of_its_response_stays(desk: ThreadPool) -> None:
    async def room(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"Cache-Control", b"no-cache"), (b"x-request-id", b"upstream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    heard = asked(secure_app(desk, FakeKeyStore(), app=room), "GET", "/memories")
    assert (heard.header("cache-control"), heard.header("x-request-id")) == ("no-cache", "upstream")


def failing(error: Exception, after_start: bool = False) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    async def room(scope: Scope, receive: Receive, send: Send) -> None:
        if after_start:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise error

    return room


def test_an_error_nobody_foresaw_is_told_and_logged_without_its_words(
    desk: ThreadPool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        heard = asked(secure_app(desk, FakeKeyStore(), app=failing(KeyError("a secret"))), "GET", "/memories")
    assert (heard.status, heard.code) == (500, "internal")
    assert b"secret" not in heard.body
    assert "secret" not in caplog.text
    assert "KeyError" in caplog.text
    assert (heard.header("x-request-id") or "?") in caplog.text


def test_an_error_raised_on_purpose_is_told(desk: ThreadPool) -> None:
    heard = asked(secure_app(desk, FakeKeyStore(), app=failing(Conflict("moved on"))), "GET", "/memories")
    assert (heard.status, heard.json()["detail"]) == (409, "moved on")


def test_a_response_that_breaks_off_is_not_told_twice(desk: ThreadPool) -> None:
    heard = asked(
        secure_app(desk, FakeKeyStore(), app=failing(KeyError("x"), after_start=True)), "GET", "/memories"
    )
    assert (heard.status, heard.body) == (200, b"")


def test_refusals_are_counted_by_reason_and_secrets_are_not_told(
    desk: ThreadPool, ring: FakeKeyStore, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry = RecordingTelemetry()
    with caplog.at_level(logging.DEBUG):
        gate = secure_app(desk, ring, telemetry=telemetry)
        asked(gate, "GET", "/memories", key="tb-nearly")
        asked(gate, "POST", "/memories", key="tb-read")
    reasons = [
        labels["reason"] for name, labels in telemetry.counted if name == "thinkback_requests_refused_total"
    ]
    assert reasons == ["invalid_api_key", "forbidden"]
    assert "tb-" not in caplog.text + repr(telemetry.counted)


def test_a_client_that_does_not_read_ends_the_response(desk: ThreadPool) -> None:
    ended: list[str] = []

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await endless_body(send)
        finally:
            ended.append("room")

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
        await secure_app(desk, FakeKeyStore(), app=endless, options=Options(stall_timeout_seconds=0.02))(
            scope, receive, send
        )

    asyncio.run(unread())
    assert ended == ["connection", "room"]


def test_a_room_that_watches_for_the_clients_going_ends_by_itself(desk: ThreadPool) -> None:
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
        await secure_app(desk, FakeKeyStore(), app=watching, options=options, telemetry=telemetry)(
            scope, receive, send
        )
        assert telemetry.counted == [("thinkback_clients_cut_total", {"reason": "stalled"})]

    asyncio.run(unread())
    assert ended == ["noticed"]


@dataclass
class Unread:
    """A connection whose client does not read."""

    cut: Callable[[], None]
    full: bool = True


async def endless_body(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x", "more_body": True})


def test_the_watch_around_the_gate_may_give_the_requests_id(desk: ThreadPool) -> None:
    gate = secure_app(desk, FakeKeyStore())

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["request_id"] = "watched"
        await gate(scope, receive, send)

    heard = asyncio.run(send_request(watched, "GET", "/memories", headers=[(b"x-request-id", b"mine")]))
    assert (heard.header("x-request-id"), heard.json()["request_id"]) == ("watched", "watched")


def test_a_websocket_is_not_let_in(desk: ThreadPool) -> None:
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope = scope_of("GET", "/memories", []) | {"type": "websocket"}
    asyncio.run(secure_app(desk, FakeKeyStore())(scope, receive, send))
    assert [message["type"] for message in said] == ["websocket.close"]
