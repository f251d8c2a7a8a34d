"""Post-thinking (TiM 3.1.2, stage 2): turn -> thoughts -> organise -> store, after the answer is given.

A turn that cannot be thought over now is given back and tried again later, longer each time, until it
becomes a dead letter with its reason. It stays recallable from the bank all the while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from thinkback.errors import Conflict, LeaseLost, ModelError, NotFound, RateLimited, StoreError
from thinkback.ports import Clock, Store
from thinkback.think.generate import Generator
from thinkback.think.organise import organise
from thinkback.types import Action, Claimed, Plan, Receipt, Thought, ThoughtOver
from thinkback.upkeep import Progress, Upkeep

LEASE_S = 300.0
MAX_ATTEMPTS = 5
FIRST_RETRY_S = 5.0
LONGEST_RETRY_S = 3600.0  # whatever a model asks for
IDLE_S = 0.2  # work waits until writing has paused for so long: it is never in the way of an answer
PATIENCE_S = 5.0  # but no longer than this, for a busy server never pauses
AGAIN_S = 5.0  # until what must wait (a failed model, another's lease, a locked database) is looked at again


class Thinker:
    """Takes turns from the queue and applies what thinking them over changes."""

    def __init__(self, store: Store, upkeep: Upkeep, generator: Generator, clock: Clock) -> None:
        self._store = store
        self._upkeep = upkeep
        self._generator = generator
        self._clock = clock

    def drain(
        self,
        space: str,
        *,
        limit: int | None = None,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThoughtOver:
        """Think over what is pending in one space, oldest first, until `stopping` says to end."""
        started = time.perf_counter()
        pending = self._store.pending(space)
        total = pending if limit is None else min(limit, pending)
        turns, failed = 0, 0
        actions: list[Action] = []
        self._upkeep.catch_up(space)
        if pending:
            self._upkeep.view(space)  # raises an EmbedderMismatch before a turn is claimed in vain
        while (limit is None or turns + failed < limit) and not stopping():
            claimed = self._store.claim(space, 1, LEASE_S, self._clock())
            if not claimed:
                break
            done = self._think_over(claimed[0])
            if done is None:
                failed += 1
            else:
                turns += 1
                actions += done
            if progress:
                progress(turns + failed, max(total, turns + failed))
        if turns:
            self._upkeep.regroup_if_outgrown(space)
        spent = (time.perf_counter() - started) * 1000
        return ThoughtOver(
            turns=turns, failed=failed, actions=tuple(actions), receipt=Receipt(ms={"think": spent})
        )

    def attend(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """The worker's errand: drain, and tell whether something had to be left for later."""
        self.drain(space, stopping=stopping)
        return self._store.pending(space) > 0

    def _think_over(self, item: Claimed) -> list[Action] | None:
        """The actions, or None if the turn was given back."""
        if item.attempts > MAX_ATTEMPTS:  # nobody gave it back: it took its workers down with it
            self._release(item, f"thinking it over was broken off {MAX_ATTEMPTS} times", None)
            return None
        try:
            self._upkeep.catch_up(item.space)
            drafts = self._generator.generate(item.turn)
            held = partial(self._held, item.space)
            changes = organise(drafts, held, at=item.turn.at)
            plan = Plan(turn=item.turn.id, lease=item.lease, actor=self._generator.name, changes=changes)
            sentences = [draft.sentence for draft in plan.drafts]
            entries, epoch = self._upkeep.entries_for(item.space, item.turn.id, sentences)
            return self._store.apply(item.space, plan, entries, self._clock(), epoch)
        except LeaseLost:
            return None
        except StoreError as error:  # the database is the caller's to mend; then the turn waits no longer
            with suppress(StoreError):
                self._release(item, str(error), self._clock())
            raise
        except Exception as error:
            self._release(item, f"{type(error).__name__}: {error}", self._retry_at(item, error))
            return None

    def _held(self, space: str, subject: str, relation: str) -> list[Thought]:
        return self._store.thoughts(space, subject=subject, relation=relation)

    def _retry_at(self, item: Claimed, error: Exception) -> datetime | None:
        """At once if the space changed under us, later if a model failed, never if trying is in vain."""
        if item.attempts >= MAX_ATTEMPTS:
            return None
        if isinstance(error, (Conflict, NotFound)):
            return self._clock()
        if not isinstance(error, ModelError):
            return None
        asked_for = (error.retry_after or 0.0) if isinstance(error, RateLimited) else 0.0
        wait = max(FIRST_RETRY_S * 4 ** (item.attempts - 1), asked_for)
        return self._clock() + timedelta(seconds=min(wait, LONGEST_RETRY_S))

    def _release(self, item: Claimed, reason: str, retry_at: datetime | None) -> None:
        with suppress(NotFound):  # the user was erased meanwhile
            self._store.release(item.space, item.turn.id, item.lease, reason=reason, retry_at=retry_at)


class Think(Protocol):
    """Thinks a space over until all is done or `stopping()`; True if something had to be left for later."""

    def __call__(self, space: str, *, stopping: Callable[[], bool]) -> bool: ...


class Worker:
    """Thinks over every space that is woken, once writing has paused; what it leaves stays pending."""

    def __init__(
        self,
        think: Think,
        *,
        idle_s: float = IDLE_S,
        patience_s: float = PATIENCE_S,
        again_s: float = AGAIN_S,
    ) -> None:
        self._think = think
        self._idle_s = idle_s
        self._patience_s = patience_s
        self._again_s = again_s
        self._wanted: dict[str, float] = {}  # space -> since when; in that order
        self._later: dict[str, float] = {}  # space -> when to look again
        self._changed = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def wake(self, space: str) -> None:
        with self._changed:
            if self._stopping:
                return
            self._wanted.setdefault(space, time.monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="thinkback-worker", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing is left to do now; False if that took longer than `timeout`.

        The error of the last round, if it failed, is raised: background work must not fail in silence.
        """
        with self._changed:
            done = self._changed.wait_for(lambda: self._stopping or not (self._wanted or self._busy), timeout)
            error, self._error = self._error, None
        if error is not None:
            raise error
        return done

    def stop(self) -> None:
        """End after the turn in hand."""
        with self._changed:
            self._stopping = True
            self._wanted.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (space := self._next()) is not None:
            error, unfinished = None, True
            try:
                unfinished = self._think(space, stopping=lambda: self._stopping)
            except Exception as failure:
                error = failure
            with self._changed:
                self._error = error
                if unfinished:
                    self._later[space] = time.monotonic() + self._again_s
                self._busy = False
                self._changed.notify_all()

    def _next(self) -> str | None:
        with self._changed:
            while not self._stopping:
                now = time.monotonic()
                for space in [space for space, due in self._later.items() if due <= now]:
                    del self._later[space]
                    self._wanted.setdefault(space, now)
                if not self._wanted:
                    due = min(self._later.values(), default=None)
                    self._changed.wait(None if due is None else due - now)
                    continue
                space, since = next(iter(self._wanted.items()))
                if now < since + self._patience_s and self._changed.wait(self._idle_s):
                    continue
                if not self._stopping:
                    del self._wanted[space]
                    self._later.pop(space, None)
                    self._busy = True
                    return space
        return None
