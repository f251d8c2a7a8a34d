"""JointGenerator: rules and a model think together (design decision 6).

The rules' drafts are certain and free, so they come first and win; the model is asked only about the lines
that tell something and that no rule has read. Most turns need no model at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thinkback.text.people.names import normalise
from thinkback.think.generate import Generator
from thinkback.think.lines import unread
from thinkback.think.llm_generator import LLMGenerator
from thinkback.think.relations import relation_of
from thinkback.think.resolve import key_of, object_key
from thinkback.think.rules import RuleGenerator
from thinkback.types import Draft, Turn


@dataclass(frozen=True, slots=True)
class JointGenerator:
    """Every draft names its maker: the rules, or the model with its prompt."""

    model: LLMGenerator
    rules: Generator = field(default_factory=RuleGenerator)

    @property
    def name(self) -> str:
        return f"{self.rules.name} + {self.model.name}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[Draft]:
        """The rules' drafts, then what the model adds to them."""
        certain = self.rules.generate(turn, recent)
        added = self.model.about(turn, unread(turn, certain), recent)
        return [
            *(replace(draft, maker=self.rules.name) for draft in certain),
            *(replace(draft, maker=self.model.name) for draft in added if not settled(draft, certain)),
        ]


def settled(draft: Draft, certain: Sequence[Draft]) -> bool:
    """Whether a certain draft of the same turn says the same already, or says otherwise."""
    return any(_says(held, draft) or _contradicts(held, draft) for held in certain)


def _says(held: Draft, draft: Draft) -> bool:
    """The same words about the same one with a shared object, or the same key with all of its objects."""
    mine, theirs = _objects(draft), _objects(held)
    if key_of(held.subject, held.relation) == key_of(draft.subject, draft.relation):
        return held.negated == draft.negated and mine <= theirs
    same_words = any(
        (one.turn, one.side) == (other.turn, other.side) and one.start < other.end and other.start < one.end
        for one in held.sources
        for other in draft.sources
    )
    return same_words and normalise(held.subject) == normalise(draft.subject) and not mine.isdisjoint(theirs)


def _contradicts(held: Draft, draft: Draft) -> bool:
    """Another value of a relation that holds one, or the opposite of the same object."""
    if key_of(held.subject, held.relation) != key_of(draft.subject, draft.relation):
        return False
    shared = not _objects(held).isdisjoint(_objects(draft))
    if held.negated != draft.negated:
        return shared
    return relation_of(held.relation).single and not held.negated and not shared


def _objects(draft: Draft) -> set[str]:
    return {object_key(item) for item in draft.objects}
