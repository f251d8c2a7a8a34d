"""Post-thinking of pending turns: claim, read, judge, plan, apply."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache

from thinkback.errors import (
    ConcurrentUpdate,
    Conflict,
    LeaseLost,
    ModelError,
    ModelPaused,
    NotFound,
    RateLimited,
    StoreError,
    ThinkingTimeout,
)
from thinkback.index.cache import CachedSpace
from thinkback.indexing import Indexer
from thinkback.language.safety.quarantine import scanned
from thinkback.protocols import Clock, ProgressCallback, Store
from thinkback.think.aliases import Aliases
from thinkback.think.commands import CommandRunner
from thinkback.think.consolidate import Consolidator, is_consolidation_due
from thinkback.think.context import ContextBuilder
from thinkback.think.contract import ProposedChange, ReadRequest, TurnReader
from thinkback.think.guard import AcceptedChange, Guard
from thinkback.think.leases import LEASE_SECONDS, LeaseKeeper
from thinkback.think.plan import SpaceState, plan_turn, thoughts_drawn_from
from thinkback.think.similarity import SentenceSimilarity
from thinkback.types import Action, ClaimedTurn, Plan, ThinkResult, Turn, Usage
from thinkback.usage import Stopwatch, count_usage

TIME_LIMIT_SECONDS = 240.0  # for reading the turns of one claim
MAX_READ_CHARS = 20_000  # of a message or reply that is thought about; more is pasted text
MAX_ATTEMPTS = 5
FIRST_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 3600.0  # also if the model asks for a longer delay


@dataclass
class _ThinkRun:
    """Progress of one run over pending turns."""

    turns: int = 0
    failed: int = 0
    actions: list[Action] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)


@dataclass
class _Batch:
    """A space while the changes of a few turns are applied to it. Nobody else thinks about it meanwhile."""

    space: str
    state: SpaceState
    view: CachedSpace  # as it was when the turns were read
    group_sizes: dict[int, int]


class Thinker:
    """Claims pending turns, thinks about them, and applies the resulting operations."""

    def __init__(
        self,
        store: Store,
        indexer: Indexer,
        reader: TurnReader,
        consolidator: Consolidator,
        commands: CommandRunner,
        clock: Clock,
        similarity: SentenceSimilarity,
        *,
        time_limit_seconds: float = TIME_LIMIT_SECONDS,
    ) -> None:
        self._similarity = similarity
        self._store = store
        self._indexer = indexer
        self._time_limit_seconds = time_limit_seconds
        self._reader = reader
        self._context = ContextBuilder(store, indexer)
        self._consolidator = consolidator
        self._commands = commands
        self._clock = clock
        self._leases = LeaseKeeper(store, clock)
        self._reader_is_prepared = False

    def think_pending(
        self,
        space: str,
        *,
        limit: int | None = None,
        progress: ProgressCallback | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> ThinkResult:
        """Process the pending turns of a space, oldest first.

        Args:
            space: The space to process.
            limit: Maximum number of turns; all pending turns by default.
            progress: Called after each turn with (done, total).
            stopping: Polled before each turn; the run ends when it returns True.

        Raises:
            StoreError: the database failed; the turn is released.
        """
        pending = self._store.pending(space)
        total = pending if limit is None else min(limit, pending)
        run = _ThinkRun()
        with count_usage() as usage_counter:
            with run.stopwatch("embed"):
                if pending:
                    self._indexer.fresh_view(space)  # raises EmbedderMismatch before a turn is claimed
                else:
                    self._indexer.index_pending(space)
            if pending and not self._reader_is_prepared:
                self._reader.prepare()
                self._reader_is_prepared = True
            while (limit is None or run.turns + run.failed < limit) and not stopping():
                left = self._reader.max_turns if limit is None else limit - run.turns - run.failed
                claimed = self._store.claim(
                    space, min(self._reader.max_turns, left), LEASE_SECONDS, self._clock()
                )
                if not claimed:
                    break
                with self._leases.keep(claimed):
                    ready = self._until_first_correction(claimed)
                    if self._run_missed_commands(ready, run):
                        continue
                    self._think_turns(ready, run)
                if progress:
                    progress(run.turns + run.failed, max(total, run.turns + run.failed))
            if run.turns:
                with run.stopwatch("embed"):
                    self._indexer.regroup_if_needed(space)
        return ThinkResult(
            turns=run.turns,
            failed=run.failed,
            actions=tuple(run.actions),
            problems=tuple(run.problems),
            usage=Usage(
                usage_counter.calls,
                usage_counter.prompt_tokens,
                usage_counter.completion_tokens,
                ms=run.stopwatch.ms,
            ),
        )

    def think_space(self, space: str, *, stopping: Callable[[], bool]) -> bool:
        """Process the pending turns of a space; return whether some had to be left for later."""
        self.think_pending(space, stopping=stopping)
        return self._store.pending(space) > 0

    def release_claims(self) -> None:
        """Release all claimed turns without counting an attempt, because this process is about to end."""
        for claim in self._leases.claims():
            self._release(claim, "handed back", self._clock(), count_attempt=False)

    def _until_first_correction(self, claims: Sequence[ClaimedTurn]) -> Sequence[ClaimedTurn]:
        """The turns before the first one that may correct them; it and the later ones are released.

        What a correction means is known once the turns before it were thought over.
        """
        count = next(
            (n for n, claim in enumerate(claims) if n and self._commands.may_correct(claim.turn)), None
        )
        for claim in claims[count:] if count else ():
            self._release(claim, "waits for the turns before", self._clock(), count_attempt=False)
        return claims[:count]

    def _run_missed_commands(self, claims: Sequence[ClaimedTurn], run: _ThinkRun) -> bool:
        """Carry out commands that were not carried out when their turn was stored.

        So if the process ended in between, or if what a correction means had not been thought about yet.
        Returns whether there were any: then the turns are released, because they may be hidden or done now.
        """
        actions = [action for claim in claims for action in self._commands.run(claim.space, claim.turn)]
        if not actions:
            return False
        run.actions += actions
        for claim in claims:
            self._release(claim, "its command was carried out", self._clock(), count_attempt=False)
        return True

    def _think_turns(self, claims: Sequence[ClaimedTurn], run: _ThinkRun) -> None:
        """Read several turns at once; after a failure, those not yet done are released and counted."""
        abandoned = [claim for claim in claims if claim.attempts > MAX_ATTEMPTS]
        for claim in abandoned:  # never released: every worker that claimed it crashed
            self._release(claim, f"thinking it over was broken off {MAX_ATTEMPTS} times", None)
        run.failed += len(abandoned)
        waiting = [claim for claim in claims if claim not in abandoned]
        if waiting and max(claim.attempts for claim in waiting) > 1:
            # Something failed before: read turn by turn, so that one bad turn does not hold up the others.
            for claim in waiting[1:]:
                self._release(claim, "waits for the turn before", self._clock(), count_attempt=False)
            del waiting[1:]
        try:
            if waiting:
                self._read_and_apply(waiting, run)
        except LeaseLost:
            run.failed += len(waiting)
        except StoreError as error:  # retried at once when the caller has repaired the database
            run.failed += len(waiting)
            with suppress(StoreError):
                for claim in waiting:
                    self._release(claim, str(error), self._clock())
            raise
        except ModelPaused as error:
            wait = timedelta(seconds=max(FIRST_RETRY_SECONDS, error.retry_after or 0.0))
            self._release_failed(waiting, run, str(error), self._clock() + wait, count_attempt=False)
        except Exception as error:
            if len(waiting) > 1 and not isinstance(error, ModelError):  # find out which turn causes it
                for claim in waiting:
                    self._think_turns([claim], run)
                return
            reason = f"{type(error).__name__}: {error}"
            self._release_failed(waiting, run, reason, self._retry_at(waiting[0], error))

    def _read_and_apply(self, waiting: list[ClaimedTurn], run: _ThinkRun) -> None:
        """Read the turns with one request and apply their changes turn by turn.

        Turns that are done are removed from `waiting`.
        """
        space = waiting[0].space
        with run.stopwatch("scan"):
            waiting[:] = [replace(claim, turn=scanned(claim.turn)) for claim in waiting]
        with run.stopwatch("embed"):
            view = self._indexer.fresh_view(space)
            request = self._context.build(
                space, [_beginning(claim.turn) for claim in waiting], with_related=self._reader.needs_related
            )
        with run.stopwatch("read"):
            changes = self._read_in_time(request)
        with run.stopwatch("organise"):
            state = self._state(space, request)
            verdicts = Guard(request, state.aliases, state.get, self._similarity).judge(changes)
        run.problems += verdicts.problems
        batch = _Batch(space, state, view, self._indexer.group_sizes(space, view))
        created: dict[int, int] = {}  # position of a change -> the thought it created
        while waiting:
            accepted = [change for change in verdicts.accepted if change.turn.id == waiting[0].turn.id]
            try:
                actions = self._apply_changes(waiting[0], accepted, batch, created, run)
            except LeaseLost:  # erased, hidden or taken over meanwhile; the others may still be ours
                run.failed += 1
                actions = ()
            del waiting[0]
            if waiting and any(thought.kind == "relationship" for a in actions for thought in a.after):
                with run.stopwatch("organise"):
                    batch.state = self._state(space, request)

    def _read_in_time(self, request: ReadRequest) -> Sequence[ProposedChange]:
        """Read the turns, or raise `ThinkingTimeout`.

        Reading that takes too long is abandoned, not interrupted: its thread goes on, but its result is not
        used. The length of what is read is limited, so that it ends.
        """
        result: Future[Sequence[ProposedChange]] = Future()
        context = copy_context()  # counts tokens and calls

        def read() -> None:
            try:
                result.set_result(context.run(self._reader.read, request))
            except BaseException as error:
                result.set_exception(error)

        threading.Thread(target=read, name="thinkback-reader", daemon=True).start()
        done, _ = wait([result], timeout=self._time_limit_seconds)
        if not done:
            raise ThinkingTimeout(f"thinking took longer than {self._time_limit_seconds:g} seconds")
        return result.result()

    def _apply_changes(
        self,
        claim: ClaimedTurn,
        accepted: Sequence[AcceptedChange],
        batch: _Batch,
        created: dict[int, int],
        run: _ThinkRun,
    ) -> Sequence[Action]:
        """Store the changes of one turn; returns all actions, also those of consolidation."""
        stopwatch, before = run.stopwatch, len(run.actions)
        with stopwatch("organise"):
            planned = plan_turn(claim.turn, accepted, batch.state, created)
        plan = Plan(
            turn=claim.turn.id,
            lease=claim.lease,
            actor=self._reader.name,
            operations=planned.operations,
            findings=claim.turn.findings,
        )
        try:
            actions, groups = self._apply_plan(batch.space, plan, batch.view, run)
        except ConcurrentUpdate:  # regrouped by another process
            actions, groups = self._apply_plan(batch.space, plan, None, run)
            batch.group_sizes = self._indexer.group_sizes(batch.space)
        else:
            for group in groups:
                batch.group_sizes[group] = batch.group_sizes.get(group, 0) + 1
        for position, action in zip(planned.positions, actions, strict=True):
            new = [thought for thought in action.changed if thought.current]
            if new:
                created[position] = new[-1].id
        run.turns += 1
        run.actions += actions
        with stopwatch("organise"):
            self._consolidate(batch, set(groups), run)
        return run.actions[before:]

    def _apply_plan(
        self, space: str, plan: Plan, view: CachedSpace | None, run: _ThinkRun
    ) -> tuple[list[Action], list[int]]:
        """Store a plan; returns its actions and the groups of the new thoughts."""
        with run.stopwatch("embed"):
            entries, epoch = self._indexer.entries_for_plan(space, plan, view)
        with run.stopwatch("store"):
            actions = self._store.apply(space, plan, entries, self._clock(), epoch)
        return actions, [entry.group for entry in entries]

    def _state(self, space: str, request: ReadRequest) -> SpaceState:
        return SpaceState(
            aliases=Aliases.from_thoughts(self._store.thoughts(space, kind="relationship")),
            find=request.find,
            get=lambda ids: self._store.thoughts(space, ids=sorted(ids), current=False),
            drawn_from=cache(lambda turn: thoughts_drawn_from(self._store, space, turn)),
        )

    def _release_failed(
        self,
        claims: Sequence[ClaimedTurn],
        run: _ThinkRun,
        reason: str,
        retry_at: datetime | None,
        *,
        count_attempt: bool = True,
    ) -> None:
        """Release turns after a failure; only the first one is made responsible for it."""
        run.failed += len(claims)
        for claim in claims:
            first = claim is claims[0]
            self._release(
                claim,
                reason,
                retry_at if first or retry_at is not None else self._clock(),
                count_attempt=count_attempt and first,
            )

    def _consolidate(self, batch: _Batch, groups: set[int], run: _ThinkRun) -> None:
        """Consolidate the groups that the turn touched; a failure here does not undo the turn."""
        sizes = batch.group_sizes
        due = [group for group in sorted(groups) if is_consolidation_due(sizes.get(group, 0))]
        for group in due:
            try:
                run.actions += self._consolidator.consolidate_group(batch.space, group)
            except ModelError as error:
                problem = f"group {group} was not reorganised: {type(error).__name__}: {error}"
                run.problems.append(problem)
        if due:
            batch.group_sizes = self._indexer.group_sizes(batch.space)

    def _retry_at(self, claim: ClaimedTurn, error: Exception) -> datetime | None:
        """Return when to retry: now after a conflict, later after a model error, else never (None)."""
        if claim.attempts >= MAX_ATTEMPTS:
            return None
        if isinstance(error, (Conflict, NotFound)):
            return self._clock()
        if not isinstance(error, ModelError):
            return None
        requested = (error.retry_after or 0.0) if isinstance(error, RateLimited) else 0.0
        delay = max(FIRST_RETRY_SECONDS * 4 ** (claim.attempts - 1), requested)
        return self._clock() + timedelta(seconds=min(delay, MAX_RETRY_SECONDS))

    def _release(
        self, claim: ClaimedTurn, reason: str, retry_at: datetime | None, *, count_attempt: bool = True
    ) -> None:
        with suppress(NotFound):  # the space was erased meanwhile
            self._store.release(
                claim.space,
                claim.turn.id,
                claim.lease,
                reason=reason,
                retry_at=retry_at,
                count_attempt=count_attempt,
            )


def _beginning(turn: Turn) -> Turn:
    """The part of a turn that is thought about."""
    if len(turn.query) <= MAX_READ_CHARS and len(turn.response) <= MAX_READ_CHARS:
        return turn
    return replace(turn, query=turn.query[:MAX_READ_CHARS], response=turn.response[:MAX_READ_CHARS])
