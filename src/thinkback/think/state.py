"""The thoughts that hold for one (subject, relation) while planning, and how amendments change them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from thinkback.language.relations import ALL_VALUES
from thinkback.language.sentence_builder import compose_sentence, sentence_language
from thinkback.language.tokens import extract_terms
from thinkback.think.comparison_keys import object_key
from thinkback.types import ActionKind, Source, Thought, ThoughtDraft

EPISODIC_KINDS = ("event", "dialogue")
MAX_CORRECTION_AGE_TURNS = 3
"""How many turns back a correction without subject and relation ("I meant Ann") applies."""
_MIN_SIMILARITY = 0.5
"""Similarity of two spellings from which one counts as a typing error of the other."""


@dataclass(frozen=True, slots=True)
class HeldThought:
    """A thought that holds at this point of the plan: its draft, and its id if it is stored already."""

    draft: ThoughtDraft
    id: int | None = None


@dataclass(frozen=True, slots=True)
class StateChange:
    """The thoughts that hold after a draft; `action` and `reason` are set if something changed."""

    held: tuple[HeldThought, ...]
    action: ActionKind | None = None
    reason: str = ""


def to_draft(thought: Thought) -> ThoughtDraft:
    """Convert a stored thought to a draft."""
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
    """Merge drafts of the same key: all values and all sources; other fields come from the last draft."""
    objects: dict[str, str] = {}
    sources: dict[Source, None] = {}
    for draft in drafts:
        for value in draft.objects:
            objects.setdefault(object_key(value), value)
        sources.update(dict.fromkeys(draft.sources))
    return rebuild_sentence(replace(drafts[-1], objects=tuple(objects.values()), sources=tuple(sources)))


def rebuild_sentence(draft: ThoughtDraft) -> ThoughtDraft:
    """Rewrite the sentence of a draft from its triple, in the language of the old sentence."""
    lang = sentence_language(draft.sentence)
    sentence = compose_sentence(
        draft.subject, draft.relation, draft.objects, negated=draft.negated, lang=lang
    )
    return replace(draft, sentence=sentence)


def is_negated_value(value: str) -> bool:
    """Whether a value denies itself: "no pets"."""
    return value.lower().startswith("no ")


def without_objects(draft: ThoughtDraft, removed_keys: set[str]) -> ThoughtDraft:
    """The draft without the values whose keys are given."""
    remaining = tuple(value for value in draft.objects if object_key(value) not in removed_keys)
    return draft if remaining == draft.objects else replace(draft, objects=remaining)


def object_keys(groups: Iterable[Iterable[str]]) -> set[str]:
    """The keys of all values in several groups."""
    return {object_key(value) for group in groups for value in group}


def shares_object(draft: ThoughtDraft, keys: set[str]) -> bool:
    """Whether a draft has a value with one of the keys."""
    return not object_keys([draft.objects]).isdisjoint(keys)


def turn_label(draft: ThoughtDraft) -> str:
    """The last turn of a draft, as it is named in journal reasons."""
    return f"turn {draft.last_turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment(ThoughtDraft):
    """A statement about earlier statements: "forget my address", "I meant Ann".

    With `forget` it removes its values (or `ALL_VALUES`) from thoughts with its subject and relation.
    Otherwise its value replaces `instead_of`, or a recent value that is spelled similarly if `instead_of` is
    empty.
    """

    forget: bool = False
    instead_of: str = ""
    any_value: bool = False
    """Replace a recent value whatever it is."""
    recent_only: bool = False
    """Forget only values of recent turns."""


def apply_amendment(amendment: Amendment, held: tuple[HeldThought, ...], at: datetime | None) -> StateChange:
    """Apply an amendment; nothing changes if no thought matches.

    `at` is the start of the validity of a corrected state.
    """
    return _apply_forget(amendment, held) if amendment.forget else _apply_correction(amendment, held, at)


def _apply_forget(amendment: Amendment, held: tuple[HeldThought, ...]) -> StateChange:
    """Remove the forgotten values; other values of the same thought stay."""
    rest: list[HeldThought] = []
    for item in held:
        old = item.draft
        if amendment.recent_only and not _is_recent(amendment, old):
            rest.append(item)
            continue
        forgets_all = amendment.objects == (ALL_VALUES,)
        remaining = tuple(
            value
            for value in old.objects
            if not forgets_all and not any(_matches_topic(value, topic) for topic in amendment.objects)
        )
        if remaining == old.objects:
            rest.append(item)
        elif remaining:
            rest.append(HeldThought(rebuild_sentence(replace(old, objects=remaining))))
    if tuple(rest) == held:
        return StateChange(held)
    return StateChange(tuple(rest), "forget", f"{turn_label(amendment)} takes it back")


def _apply_correction(
    amendment: Amendment, held: tuple[HeldThought, ...], at: datetime | None
) -> StateChange:
    """Replace the mistaken value in the newest recent thought that has exactly one."""
    for item in sorted(held, key=lambda item: item.draft.last_turn, reverse=True):
        old = item.draft
        if old.negated or not _is_recent(amendment, old):
            continue
        mistaken = [value for value in old.objects if _is_mistaken_value(amendment, value)]
        if len(mistaken) != 1 or object_key(mistaken[0]) == object_key(amendment.object):
            continue
        objects = tuple(amendment.object if value == mistaken[0] else value for value in old.objects)
        corrected = rebuild_sentence(replace(old, objects=objects, sources=amendment.sources))
        if old.kind not in EPISODIC_KINDS:
            corrected = replace(corrected, valid_from=old.valid_from or at)
        rest = tuple(other for other in held if other is not item)
        return StateChange(
            (*rest, HeldThought(corrected)), "supersede", f"{turn_label(amendment)} corrects {mistaken[0]!r}"
        )
    return StateChange(held)


def _is_recent(newer: ThoughtDraft, older: ThoughtDraft) -> bool:
    """Whether `older` is from one of the turns just before `newer`."""
    return 0 < newer.last_turn - older.last_turn <= MAX_CORRECTION_AGE_TURNS


def _matches_topic(value: str, topic: str) -> bool:
    """Whether a topic names a value: equal keys, or one contains all words of the other."""
    value_terms, topic_terms = set(extract_terms(value)), set(extract_terms(topic))
    return object_key(value) == object_key(topic) or (
        bool(value_terms and topic_terms) and (value_terms <= topic_terms or topic_terms <= value_terms)
    )


def _is_mistaken_value(amendment: Amendment, value: str) -> bool:
    """Whether `value` is the one that a correction replaces."""
    if amendment.any_value:
        return True
    if amendment.instead_of:
        return _matches_topic(value, amendment.instead_of)
    corrected = amendment.object
    if _value_shape(corrected) != _value_shape(value):
        return False
    if any(character.isdigit() for character in corrected):
        return True
    return (
        SequenceMatcher(None, corrected.casefold(), value.casefold(), autojunk=False).ratio()
        >= _MIN_SIMILARITY
    )


def _value_shape(words: str) -> tuple[str, bool]:
    """What similar values have in common.

    The text around the digits for values with numbers, otherwise script and capitalisation.
    """
    if any(character.isdigit() for character in words):
        return "".join(c for c in words.casefold() if not c.isdigit()).strip(), True
    return ("latin" if words.isascii() else "other"), words[:1].isupper()
