"""What is recorded of a request: route and outcome, never its path, query or body."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Message
from tests.timing import cpu_seconds

from thinkback.server.identity import Principal
from thinkback.server.middleware.telemetry import TelemetryMiddleware
from thinkback.server.telemetry import Telemetry
from thinkback.server.telemetry.logs import EventLog


async def hello(request: Request) -> Response:
    request.scope.setdefault("state", {})["principal"] = Principal(tenant="acme", key="k1")
    return PlainTextResponse("hi", headers={"X-Thinkback-Memory": "recalled"})


async def endless(request: Request) -> Response:
    await asyncio.Event().wait()
    return Response()


async def broken(request: Request) -> Response:
    raise ValueError("canary")


class Asked:
    """An application behind the telemetry middleware, called without a network."""

    def __init__(self, level: str = "info") -> None:
        self.stream = io.StringIO()
        self.telemetry = Telemetry(EventLog(self.stream, level))
        router = APIRouter(prefix="/v1/memory")
        router.add_api_route("/thoughts/{id}/history", hello)
        within = FastAPI()
        within.include_router(router)
        inner = Starlette(
            routes=[
                Route("/v1/turns/{id}", hello),
                Route("/health", hello),
                Route("/models/{name:path}", hello),
                Route("/broken", broken),
                Route("/endless", endless),
                Mount("/", within),
            ]
        )
        self.app = TelemetryMiddleware(inner, self.telemetry)

    def get(
        self, path: str, headers: tuple[tuple[bytes, bytes], ...] = (), method: str = "GET"
    ) -> list[Message]:
        return asyncio.run(self.asks(path, headers, method))

    async def asks(self, path: str, headers: tuple[tuple[bytes, bytes], ...], method: str) -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"canary", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"canary=canary",
            "root_path": "",
            "scheme": "http",
            "headers": [(b"authorization", b"Bearer canary"), *headers],
        }
        await self.app(scope, receive, send)
        return sent

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    @property
    def metrics(self) -> str:
        return self.telemetry.metrics.render().decode()


def test_request_is_logged_as_one_line() -> None:
    asked = Asked()
    start = asked.get("/v1/turns/canary")[0]
    (line,) = asked.lines
    del line["time"], line["ms"]
    sent = dict(start["headers"])[b"x-request-id"].decode()
    assert line == {
        "level": "info",
        "event": "request",
        "request": sent,
        "method": "GET",
        "route": "/v1/turns/{id}",
        "status": 200,
        "tenant": "acme",
        "key": "k1",
        "memory": "recalled",
    }
    assert "canary" not in asked.stream.getvalue() + asked.metrics
    counted = 'thinkback_requests_total{method="GET",route="/v1/turns/{id}",status="200"} 1.0'
    assert counted in asked.metrics
    assert "thinkback_requests_in_flight 0.0" in asked.metrics


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/v1/memory/thoughts/7/history", "/v1/memory/thoughts/{id}/history"),
        ("/models/canary/canary", "/models/{name:path}"),
        ("/v1/memory/thoughts/canary", "none"),
        ("/canary/canary/canary/canary/canary", "none"),
    ],
)
def test_route_label_is_full_template(path: str, route: str) -> None:
    asked = Asked()
    asked.get(path)
    assert asked.lines[0]["route"] == route


def test_client_chosen_values_are_not_labels() -> None:
    asked = Asked()
    asked.get("/canary", method="CANARY")
    assert 'thinkback_requests_total{method="OTHER",route="none",status="404"} 1.0' in asked.metrics
    assert "canary" not in (asked.stream.getvalue() + asked.metrics).lower()


@pytest.mark.parametrize(
    ("given", "taken"),
    [(b"abc-1.2_3", True), (b"a b", False), (b"", False), (b"a" * 65, False), (b"\xff", False)],
)
def test_plain_client_request_id_is_used(given: bytes, taken: bool) -> None:
    asked = Asked()
    start = asked.get("/v1/turns/1", ((b"x-request-id", given),))[0]
    sent = dict(start["headers"])[b"x-request-id"]
    assert (sent == given) == taken
    assert asked.lines[0]["request"] == sent.decode()


def test_failure_is_logged_by_location() -> None:
    asked = Asked()
    with pytest.raises(ValueError, match="canary"):
        asked.get("/broken")
    failed, request = asked.lines
    assert (failed["event"], failed["error"], request["status"]) == ("request_failed", "ValueError", 500)
    assert failed["request"] == request["request"]
    assert "canary" not in asked.stream.getvalue()


def test_early_disconnect_is_status_499() -> None:
    asked = Asked()

    async def leaves() -> None:
        task = asyncio.ensure_future(asked.asks("/endless", (), "GET"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leaves())
    assert asked.lines[-1]["status"] == 499
    assert "thinkback_requests_in_flight 0.0" in asked.metrics


def test_polled_routes_are_logged_at_debug_level() -> None:
    asked = Asked()
    asked.get("/health")
    assert asked.lines == []
    loud = Asked("debug")
    loud.get("/health")
    assert loud.lines[0]["route"] == "/health"


def test_overhead_is_small() -> None:
    """A logged and counted request costs less than eight empty requests of Starlette."""
    asked = Asked()
    bare = Asked()
    bare.app = bare.app._app  # type: ignore[assignment]

    def many(one: Asked) -> None:
        async def ask() -> None:
            for _ in range(300):
                await one.asks("/v1/turns/1", (), "GET")

        asyncio.run(ask())

    many(bare)
    assert cpu_seconds(lambda: many(asked)) < 8 * cpu_seconds(lambda: many(bare))
