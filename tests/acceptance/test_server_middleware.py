"""The security middleware under attack: fuzzed credentials, every route, slow clients on real sockets."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
from collections.abc import Iterator
from itertools import repeat

import pytest
from fastapi import FastAPI, HTTPException, Request
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send
from tests.auth_matrix import Credentials, check_all_routes, list_routes, send_request
from tests.unit.server.fake_keys import (
    ALL,
    READ,
    FakeKeyStore,
    ManualClock,
    RecordingTelemetry,
    echo_app,
    secure_app,
)
from tests.unit.server.uvicorn_server import connect, read_until_closed, run_server

from thinkback.server.identity import get_principal
from thinkback.server.middleware.security import SecurityMiddleware
from thinkback.server.services import Options
from thinkback.server.thread_pool import ThreadPool

FUZZED = 10_000
KEY = "tb-owner-" + "0123456789abcdef" * 2
CANARY = b"the canary sings at noon"


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(threads=4)
    yield pool
    pool.close()


# --- credentials ---


def credential(dice: random.Random) -> tuple[bytes, bytes]:
    """A header that is not the key, from random bytes to almost right."""
    name = dice.choice([b"authorization"] * 4 + [b"x-api-key", b"proxy-authorization", b"cookie"])
    scheme = dice.choice(
        [b"Bearer ", b"Token ", b"bearer\t", b"Basic ", b"", b"Bearer", b" Bearer ", b"Digest ", b"\xff "]
    )
    key = bytearray(KEY.encode())
    match dice.randrange(8):
        case 0:
            key = bytearray(dice.randbytes(dice.randrange(200)))
        case 1:
            key[dice.randrange(len(key))] ^= 1 << dice.randrange(8)
        case 2:
            del key[dice.randrange(len(key)) :]
        case 3:
            key += dice.randbytes(dice.randrange(1, 4))
        case 4:
            key = bytearray(KEY.upper().encode())
        case 5:
            key = bytearray(
                dice.choice(["ключ", "鍵", "\x00", "' or 1=1 --", "../", "%00", "{}", "\u202e"]).encode()
            )
        case 6:
            key = bytearray(b"tb-" * dice.randrange(20_000))
        case _:
            key.insert(dice.randrange(1, len(key)), dice.choice(b' \t\x0b\x7f\xa0\xc2,;"'))
    return name, scheme + bytes(key)


def is_right(name: bytes, value: bytes) -> bool:
    """Whether this may be accepted as the key, decided independently of the middleware's code."""
    words = value.split()
    if name == b"x-api-key":
        return value.strip() == KEY.encode()
    return name == b"authorization" and len(words) == 2 and words[1] == KEY.encode()


def test_fuzzed_credentials_are_refused(pool: ThreadPool) -> None:
    dice = random.Random(8)
    key_store = FakeKeyStore()
    key_store.add(KEY)
    middleware = secure_app(pool, key_store, clock=ManualClock())
    headers = [
        [made for _ in range(dice.choice((1, 1, 1, 2))) if not is_right(*(made := credential(dice)))]
        for _ in range(FUZZED)
    ]

    async def all_of_them() -> dict[int, int]:
        statuses: dict[int, int] = {}
        for said in headers:
            response = await send_request(middleware, "GET", "/v1/memory/thoughts", headers=said)
            statuses[response.status] = statuses.get(response.status, 0) + 1
        return statuses

    assert asyncio.run(all_of_them()) == {401: FUZZED}
    assert asyncio.run(send_request(middleware, "GET", "/v1/memory/thoughts", key=KEY)).status == 200


# --- every route ---


def sample() -> FastAPI:
    """An app with each kind of route, whose memories are separated by tenant only."""
    app = FastAPI(docs_url=None, redoc_url=None)
    memories = {("ours", "7"): CANARY.decode()}

    @app.get("/v1/memory/thoughts/{id}")
    def thought(id: str, request: Request) -> str:
        found = memories.get((get_principal(request.scope).tenant, id))
        if found is None:
            raise HTTPException(404)
        return found

    @app.get("/v1/memory/thoughts")
    def thoughts(request: Request) -> list[str]:
        return [
            text for (tenant, _), text in memories.items() if tenant == get_principal(request.scope).tenant
        ]

    @app.delete("/memories/{id}")
    def delete(id: str, request: Request) -> str:
        thought(id, request)
        return "deleted"

    @app.post("/v1/memory/turns")
    def turn(request: Request) -> str:
        return get_principal(request.scope).tenant

    @app.get("/v1/memory/users")
    def users() -> str:
        return "well"

    @app.get("/health")
    def health() -> str:
        return "well"

    app.routes.append(Mount("/mcp", app=echo_app))
    return app


