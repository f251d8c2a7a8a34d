"""What became of a turn (thought over or not, resulting actions) and of a retired thought (successors)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.recall.thought_lifecycle import LifecycleResolver
from thinkback.types import CORRECTED_IN_PREFIX, Action, Ref, Thought, Turn
from thinkback.validation import parse_ref

ThinkState = Literal["pending", "done", "failed"]
THINK_WAIT_SECONDS = 10.0
_BATCH_SIZE = 8
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ThinkOutcome:
    """Whether a turn was thought over, the resulting actions, and the reason if it failed."""

    turn: Turn
    state: ThinkState
    actions: tuple[Action, ...] = ()
    reason: str = ""


def get_outcome(memory: Memory, turn_id: int) -> ThinkOutcome:
    """Raises `NotFound` if there is no such turn."""
    turns = memory.store.turns(memory.user, ids=[turn_id])
    if not turns:
        raise NotFound(f"no turn:{turn_id} of user {memory.user!r}")
    (turn,) = turns
    if turn.thought_at is not None or turn.hidden:  # a hidden turn is never thought over
        return ThinkOutcome(turn, "done", tuple(memory.store.journal(memory.user, turn=turn_id)))
    for failure in memory.failures():
        if failure.turn == turn_id:
            return ThinkOutcome(turn, "failed", reason=failure.reason)
    return ThinkOutcome(turn, "pending")


def think_now(
    memory: Memory, turns: Sequence[Turn], seconds: float = THINK_WAIT_SECONDS
) -> list[ThinkOutcome]:
    """Think over these turns now (after the pending turns before them) and return the outcome of each.

    Stops after `seconds`; the rest stays pending and is thought over in the background. If another process
    is thinking for this user, wait for it.
    """
    deadline = time.monotonic() + seconds
    while True:
        result = memory.post_think(limit=_BATCH_SIZE)
        outcomes = [get_outcome(memory, turn.id) for turn in turns]
        if all(outcome.state != "pending" for outcome in outcomes) or time.monotonic() >= deadline:
            return outcomes
        if not result.turns:
            time.sleep(_POLL_SECONDS)


def find_successors(memory: Memory, thought: Thought) -> tuple[Thought | Turn, ...]:
    """The current thoughts that replaced a retired thought, found by following the journal.

    If a correction retired it and no thought came of the correction, the correcting turn is returned.
    """
    store, user = memory.store, memory.user
    lifecycle_of = LifecycleResolver(lambda id_: store.journal(user, thought=id_))
    found: dict[int, Thought | Turn] = {}
    seen: set[int] = set()
    to_follow = [] if thought.current else [thought]
    while to_follow:
        old = to_follow.pop()
        if old.id in seen:
            continue
        seen.add(old.id)
        if (successor := lifecycle_of(old).successor) is not None:
            if successor.current:
                found[successor.id] = successor
            else:
                to_follow.append(successor)
        elif correction := _correcting_turn(store.journal(user, thought=old.id), old.id):
            new = _thoughts_created_by(memory, correction)
            found |= {item.id: item for item in new if item.current}
            to_follow += [item for item in new if not item.current]
            if not new:
                found |= {-turn.id: turn for turn in store.turns(user, ids=[correction])}
    return tuple(found.values())


def find_versions(memory: Memory, value: Thought | Turn) -> tuple[Thought | Turn, ...]:
    """What a client changes that changes or deletes `value`: itself if it is current, else its new versions.

    New versions are the results of a correction, and a thought that replaced this one alone. A thought that
    also replaced others, or existed before, is a memory of its own and not included.
    """
    found: dict[Ref, Thought | Turn] = {}
    seen: set[Ref] = set()
    to_follow: list[Thought | Turn] = [value]
    while to_follow:
        old = to_follow.pop(0)
        if old.ref in seen:
            continue
        seen.add(old.ref)
        if isinstance(old, Turn):
            if old.hidden:
                to_follow += _correction_of_turn(memory, old)
            else:
                found[old.ref] = old
        elif old.current:
            found[old.ref] = old
        else:
            to_follow += _versions_of_thought(memory, old)
    return tuple(found.values())


def find_corrected_turns(memory: Memory, turn: Turn) -> list[Turn]:
    """The hidden turns that this turn corrects, directly or through another correction."""
    corrections = {
        hidden.id: (hidden, correction)
        for hidden in memory.turns(hidden=True)
        if hidden.hidden
        for correction in _correction_of_turn(memory, hidden)
    }
    found: dict[int, Turn] = {}
    wanted = {turn.id}
    while wanted:
        earlier = {
            id_: old for id_, (old, new) in corrections.items() if new.id in wanted and id_ not in found
        }
        found |= earlier
        wanted = set(earlier)
    return list(found.values())


def _versions_of_thought(memory: Memory, old: Thought) -> list[Thought | Turn]:
    actions = memory.store.journal(memory.user, thought=old.id)
    correction = _correcting_turn(actions, old.id)
    if correction is not None:
        created = [
            item
            for item in _thoughts_created_by(memory, correction)
            if all(source.turn == correction for source in item.sources)
        ]
        return [*created] or [*memory.store.turns(memory.user, ids=[correction])]
    changes = [action for action in actions if any(item.id == old.id for item in action.changed)]
    if not changes or changes[-1].action == "undo":
        return []
    created_ids = _created_ids(changes[-1])
    retired = [item for item in changes[-1].changed if item.id not in created_ids]
    if len(created_ids) != 1 or len(retired) != 1:
        return []
    return [*memory.store.thoughts(memory.user, ids=sorted(created_ids), current=False)]


def _correction_of_turn(memory: Memory, hidden: Turn) -> list[Turn]:
    """The turn that corrects a hidden turn; empty if it was hidden for another reason."""
    actions = memory.store.journal(memory.user, ids=[hidden.hidden_by or 0])
    number = _parse_correction(actions[0].reason) if actions else None
    return [] if number is None else memory.store.turns(memory.user, ids=[number])


def _created_ids(action: Action) -> set[int]:
    before = {item.id for item in action.before}
    return {item.id for item in action.changed if item.id not in before}


def _thoughts_created_by(memory: Memory, turn: int) -> list[Thought]:
    """The thoughts that were drawn from a turn and did not exist before it, in order."""
    ids = {id_ for action in memory.store.journal(memory.user, turn=turn) for id_ in _created_ids(action)}
    return memory.store.thoughts(memory.user, ids=sorted(ids), current=False) if ids else []


def _correcting_turn(actions: list[Action], thought_id: int) -> int | None:
    """The id of the turn that corrected a thought, if its last change was a correction."""
    changes = [action for action in actions if any(item.id == thought_id for item in action.changed)]
    return _parse_correction(changes[-1].reason if changes else "")


def _parse_correction(reason: str) -> int | None:
    """The id of the turn in the reason that a correction leaves in the journal."""
    if not reason.startswith(CORRECTED_IN_PREFIX):
        return None
    try:
        return parse_ref(reason.removeprefix(CORRECTED_IN_PREFIX).partition(": ")[0], "turn").id
    except InvalidInput:
        return None
