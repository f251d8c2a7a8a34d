"""What is held true of one (subject, relation) while deciding, and the steps decisions are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from thinkback.think.resolve import object_key
from thinkback.think.sentence import compose, language_of
from thinkback.types import ActionKind, Draft, Source, Thought

EPISODIC = ("event", "dialogue")


@dataclass(frozen=True, slots=True)
class Held:
    """One thought held true while deciding: its draft, and the id it has if the store knows it."""

    draft: Draft
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is held after a draft was considered, and, if that is a change, which one and why."""

    held: tuple[Held, ...]
    action: ActionKind | None = None
    reason: str = ""


def as_draft(thought: Thought) -> Draft:
    """The draft a stored thought would be if it were said again."""
    return Draft(
        subject=thought.subject,
        relation=thought.relation,
        objects=thought.objects,
        sentence=thought.sentence,
        kind=thought.kind,
        sources=thought.sources,
        negated=thought.negated,
        valid_from=thought.valid_from,
        valid_to=thought.valid_to,
    )


def merged(drafts: Sequence[Draft]) -> Draft:
    objects: dict[str, str] = {}
    sources: dict[Source, None] = {}
    for draft in drafts:
        for item in draft.objects:
            objects.setdefault(object_key(item), item)
        sources.update(dict.fromkeys(draft.sources))
    return resaid(replace(drafts[-1], objects=tuple(objects.values()), sources=tuple(sources)))


def resaid(draft: Draft) -> Draft:
    """The same triple with the sentence that lists all its objects, in the language it was said in."""
    lang = language_of(draft.sentence)
    sentence = compose(draft.subject, draft.relation, draft.objects, negated=draft.negated, lang=lang)
    return replace(draft, sentence=sentence)


def says_no(item: str) -> bool:
    """Whether an object denies itself: "no pets"."""
    return item.lower().startswith("no ")


def without(draft: Draft, gone: set[str]) -> Draft:
    left = tuple(item for item in draft.objects if object_key(item) not in gone)
    return draft if left == draft.objects else replace(draft, objects=left)


def keys(groups: Iterable[Iterable[str]]) -> set[str]:
    return {object_key(item) for group in groups for item in group}


def shares(draft: Draft, others: set[str]) -> bool:
    return not keys([draft.objects]).isdisjoint(others)


def turn_of(draft: Draft) -> str:
    return f"turn {draft.last_turn}"
