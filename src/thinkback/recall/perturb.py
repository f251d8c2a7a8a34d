"""Perturb (TiM 001, Eq. 11): the sentences that cannot be true together with a thought.

The paper negates the whole, the object and the subject. We deviate in the third: that somebody else lives in
Lyon contradicts nothing, so there we turn the relation to its contrary instead (likes, hates).
"""

from __future__ import annotations

from collections.abc import Iterable

from thinkback.text.negation import negate, opposite, swap
from thinkback.types import Thought


def perturb(thought: Thought, others: Iterable[Thought] = ()) -> tuple[str, ...]:
    """Not (s, r, o); (s, r, not o); (s, not r, o). `others` lend objects of the same relation."""
    sentence = thought.sentence
    if thought.negated:
        return (negate(sentence),)
    variants = (negate(sentence), _another_object(thought, others), swap(sentence))
    return tuple(dict.fromkeys(variant for variant in variants if variant != sentence))


def _another_object(thought: Thought, others: Iterable[Thought]) -> str:
    """With the opposite of its object, or with one that another thought has; itself if there is neither.

    A placeholder ("lives somewhere else") would be near to every sentence of the kind, true ones too.
    """
    turned = opposite(thought.sentence)
    if turned != thought.sentence:
        return turned
    held = {name.casefold() for name in thought.objects}
    rivals = (
        name
        for other in others
        if other.relation == thought.relation and other.id != thought.id and not other.negated
        for name in other.objects
        if name.casefold() not in held
    )
    another = next(rivals, "")
    return thought.sentence.replace(thought.objects[0], another, 1) if another else thought.sentence