def proved(pool: ThreadPool, app: FastAPI) -> dict[str, int]:
    key_store = FakeKeyStore()
    credentials = Credentials(
        wrong="tb-wrong",
        reader=key_store.add("tb-reader", tenant="ours", scopes=READ),
        writer=key_store.add("tb-writer", tenant="ours", scopes=("write",)),
        stranger=key_store.add("tb-stranger", tenant="theirs", scopes=ALL),
        ids={"id": "7"},
        writer_ids=repeat({"id": "7"}),
        canary=CANARY,
    )
    key_store.add("tb-owner", tenant="ours")
    middleware = secure_app(pool, key_store, app=app)
    owned = asyncio.run(send_request(middleware, "GET", "/v1/memory/thoughts/7", key="tb-owner"))
    assert CANARY in owned.body, "the canary is there to be found"
    return asyncio.run(check_all_routes(middleware, list(list_routes(app.routes)), credentials))


def test_every_route_refuses_callers_without_access(pool: ThreadPool) -> None:
    seen = proved(pool, sample())
    assert seen["403"] == 6
    assert seen["401"] == 2 * seen["stranger"]
    assert seen["open"] == 1


def test_auth_matrix_detects_route_without_rule(pool: ThreadPool) -> None:
    app = sample()
    app.routes.append(Route("/debug", endpoint=lambda request: None))
    with pytest.raises(AssertionError, match="/debug has no rule"):
        proved(pool, app)


def test_auth_matrix_detects_route_that_ignores_tenant(pool: ThreadPool) -> None:
    app = sample()

    @app.get("/memories/{id}")
    def everybodys(id: str) -> str:
        return CANARY.decode()

    with pytest.raises(AssertionError, match="leaks to another tenant"):
        proved(pool, app)


def test_auth_matrix_detects_route_that_shows_memories_to_a_writer(pool: ThreadPool) -> None:
    app = sample()

    @app.put("/memories/{id}")
    def shows_what_it_was(id: str) -> str:
        return CANARY.decode()

    with pytest.raises(AssertionError, match="shows memories to a key that may only write"):
        proved(pool, app)


# --- slow and greedy clients ---

QUICK = Options(request_timeout_seconds=0.3, stall_timeout_seconds=0.3, max_body_bytes=1 << 20)
PATIENT = Options(max_body_bytes=1 << 20)  # for tests without disconnects on a slow machine
HEAD = b"POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def port(pool: ThreadPool) -> Iterator[int]:
    with run_server(secure_app(pool, FakeKeyStore(), options=QUICK), QUICK) as port:
        yield port


@pytest.fixture
def patient(pool: ThreadPool) -> Iterator[int]:
    with run_server(secure_app(pool, FakeKeyStore(), options=PATIENT), PATIENT) as port:
        yield port


def drip(client: socket.socket, piece: bytes) -> bytes:
    """Send a chunk repeatedly until the server disconnects; returns what it sent."""
    response: list[bytes] = []
    listening = threading.Thread(target=lambda: response.append(read_until_closed(client)))
    listening.start()
    while listening.is_alive():
        try:
            client.sendall(piece)
        except OSError:
            break
        time.sleep(0.02)
    listening.join(20)
    return response[0]


def is_well(port: int) -> bool:
    with connect(port) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return read_until_closed(client).startswith(b"HTTP/1.1 200")


def test_silent_client_is_disconnected(port: int) -> None:
    with connect(port) as client:
        assert read_until_closed(client) == b""


def test_slow_headers_are_disconnected(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"GET /health HTTP/1.1\r\n")
        assert drip(client, b"X-A: b\r\n").startswith(b"HTTP/1.1 408")


def test_empty_lines_do_not_count_as_request(port: int) -> None:
    with connect(port) as client:
        assert drip(client, b"\r\n") == b""


