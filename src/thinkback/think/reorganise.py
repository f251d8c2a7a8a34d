"""Whole groups put in order (TiM 001, Eq. 5): by rules, and by the papers' prompts where a model is there.

A turn's own thoughts are organised when they come (`organise`). What that cannot see is looked at when a
group has grown: two names that turned out to be one's, relations in words the rules do not know. A group is
all that is read and all that a model is shown, so the cost does not grow with the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from thinkback.errors import Conflict, NotFound
from thinkback.ports import Clock, Store
from thinkback.text.people.names import normalise
from thinkback.think.circle import Circle
from thinkback.think.guard import guarded
from thinkback.think.llm_organiser import LLMOrganiser
from thinkback.think.organiser import named
from thinkback.think.relations import canonical, relation_of
from thinkback.think.validate import reconsider
from thinkback.types import SAME, Action, Change, Plan, Thought
from thinkback.upkeep import Upkeep

SHOWN = 50  # thoughts of one group a model is shown: the newest
RULES = "rules"


def outgrown(size: int) -> bool:
    """Whether a group that grew to this size is due: at 8, 16, 32, ..., so each thought pays about once."""
    return size >= 8 and size & (size - 1) == 0


def tidied(thoughts: Iterable[Thought], circle: Circle, told: Sequence[Thought]) -> list[Change]:
    """By rules: what is said twice becomes one, many values one thought, the newer of one value stays.

    `told` are the thoughts that the circle was read from: what concerns several names rests on them.
    """
    keyed: dict[tuple[str, str], list[Thought]] = {}
    for thought in thoughts:
        if thought.relation != SAME:
            keyed.setdefault((circle.name(thought.subject), canonical(thought.relation)), []).append(thought)
    changes: list[Change] = []
    for (_, relation), held in keyed.items():
        change = reconsider(relation_of(relation), held) if held[1:] else None
        if change is not None:
            add = tuple(named(draft, circle) for draft in change.add)
            changes.append(_resting(replace(change, add=add), held, circle, told))
    return changes


def _resting(change: Change, held: Iterable[Thought], circle: Circle, told: Sequence[Thought]) -> Change:
    """The change, resting on what joined the names that it concerns, if they are several."""
    touched = {*change.retire, *change.given}
    names = {normalise(thought.subject): thought.subject for thought in held if thought.id in touched}
    behind = circle.behind(names.values(), told) if len(names) > 1 else ()
    return replace(change, given=(*change.given, *behind))


class Reorganiser:
    """Applies what putting a group in order changes."""

    def __init__(self, store: Store, upkeep: Upkeep, model: LLMOrganiser | None, clock: Clock) -> None:
        self._store = store
        self._upkeep = upkeep
        self._model = model
        self._clock = clock

    def group(self, space: str, group: int) -> list[Action]:
        """Put one group in order. A model's failure is a ModelError; what the rules did stays done."""
        told = self._store.thoughts(space, kind="relationship")
        circle = Circle.of(told)
        held = self._store.thoughts(space, group=group)
        done = self._apply(space, RULES, tidied(held, circle, told))
        if self._model is not None:
            done += self._by_model(space, lambda: self._store.thoughts(space, group=group), told)
        return done

    def every_group(self, space: str, progress: Callable[[int, int], None] | None = None) -> list[Action]:
        """The same for all groups of a space, one after the other."""
        self._upkeep.catch_up(space)
        groups = [number for number, size in self._upkeep.group_sizes(space).items() if size > 1]
        done: list[Action] = []
        for count, number in enumerate(groups, start=1):
            done += self.group(space, number)
            if progress:
                progress(count, len(groups))
        return done

    def joined(self, space: str, names: Iterable[str]) -> list[Action]:
        """Put in order what was thought of each of these under all their names."""
        told = self._store.thoughts(space, kind="relationship")
        circle = Circle.of(told)
        changes: list[Change] = []
        for name in dict.fromkeys(circle.name(each) for each in names):
            held = [t for each in circle.names(name) for t in self._store.thoughts(space, subject=each)]
            changes += tidied(held, circle, told)
        return self._apply(space, RULES, changes)

    def unsettled(self, space: str, thoughts: Sequence[Thought], group: int) -> list[Action]:
        """After a turn: ask the model where a new thought has a relation that the rules know nothing of."""
        new = [t for t in thoughts if t.relation != SAME and not relation_of(t.relation).known]
        if self._model is None or not new:
            return []
        told = self._store.thoughts(space, kind="relationship")
        circle = Circle.of(told)
        about = {circle.name(thought.subject) for thought in new}

        def same_subject() -> list[Thought]:
            return [t for t in self._store.thoughts(space, group=group) if circle.name(t.subject) in about]

        return self._by_model(space, same_subject, told)

    def _by_model(
        self, space: str, read: Callable[[], list[Thought]], told: Sequence[Thought]
    ) -> list[Action]:
        """Merging first, then forgetting, each on the thoughts as they are by then."""
        model = self._model
        if model is None:
            return []
        circle = Circle.of(told)
        done: list[Action] = []
        for propose in (model.merges, model.forgets):
            shown = [thought for thought in read() if thought.searched][-SHOWN:]
            if len(shown) > 1:
                changes = guarded(propose(shown), shown, circle)
                done += self._apply(space, model.name, [_resting(c, shown, circle, told) for c in changes])
        return done

    def _apply(self, space: str, actor: str, changes: Sequence[Change]) -> list[Action]:
        """All in one transaction, or, if a thought was changed or erased meanwhile, what still can be."""
        if not changes:
            return []
        plan = Plan(turn=None, lease="", actor=actor, changes=tuple(changes))
        entries, epoch = self._upkeep.entries_for(space, plan)
        try:
            return self._store.apply(space, plan, entries, self._clock(), epoch)
        except (Conflict, NotFound):
            if len(changes) == 1:
                return []  # there will be another time
            return [action for change in changes for action in self._apply(space, actor, [change])]
