"""After an answer: the turn is durable before the client has the end of it, and never lost with the upstream.

What the user said is kept even where nothing was answered, once however often the client tries again; an
answer that broke off is kept as far as it was delivered.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.proxy.clerks.clerk import Clerk, Exchanged, Found
from thinkback.apps.server.proxy.exchange import Exchange
from thinkback.apps.server.proxy.reading.reading import Heard
from thinkback.apps.server.telemetry import Telemetry
from thinkback.errors import Conflict

log = logging.getLogger("thinkback.server.proxy")


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the turn, in a word; `turn` names it."""

    how: str = ""
    turn: str = ""


class Remembering:
    def __init__(self, clerk: Clerk, telemetry: Telemetry) -> None:
        self._clerk = clerk
        self._telemetry = telemetry

    async def after(self, exchange: Exchange, found: Found, heard: Heard, *, by_memory: bool = False) -> Kept:
        """Never raises: the answer ends as it should, whatever became of its turn."""
        if heard.outcome not in ("answered", "tools"):
            self._telemetry.count("thinkback_upstream_errors_total", reason=heard.outcome)
            log.warning("answer %s", heard.outcome)
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
        began = time.perf_counter()
        said = Exchanged(query=query, response=response, session=exchange.session, key=key, used=found.used)
        try:
            with self._telemetry.span("create_memory", {"gen_ai.operation.name": "create_memory"}):
                turn = await self._clerk.remember(exchange.memory, said)
        except TooSlow:
            self._telemetry.count("thinkback_turns_late_total")
            return Kept("late")
        except Conflict:  # the client's own key: it has tried again, and the turn of its first try stands
            return Kept("earlier")
        except Exception as error:  # whatever memory fails with must not cost the answer
            self._telemetry.count("thinkback_turns_lost_total", error=type(error).__name__)
            return Kept("failed")
        self._telemetry.observe(
            "thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="remember"
        )
        return Kept("answer", turn)