def test_empty_lines_after_request_do_not_count_as_request(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(65536)
        assert b"HTTP/1.1" not in drip(client, b"\r\n")


@pytest.mark.parametrize(
    ("framing", "piece"),
    [(b"Content-Length: 100000\r\n\r\n", b" "), (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")],
)
def test_slow_body_is_refused_and_disconnected(port: int, framing: bytes, piece: bytes) -> None:
    with connect(port) as client:
        client.sendall(HEAD + framing)
        response = drip(client, piece)
    assert response.startswith(b"HTTP/1.1 408")
    assert b'"too_slow"' in response


def test_body_that_continues_after_refusal_is_disconnected(port: int) -> None:
    with connect(port) as client:
        client.sendall(HEAD.replace(b"localhost", b"evil.example") + b"Content-Length: 100000\r\n\r\n")
        assert drip(client, b" ").startswith(b"HTTP/1.1 421")


def test_many_slow_clients_do_not_block_others(port: int) -> None:
    slow = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
    try:
        for client in slow:
            client.sendall(b"GET /health HT")
        assert any(is_well(port) for _ in range(5))
        assert all(read_until_closed(client).startswith(b"HTTP/1.1 408") for client in slow)
    finally:
        for client in slow:
            client.close()


def test_connection_is_kept_alive_for_complete_requests(pool: ThreadPool) -> None:
    options = Options(request_timeout_seconds=1.0)
    with (
        run_server(secure_app(pool, FakeKeyStore(), options=options), options) as port,
        connect(port) as client,
    ):
        for _ in range(4):
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            response = b""
            while not response.endswith(b"0\r\n\r\n"):
                piece = client.recv(65536)
                assert piece, "the connection was ended"
                response += piece
            time.sleep(options.request_timeout_seconds / 2)


def test_pipelined_requests_are_answered_in_order(patient: int) -> None:
    with connect(patient) as client:
        body = b"{}"
        one = HEAD + b"Content-Length: 2\r\n\r\n" + body
        client.sendall(one * 3 + one.replace(b"Host", b"Connection: close\r\nHost"))
        assert read_until_closed(client).count(b"HTTP/1.1 200") == 4


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", b"400"),
        (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (HEAD + b"Content-Length: -2\r\n\r\n{}", b"400"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 200 + b"\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nA: " + b"x" * 1_000_000, b"431"),
        (b"GET /" + b"x" * 1_000_000, b"431"),
        (HEAD + b"Content-Length: 9000000\r\n\r\n", b"413"),
        (HEAD + b"Content-Length: 2000\r\n\r\n" + b"[" * 2000, b"400"),
        (HEAD + b"Content-Length: 2000\r\n\r\n" + b"{}" * 1000, b"200"),
    ],
)
def test_malformed_requests_are_refused(patient: int, request_: bytes, status: bytes) -> None:
    with connect(patient) as client:
        threading.Thread(target=send_all, args=(client, request_), daemon=True).start()
        assert client.recv(65536).startswith(b"HTTP/1.1 " + status)
    assert is_well(patient)


def send_all(client: socket.socket, data: bytes) -> None:
    try:
        client.sendall(data)
    except OSError:
        return  # the server has closed the connection


def test_large_body_is_refused_while_it_arrives(patient: int) -> None:
    with connect(patient) as client:
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        threading.Thread(target=send_all, args=(client, chunk * 20), daemon=True).start()
        assert client.recv(65536).startswith(b"HTTP/1.1 413")


async def endless(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})


def test_client_that_does_not_read_is_disconnected(pool: ThreadPool) -> None:
    ended = threading.Event()

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await endless(scope, receive, send)
        finally:
            ended.set()

    telemetry = RecordingTelemetry()
    with (
        run_server(
            secure_app(pool, FakeKeyStore(), app=route, options=QUICK, telemetry=telemetry), QUICK
        ) as port,
        connect(port) as client,
    ):
        client.sendall(b"GET /memories HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert ended.wait(20), "the route's response continued"
        assert read_until_closed(client).startswith(b"HTTP/1.1 200")
    assert telemetry.counted == [("thinkback_clients_cut_total", {"reason": "stalled"})]


def test_unread_complete_response_is_disconnected(pool: ThreadPool) -> None:
    """The response is too short to block the route, and too long for the client's window."""
    sent = threading.Event()

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * (32 << 20), "more_body": False})
        sent.set()

    with (
        run_server(secure_app(pool, FakeKeyStore(), app=route, options=QUICK), QUICK) as port,
        connect(port) as client,
    ):
        client.sendall(b"GET /memories HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sent.wait(20)
        time.sleep(3 * QUICK.stall_timeout_seconds)
        assert len(read_until_closed(client)) < 32 << 20


def test_revoked_key_stops_working(pool: ThreadPool) -> None:
    key_store = FakeKeyStore()
    key_store.add(KEY)
    middleware = SecurityMiddleware(
        echo_app, options=PATIENT, keys=key_store, pool=pool, telemetry=RecordingTelemetry()
    )  # with the real clock
    request = (
        f"GET /memories HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\nConnection: close\r\n\r\n".encode()
    )

    def status(port: int) -> bytes:
        with connect(port) as client:
            client.sendall(request)
            return read_until_closed(client)[9:12]

    with run_server(middleware, PATIENT) as port:
        assert status(port) == b"200"
        key_store.keys.clear()
        deadline = time.monotonic() + 20
        while status(port) != b"401":
            assert time.monotonic() < deadline, "it is still let in"
            time.sleep(0.1)
        assert status(port) == b"401"


def test_forwarded_headers_are_ignored(pool: ThreadPool) -> None:
    clients: list[str] = []

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        clients.append(scope["client"][0])
        await echo_app(scope, receive, send)

    with (
        run_server(secure_app(pool, FakeKeyStore(), app=route, options=PATIENT), PATIENT) as port,
        connect(port) as client,
    ):
        client.sendall(
            b"GET /memories HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 9.9.9.9\r\n"
            b"X-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n"
        )
        response = read_until_closed(client).lower()
    assert clients == ["127.0.0.1"]
    assert b"\r\nserver:" not in response
    assert b"\r\ndate:" in response
