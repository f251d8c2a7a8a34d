"""What became of retired thoughts, according to the journal: replaced, denied or forgotten.

A thought that was replaced, ended or later denied was true for a time. One that the user took back is
forgotten and must not be shown again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from thinkback.types import Action, Thought

JournalReader = Callable[[int], Sequence[Action]]
"""Reads the actions that involve a thought, in order."""


class LifecycleState(NamedTuple):
    """The state of a thought. `successor` is the current thought in its place, if there is one.

    A fact that ended is "replaced" without a successor.
    """

    status: Literal["held", "replaced", "denied", "forgotten"]
    successor: Thought | None = None


class ReplacedBy(NamedTuple):
    """The thought was retired in favour of another one, by a merge or otherwise."""

    merged: bool
    successor: int


class LifecycleCache:
    """What is known of thoughts, by id, until an action changes them.

    `own` holds the state of a thought or its immediate successor, `resolved` the state at the end of the
    chain of successors.
    """

    def __init__(self) -> None:
        self.own: dict[int, LifecycleState | ReplacedBy] = {}
        self.resolved: dict[int, LifecycleState] = {}

    def invalidate(self, ids: Collection[int]) -> None:
        """Drop what a change of these thoughts may have changed."""
        for id_ in ids:
            self.own.pop(id_, None)
        if ids:
            self.resolved.clear()


class LifecycleResolver:
    """Finds the states of thoughts; each thought is followed only once."""

    def __init__(self, journal: JournalReader, cache: LifecycleCache | None = None) -> None:
        self._journal = journal
        cache = LifecycleCache() if cache is None else cache
        self._own, self._resolved = cache.own, cache.resolved

    def __call__(self, thought: Thought) -> LifecycleState:
        """Follow a thought from successor to successor. Each step is a later action, so this ends."""
        id_ = thought.id
        if id_ in self._resolved:
            return self._resolved[id_]
        path: list[tuple[int, bool]] = []
        while id_ not in self._resolved:
            own = self._own_state(id_)
            if isinstance(own, LifecycleState):
                self._resolved[id_] = own
            else:
                path.append((id_, own.merged))
                id_ = own.successor
        state = self._resolved[id_]
        for earlier, merged in reversed(path):
            if not merged and state.status != "forgotten":
                state = LifecycleState("replaced", state.successor)
            self._resolved[earlier] = state
        return state

    def _own_state(self, id_: int) -> LifecycleState | ReplacedBy:
        if id_ not in self._own:
            self._own[id_] = _own_state(self._journal(id_), id_)
        return self._own[id_]


def _own_state(actions: Sequence[Action], id_: int) -> LifecycleState | ReplacedBy:
    """The state of a thought, or its immediate successor."""
    states = [version for action in actions for version in action.after if version.id == id_]
    if not states:
        return LifecycleState("forgotten")  # the thought was erased
    thought = states[-1]
    if thought.current:
        return LifecycleState("held", thought)
    action = _retiring_action(actions, id_)
    if action is None or action.action in ("insert", "undo"):
        return LifecycleState("forgotten")  # the action that created it was undone
    known = {version.id for version in action.before}
    new = [version for version in action.changed if version.current and version.id not in known]
    if action.action == "forget":
        if any(version.negated != thought.negated for version in (*new, *action.premises)):
            return LifecycleState("denied")
        new = []  # only the premises of a forget action can replace the thought
    successors = [
        version
        for version in new or action.premises
        if version.negated == thought.negated and version.id != id_
    ]
    if successors and action.action != "end":
        return ReplacedBy(action.action == "merge", successors[-1].id)
    return LifecycleState("forgotten" if action.action == "forget" else "replaced")


def _retiring_action(actions: Sequence[Action], id_: int) -> Action | None:
    """The last action that changed the thought; for an undone undo, the action that was thereby repeated."""
    by_id = {action.id: action for action in actions}
    changed = [action for action in actions if any(version.id == id_ for version in action.changed)]
    last = changed[-1] if changed else None
    while last is not None and last.action == "undo":
        undone = by_id.get(last.undoes or 0)
        if undone is None or undone.action != "undo":
            return None
        last = by_id.get(undone.undoes or 0)
    return last
