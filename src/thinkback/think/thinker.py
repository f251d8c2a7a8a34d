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

from thinkback.errors import Conflict, LeaseLost, ModelError, ModelPaused, NotFound, RateLimited, StoreError
from thinkback.indexing import Indexer, ProgressCallback
from thinkback.language.safety.quarantine import filter_drafts
from thinkback.protocols import Clock, Store
from thinkback.think.consolidate import Consolidator, is_consolidation_due
from thinkback.think.generator import ThoughtGenerator
from thinkback.think.plan import PlannedTurn, TurnPlanner
from thinkback.types import Action, ClaimedTurn, Plan, ThinkResult, Turn, Usage
from thinkback.usage import Stopwatch, count_usage

LEASE_SECONDS = 300.0
MAX_ATTEMPTS = 5
FIRST_RETRY_SECONDS = 5.0
_MAX_RECENT_TURNS = 2  # turns before it that a turn may refer to
_LOOK_BACK_TURNS = 8  # among so many of the space, whatever their session
_MAX_CONVERSATION_GAP = timedelta(days=1)  # a longer silence ends it
MAX_RETRY_SECONDS = 3600.0  # whatever a model asks for


@dataclass
class _ThinkRun:
    """What one round of thinking has come to so far."""

    turns: int = 0
    failed: int = 0
    actions: list[Action] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)


