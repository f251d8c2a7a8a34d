"""Post-thinking (TiM 3.1.2, stage 2): turn -> thoughts -> organise -> store, after the answer is given.

A turn that cannot be thought over now is given back and tried again later, longer each time, until it
becomes a dead letter with its reason. It stays recallable from the bank all the while. A model that is left
alone for a while (ModelPaused) costs a turn no attempt, however long that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from thinkback.errors import (
    Conflict,
    LeaseLost,
    ModelError,
    ModelPaused,
    NotFound,
    RateLimited,
    StoreError,
)
from thinkback.ports import Clock, Store
from thinkback.receipts import Stopwatch, counting
from thinkback.text.safety.quarantine import admitted
from thinkback.think.generate import Generator
from thinkback.think.organiser import Organised, Organiser
from thinkback.think.reorganise import Reorganiser, outgrown
from thinkback.types import Action, Claimed, Plan, Receipt, ThoughtOver, Turn
from thinkback.upkeep import Progress, Upkeep

LEASE_S = 300.0
MAX_ATTEMPTS = 5
FIRST_RETRY_S = 5.0
_RECENT = 2  # turns before it that a turn may refer to
_LOOK_BACK = 8  # among so many of the space, whatever their session
_CONVERSATION = timedelta(days=1)  # a longer silence ends it
LONGEST_RETRY_S = 3600.0  # whatever a model asks for


@dataclass
class _Round:
    """What one round of thinking has come to so far."""

    turns: int = 0
    failed: int = 0
    actions: list[Action] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    watch: Stopwatch = field(default_factory=Stopwatch)


class Thinker:
    """Takes turns from the queue and applies what thinking them over changes."""

    def __init__(
        self,
        store: Store,
        upkeep: Upkeep,
        generator: Generator,
        reorganiser: Reorganiser,
        clock: Clock,
    ) -> None:
        self._store = store
        self._upkeep = upkeep
        self._generator = generator
        self._organiser = Organiser(store)
        self._reorganiser = reorganiser
        self._clock = clock
        self._in_hand: dict[str, Claimed] = {}  # by lease

    def drain(
        self,
        space: str,
        *,
        limit: int | None = None,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThoughtOver:
        """Think over what is pending in one space, oldest first, until `stopping` says to end."""
        pending = self._store.pending(space)
        total = pending if limit is None else min(limit, pending)
        round_ = _Round()
        with counting() as tally:
            with round_.watch("embed"):
                self._upkeep.catch_up(space)
            if pending:
                self._upkeep.view(space)  # raises an EmbedderMismatch before a turn is claimed in vain
            while (limit is None or round_.turns + round_.failed < limit) and not stopping():
                claimed = self._store.claim(space, 1, LEASE_S, self._clock())
                if not claimed:
                    break
                with self._holding(claimed[0]):
                    self._think_over(claimed[0], round_)
                if progress:
                    progress(round_.turns + round_.failed, max(total, round_.turns + round_.failed))
            if round_.turns:
                with round_.watch("embed"):
                    self._upkeep.regroup_if_outgrown(space)
        return ThoughtOver(
            turns=round_.turns,
            failed=round_.failed,
            actions=tuple(round_.actions),
            problems=tuple(round_.problems),
            receipt=Receipt(tally.calls, tally.prompt_tokens, tally.completion_tokens, ms=round_.watch.ms),
        )

    def attend(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """The worker's errand: drain, and tell whether something had to be left for later."""
        self.drain(space, stopping=stopping)
        return self._store.pending(space) > 0

    def hand_back(self) -> None:
        """Give back what is in hand, at no cost to it, for whoever comes next: this process must end."""
        for item in list(self._in_hand.values()):
            self._release(item, "handed back", self._clock(), spent=False)

    @contextmanager
    def _holding(self, item: Claimed) -> Iterator[None]:
        self._in_hand[item.lease] = item
        try:
            yield
        finally:
            del self._in_hand[item.lease]

    def _think_over(self, item: Claimed, round_: _Round) -> None:
        """One turn: its actions join the round's, or it is given back and counted as failed."""
        watch = round_.watch
        round_.failed += 1
        if item.attempts > MAX_ATTEMPTS:  # nobody gave it back: it took its workers down with it
            self._release(item, f"thinking it over was broken off {MAX_ATTEMPTS} times", None)
            return
        try:
            with watch("embed"):
                self._upkeep.catch_up(item.space)
            with watch("generate"):
                drafts = admitted(self._generator.generate(item.turn, self._recent(item)), item.turn)
            with watch("organise"):
                organised = self._organiser.organised(item.space, item.turn, drafts)
            plan = Plan(
                turn=item.turn.id, lease=item.lease, actor=self._generator.name, changes=organised.changes
            )
            with watch("embed"):
                entries, epoch = self._upkeep.entries_for(item.space, plan)
            with watch("store"):
                done = self._store.apply(item.space, plan, entries, self._clock(), epoch)
        except LeaseLost:
            return
        except StoreError as error:  # the database is the caller's to mend; then the turn waits no longer
            with suppress(StoreError):
                self._release(item, str(error), self._clock())
            raise
        except ModelPaused as error:
            wait = timedelta(seconds=max(FIRST_RETRY_S, error.retry_after or 0.0))
            self._release(item, str(error), self._clock() + wait, spent=False)
            return
        except Exception as error:
            self._release(item, f"{type(error).__name__}: {error}", self._retry_at(item, error))
            return
        round_.failed -= 1
        round_.turns += 1
        round_.actions += done
        with watch("organise"):
            self._reorganise(item.space, organised, done, {entry.group for entry in entries}, round_)

    def _reorganise(
        self, space: str, organised: Organised, done: Sequence[Action], groups: set[int], round_: _Round
    ) -> None:
        """What the turn sets off beyond its own thoughts; it is thought over, whatever becomes of this."""
        if organised.joined:
            round_.actions += self._reorganiser.joined(space, organised.joined)
        new = [thought for action in done for thought in action.after if thought.current]
        sizes = self._upkeep.group_sizes(space) if groups else {}
        for group in sorted(groups):
            try:
                if outgrown(sizes.get(group, 0)):  # 0: regrouped by another process since
                    round_.actions += self._reorganiser.group(space, group)
                else:
                    round_.actions += self._reorganiser.unsettled(space, new, group)
            except ModelError as error:
                problem = f"group {group} was not reorganised: {type(error).__name__}: {error}"
                round_.problems.append(problem)

    def _recent(self, item: Claimed) -> list[Turn]:
        """The turns just before in the same conversation, by which a turn may be understood."""
        turn = item.turn
        first = max(0, turn.id - 1 - _LOOK_BACK)
        earlier = self._store.turns(item.space, session=turn.session, after=first, limit=_LOOK_BACK)
        near = [each for each in earlier if each.id < turn.id and turn.at - each.at <= _CONVERSATION]
        return near[-_RECENT:]

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

    def _release(self, item: Claimed, reason: str, retry_at: datetime | None, *, spent: bool = True) -> None:
        with suppress(NotFound):  # the user was erased meanwhile
            self._store.release(
                item.space, item.turn.id, item.lease, reason=reason, retry_at=retry_at, spent=spent
            )
