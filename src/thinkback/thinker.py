"""Post-thinking (TiM 3.1.2, stage 2): turn -> thoughts -> organise -> store, after the answer is given.

A turn that cannot be thought over now is given back and tried again later, longer each time, until it
becomes a dead letter with its reason. It stays recallable from the bank all the while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from thinkback.errors import LeaseLost, ModelError, StoreError
from thinkback.ports import Clock, Store
from thinkback.think.generate import Generator
from thinkback.think.organise import organise
from thinkback.types import Action, Claimed, Plan, Receipt, Thought, ThoughtOver
from thinkback.upkeep import Progress, Upkeep

LEASE_S = 300.0
MAX_ATTEMPTS = 5
FIRST_RETRY_S = 5.0


class Thinker:
    """Takes turns from the queue and applies what thinking them over changes."""

    def __init__(self, store: Store, upkeep: Upkeep, generator: Generator, clock: Clock) -> None:
        self._store = store
        self._upkeep = upkeep
        self._generator = generator
        self._clock = clock

    def drain(self, space: str, *, limit: int | None = None, progress: Progress | None = None) -> ThoughtOver:
        """Think over what is pending in one space, oldest first."""
        started = time.perf_counter()
        total = self._store.pending(space) if limit is None else limit
        turns, failed = 0, 0
        actions: list[Action] = []
        self._upkeep.catch_up(space)
        while limit is None or turns + failed < limit:
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

    def _think_over(self, item: Claimed) -> list[Action] | None:
        """The actions, or None if the turn was given back."""
        try:
            self._upkeep.catch_up(item.space)
            drafts = self._generator.generate(item.turn)
            held = partial(self._held, item.space)
            changes = organise(drafts, held, at=item.turn.at)
            plan = Plan(turn=item.turn.id, lease=item.lease, actor=self._generator.name, changes=changes)
            sentences = [draft.sentence for draft in plan.drafts]
            entries = self._upkeep.entries_for(item.space, item.turn.id, sentences)
            return self._store.apply(item.space, plan, entries, self._clock())
        except LeaseLost:
            return None
        except StoreError:
            raise  # the database is the caller's to mend; the lease runs out by itself
        except Exception as error:
            self._give_back(item, error)
            return None

    def _held(self, space: str, subject: str, relation: str) -> list[Thought]:
        return self._store.thoughts(space, subject=subject, relation=relation)

    def _give_back(self, item: Claimed, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        hopeless = item.attempts >= MAX_ATTEMPTS or not isinstance(error, ModelError)
        wait = timedelta(seconds=FIRST_RETRY_S * 4 ** (item.attempts - 1))
        retry_at = None if hopeless else self._clock() + wait
        self._store.release(item.space, item.turn.id, item.lease, reason=reason, retry_at=retry_at)


class Worker:
    """One background thread that thinks while nobody is waiting."""

    def __init__(self, think: Callable[[str], object], idle_s: float = 0.2) -> None:
        self._think = think
        self._idle_s = idle_s
        self._wanted: dict[str, None] = {}  # a set that keeps its order
        self._changed = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self.error: Exception | None = None  # the last one, for stats and doctor

    def wake(self, space: str) -> None:
        with self._changed:
            self._wanted[space] = None
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run, name="thinkback-worker", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing is left to do; False if that took longer than `timeout`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._wanted and not self._busy, timeout)

    def stop(self) -> None:
        """End after the turn in hand. Nothing is lost: the bank is the queue."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (space := self._next()) is not None:
            try:
                self._think(space)
            except Exception as error:
                self.error = error
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _next(self) -> str | None:
        with self._changed:
            while not self._stopping:
                if self._wanted:
                    # Work waits until the writing has paused, so that it is never in the way of an answer.
                    if self._changed.wait(self._idle_s):
                        continue
                    space = next(iter(self._wanted))
                    del self._wanted[space]
                    self._busy = True
                    return space
                self._changed.wait()
        return None
