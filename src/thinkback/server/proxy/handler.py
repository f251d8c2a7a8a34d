"""Handles one chat request: recall within its time limit, send to the upstream, relay the answer, remember the turn; also when the client disconnects."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from starlette.types import Receive, Scope, Send

from thinkback.errors import Conflict, ThinkbackError
from thinkback.memory import Memory
from thinkback.server import errors
from thinkback.server.circuit_breaker import CircuitBreaker
from thinkback.server.options import Options
from thinkback.server.proxy import inject
from thinkback.server.proxy.answer_reader import AnswerText
from thinkback.server.proxy.exchange import ChatQuery, Exchange
from thinkback.server.proxy.inject import JsonBody
from thinkback.server.proxy.recall_client import ChatTurn, RecallClient, RecalledMemories, UnusableQuery
from thinkback.server.proxy.relay import Relay
from thinkback.server.proxy.upstreams import Upstream, UpstreamRequest, UpstreamResponse
from thinkback.server.telemetry import Telemetry, spans
from thinkback.server.thread_pool import DeadlineExceeded


class ClientDisconnected(Exception):
    """The client has closed its connection."""


class CancelOnDisconnect:
    """`async with Departure(receive)`: what stands inside is cancelled, as by `asyncio.timeout`, and ends
    with Gone. The request's body has been read before."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._disconnected = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be left")
        self._task = task
        self._watch = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.cancel()
        if self._disconnected and self._task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise ClientDisconnected from error

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._disconnected = True
        self._task.cancel()


recall_log = logging.getLogger("thinkback.server.proxy")

MAX_UNQUEUED_RECALLS = 4  # recalls that never wait for others' to be let in
MAX_QUEUE_SHARE = (
    0.5  # of the time of a recall may go by waiting behind others: to be recalled for is worth a moment
)
MAX_RECALL_PAUSE_SECONDS = 10.0
_SMOOTHING = 0.1  # how much the last recall changes what one is thought to take


