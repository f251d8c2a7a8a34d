"""The course of one question: recall, ask the upstream, pass its answer on, remember; whoever leaves."""

from __future__ import annotations

import time
from dataclasses import replace

from starlette.types import Receive, Scope, Send

from thinkback.apps.server import faults
from thinkback.apps.server.proxy import splice
from thinkback.apps.server.proxy.clerks.clerk import Found
from thinkback.apps.server.proxy.departure import Departure, Gone
from thinkback.apps.server.proxy.exchange import Exchange
from thinkback.apps.server.proxy.reading.reading import Heard
from thinkback.apps.server.proxy.recalling import Recalling
from thinkback.apps.server.proxy.relay import Relay
from thinkback.apps.server.proxy.remembering import Remembering
from thinkback.apps.server.proxy.splice import Body
from thinkback.apps.server.proxy.upstreams.upstream import Incoming, Outgoing, Upstream
from thinkback.apps.server.telemetry import Telemetry, spans
from thinkback.errors import ThinkbackError

STAGES = "thinkback_proxy_stage_seconds"
UNREACHED = Heard("", "unreached")


class Course:
    def __init__(
        self,
        upstream: Upstream,
        recalling: Recalling,
        remembering: Remembering,
        telemetry: Telemetry,
        exchange: Exchange,
    ) -> None:
        self._upstream = upstream
        self._recalling = recalling
        self._remembering = remembering
        self._telemetry = telemetry
        self._exchange = exchange
        self._found = Found()
        self._by_memory = False
        self._relay: Relay | None = None
        self._kept = False

    async def run(self, request: Outgoing, body: Body, scope: Scope, receive: Receive, send: Send) -> None:
        asked = self._exchange.asked
        told = {"gen_ai.operation.name": asked.operation, "gen_ai.request.model": asked.model}
        try:
            with self._telemetry.span(f"{asked.operation} {asked.model}", told):
                async with Departure(receive):
                    await self._there_and_back(request, body, scope, receive, send)
        except Gone:
            await self._broken_off()
        except BaseException:  # the server stops, or this is a mistake of ours: the turn is kept all the same
            await self._broken_off()
            raise

    async def _there_and_back(
        self, request: Outgoing, body: Body, scope: Scope, receive: Receive, send: Send
    ) -> None:
        talk = self._exchange
        if talk.reads:
            self._found = await self._recalling.before(talk.memory, talk.asked)
        try:
            answer = await self._asked(request, body)
        except ThinkbackError as error:
            response = faults.told(error)
            response.headers.update(await self._keep(UNREACHED))
            await response(scope, receive, send)
            return
        self._by_memory = answer.by_memory
        self._relay = Relay(answer, send, self._told({}), self._keep)
        await self._relay.run()

    async def _asked(self, request: Outgoing, body: Body) -> Incoming:
        talk, found = self._exchange, self._found
        spliced = splice.with_memories(body, found.block) if found.block else None
        asked = replace(
            request,
            headers={**request.headers, **spans.outgoing()},
            body=request.body if spliced is None else spliced,
            memory=talk.memory if talk.reads else None,
            text=talk.asked.text,
            found=found.recollection,
        )
        began = time.perf_counter()
        try:
            return await self._upstream.send(asked)
        finally:
            self._telemetry.observe(STAGES, time.perf_counter() - began, stage="upstream")

    async def _keep(self, heard: Heard) -> dict[str, str]:
        """Remembered once; the headers that tell so."""
        if self._kept:
            return {}
        self._kept = True
        by_memory = self._by_memory
        kept = await self._remembering.after(self._exchange, self._found, heard, by_memory=by_memory)
        answer = "" if heard.outcome == "answered" else f"; answer={heard.outcome}"
        how = f"; kept={kept.how}" if kept.how else ""
        told = self._told({"X-Thinkback-Memory": f"{self._memory()}{how}{answer}"})
        return {**told, "X-Thinkback-Turn": kept.turn} if kept.turn else told

    async def _broken_off(self) -> None:
        """What was delivered, or at least asked, is kept."""
        if self._relay is None:
            await self._keep(UNREACHED)
        else:
            await self._relay.kept(whole=False)

    def _memory(self) -> str:
        return self._found.told if self._exchange.reads else "off"

    def _told(self, more: dict[str, str]) -> dict[str, str]:
        refs = self._found.refs
        recalled = {"X-Thinkback-Recalled": refs} if refs else {}
        return {"X-Thinkback-Memory": self._memory(), **recalled, **more}
