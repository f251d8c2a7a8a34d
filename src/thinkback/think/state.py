"""The thoughts held true for one (subject, relation) while planning, and how amendments change them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from thinkback.language.phrasing import compose_sentence, sentence_language
from thinkback.language.relations import ALL_VALUES
from thinkback.language.tokens import extract_terms
from thinkback.think.slots import object_key
from thinkback.types import ActionKind, Source, Thought, ThoughtDraft

EPISODIC_KINDS = ("event", "dialogue")


@dataclass(frozen=True, slots=True)
class HeldThought:
    """One thought held true while deciding: its draft, and the id it has if the store knows it."""

    draft: ThoughtDraft
    id: int | None = None


@dataclass(frozen=True, slots=True)
class StateChange:
    """What is held after a draft was considered, and, if that is a change, which one and why."""

    held: tuple[HeldThought, ...]
    action: ActionKind | None = None
    reason: str = ""


def to_draft(thought: Thought) -> ThoughtDraft:
    """The draft a stored thought would be if it were said again."""
    return ThoughtDraft(
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


def merge_drafts(drafts: Sequence[ThoughtDraft]) -> ThoughtDraft:
    objects: dict[str, str] = {}
    sources: dict[Source, None] = {}
    for draft in drafts:
        for item in draft.objects:
            objects.setdefault(object_key(item), item)
        sources.update(dict.fromkeys(draft.sources))
    return rebuild_sentence(replace(drafts[-1], objects=tuple(objects.values()), sources=tuple(sources)))


def rebuild_sentence(draft: ThoughtDraft) -> ThoughtDraft:
    """The same triple with the sentence that lists all its objects, in the language it was said in."""
    lang = sentence_language(draft.sentence)
    sentence = compose_sentence(
        draft.subject, draft.relation, draft.objects, negated=draft.negated, lang=lang
    )
    return replace(draft, sentence=sentence)


def is_negated_value(item: str) -> bool:
    """Whether an object denies itself: "no pets"."""
    return item.lower().startswith("no ")


def without_objects(draft: ThoughtDraft, gone: set[str]) -> ThoughtDraft:
    left = tuple(item for item in draft.objects if object_key(item) not in gone)
    return draft if left == draft.objects else replace(draft, objects=left)


def object_keys(groups: Iterable[Iterable[str]]) -> set[str]:
    return {object_key(item) for group in groups for item in group}


def shares_object(draft: ThoughtDraft, others: set[str]) -> bool:
    return not object_keys([draft.objects]).isdisjoint(others)


def turn_label(draft: ThoughtDraft) -> str:
    return f"turn {draft.last_turn}"


MAX_CORRECTION_AGE_TURNS = 3  # turns back that an elliptic correction may speak of
_MIN_SIMILARITY = 0.5  # how much two spellings share to be one slip of the pen


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment(ThoughtDraft):
    """`forget` the objects (or EVERYTHING) of the key; else put the object in the place of `instead_of`.

    Without `instead_of` it takes the place of a recent object that it resembles, or with `any_value` of any.
    """

    forget: bool = False
    instead_of: str = ""
    any_value: bool = False
    recent_only: bool = False


def apply_amendment(draft: Amendment, held: tuple[HeldThought, ...], at: datetime | None) -> StateChange:
    """What an amendment changes of what is held; where nothing like it is held, nothing."""
    return _apply_forget(draft, held) if draft.forget else _apply_correction(draft, held, at)


def _apply_forget(draft: Amendment, held: tuple[HeldThought, ...]) -> StateChange:
    """Take out what is to be forgotten; of a thought with other objects, the others stay."""
    rest: list[HeldThought] = []
    for item in held:
        old = item.draft
        if draft.recent_only and not _is_recent(draft, old):
            rest.append(item)
            continue
        gone = draft.objects == (ALL_VALUES,)
        left = tuple(
            o for o in old.objects if not gone and not any(_matches_topic(o, word) for word in draft.objects)
        )
        if left == old.objects:
            rest.append(item)
        elif left:
            rest.append(HeldThought(rebuild_sentence(replace(old, objects=left))))
    if tuple(rest) == held:
        return StateChange(held)
    return StateChange(tuple(rest), "forget", f"{turn_label(draft)} takes it back")


def _apply_correction(draft: Amendment, held: tuple[HeldThought, ...], at: datetime | None) -> StateChange:
    """The newest recent thought that the correction fits gets the new object."""
    for item in sorted(held, key=lambda item: item.draft.last_turn, reverse=True):
        old = item.draft
        if old.negated or not _is_recent(draft, old):
            continue
        wrong = [o for o in old.objects if _is_mistaken_value(draft, o)]
        if len(wrong) != 1 or object_key(wrong[0]) == object_key(draft.object):
            continue
        objects = tuple(draft.object if o == wrong[0] else o for o in old.objects)
        mended = rebuild_sentence(replace(old, objects=objects, sources=draft.sources))
        if old.kind not in EPISODIC_KINDS:
            mended = replace(mended, valid_from=old.valid_from or at)
        rest = tuple(h for h in held if h is not item)
        return StateChange(
            (*rest, HeldThought(mended)), "supersede", f"{turn_label(draft)} corrects {wrong[0]!r}"
        )
    return StateChange(held)


def _is_recent(draft: ThoughtDraft, old: ThoughtDraft) -> bool:
    return 0 < draft.last_turn - old.last_turn <= MAX_CORRECTION_AGE_TURNS


def _matches_topic(item: str, topic: str) -> bool:
    """Whether an object is what a topic names: the same, or one holds all words of the other."""
    mine, said = set(extract_terms(item)), set(extract_terms(topic))
    return object_key(item) == object_key(topic) or (bool(mine and said) and (mine <= said or said <= mine))


def _is_mistaken_value(draft: Amendment, old: str) -> bool:
    """Whether `old` is the value that a correction means."""
    if draft.any_value:
        return True
    if draft.instead_of:
        return _matches_topic(old, draft.instead_of)
    new = draft.object
    if _value_shape(new) != _value_shape(old):
        return False
    if any(character.isdigit() for character in new):
        return True
    return SequenceMatcher(None, new.casefold(), old.casefold(), autojunk=False).ratio() >= _MIN_SIMILARITY


def _value_shape(words: str) -> tuple[str, bool]:
    """What two values of one kind share: their words without digits if they are numbers; else the script."""
    if any(character.isdigit() for character in words):
        return "".join(c for c in words.casefold() if not c.isdigit()).strip(), True
    return ("latin" if words.isascii() else "other"), words[:1].isupper()
