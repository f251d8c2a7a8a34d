"""What became of a thought that is held true no more, as the journal tells it: replaced, denied or forgotten.

Only what was replaced, or denied later, was ever so and is past. What the user took back is to be forgotten:
no question may bring it up again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from thinkback.types import Action, Thought

Journal = Callable[[int], Sequence[Action]]
"""The actions that touched a thought, in sequence."""


class Fate(NamedTuple):
    """`heir` is what is held true now in its place; of what was replaced there may be none any more."""

    became: Literal["held", "replaced", "denied", "forgotten"]
    heir: Thought | None = None


def fate(journal: Journal, thought: Thought) -> Fate:
    """Follow a thought through the journal to what holds now. Each step is a later action, so it ends."""
    if thought.current:
        return Fate("held", thought)
    action = _retiring(journal(thought.id), thought.id)
    if action is None or action.action not in ("supersede", "merge", "forget"):
        return Fate("forgotten")  # its own action was undone
    new = [each for each in action.changed if each.current]
    if action.action == "forget":
        if any(each.negated != thought.negated for each in (*new, *action.given)):
            return Fate("denied")
        new = []  # what stands beside it was told anew; only what it was weighed against may replace it
    heirs = [each for each in new or action.given if each.negated == thought.negated and each.id != thought.id]
    if not heirs:
        return Fate("forgotten" if action.action == "forget" else "replaced")
    then = fate(journal, _latest(journal, heirs[-1]))
    if then.became == "forgotten" or action.action == "merge":
        return then
    return Fate("replaced", then.heir)


def _retiring(actions: Sequence[Action], id_: int) -> Action | None:
    """The last action that changed it; where an undo was undone, the action that so was done again."""
    by_id = {action.id: action for action in actions}
    changed = [action for action in actions if any(each.id == id_ for each in action.changed)]
    last = changed[-1] if changed else None
    while last is not None and last.action == "undo":
        undone = by_id.get(last.undoes or 0)
        if undone is None or undone.action != "undo":
            return None
        last = by_id.get(undone.undoes or 0)
    return last


def _latest(journal: Journal, thought: Thought) -> Thought:
    """A thought as the journal left it last."""
    states = [each for action in journal(thought.id) for each in action.after if each.id == thought.id]
    return states[-1] if states else thought
