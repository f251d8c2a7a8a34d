"""The routes of OpenAI's API. Plain ASGI, because every token of every chat passes through them."""

from __future__ import annotations

import time
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from thinkback.errors import NotFound, ThinkbackError
from thinkback.server import errors
from thinkback.server.identity import get_principal
from thinkback.server.proxy import inject
from thinkback.server.proxy.exchange import (
    Exchange,
    ParseRequest,
    create_exchange,
    parse_chat,
    parse_completion,
)
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


def create_routes(services: Services, upstream: Upstream, recall_client: RecallClient) -> list[Route]:
    recall = RecallStep(services.options, recall_client, services.telemetry)
    remember = RememberStep(recall_client, services.telemetry)
    pass_through = PassThroughRoute(services, upstream)
    chat = ChatRoute(pass_through, parse_chat, recall, remember)
    completions = ChatRoute(pass_through, parse_completion, recall, remember)
    return [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/completions", completions, methods=["POST"]),
        Route("/v1/embeddings", pass_through, methods=["POST"]),
        Route("/v1/models", pass_through, methods=["GET"]),
        Route("/v1/models/{id:path}", pass_through, methods=["GET"]),
    ]


class PassThroughRoute:
    """Forwards a request to the upstream and relays the response unchanged, without memory."""

    def __init__(self, services: Services, upstream: Upstream) -> None:
        self.services = services
        self.upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is not None:
            await self.forward(body, scope, receive, send)

    async def forward(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with CancelOnDisconnect(receive):
                try:
                    response = await self.upstream.send(self.upstream_request(scope, body))
                except ThinkbackError as error:
                    await errors.error_response(error)(scope, receive, send)
                else:
                    await Relay(response, send, {}, None).run()
        except ClientDisconnected:
            pass

    def upstream_request(self, scope: Scope, body: bytes) -> UpstreamRequest:
        """The request for the upstream.

        Its path is always one of our routes, below the upstream's base URL.
        """
        path = scope["path"].removeprefix("/v1")
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise NotFound("there is no model with this name")
        headers = upstream_headers(Headers(scope=scope), self.services.options.upstream_key)
        return UpstreamRequest(method=scope["method"], path=quote(path), headers=headers, body=body)


class ChatRoute:
    """A chat or completion: recalls before it is sent to the upstream, and remembers after the answer."""

    def __init__(
        self,
        pass_through: PassThroughRoute,
        parse: ParseRequest,
        recall: RecallStep,
        remember: RememberStep,
    ) -> None:
        self._pass_through = pass_through
        self._parse = parse
        self._recall = recall
        self._remember = remember

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await read_body(receive)
        if raw is None:
            return
        services = self._pass_through.services
        started = time.perf_counter()
        body = inject.parse_body(raw)
        try:
            exchange = None if body is None else self._exchange(scope, body)
        except ThinkbackError as error:
            await errors.error_response(error)(scope, receive, send)
            return
        services.telemetry.observe(STAGE_METRIC, time.perf_counter() - started, stage="parse")
        if body is None or exchange is None:
            await self._pass_through.forward(raw, scope, receive, send)
            return
        handler = ChatHandler(
            self._pass_through.upstream, self._recall, self._remember, services.telemetry, exchange
        )
        await handler.run(self._pass_through.upstream_request(scope, raw), body, scope, receive, send)

    def _exchange(self, scope: Scope, body: JsonBody) -> Exchange | None:
        services = self._pass_through.services
        return create_exchange(services, get_principal(scope), Headers(scope=scope), body, self._parse)


async def read_body(receive: Receive) -> bytes | None:
    """The request's body; None if the client disconnected before its end."""
    chunks: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)
