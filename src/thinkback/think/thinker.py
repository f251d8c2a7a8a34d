"""Post-thinking (TiM 3.1.2, stage 2): turn -> thoughts -> organise -> store, after the answer is given.

A turn that cannot be thought over now is given back and tried again later, longer each time, until it
becomes a dead letter with its reason. It stays recallable from the bank all the while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from thinkback.errors import Conflict, LeaseLost, ModelError, NotFound, RateLimited, StoreError
from thinkback.ports import Clock, Store
from thinkback.text.quarantine import admitted
from thinkback.think.generate import Generator
from thinkback.think.organise import organise
from thinkback.types import Action, Claimed, Plan, Receipt, Thought, ThoughtOver, Turn
from thinkback.upkeep import Progress, Upkeep

LEASE_S = 300.0
MAX_ATTEMPTS = 5
FIRST_RETRY_S = 5.0
_RECENT = 2  # turns before it that a turn may refer to
_LOOK_BACK = 8  # among so many of the space, whatever their session
_CONVERSATION = timedelta(days=1)  # a longer silence ends it
LONGEST_RETRY_S = 3600.0  # whatever a model asks for


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
            drafts = admitted(self._generator.generate(item.turn, self._recent(item)), item.turn)
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

    def _recent(self, item: Claimed) -> list[Turn]:
        """The turns just before in the same conversation, by which a turn may be understood."""
        turn = item.turn
        first = max(0, turn.id - 1 - _LOOK_BACK)
        earlier = self._store.turns(item.space, session=turn.session, after=first, limit=_LOOK_BACK)
        near = [each for each in earlier if each.id < turn.id and turn.at - each.at <= _CONVERSATION]
        return near[-_RECENT:]

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
