"""What became of a turn (thought over or not, resulting actions) and of a retired thought (successors)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.recall.thought_lifecycle import LifecycleResolver
from thinkback.types import CORRECTED_IN_PREFIX, Action, Thought, Turn
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
            changed = [item for action in store.journal(user, turn=correction) for item in action.changed]
            new = store.thoughts(user, ids=[item.id for item in changed], current=False) if changed else []
            later = [item for item in new if item.id > old.id]
            found |= {item.id: item for item in later if item.current}
            to_follow += [item for item in later if not item.current]
            if not later:
                found |= {-turn.id: turn for turn in store.turns(user, ids=[correction])}
    return tuple(found.values())


def _correcting_turn(actions: list[Action], thought_id: int) -> int | None:
    """The id of the turn that corrected a thought, if its last change was a correction."""
    changes = [action for action in actions if any(item.id == thought_id for item in action.changed)]
    reason = changes[-1].reason if changes else ""
    if not reason.startswith(CORRECTED_IN_PREFIX):
        return None
    try:
        return parse_ref(reason.removeprefix(CORRECTED_IN_PREFIX).partition(": ")[0], "turn").id
    except InvalidInput:
        return None
