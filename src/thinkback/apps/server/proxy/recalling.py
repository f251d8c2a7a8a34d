"""Before an answer: what memory holds of the question, within its time or not at all."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.apps.server.breaker import Breaker
from thinkback.apps.server.desk import TooSlow
from thinkback.apps.server.proxy.asked import Asked, unsent
from thinkback.apps.server.services import Services
from thinkback.memory import Memory
from thinkback.prompts import load
from thinkback.prompts.facts import facts
from thinkback.types import Candidate, Recollection, Turn
from thinkback.working.context import Worded, worded

log = logging.getLogger("thinkback.server.proxy")

_BESIDE = 2  # times as many memories are looked for where the client may send half of them itself


@dataclass(frozen=True, slots=True)
class Found:
    """The memories a chat is given and how they are told; or why there are none.

    `recollection` is all that was found, also what the client knows itself; None if nothing was looked for.
    """

    items: tuple[Candidate, ...] = ()
    block: str = ""
    skipped: str = ""
    recollection: Recollection | None = None

    @property
    def told(self) -> str:
        return f"skipped; reason={self.skipped}" if self.skipped else f"recalled; count={len(self.items)}"


class Recalling:
    """Recall for the whole proxy: where it is slow or broken again and again it is left alone for a while."""

    def __init__(self, services: Services) -> None:
        self._options = services.options
        self._desk = services.desk
        self._telemetry = services.telemetry
        self._breaker = Breaker()

    async def before(self, memory: Memory, asked: Asked) -> Found:
        """Never raises: the chat passes with what there is."""
        if not asked.text.strip():
            return Found()
        if not self._breaker.allows():
            return self._skipped("busy")
        began = time.perf_counter()
        try:
            with self._telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}):
                found = await self._desk.within(self._options.recall_s, lambda: self._work(memory, asked))
        except TooSlow:
            self._breaker.failed()
            return self._skipped("slow")
        except Exception as error:  # whatever memory fails with must not cost the chat
            self._breaker.failed()
            log.warning("recall failed: %s", type(error).__name__)
            return self._skipped("broken")
        self._breaker.succeeded()
        self._telemetry.count("thinkback_recalls_total")
        self._telemetry.observe("thinkback_proxy_stage_seconds", time.perf_counter() - began, stage="recall")
        return found

    def _skipped(self, reason: str) -> Found:
        self._telemetry.count("thinkback_recalls_skipped_total", reason=reason)
        return Found(skipped=reason)

    def _work(self, memory: Memory, asked: Asked) -> Found:
        began = time.thread_time()
        most = self._options.recalled
        found = memory.recall(asked.text, k=most * _BESIDE if asked.goes_on else most)
        items = unsent(asked, found.items, _sources(memory, found.items) if asked.goes_on else {})
        told = worded(asked.text, items[:most], self._options.recalled_tokens)
        self._telemetry.observe("thinkback_proxy_cpu_seconds", time.thread_time() - began, stage="recall")
        items = [each.item for each in told]
        return Found(tuple(items), _block(told) if told else "", recollection=found)


def _block(told: Sequence[Worded]) -> str:
    """The memories as data, each on a line of its own."""
    thoughts = [each.text for each in told if each.item.turn is None]
    history = "\n".join(f"- {each.text}" for each in told if each.item.turn is not None)
    block = load("proxy").render(
        facts=f"{facts(thoughts)}\n" if thoughts else "",
        history=f"Said earlier:\n{history}\n" if history else "",
    )
    return block.strip()


def _sources(memory: Memory, items: Sequence[Candidate]) -> dict[int, Turn]:
    """The turns that the thoughts among them come from."""
    thoughts = (item.thought for item in items if item.thought is not None)
    wanted = {source.turn for thought in thoughts for source in thought.sources}
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=sorted(wanted))} if wanted else {}
