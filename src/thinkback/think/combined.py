"""JointGenerator: rules and a model think together (design decision 6).

The rules' drafts are certain and free, so they come first and win; the model is asked only about the lines
that tell something and that no rule has read. Most turns need no model at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thinkback.language.names import normalise_name
from thinkback.language.relations import get_relation
from thinkback.think.generator import ThoughtGenerator
from thinkback.think.llm_generator import LLMGenerator
from thinkback.think.prompt_lines import uncovered_lines
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.slots import object_key, thought_key
from thinkback.types import ThoughtDraft, Turn


@dataclass(frozen=True, slots=True)
class CombinedGenerator:
    """Every draft names its maker: the rules, or the model with its prompt."""

    model: LLMGenerator
    rules: ThoughtGenerator = field(default_factory=RuleGenerator)

    @property
    def name(self) -> str:
        return f"{self.rules.name} + {self.model.name}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """The rules' drafts, then what the model adds to them."""
        certain = self.rules.generate(turn, recent)
        added = self.model.generate_for_lines(turn, uncovered_lines(turn, certain), recent)
        return [
            *(replace(draft, made_by=self.rules.name) for draft in certain),
            *(replace(draft, made_by=self.model.name) for draft in added if not is_covered(draft, certain)),
        ]


def is_covered(draft: ThoughtDraft, certain: Sequence[ThoughtDraft]) -> bool:
    """Whether a certain draft of the same turn says the same already, or says otherwise."""
    return any(_already_states(held, draft) or _contradicts(held, draft) for held in certain)


def _already_states(held: ThoughtDraft, draft: ThoughtDraft) -> bool:
    """The same words about the same one with a shared object, or the same key with all of its objects."""
    mine, theirs = _object_keys(draft), _object_keys(held)
    if thought_key(held.subject, held.relation) == thought_key(draft.subject, draft.relation):
        return held.negated == draft.negated and mine <= theirs
    same_words = any(
        (one.turn, one.side) == (other.turn, other.side) and one.start < other.end and other.start < one.end
        for one in held.sources
        for other in draft.sources
    )
    return (
        same_words
        and normalise_name(held.subject) == normalise_name(draft.subject)
        and not mine.isdisjoint(theirs)
    )


def _contradicts(held: ThoughtDraft, draft: ThoughtDraft) -> bool:
    """Another value of a relation that holds one, or the opposite of the same object."""
    if thought_key(held.subject, held.relation) != thought_key(draft.subject, draft.relation):
        return False
    shared = not _object_keys(held).isdisjoint(_object_keys(draft))
    if held.negated != draft.negated:
        return shared
    return get_relation(held.relation).single_valued and not held.negated and not shared


def _object_keys(draft: ThoughtDraft) -> set[str]:
    return {object_key(item) for item in draft.objects}