class RecallStep:
    """Recall for the whole proxy: it is skipped rather than queued for, and left alone where it is broken."""

    def __init__(self, options: Options, clerk: RecallClient, telemetry: Telemetry) -> None:
        self._options = options
        self._clerk = clerk
        self._telemetry = telemetry
        self._breaker = CircuitBreaker(max_pause_seconds=MAX_RECALL_PAUSE_SECONDS)
        self._in_hand = 0
        self._average_seconds = 0.0  # seconds, on average

    async def run(self, memory: Memory, asked: ChatQuery) -> RecalledMemories:
        """Never raises: the chat passes with what there is."""
        if not asked.text.strip():
            return RecalledMemories()
        if self._is_overloaded() or not self._breaker.allows_call():
            return self._skip("busy")
        began = time.perf_counter()
        self._in_hand += 1
        try:
            with self._telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}):
                found = await self._clerk.recall(memory, asked)
        except DeadlineExceeded:  # no reason to stop asking: only a few chats wait at once
            self._breaker.record_abandoned()
            return self._skip("slow")
        except UnusableQuery:  # the question's own fault
            self._breaker.record_abandoned()
            return self._skip("unfit")
        except Exception as error:  # whatever memory fails with must not cost the chat
            self._breaker.record_failure()
            recall_log.warning("recall failed: %s", type(error).__name__)
            return self._skip("broken")
        except BaseException:  # the client has gone
            self._breaker.record_abandoned()
            raise
        finally:
            self._in_hand -= 1
        self._breaker.record_success()
        self._average_seconds += _SMOOTHING * (found.seconds - self._average_seconds)
        self._telemetry.count("thinkback_recalls_total")
        self._telemetry.observe("thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="recall")
        self._telemetry.observe("thinkback_proxy_cpu_seconds", found.seconds, stage="recall")
        return found

    def _is_overloaded(self) -> bool:
        """Whether those before it would take too much of its time."""
        return (
            self._in_hand >= MAX_UNQUEUED_RECALLS
            and self._in_hand * self._average_seconds > MAX_QUEUE_SHARE * self._options.recall_timeout_seconds
        )

    def _skip(self, reason: str) -> RecalledMemories:
        self._telemetry.count("thinkback_recalls_skipped_total", reason=reason)
        return RecalledMemories(skipped=reason)


log = logging.getLogger("thinkback.server.proxy")


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What became of the turn, in a word; `turn` names it."""

    status: str = ""
    turn: str = ""


class RememberStep:
    def __init__(self, clerk: RecallClient, telemetry: Telemetry) -> None:
        self._clerk = clerk
        self._telemetry = telemetry

    async def run(
        self, exchange: Exchange, found: RecalledMemories, heard: AnswerText, *, by_memory: bool = False
    ) -> RememberResult:
        """Never raises: the answer ends as it should, whatever became of its turn."""
        if heard.outcome not in ("answered", "tools"):
            self._telemetry.count("thinkback_upstream_errors_total", reason=heard.outcome)
            log.warning("answer %s", heard.outcome)
        if not exchange.may_remember:
            return RememberResult()
        if heard.outcome == "tools" and not exchange.query.forced_tool:
            return RememberResult("later")
        query, response, key = exchange.query.text, heard.text.strip() and heard.text, exchange.key
        if by_memory:
            response = ""
        elif heard.outcome == "cut":
            key = exchange.truncated_key(heard.text)
        elif not response:
            key = exchange.unanswered_key
        if not query.strip() and not response:
            return RememberResult("nothing")
        kept = await self._remember(exchange, found, query, response, key)
        return RememberResult("question", kept.turn) if kept.status == "answer" and not response else kept

    async def _remember(
        self, exchange: Exchange, found: RecalledMemories, query: str, response: str, key: str | None
    ) -> RememberResult:
        began = time.perf_counter()
        said = ChatTurn(query=query, response=response, session=exchange.session, key=key, used=found.used)
        try:
            with self._telemetry.span("create_memory", {"gen_ai.operation.name": "create_memory"}):
                turn = await self._clerk.remember(exchange.memory, said)
        except DeadlineExceeded:
            self._telemetry.count("thinkback_turns_late_total")
            return RememberResult("late")
        except Conflict:  # the client's own key: it has tried again, and the turn of its first try stands
            return RememberResult("earlier")
        except Exception as error:  # whatever memory fails with must not cost the answer
            self._telemetry.count("thinkback_turns_lost_total", error=type(error).__name__)
            return RememberResult("failed")
        self._telemetry.observe(
            "thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="remember"
        )
        return RememberResult("answer", turn)


STAGE_METRIC = "thinkback_proxy_stage_seconds"
UNREACHED_ANSWER = AnswerText("", "unreached")


class ChatHandler:
    def __init__(
        self,
        upstream: Upstream,
        recalling: RecallStep,
        remembering: RememberStep,
        telemetry: Telemetry,
        exchange: Exchange,
    ) -> None:
        self._upstream = upstream
        self._recalling = recalling
        self._remembering = remembering
        self._telemetry = telemetry
        self._exchange = exchange
        self._found = RecalledMemories()
        self._by_memory = False
        self._relay: Relay | None = None
        self._remembered = False

    async def run(
        self, request: UpstreamRequest, body: JsonBody, scope: Scope, receive: Receive, send: Send
    ) -> None:
        asked = self._exchange.query
        told = {"gen_ai.operation.name": asked.operation, "gen_ai.request.model": asked.model}
        try:
            with self._telemetry.span(f"{asked.operation} {asked.model}", told):
                async with CancelOnDisconnect(receive):
                    await self._process(request, body, scope, receive, send)
        except ClientDisconnected:
            await self._remember_partial()
        except BaseException:  # the server stops, or this is a mistake of ours: the turn is kept all the same
            await self._remember_partial()
            raise

    async def _process(
        self, request: UpstreamRequest, body: JsonBody, scope: Scope, receive: Receive, send: Send
    ) -> None:
        talk = self._exchange
        if talk.may_recall:
            self._found = await self._recalling.run(talk.memory, talk.query)
        try:
            answer = await self._send_upstream(request, body)
        except ThinkbackError as error:
            response = errors.error_response(error)
            response.headers.update(await self._remember(UNREACHED_ANSWER))
            await response(scope, receive, send)
            return
        self._by_memory = answer.by_memory
        self._relay = Relay(answer, send, self._response_headers({}), self._remember)
        await self._relay.run()

    async def _send_upstream(self, request: UpstreamRequest, body: JsonBody) -> UpstreamResponse:
        talk, found = self._exchange, self._found
        spliced = inject.inject_memories(body, found.block) if found.block else None
        asked = replace(
            request,
            headers={**request.headers, **spans.trace_headers()},
            body=request.body if spliced is None else spliced,
            memory=talk.memory if talk.may_recall else None,
            text=talk.query.text,
            recollection=found.recollection,
        )
        began = time.perf_counter()
        try:
            return await self._upstream.send(asked)
        finally:
            self._telemetry.observe(STAGE_METRIC, time.perf_counter() - began, stage="upstream")

    async def _remember(self, heard: AnswerText) -> dict[str, str]:
        """Remembered once; the headers that tell so."""
        if self._remembered:
            return {}
        self._remembered = True
        by_memory = self._by_memory
        kept = await self._remembering.run(self._exchange, self._found, heard, by_memory=by_memory)
        answer = "" if heard.outcome == "answered" else f"; answer={heard.outcome}"
        how = f"; kept={kept.status}" if kept.status else ""
        told = self._response_headers({"X-Thinkback-Memory": f"{self._memory_status()}{how}{answer}"})
        return {**told, "X-Thinkback-Turn": kept.turn} if kept.turn else told

    async def _remember_partial(self) -> None:
        """What was delivered, or at least asked, is kept."""
        if self._relay is None:
            await self._remember(UNREACHED_ANSWER)
        else:
            await self._relay.remember(whole=False)

    def _memory_status(self) -> str:
        return self._found.status if self._exchange.may_recall else "off"

    def _response_headers(self, more: dict[str, str]) -> dict[str, str]:
        refs = self._found.refs
        recalled = {"X-Thinkback-Recalled": refs} if refs else {}
        return {"X-Thinkback-Memory": self._memory_status(), **recalled, **more}
