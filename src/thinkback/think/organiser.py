"""Organiser: the drafts of one turn -> what they change in a space, read from the store (TiM 001, Eq. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from thinkback.ports import Store
from thinkback.text.people.names import USER, normalise
from thinkback.think.circle import Circle, is_role
from thinkback.think.identify import identify
from thinkback.think.organise import organise
from thinkback.think.sentence import naming
from thinkback.types import SAME, Change, Draft, Thought, Turn


@dataclass(frozen=True, slots=True)
class Organised:
    """The changes of one turn, and whose names it joined."""

    changes: tuple[Change, ...] = ()

    @property
    def joined(self) -> list[str]:
        """The subjects that turned out to have another name: older thoughts of both may disagree."""
        new = (draft for change in self.changes for draft in change.add)
        return [draft.subject for draft in new if draft.relation == SAME and not draft.negated]


@dataclass(frozen=True, slots=True)
class Organiser:
    store: Store

    def organised(self, space: str, turn: Turn, drafts: Sequence[Draft]) -> Organised:
        """Whom the drafts speak of, then what they change; candidates come from all names of a subject."""
        if not drafts:
            return Organised()
        known = self.store.thoughts(space, kind="relationship")
        about, circle = identify(turn, drafts, Circle.of(known), partial(self.store.names, space))

        def held(subject: str, relation: str) -> list[Thought]:
            of = partial(self.store.thoughts, space, relation=relation)
            found = [thought for name in circle.names(subject) for thought in of(subject=name)]
            return sorted(found, key=lambda thought: thought.id)

        changes = organise(about, held, at=turn.at)
        return Organised(_given(tuple(_named(change, circle) for change in changes), circle, known))


def _named(change: Change, circle: Circle) -> Change:
    """New thoughts say who their subject is, so that each can be found and understood by itself."""
    return replace(change, add=tuple(named(draft, circle) for draft in change.add))


def _given(changes: tuple[Change, ...], circle: Circle, known: Sequence[Thought]) -> tuple[Change, ...]:
    """The changes, each with the earlier thoughts that tell of whom it speaks: a name, or whose it is."""
    retired = {id_ for change in changes for id_ in change.retire}
    standing = [thought for thought in known if thought.id not in retired]

    def given(change: Change) -> tuple[int, ...]:
        names = [draft.subject for draft in change.add]
        joined = {normalise(draft.subject) for draft in change.add if draft.relation == SAME}
        roles = filter(is_role, standing) if joined else ()
        held = (each.id for each in roles if not joined.isdisjoint(map(normalise, each.objects)))
        return tuple(sorted({*circle.behind(names, standing), *held}))

    return tuple(replace(change, given=given(change)) for change in changes)


def named(draft: Draft, circle: Circle) -> Draft:
    if draft.relation == SAME or draft.subject == USER:
        return draft
    others = [name for name in circle.names(draft.subject) if normalise(name) != normalise(draft.subject)]
    return replace(draft, sentence=naming(draft.sentence, draft.subject, others))
