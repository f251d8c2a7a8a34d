"""What became of a thought that is held true no more, as the journal tells it: replaced, denied or forgotten.

Only what was replaced, or denied later, was ever so and is past. What the user took back is to be forgotten:
no question may bring it up again.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Literal, NamedTuple

from thinkback.types import Action, Thought

JournalReader = Callable[[int], Sequence[Action]]
"""The actions that touched a thought, in sequence."""


class LifecycleState(NamedTuple):
    """`heir` is what is held true now in its place; of what was replaced there may be none any more."""

    status: Literal["held", "replaced", "denied", "forgotten"]
    successor: Thought | None = None


class ReplacedBy(NamedTuple):
    """The action that retired a thought was in another's favour."""

    merged: bool
    successor: int


LifecycleCache = MutableMapping[int, LifecycleState | ReplacedBy]
"""How thoughts ended, by their own journal alone: each stands until an action touches the thought."""


class LifecycleResolver:
    """The fates of thoughts by one journal; each is followed once."""

    def __init__(self, journal: JournalReader, cache: LifecycleCache | None = None) -> None:
        self._journal = journal
        self._cache: LifecycleCache = {} if cache is None else cache
        self._resolved: dict[int, LifecycleState] = {}

    def __call__(self, thought: Thought) -> LifecycleState:
        """Follow a retired thought from heir to heir; each step is a later action, so it ends."""
        id_ = thought.id
        path: list[tuple[int, bool]] = []
        while id_ not in self._resolved:
            found = self._own_state(id_)
            if isinstance(found, LifecycleState):
                self._resolved[id_] = found
            else:
                path.append((id_, found.merged))
                id_ = found.successor
        fate = self._resolved[id_]
        for earlier, merged in reversed(path):
            if not merged and fate.status != "forgotten":
                fate = LifecycleState("replaced", fate.successor)
            self._resolved[earlier] = fate
        return fate

    def _own_state(self, id_: int) -> LifecycleState | ReplacedBy:
        if id_ not in self._cache:
            self._cache[id_] = _own_state(self._journal(id_), id_)
        return self._cache[id_]


def _own_state(actions: Sequence[Action], id_: int) -> LifecycleState | ReplacedBy:
    """How a thought ended: for good, or in another's favour."""
    states = [each for action in actions for each in action.after if each.id == id_]
    if not states:
        return LifecycleState("forgotten")  # of an erased one nothing is left to tell
    thought = states[-1]
    if thought.current:
        return LifecycleState("held", thought)
    action = _retiring_action(actions, id_)
    if action is None or action.action not in ("supersede", "merge", "forget"):
        return LifecycleState("forgotten")  # its own action was undone
    new = [each for each in action.changed if each.current]
    if action.action == "forget":
        if any(each.negated != thought.negated for each in (*new, *action.premises)):
            return LifecycleState("denied")
        new = []  # what stands beside it was told anew; only what it was weighed against replaces it
    heirs = [each for each in new or action.premises if each.negated == thought.negated and each.id != id_]
    if heirs:
        return ReplacedBy(action.action == "merge", heirs[-1].id)
    return LifecycleState("forgotten" if action.action == "forget" else "replaced")


def _retiring_action(actions: Sequence[Action], id_: int) -> Action | None:
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