class Thinker:
    """Takes turns from the queue and applies what thinking them over changes."""

    def __init__(
        self,
        store: Store,
        indexer: Indexer,
        generator: ThoughtGenerator,
        consolidator: Consolidator,
        clock: Clock,
    ) -> None:
        self._store = store
        self._indexer = indexer
        self._generator = generator
        self._planner = TurnPlanner(store)
        self._consolidator = consolidator
        self._clock = clock
        self._claims: dict[str, ClaimedTurn] = {}  # by lease

    def think_pending(
        self,
        space: str,
        *,
        limit: int | None = None,
        progress: ProgressCallback | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThinkResult:
        """Think over what is pending in one space, oldest first, until `stopping` says to end."""
        pending = self._store.pending(space)
        total = pending if limit is None else min(limit, pending)
        round_ = _ThinkRun()
        with count_usage() as tally:
            with round_.stopwatch("embed"):
                self._indexer.index_pending(space)
            if pending:
                self._indexer.view(space)  # raises an EmbedderMismatch before a turn is claimed in vain
            while (limit is None or round_.turns + round_.failed < limit) and not stopping():
                claimed = self._store.claim(space, 1, LEASE_SECONDS, self._clock())
                if not claimed:
                    break
                with self._track_claim(claimed[0]):
                    self._think_turn(claimed[0], round_)
                if progress:
                    progress(round_.turns + round_.failed, max(total, round_.turns + round_.failed))
            if round_.turns:
                with round_.stopwatch("embed"):
                    self._indexer.regroup_if_needed(space)
        return ThinkResult(
            turns=round_.turns,
            failed=round_.failed,
            actions=tuple(round_.actions),
            problems=tuple(round_.problems),
            usage=Usage(tally.calls, tally.prompt_tokens, tally.completion_tokens, ms=round_.stopwatch.ms),
        )

    def think_space(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """The worker's errand: drain, and tell whether something had to be left for later."""
        self.think_pending(space, stopping=stopping)
        return self._store.pending(space) > 0

    def release_claims(self) -> None:
        """Give back what is in hand, at no cost to it, for whoever comes next: this process must end."""
        for item in list(self._claims.values()):
            self._release(item, "handed back", self._clock(), spent=False)

    @contextmanager
    def _track_claim(self, item: ClaimedTurn) -> Iterator[None]:
        self._claims[item.lease] = item
        try:
            yield
        finally:
            del self._claims[item.lease]

    def _think_turn(self, item: ClaimedTurn, run: _ThinkRun) -> None:
        """One turn: its actions join the round's, or it is given back and counted as failed."""
        watch = run.stopwatch
        run.failed += 1
        if item.attempts > MAX_ATTEMPTS:  # nobody gave it back: it took its workers down with it
            self._release(item, f"thinking it over was broken off {MAX_ATTEMPTS} times", None)
            return
        try:
            with watch("embed"):
                self._indexer.index_pending(item.space)
            with watch("generate"):
                drafts = filter_drafts(
                    self._generator.generate(item.turn, self._recent_turns(item)), item.turn
                )
            with watch("organise"):
                organised = self._planner.plan_turn(item.space, item.turn, drafts)
            plan = Plan(
                turn=item.turn.id,
                lease=item.lease,
                actor=self._generator.name,
                operations=organised.operations,
            )
            with watch("embed"):
                entries, epoch = self._indexer.entries_for_plan(item.space, plan)
            with watch("store"):
                done = self._store.apply(item.space, plan, entries, self._clock(), epoch)
        except LeaseLost:
            return
        except StoreError as error:  # the database is the caller's to mend; then the turn waits no longer
            with suppress(StoreError):
                self._release(item, str(error), self._clock())
            raise
        except ModelPaused as error:
            wait = timedelta(seconds=max(FIRST_RETRY_SECONDS, error.retry_after or 0.0))
            self._release(item, str(error), self._clock() + wait, spent=False)
            return
        except Exception as error:
            self._release(item, f"{type(error).__name__}: {error}", self._retry_at(item, error))
            return
        run.failed -= 1
        run.turns += 1
        run.actions += done
        with watch("organise"):
            self._consolidate(item.space, organised, done, {entry.group for entry in entries}, run)

    def _consolidate(
        self, space: str, planned: PlannedTurn, done: Sequence[Action], groups: set[int], run: _ThinkRun
    ) -> None:
        """What the turn sets off beyond its own thoughts; it is thought over, whatever becomes of this."""
        if planned.joined_subjects:
            run.actions += self._consolidator.consolidate_names(space, planned.joined_subjects)
        new = [thought for action in done for thought in action.after if thought.current]
        sizes = self._indexer.group_sizes(space) if groups else {}
        for group in sorted(groups):
            try:
                if is_consolidation_due(sizes.get(group, 0)):  # 0: regrouped by another process since
                    run.actions += self._consolidator.consolidate_group(space, group)
                else:
                    run.actions += self._consolidator.consolidate_unknown_relations(space, new, group)
            except ModelError as error:
                problem = f"group {group} was not reorganised: {type(error).__name__}: {error}"
                run.problems.append(problem)

    def _recent_turns(self, item: ClaimedTurn) -> list[Turn]:
        """The turns just before in the same conversation, by which a turn may be understood."""
        turn = item.turn
        first = max(0, turn.id - 1 - _LOOK_BACK_TURNS)
        earlier = self._store.turns(item.space, session=turn.session, after=first, limit=_LOOK_BACK_TURNS)
        near = [each for each in earlier if each.id < turn.id and turn.at - each.at <= _MAX_CONVERSATION_GAP]
        return near[-_MAX_RECENT_TURNS:]

    def _retry_at(self, item: ClaimedTurn, error: Exception) -> datetime | None:
        """At once if the space changed under us, later if a model failed, never if trying is in vain."""
        if item.attempts >= MAX_ATTEMPTS:
            return None
        if isinstance(error, (Conflict, NotFound)):
            return self._clock()
        if not isinstance(error, ModelError):
            return None
        asked_for = (error.retry_after or 0.0) if isinstance(error, RateLimited) else 0.0
        wait = max(FIRST_RETRY_SECONDS * 4 ** (item.attempts - 1), asked_for)
        return self._clock() + timedelta(seconds=min(wait, MAX_RETRY_SECONDS))

    def _release(
        self, item: ClaimedTurn, reason: str, retry_at: datetime | None, *, spent: bool = True
    ) -> None:
        with suppress(NotFound):  # the user was erased meanwhile
            self._store.release(
                item.space, item.turn.id, item.lease, reason=reason, retry_at=retry_at, count_attempt=spent
            )
