"""What came of a turn: thought over at once where a client waits for it, and told from the journal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.types import Action, Turn

State = Literal["pending", "done", "failed"]
SETTLE_S = 10.0
_AT_A_TIME = 8
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a turn was thought over, what that changed, and why it failed where it did."""

    turn: Turn
    state: State
    actions: tuple[Action, ...] = ()
    reason: str = ""


def outcome(memory: Memory, turn: int) -> Outcome:
    found = memory.store.turns(memory.user, ids=[turn])
    if not found:
        raise NotFound(f"no turn:{turn} of user {memory.user!r}")
    if found[0].thought_at is not None:
        return Outcome(found[0], "done", tuple(memory.store.journal(memory.user, turn=turn)))
    for failure in memory.failures():
        if failure.turn == turn:
            return Outcome(found[0], "failed", reason=failure.reason)
    return Outcome(found[0], "pending")


def settle(memory: Memory, turns: Sequence[Turn], seconds: float = SETTLE_S) -> list[Outcome]:
    """Think these turns over now, after those before them, for so long at most; then what came of each.

    Where another process holds the lease it is waited for. What is pending still is kept, and follows.
    """
    until = time.monotonic() + seconds
    while True:
        over = memory.post_think(limit=_AT_A_TIME)
        found = [outcome(memory, turn.id) for turn in turns]
        if all(each.state != "pending" for each in found) or time.monotonic() >= until:
            return found
        if not over.turns:
            time.sleep(_PAUSE_S)
