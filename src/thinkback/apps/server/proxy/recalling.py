"""Before an answer: what memory holds of the question, within its time or not at all."""

from __future__ import annotations

import logging
import time

from thinkback.apps.server.breaker import Breaker
from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.asked import Asked
from thinkback.apps.server.proxy.clerks.clerk import Clerk, Found, Unfit
from thinkback.apps.server.telemetry import Telemetry
from thinkback.memory import Memory

log = logging.getLogger("thinkback.server.proxy")

AT_ONCE = 4  # recalls that never wait for others' to be let in
QUEUE = 0.5  # of the time of a recall may go by waiting behind others: to be recalled for is worth a moment
LONGEST_PAUSE_S = 10.0
_LEARNS = 0.1  # how much the last recall changes what one is thought to take


class Recalling:
    """Recall for the whole proxy: it is skipped rather than queued for, and left alone where it is broken."""

    def __init__(self, options: Options, clerk: Clerk, telemetry: Telemetry) -> None:
        self._options = options
        self._clerk = clerk
        self._telemetry = telemetry
        self._breaker = Breaker(longest_s=LONGEST_PAUSE_S)
        self._in_hand = 0
        self._takes = 0.0  # seconds, on average

    async def before(self, memory: Memory, asked: Asked) -> Found:
        """Never raises: the chat passes with what there is."""
        if not asked.text.strip():
            return Found()
        if self._crowded() or not self._breaker.allows():
            return self._skipped("busy")
        began = time.perf_counter()
        self._in_hand += 1
        try:
            with self._telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}):
                found = await self._clerk.recall(memory, asked)
        except TooSlow:  # no reason to stop asking: only a few chats wait at once
            self._breaker.gave_up()
            return self._skipped("slow")
        except Unfit:  # the question's own fault
            self._breaker.gave_up()
            return self._skipped("unfit")
        except Exception as error:  # whatever memory fails with must not cost the chat
            self._breaker.failed()
            log.warning("recall failed: %s", type(error).__name__)
            return self._skipped("broken")
        except BaseException:  # the client has gone
            self._breaker.gave_up()
            raise
        finally:
            self._in_hand -= 1
        self._breaker.succeeded()
        self._takes += _LEARNS * (found.seconds - self._takes)
        self._telemetry.count("thinkback_recalls_total")
        self._telemetry.observe("thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="recall")
        self._telemetry.observe("thinkback_proxy_cpu_seconds", found.seconds, stage="recall")
        return found

    def _crowded(self) -> bool:
        """Whether those before it would take too much of its time."""
        return self._in_hand >= AT_ONCE and self._in_hand * self._takes > QUEUE * self._options.recall_s

    def _skipped(self, reason: str) -> Found:
        self._telemetry.count("thinkback_recalls_skipped_total", reason=reason)
        return Found(skipped=reason)
