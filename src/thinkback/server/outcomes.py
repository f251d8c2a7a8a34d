"""What became of a turn (was it thought over, which actions followed) and of a retired thought (its successors)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.recall.lifecycle import LifecycleResolver
from thinkback.refs import parse_ref
from thinkback.types import CORRECTED_IN_PREFIX, Action, Thought, Turn

ThinkState = Literal["pending", "done", "failed"]
THINK_WAIT_SECONDS = 10.0
_BATCH_SIZE = 8
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ThinkOutcome:
    """Whether a turn was thought over, what that changed, and why it failed where it did."""

    turn: Turn
    state: ThinkState
    actions: tuple[Action, ...] = ()
    reason: str = ""


def get_outcome(memory: Memory, turn: int) -> ThinkOutcome:
    found = memory.store.turns(memory.user, ids=[turn])
    if not found:
        raise NotFound(f"no turn:{turn} of user {memory.user!r}")
    if found[0].thought_at is not None:
        return ThinkOutcome(found[0], "done", tuple(memory.store.journal(memory.user, turn=turn)))
    for failure in memory.failures():
        if failure.turn == turn:
            return ThinkOutcome(found[0], "failed", reason=failure.reason)
    return ThinkOutcome(found[0], "pending")


def think_now(
    memory: Memory, turns: Sequence[Turn], seconds: float = THINK_WAIT_SECONDS
) -> list[ThinkOutcome]:
    """Think these turns over now, after those before them, for so long at most; then what came of each.

    Where another process holds the lease it is waited for. What is pending still is kept, and follows.
    """
    until = time.monotonic() + seconds
    while True:
        over = memory.post_think(limit=_BATCH_SIZE)
        found = [get_outcome(memory, turn.id) for turn in turns]
        if all(each.state != "pending" for each in found) or time.monotonic() >= until:
            return found
        if not over.turns:
            time.sleep(_POLL_SECONDS)


def find_successors(memory: Memory, thought: Thought) -> tuple[Thought | Turn, ...]:
    """The current thoughts in its place; the turn that corrected it, where no thought was made of that."""
    store, user = memory.store, memory.user
    fates = LifecycleResolver(lambda id_: store.journal(user, thought=id_))
    found: dict[int, Thought | Turn] = {}
    seen: set[int] = set()
    to_follow = [] if thought.current else [thought]
    while to_follow:
        old = to_follow.pop()
        if old.id in seen:
            continue
        seen.add(old.id)
        if (heir := fates(old).successor) is not None:
            to_follow += () if heir.current else (heir,)
            if heir.current:
                found[heir.id] = heir
        elif correction := _correcting_turn(store.journal(user, thought=old.id), old.id):
            made = [each for action in store.journal(user, turn=correction) for each in action.changed]
            new = store.thoughts(user, ids=[each.id for each in made], current=False) if made else []
            later = [each for each in new if each.id > old.id]
            found |= {each.id: each for each in later if each.current}
            to_follow += [each for each in later if not each.current]
            if not later:
                found |= {-turn.id: turn for turn in store.turns(user, ids=[correction])}
    return tuple(found.values())


def _correcting_turn(actions: list[Action], thought: int) -> int | None:
    """The turn for which a thought was retired, if its last change was that."""
    changed = [action for action in actions if any(each.id == thought for each in action.changed)]
    reason = changed[-1].reason if changed else ""
    if not reason.startswith(CORRECTED_IN_PREFIX):
        return None
    try:
        return parse_ref(reason.removeprefix(CORRECTED_IN_PREFIX).partition(": ")[0], "turn").id
    except InvalidInput:
        return None
