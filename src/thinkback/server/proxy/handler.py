"""Handles one chat: recall, send to the upstream, relay the answer, remember the turn.

Memory never fails a chat: a recall that is slow or broken is skipped. The user's message is stored even if
the upstream does not answer or the client disconnects, and only once if the client retries; an answer that
breaks off is stored as far as it was delivered.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from starlette.types import Receive, Scope, Send

from thinkback.errors import Conflict, ThinkbackError
from thinkback.memory import Memory
from thinkback.server import errors
from thinkback.server.circuit_breaker import CircuitBreaker
from thinkback.server.proxy import inject
from thinkback.server.proxy.answer_capture import AnswerText
from thinkback.server.proxy.exchange import ChatQuery, Exchange
from thinkback.server.proxy.inject import JsonBody
from thinkback.server.proxy.recall_client import (
    ChatTurn,
    KeyRevoked,
    RecallClient,
    RecalledMemories,
    UnusableQuery,
    count_recall_threads,
)
from thinkback.server.proxy.relay import Relay
from thinkback.server.proxy.upstreams import Upstream, UpstreamRequest, UpstreamResponse
from thinkback.server.services import Options
from thinkback.server.telemetry import Telemetry, spans
from thinkback.server.thread_pool import DeadlineExceeded

STAGE_METRIC = "thinkback_proxy_stage_seconds"
MAX_UNQUEUED_RECALLS = 4  # concurrent recalls that are always started
MAX_QUEUE_SHARE = 0.5  # share of its timeout that a recall may spend waiting for others
MAX_RECALL_PAUSE_SECONDS = 10.0
UNREACHED_ANSWER = AnswerText("", "unreached")

_SMOOTHING = 0.1  # weight of the last recall in the average cost
_log = logging.getLogger("thinkback.server.proxy")


class ClientDisconnected(Exception):
    """The client has closed its connection."""


class CancelOnDisconnect:
    """`async with CancelOnDisconnect(receive):` cancels the block when the client disconnects.

    The block then ends with `ClientDisconnected`. The request's body must have been read before.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._disconnected = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("CancelOnDisconnect needs a running task")
        self._task = task
        self._watch = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.cancel()
        if self._disconnected and self._task.uncancel() == 0 and error_type is asyncio.CancelledError:
            raise ClientDisconnected from error

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._disconnected = True
        self._task.cancel()


