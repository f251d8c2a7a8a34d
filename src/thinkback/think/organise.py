"""Drafts of one turn -> the changes to the space: insert, merge, supersede, forget (TiM 001, Eq. 5).

Drafts are taken key by key, so several drafts of one turn are also organised against each other; candidates
come from the whole space by subject and relation, since an update hashes into another group as often as not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.think.held import as_draft, turn_of
from thinkback.think.refute import contradicted
from thinkback.think.relations import canonical, relation_of
from thinkback.think.resolve import key_of
from thinkback.think.validate import validate
from thinkback.types import Change, Draft, Thought

Existing = Callable[[str, str], Sequence[Thought]]
"""(subject, relation) -> the current thoughts of that subject, by any of its names, with that relation."""
EVER = {"has condition": "had condition"}
"""What is so now, and the relation that tells whether it ever was."""


def organise(
    drafts: Sequence[Draft], existing: Existing, *, at: datetime | None = None
) -> tuple[Change, ...]:
    """A Change a (subject, relation) at most, in the order first spoken of; `at` is the turn's time.

    A superseding draft that names no start is valid from `at`. A thought that `existing` returns for
    another relation is left alone: the guard does not trust its caller either.
    """
    keyed: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        if draft.objects:
            named = replace(draft, relation=canonical(draft.relation))
            keyed.setdefault(key_of(draft.subject, draft.relation), []).append(named)
    changes: list[Change] = []
    for key, said in keyed.items():
        held = [t for t in existing(said[0].subject, key[1]) if canonical(t.relation) == key[1]]
        change = validate(relation_of(key[1]), said, held, at)
        if change is not None:
            changes.append(replace(change, actor=_actor(change, said)))
    changes += [change for said in keyed.values() for change in _after_all(said, existing, keyed)]
    return tuple(changes)


def _after_all(
    said: Sequence[Draft], existing: Existing, keyed: Mapping[tuple[str, str], object]
) -> Iterator[Change]:
    """Who has an illness has had it: what denied that it ever was goes, under its own relation."""
    ever = EVER.get(said[0].relation, "")
    if not ever or key_of(said[0].subject, ever) in keyed:
        return
    for old in existing(said[0].subject, ever):
        told = [draft for draft in said if not draft.negated and contradicted(draft, as_draft(old))]
        if old.negated and told:
            reason = f'{turn_of(told[-1])} affirms, against "{old.sentence}"'
            yield Change(action="forget", reason=reason, retire=(old.id,), actor=_actor_of(told))


def _actor(change: Change, said: Sequence[Draft]) -> str:
    """The makers of the drafts that went into a change; of a bare retirement, of all that were said."""
    sources = {source for draft in change.add for source in draft.sources}
    return _actor_of([draft for draft in said if not sources.isdisjoint(draft.sources)] or said)


def _actor_of(told: Sequence[Draft]) -> str:
    return " + ".join(dict.fromkeys(draft.maker for draft in told if draft.maker))
