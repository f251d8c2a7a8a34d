"""What became of a thought that is held true no more, as the journal tells it: replaced, denied or forgotten.

Only what was replaced, or denied later, was ever so and is past. What the user took back is to be forgotten:
no question may bring it up again.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Literal, NamedTuple

from thinkback.types import Action, Thought

Journal = Callable[[int], Sequence[Action]]
"""The actions that touched a thought, in sequence."""


class Fate(NamedTuple):
    """`heir` is what is held true now in its place; of what was replaced there may be none any more."""

    became: Literal["held", "replaced", "denied", "forgotten"]
    heir: Thought | None = None


class Step(NamedTuple):
    """The action that retired a thought was in another's favour."""

    merged: bool
    heir: int


Ends = MutableMapping[int, Fate | Step]
"""How thoughts ended, by their own journal alone: each stands until an action touches the thought."""


class Fates:
    """The fates of thoughts by one journal; each is followed once."""

    def __init__(self, journal: Journal, ends: Ends | None = None) -> None:
        self._journal = journal
        self._ends: Ends = {} if ends is None else ends
        self._known: dict[int, Fate] = {}

    def __call__(self, thought: Thought) -> Fate:
        """Follow a retired thought from heir to heir; each step is a later action, so it ends."""
        id_ = thought.id
        path: list[tuple[int, bool]] = []
        while id_ not in self._known:
            found = self._end(id_)
            if isinstance(found, Fate):
                self._known[id_] = found
            else:
                path.append((id_, found.merged))
                id_ = found.heir
        fate = self._known[id_]
        for earlier, merged in reversed(path):
            if not merged and fate.became != "forgotten":
                fate = Fate("replaced", fate.heir)
            self._known[earlier] = fate
        return fate

    def _end(self, id_: int) -> Fate | Step:
        if id_ not in self._ends:
            self._ends[id_] = _end(self._journal(id_), id_)
        return self._ends[id_]


def _end(actions: Sequence[Action], id_: int) -> Fate | Step:
    """How a thought ended: for good, or in another's favour."""
    states = [each for action in actions for each in action.after if each.id == id_]
    if not states:
        return Fate("forgotten")  # of an erased one nothing is left to tell
    thought = states[-1]
    if thought.current:
        return Fate("held", thought)
    action = _retiring(actions, id_)
    if action is None or action.action not in ("supersede", "merge", "forget"):
        return Fate("forgotten")  # its own action was undone
    new = [each for each in action.changed if each.current]
    if action.action == "forget":
        if any(each.negated != thought.negated for each in (*new, *action.given)):
            return Fate("denied")
        new = []  # what stands beside it was told anew; only what it was weighed against replaces it
    heirs = [each for each in new or action.given if each.negated == thought.negated and each.id != id_]
    if heirs:
        return Step(action.action == "merge", heirs[-1].id)
    return Fate("forgotten" if action.action == "forget" else "replaced")


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
