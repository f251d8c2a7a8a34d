"""Reads the journal backwards with filters, and follows it as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from thinkback.errors import ThinkbackError
from thinkback.language.tokens import fold_text
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import RequestContext
from thinkback.types import Action, VersionStamp

MAX_STREAM_SECONDS = 600.0
POLL_SECONDS = 1.0
PING_SECONDS = 15.0
PAGE_ROWS = 200
MAX_SCANNED_ROWS = 4000  # for one page of a filtered list


@dataclass(frozen=True, slots=True)
class ActionFilter:
    """Which actions are wanted. Empty fields do not restrict."""

    kinds: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    words: str = ""

    def accepts(self, action: Action) -> bool:
        if self.kinds and action.action not in self.kinds:
            return False
        if self.actors and action.actor not in self.actors:
            return False
        words = fold_text(self.words).split()
        if not words:
            return True
        text = fold_text(" ".join((action.reason, *(thought.sentence for thought in action.after))))
        return all(word in text for word in words)


def read_recent(
    memory: Memory, wanted: ActionFilter, before: int | None, limit: int
) -> tuple[list[Action], int | None]:
    """The newest accepted actions with an id below `before`, and where to continue (None at the end)."""
    end = last_action(memory) + 1 if before is None else before
    found: list[Action] = []
    scanned = 0
    while end > 1 and scanned < MAX_SCANNED_ROWS:
        start = max(0, end - 1 - PAGE_ROWS)
        page = memory.journal(after=start, limit=end - 1 - start)
        for action in reversed([action for action in page if action.id < end]):
            if not wanted.accepts(action):
                continue
            if len(found) == limit:
                return found, found[-1].id
            found.append(action)
        end = start + 1
        scanned += PAGE_ROWS
    return found, end if end > 1 else None


def last_action(memory: Memory) -> int:
    """The id of the newest action; 0 if there is none. Ids only grow, so it is at least their number."""
    last = max(0, memory.stats().actions - 1)
    while page := memory.journal(after=last, limit=PAGE_ROWS):
        last = page[-1].id
    return last if memory.journal(after=last - 1, limit=1) else 0


class JournalEvents:
    """The events of one client: new actions, and the state of the queue when it changes.

    The database is asked once a second for the version of the space, and for more only if it has changed.
    """

    def __init__(self, ctx: RequestContext, after: int | None, seconds: float) -> None:
        self._ctx = ctx
        self._after = after
        self._ends_at = time.monotonic() + seconds
        self._stamp: VersionStamp | None = None
        self._status: dict[str, Any] = {}

    async def stream(self) -> AsyncIterator[bytes]:
        pinged = time.monotonic()
        yield b"retry: 2000\n\n"
        while True:
            try:
                events = await self._ctx.run(self._read)
            except ThinkbackError:
                events = []  # the database is busy: the next round asks again
            for event in events:
                yield event
            now = time.monotonic()
            if now >= self._ends_at or self._ctx.services.stopping.is_set():
                return
            if now - pinged >= PING_SECONDS:
                pinged = now
                yield b": ping\n\n"
            await asyncio.sleep(min(POLL_SECONDS, max(0.0, self._ends_at - now)))

    def _read(self, memory: Memory) -> list[bytes]:
        """The events since the last call."""
        stamp = memory.store.stamp(memory.user)
        pending = memory.store.pending(memory.user)
        if stamp == self._stamp and pending == self._status.get("pending"):
            return []
        if self._after is None:
            self._after = last_action(memory)
        actions = memory.journal(after=self._after, limit=PAGE_ROWS)
        if actions:
            self._after = actions[-1].id
        if len(actions) < PAGE_ROWS:
            self._stamp = stamp
        events = [_event("action", to_json(action), action.id) for action in actions]
        status = {"pending": pending, "failed": len(memory.failures()), "last": self._after}
        if status != self._status:
            self._status = status
            events.append(_event("status", status))
        return events


def _event(name: str, value: Any, id_: int | None = None) -> bytes:
    """One event. JSON has no line breaks, so text cannot end the event or start another one."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    number = "" if id_ is None else f"id: {id_}\n"
    return f"event: {name}\n{number}data: {data}\n\n".encode()
