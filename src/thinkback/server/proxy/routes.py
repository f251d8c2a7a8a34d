"""OpenAI's routes, as every client of it knows them: bare ASGI, for this is the way of every token."""

from __future__ import annotations

import time
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from thinkback.errors import NotFound, ThinkbackError
from thinkback.server import errors
from thinkback.server.principal import get_principal
from thinkback.server.proxy import exchange as asking
from thinkback.server.proxy import inject
from thinkback.server.proxy.exchange import Exchange, ParseRequest, create_exchange
from thinkback.server.proxy.handler import (
    STAGE_METRIC,
    CancelOnDisconnect,
    ChatHandler,
    ClientDisconnected,
    RecallStep,
    RememberStep,
)
from thinkback.server.proxy.inject import JsonBody
from thinkback.server.proxy.recall_client import RecallClient
from thinkback.server.proxy.relay import Relay, upstream_headers
from thinkback.server.proxy.upstreams import Upstream, UpstreamRequest
from thinkback.server.services import Services


def create_routes(services: Services, upstream: Upstream, clerk: RecallClient) -> list[Route]:
    recalling = RecallStep(services.options, clerk, services.telemetry)
    remembering = RememberStep(clerk, services.telemetry)
    passing = PassThroughRoute(services, upstream)
    chat = ChatRoute(passing, asking.parse_chat, recalling, remembering)
    completions = ChatRoute(passing, asking.parse_completion, recalling, remembering)
    return [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/completions", completions, methods=["POST"]),
        Route("/v1/embeddings", passing, methods=["POST"]),
        Route("/v1/models", passing, methods=["GET"]),
        Route("/v1/models/{id:path}", passing, methods=["GET"]),
    ]


class PassThroughRoute:
    """What memory has no part in goes to the upstream and back as it is."""

    def __init__(self, services: Services, upstream: Upstream) -> None:
        self.services = services
        self.upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await read_body(receive)
        if raw is not None:
            await self.forward(raw, scope, receive, send)

    async def forward(self, raw: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with CancelOnDisconnect(receive):
                try:
                    answer = await self.upstream.send(self.upstream_request(scope, raw))
                except ThinkbackError as error:
                    await errors.error_response(error)(scope, receive, send)
                else:
                    await Relay(answer, send, {}, None).run()
        except ClientDisconnected:
            pass

    def upstream_request(self, scope: Scope, raw: bytes) -> UpstreamRequest:
        """As it goes to the upstream: below its base URL, by the path of our route and no other."""
        path = scope["path"].removeprefix("/v1")
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise NotFound("no model has such a name")
        headers = upstream_headers(Headers(scope=scope), self.services.options.upstream_key)
        return UpstreamRequest(method=scope["method"], path=quote(path), headers=headers, body=raw)


class ChatRoute:
    """A question: memory is asked before, and told after."""

    def __init__(
        self, passing: PassThroughRoute, ask: ParseRequest, recalling: RecallStep, remembering: RememberStep
    ) -> None:
        self._passing = passing
        self._ask = ask
        self._recalling = recalling
        self._remembering = remembering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await read_body(receive)
        if raw is None:
            return
        services = self._passing.services
        began = time.perf_counter()
        body = inject.parse_body(raw)
        try:
            talk = None if body is None else self._exchange(scope, body)
        except ThinkbackError as error:
            await errors.error_response(error)(scope, receive, send)
            return
        services.telemetry.observe(STAGE_METRIC, time.perf_counter() - began, stage="parse")
        if body is None or talk is None:
            await self._passing.forward(raw, scope, receive, send)
            return
        course = ChatHandler(
            self._passing.upstream, self._recalling, self._remembering, services.telemetry, talk
        )
        await course.run(self._passing.upstream_request(scope, raw), body, scope, receive, send)

    def _exchange(self, scope: Scope, body: JsonBody) -> Exchange | None:
        services = self._passing.services
        return create_exchange(services, get_principal(scope), Headers(scope=scope), body, self._ask)


async def read_body(receive: Receive) -> bytes | None:
    """The request's body; None if the client has gone before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
