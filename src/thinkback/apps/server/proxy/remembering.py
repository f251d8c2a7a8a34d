"""After an answer: the turn is durable before the client has the end of it, and never lost with the upstream.

What the user said is kept even where nothing was answered, once however often the client tries again; an
answer that broke off is kept as far as it was delivered.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.proxy.exchange import Exchange
from thinkback.apps.server.proxy.reading import Heard
from thinkback.apps.server.proxy.recalling import Found
from thinkback.apps.server.services import Services
from thinkback.errors import Conflict
from thinkback.types import Turn

log = logging.getLogger("thinkback.server.proxy")


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the turn, in a word; `turn` names it."""

    how: str = ""
    turn: str = ""


class Remembering:
    def __init__(self, services: Services) -> None:
        self._options = services.options
        self._desk = services.desk
        self._telemetry = services.telemetry

    async def after(self, exchange: Exchange, found: Found, heard: Heard, *, by_memory: bool = False) -> Kept:
        """Never raises: the answer ends as it should, whatever became of its turn."""
        if heard.outcome not in ("answered", "tools"):
            self._telemetry.count("thinkback_upstream_errors_total", reason=heard.outcome)
            log.warning("answer %s (model %s)", heard.outcome, exchange.asked.model[:80])
        if not exchange.writes:
            return Kept()
        if heard.outcome == "tools" and not exchange.asked.forced:
            return Kept("later")
        query, response, key = exchange.asked.text, heard.text.strip() and heard.text, exchange.key
        if by_memory:
            response = ""
        elif heard.outcome == "cut":
            key = exchange.broken_off(heard.text)
        elif not response:
            key = exchange.unanswered
        if not query.strip() and not response:
            return Kept("nothing")
        kept = await self._keep(exchange, found, query, response, key)
        return Kept("question", kept.turn) if kept.how == "answer" and not response else kept

    async def _keep(
        self, exchange: Exchange, found: Found, query: str, response: str, key: str | None
    ) -> Kept:
        def work() -> Turn:
            began, cpu = time.perf_counter(), time.thread_time()
            try:
                turn = exchange.memory.remember(
                    query, response, session=exchange.session, key=key, recalled=found.items
                )
                self._telemetry.count("thinkback_turns_remembered_total")
                return turn
            except Conflict:
                raise
            except Exception as error:  # told here: nobody may be waiting any more
                self._telemetry.count("thinkback_turns_failed_total", reason=type(error).__name__)
                log.error("a turn could not be kept: %s", type(error).__name__)
                raise
            finally:
                observe = self._telemetry.observe
                observe("thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="remember")
                observe("thinkback_proxy_cpu_seconds", time.thread_time() - cpu, stage="remember")

        try:
            with self._telemetry.span("create_memory", {"gen_ai.operation.name": "create_memory"}):
                turn = await self._desk.within(self._options.remember_s, work, surely=True)
        except TooSlow:
            self._telemetry.count("thinkback_turns_late_total")
            return Kept("late")
        except Conflict:  # the client's own key: it has tried again, and the turn of its first try stands
            return Kept("earlier")
        except Exception:
            return Kept("failed")
        return Kept("answer", str(turn.ref))
