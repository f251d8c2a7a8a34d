"""Turns the accepted changes of a turn into operations for the journal (TiM, Algorithm 1).

Algorithm 1 lets a newer thought replace every older one with the same subject and relation. Here a thought is
retired only where a reader says so and the guard agrees: what can be true together stays. One change is one
operation, one value is one thought, and undoing an operation restores the state before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from thinkback.protocols import Store
from thinkback.think.aliases import Aliases
from thinkback.think.comparison_keys import object_key
from thinkback.think.contract import FindThoughts
from thinkback.think.guard import AcceptedChange
from thinkback.types import (
    EPISODIC_KINDS,
    SAID,
    Operation,
    Source,
    Thought,
    ThoughtDraft,
    Turn,
)

MAX_SOURCES = 8  # of a fact that is stated again and again: the first one and the newest


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """The operations of one turn; `positions` has, for each operation, the change it came from."""

    operations: tuple[Operation, ...] = ()
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """What planning needs to know about a space: who is who, and how to look up thoughts.

    `drawn_from` gives the current thoughts that were drawn from a turn before: it is read again if it was
    hidden by a request to forget and the request was undone.
    """

    aliases: Aliases
    find: FindThoughts
    get: Callable[[Sequence[int]], Sequence[Thought]]
    drawn_from: Callable[[int], Sequence[Thought]] = lambda turn: ()


def thoughts_drawn_from(store: Store, space: str, turn: int) -> list[Thought]:
    """The current thoughts that were drawn from a turn."""
    drawn = {thought.id for action in store.journal(space, turn=turn) for thought in action.after}
    return store.thoughts(space, ids=sorted(drawn)) if drawn else []


def plan_turn(
    turn: Turn, changes: Sequence[AcceptedChange], state: SpaceState, created: Mapping[int, int]
) -> PlannedTurn:
    """Plan the operations of one turn.

    Args:
        turn: The turn.
        changes: Its accepted changes, in order.
        state: The space as it is now.
        created: The thoughts that earlier turns of the same reading created, by position of the change.
    """
    obsolete = {position for change in changes for position in change.new_targets}  # corrected in this turn
    operations: list[Operation] = []
    positions: list[int] = []
    retired: set[int] = set()
    for change in changes:
        if change.position in obsolete:
            continue
        new_targets = (created[position] for position in change.new_targets if position in created)
        targets = _current(state, (*change.targets, *new_targets), retired)
        operation = _plan_change(change, targets, state, retired)
        if operation is not None:
            retired.update(operation.retire)
            operations.append(operation)
            positions.append(change.position)
    return PlannedTurn(_with_premises(operations, state, retired), tuple(positions))


def _current(state: SpaceState, ids: Sequence[int], retired: Collection[int]) -> list[Thought]:
    """Those of the thoughts that are still current."""
    wanted = [id_ for id_ in ids if id_ not in retired]
    return [thought for thought in state.get(wanted) if thought.current] if wanted else []


def _plan_change(
    change: AcceptedChange, targets: Sequence[Thought], state: SpaceState, retired: Collection[int]
) -> Operation | None:
    """The operation of one change; None if it changes nothing any more."""
    if change.draft is None:
        return _plan_retirement(change, targets) if targets else None
    turn, draft = change.turn, change.draft
    ended_at = draft.valid_from or change.ended_at or turn.at
    retire = tuple(thought.id for thought in targets)
    # Sentences kept as said are compared within their turn only: it is rare that one is said twice.
    is_said = draft.relation == SAID
    known = state.drawn_from(turn.id) if is_said else state.find(draft.subject, draft.relation)
    held = (thought for thought in known if thought.id not in retired)
    duplicate = next((thought for thought in held if _same_fact(thought, draft)), None)
    if duplicate is None or duplicate in targets:
        if not targets:
            return Operation(
                action="insert", reason=f"new: turn {turn.id}", add=(draft,), premises=change.premises
            )
        reason = f"turn {turn.id} replaces " + ", ".join(f'"{thought.sentence}"' for thought in targets)
        is_state = (draft.valid_from, draft.valid_to) == (None, None) and draft.kind not in EPISODIC_KINDS
        add = (replace(draft, valid_from=turn.at) if is_state else draft,)
        return Operation(
            action="supersede",
            reason=reason,
            add=add,
            retire=retire,
            ended_at=ended_at,
            premises=change.premises,
        )
    if not targets:
        return _confirm(duplicate, change.source)
    reason = f"turn {turn.id} says {duplicate.ref} again, which holds instead"
    return Operation(
        action="supersede", reason=reason, retire=retire, ended_at=ended_at, premises=(duplicate.id,)
    )


def _plan_retirement(change: AcceptedChange, targets: Sequence[Thought]) -> Operation | None:
    """The operation of a change without a new fact."""
    turn = change.turn.id
    if change.action == "same":
        return _confirm(targets[0], change.source)
    retire = tuple(thought.id for thought in targets)
    if change.action == "forget":
        return Operation(action="forget", reason=f"turn {turn} asks to forget it", retire=retire)
    ended_at = change.ended_at or change.turn.at
    return Operation(action="end", reason=f"turn {turn} says it is over", retire=retire, ended_at=ended_at)


def _same_fact(known: Thought, draft: ThoughtDraft) -> bool:
    """Whether a stored thought says what a draft says; events of different times are different facts."""
    if known.negated != draft.negated or {*map(object_key, known.objects)} != {
        *map(object_key, draft.objects)
    }:
        return False
    return draft.kind not in EPISODIC_KINDS or known.valid_from == draft.valid_from


def _confirm(known: Thought, source: Source) -> Operation | None:
    """Add a source to a thought that is stated again."""
    if any(source.turn == other.turn for other in known.sources):
        return None
    sources = (*known.sources, source)
    if len(sources) > MAX_SOURCES:
        sources = (sources[0], *sources[1 - MAX_SOURCES :])
    return Operation(
        action="merge",
        reason=f"turn {source.turn} says it again",
        add=(replace(to_draft(known), sources=sources),),
        retire=(known.id,),
        ended_at=known.valid_to,
    )


def to_draft(thought: Thought) -> ThoughtDraft:
    """A stored thought as a draft."""
    return ThoughtDraft(
        subject=thought.subject,
        relation=thought.relation,
        objects=thought.objects,
        sentence=thought.sentence,
        kind=thought.kind,
        sources=thought.sources,
        negated=thought.negated,
        valid_from=thought.valid_from,
        valid_to=thought.valid_to,
    )


def _with_premises(
    operations: Sequence[Operation], state: SpaceState, retired: Collection[int]
) -> tuple[Operation, ...]:
    """Add the thoughts that give the subjects their names to the premises; drop those no longer current."""
    wanted = [
        {*operation.premises, *state.aliases.linking_ids(draft.subject for draft in operation.add)}
        for operation in operations
    ]
    current = {thought.id for thought in _current(state, sorted(set().union(*wanted)), retired)}
    return tuple(
        replace(operation, premises=tuple(sorted(premises & current)))
        for operation, premises in zip(operations, wanted, strict=True)
    )
