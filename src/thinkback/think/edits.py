"""Edits of a thought by its user: the draft that replaces it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from thinkback.errors import InvalidInput
from thinkback.types import SAID, Kind, Source, Thought, ThoughtDraft

Unchanged = Literal["unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtEdit:
    """What the user changes; None (for times "unchanged") leaves a field as it is."""

    sentence: str | None = None
    value: str | None = None
    kind: Kind | None = None
    valid_from: datetime | Unchanged | None = "unchanged"
    valid_to: datetime | Unchanged | None = "unchanged"

    def changes_words(self, thought: Thought) -> bool:
        """Whether the edit says something else than the thought does."""
        return self.sentence not in (None, thought.sentence) or self.value not in (None, thought.object)


def edited_draft(thought: Thought, edit: ThoughtEdit, source: Source | None) -> ThoughtDraft:
    """The thought after the edit; `source` is the turn in which the user stated the new words.

    If only the sentence is given and the new value cannot be seen in it, the sentence is kept as said.

    Raises:
        InvalidInput: nothing changes, the new value does not fit into the sentence, or the thought would end
            before it begins.
    """
    relation, objects, sentence = _edited_words(thought, edit)
    valid_from = thought.valid_from if edit.valid_from == "unchanged" else edit.valid_from
    valid_to = thought.valid_to if edit.valid_to == "unchanged" else edit.valid_to
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise InvalidInput("valid_to is before valid_from: a thought cannot end before it begins")
    draft = ThoughtDraft(
        subject=thought.subject,
        relation=relation,
        objects=objects,
        sentence=sentence,
        kind=edit.kind or thought.kind,
        sources=thought.sources if source is None else (source,),
        negated=thought.negated,
        valid_from=valid_from,
        valid_to=valid_to,
    )
    fields = ("relation", "objects", "sentence", "kind", "valid_from", "valid_to")
    if all(getattr(draft, name) == getattr(thought, name) for name in fields):
        raise InvalidInput("the edit changes nothing")
    return draft


def _edited_words(thought: Thought, edit: ThoughtEdit) -> tuple[str, tuple[str, ...], str]:
    """Relation, values and sentence after the edit."""
    if not edit.changes_words(thought):
        return thought.relation, thought.objects, thought.sentence
    if edit.value is None:
        sentence = edit.sentence or thought.sentence
        if thought.relation == SAID:
            return SAID, (sentence,), sentence
        objects = _objects_in(thought, sentence)
        return (thought.relation, objects, sentence) if objects else (SAID, (sentence,), sentence)
    if edit.sentence is not None:
        return thought.relation, (edit.value,), edit.sentence
    if thought.sentence.count(thought.object) != 1:
        raise InvalidInput("the sentence does not contain the old value once: give the new sentence too")
    return thought.relation, (edit.value,), thought.sentence.replace(thought.object, edit.value)


def _objects_in(thought: Thought, sentence: str) -> tuple[str, ...]:
    """The values that a changed sentence states; empty if they cannot be seen."""
    if all(value in sentence for value in thought.objects):
        return thought.objects
    left, found, right = thought.sentence.partition(thought.object)
    value = sentence[len(left) : len(sentence) - len(right)].strip()
    fits = found and sentence.startswith(left) and sentence.endswith(right)
    return (value,) if fits and value else ()
