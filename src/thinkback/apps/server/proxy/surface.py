"""OpenAI's routes, as every client of it knows them: bare ASGI, for this is the way of every token."""

from __future__ import annotations

import time
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from thinkback.apps.server import faults
from thinkback.apps.server.caller import caller_of
from thinkback.apps.server.proxy import asked as asking
from thinkback.apps.server.proxy import splice
from thinkback.apps.server.proxy.clerks.clerk import Clerk
from thinkback.apps.server.proxy.course import STAGES, Course
from thinkback.apps.server.proxy.departure import Departure, Gone
from thinkback.apps.server.proxy.exchange import Ask, Exchange, exchange
from thinkback.apps.server.proxy.headers import outgoing
from thinkback.apps.server.proxy.recalling import Recalling
from thinkback.apps.server.proxy.relay import Relay
from thinkback.apps.server.proxy.remembering import Remembering
from thinkback.apps.server.proxy.splice import Body
from thinkback.apps.server.proxy.upstreams.upstream import Outgoing, Upstream
from thinkback.apps.server.services import Services
from thinkback.errors import NotFound, ThinkbackError


def routes(services: Services, upstream: Upstream, clerk: Clerk) -> list[Route]:
    recalling = Recalling(services.options, clerk, services.telemetry)
    remembering = Remembering(clerk, services.telemetry)
    passing = Passing(services, upstream)
    chat = Asking(passing, asking.chat, recalling, remembering)
    completions = Asking(passing, asking.completion, recalling, remembering)
    return [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/completions", completions, methods=["POST"]),
        Route("/v1/embeddings", passing, methods=["POST"]),
        Route("/v1/models", passing, methods=["GET"]),
        Route("/v1/models/{id:path}", passing, methods=["GET"]),
    ]


class Passing:
    """What memory has no part in goes to the upstream and back as it is."""

    def __init__(self, services: Services, upstream: Upstream) -> None:
        self.services = services
        self.upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await whole_body(receive)
        if raw is not None:
            await self.through(raw, scope, receive, send)

    async def through(self, raw: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with Departure(receive):
                try:
                    answer = await self.upstream.send(self.request(scope, raw))
                except ThinkbackError as error:
                    await faults.told(error)(scope, receive, send)
                else:
                    await Relay(answer, send, {}, None).run()
        except Gone:
            pass

    def request(self, scope: Scope, raw: bytes) -> Outgoing:
        """As it goes to the upstream: below its base URL, by the path of our route and no other."""
        path = scope["path"].removeprefix("/v1")
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise NotFound("no model has such a name")
        headers = outgoing(Headers(scope=scope), self.services.options.upstream_key)
        return Outgoing(method=scope["method"], path=quote(path), headers=headers, body=raw)


class Asking:
    """A question: memory is asked before, and told after."""

    def __init__(self, passing: Passing, ask: Ask, recalling: Recalling, remembering: Remembering) -> None:
        self._passing = passing
        self._ask = ask
        self._recalling = recalling
        self._remembering = remembering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await whole_body(receive)
        if raw is None:
            return
        services = self._passing.services
        began = time.perf_counter()
        body = splice.read(raw)
        try:
            talk = None if body is None else self._exchange(scope, body)
        except ThinkbackError as error:
            await faults.told(error)(scope, receive, send)
            return
        services.telemetry.observe(STAGES, time.perf_counter() - began, stage="parse")
        if body is None or talk is None:
            await self._passing.through(raw, scope, receive, send)
            return
        course = Course(self._passing.upstream, self._recalling, self._remembering, services.telemetry, talk)
        await course.run(self._passing.request(scope, raw), body, scope, receive, send)

    def _exchange(self, scope: Scope, body: Body) -> Exchange | None:
        services = self._passing.services
        return exchange(services, caller_of(scope), Headers(scope=scope), body, self._ask)


async def whole_body(receive: Receive) -> bytes | None:
    """The request's body; None if the client has gone before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