class RecallStep:
    """Recall for all chats of this process. It is skipped when it is overloaded, slow or broken."""

    def __init__(self, options: Options, client: RecallClient, telemetry: Telemetry) -> None:
        self._options = options
        self._client = client
        self._telemetry = telemetry
        self._breaker = CircuitBreaker(max_pause_seconds=MAX_RECALL_PAUSE_SECONDS)
        client.on_reconnect(self._breaker.record_success)
        self._running = 0
        self._average_cost = 0.0  # seconds for which a recall occupies the process that recalls

    async def run(self, memory: Memory, query: ChatQuery) -> RecalledMemories:
        """Recall for a chat. Never raises: if recall is not possible, the result says why."""
        if not query.text.strip():
            return RecalledMemories()
        if self._is_overloaded() or not self._breaker.allows_call():
            return self._skip("busy")
        started = time.perf_counter()
        self._running += 1
        try:
            with self._telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}):
                found = await self._client.recall(memory, query)
        except DeadlineExceeded:  # not a failure: slow recalls limit themselves by `_is_overloaded`
            self._breaker.record_abandoned()
            return self._skip("slow")
        except UnusableQuery:  # caused by the query, not by memory
            self._breaker.record_abandoned()
            return self._skip("unfit")
        except Exception as error:  # no failure of memory may fail the chat
            self._breaker.record_failure()
            _log.warning("recall failed: %s", type(error).__name__)
            return self._skip("broken")
        except BaseException:  # the client disconnected
            self._breaker.record_abandoned()
            raise
        finally:
            self._running -= 1
        self._breaker.record_success()
        threads = count_recall_threads(memory.embedder.name)
        cost = max(found.cpu_seconds, found.seconds / threads)
        self._average_cost += _SMOOTHING * (cost - self._average_cost)
        self._telemetry.count("thinkback_recalls_total")
        self._telemetry.observe(STAGE_METRIC, time.perf_counter() - started, stage="recall")
        self._telemetry.observe("thinkback_proxy_cpu_seconds", found.cpu_seconds, stage="recall")
        return found

    def _is_overloaded(self) -> bool:
        """Whether the running recalls would use up too much of this one's time.

        The recall processes are shared by all answering processes; without any, each of these recalls itself.
        """
        recallers = len(self._options.recall_sockets)
        share = self._options.workers / recallers if recallers else 1.0
        wait = self._running * share * self._average_cost
        return (
            self._running >= MAX_UNQUEUED_RECALLS
            and wait > MAX_QUEUE_SHARE * self._options.recall_timeout_seconds
        )

    def _skip(self, reason: str) -> RecalledMemories:
        self._telemetry.count("thinkback_recalls_skipped_total", reason=reason)
        return RecalledMemories(skipped=reason)


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What happened to the turn (the `kept=` word of X-Thinkback-Memory), and its ref if it was stored."""

    status: str = ""
    turn: str = ""


class RememberStep:
    """Stores the turn of a chat before the client receives the end of the answer."""

    def __init__(self, client: RecallClient, telemetry: Telemetry) -> None:
        self._client = client
        self._telemetry = telemetry

    async def run(
        self,
        exchange: Exchange,
        found: RecalledMemories,
        answer: AnswerText,
        *,
        by_memory: bool = False,
        turn_key: str | None = None,
        stored: str = "",
    ) -> RememberResult:
        """Store the turn. Never raises: the answer ends as it should, whatever happens to its turn.

        `turn_key` is the key with which the upstream may have stored the turn, `stored` the ref if it has.
        """
        if answer.outcome not in ("answered", "tools"):
            self._telemetry.count("thinkback_upstream_errors_total", reason=answer.outcome)
            _log.warning("answer %s", answer.outcome)
        if not exchange.may_remember:
            return RememberResult()
        if stored:
            return RememberResult("question", stored)
        if answer.outcome == "tools" and not exchange.query.forced_tool:
            return RememberResult("later")
        query, response, key = exchange.query.text, answer.text.strip() and answer.text, exchange.key
        if turn_key is not None:
            response, key = "", turn_key
        elif by_memory:
            response = ""
        elif answer.outcome == "cut":
            key = exchange.truncated_key(answer.text)
        elif not response:
            key = exchange.unanswered_key
        if not query.strip() and not response:
            return RememberResult("nothing")
        result = await self._remember(exchange, found, query, response, key)
        return (
            RememberResult("question", result.turn) if result.status == "answer" and not response else result
        )

    async def _remember(
        self, exchange: Exchange, found: RecalledMemories, query: str, response: str, key: str | None
    ) -> RememberResult:
        started = time.perf_counter()
        turn = ChatTurn(
            query=query,
            response=response,
            session=exchange.session,
            key=key,
            api_key=exchange.api_key,
            used=found.used,
        )
        try:
            with self._telemetry.span("create_memory", {"gen_ai.operation.name": "create_memory"}):
                ref = await self._client.remember(exchange.memory, turn)
        except DeadlineExceeded:
            self._telemetry.count("thinkback_turns_late_total")
            return RememberResult("late")
        except KeyRevoked:
            self._telemetry.count("thinkback_turns_refused_total", reason="revoked")
            return RememberResult("revoked")
        except Conflict:  # the client has retried with its own key; the turn of its first attempt is kept
            return RememberResult("earlier")
        except Exception as error:  # no failure of memory may fail the answer
            self._telemetry.count("thinkback_turns_lost_total", error=type(error).__name__)
            return RememberResult("failed")
        self._telemetry.observe(STAGE_METRIC, time.perf_counter() - started, stage="remember")
        return RememberResult("answer", ref)


class ChatHandler:
    """One chat request from its arrival to the end of its answer."""

    def __init__(
        self,
        upstream: Upstream,
        recall: RecallStep,
        remember: RememberStep,
        telemetry: Telemetry,
        exchange: Exchange,
    ) -> None:
        self._upstream = upstream
        self._recall_step = recall
        self._remember_step = remember
        self._telemetry = telemetry
        self._exchange = exchange
        self._found = RecalledMemories()
        self._by_memory = False
        self._turn_key: str | None = None
        self._stored = ""
        self._relay: Relay | None = None
        self._remembered = False

    async def run(
        self, request: UpstreamRequest, body: JsonBody, scope: Scope, receive: Receive, send: Send
    ) -> None:
        query = self._exchange.query
        attributes = {"gen_ai.operation.name": query.operation, "gen_ai.request.model": query.model}
        try:
            with self._telemetry.span(f"{query.operation} {query.model}", attributes):
                async with CancelOnDisconnect(receive):
                    await self._process(request, body, scope, receive, send)
        except ClientDisconnected:
            await self._remember_partial()
        except BaseException:  # the server stops, or there is a bug: the turn is stored all the same
            await self._remember_partial()
            raise

    async def _process(
        self, request: UpstreamRequest, body: JsonBody, scope: Scope, receive: Receive, send: Send
    ) -> None:
        exchange = self._exchange
        if exchange.may_recall:
            self._found = await self._recall_step.run(exchange.memory, exchange.query)
        try:
            answer = await self._send_upstream(request, body)
        except ThinkbackError as error:
            response = errors.error_response(error)
            response.headers.update(await self._remember(UNREACHED_ANSWER))
            await response(scope, receive, send)
            return
        self._by_memory, self._stored = answer.by_memory, answer.stored
        self._relay = Relay(answer, send, self._response_headers({}), self._remember)
        await self._relay.run()

    async def _send_upstream(self, request: UpstreamRequest, body: JsonBody) -> UpstreamResponse:
        exchange, found = self._exchange, self._found
        injected = inject.inject_memories(body, found.block) if found.block else None
        request = replace(
            request,
            headers={**request.headers, **spans.trace_headers()},
            body=request.body if injected is None else injected,
            memory=exchange.memory if exchange.may_recall else None,
            text=exchange.query.text,
            recollection=found.recollection,
            turn=self._turn_for_upstream(),
        )
        started = time.perf_counter()
        try:
            return await self._upstream.send(request)
        finally:
            self._telemetry.observe(STAGE_METRIC, time.perf_counter() - started, stage="upstream")

    def _turn_for_upstream(self) -> ChatTurn | None:
        """The turn for an upstream that stores it. Its key makes sure that it is stored only once."""
        exchange = self._exchange
        if not self._upstream.stores_turns or not exchange.may_remember:
            return None
        self._turn_key = exchange.key or f"chat-{uuid.uuid4().hex}"
        return ChatTurn(
            query=exchange.query.text,
            response="",
            session=exchange.session,
            key=self._turn_key,
            api_key=exchange.api_key,
        )

    async def _remember(self, answer: AnswerText) -> dict[str, str]:
        """Remember the turn, once; returns the response headers that report it."""
        if self._remembered:
            return {}
        self._remembered = True
        result = await self._remember_step.run(
            self._exchange,
            self._found,
            answer,
            by_memory=self._by_memory,
            turn_key=self._turn_key,
            stored=self._stored,
        )
        outcome = "" if answer.outcome == "answered" else f"; answer={answer.outcome}"
        kept = f"; kept={result.status}" if result.status else ""
        headers = self._response_headers({"X-Thinkback-Memory": f"{self._memory_status()}{kept}{outcome}"})
        return {**headers, "X-Thinkback-Turn": result.turn} if result.turn else headers

    async def _remember_partial(self) -> None:
        """Remember what was delivered, or at least what was asked."""
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
