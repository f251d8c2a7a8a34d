"""Perturb (TiM 001, Eq. 11): the sentences that cannot be true together with a thought.

The paper negates the whole, the object and the subject. We deviate in the third: that somebody else lives in
Lyon contradicts nothing, so there we turn the relation to its contrary instead (likes, hates).
"""

from __future__ import annotations

from collections.abc import Iterable

from thinkback.text.language import language
from thinkback.text.negation import negate, opposite, swap
from thinkback.types import Thought

_ELSE = {"en": "something else", "zh": "别的"}
_ELSEWHERE = {"en": "somewhere else", "zh": "别的地方"}


def perturb(thought: Thought, others: Iterable[Thought] = ()) -> tuple[str, ...]:
    """Not (s, r, o); (s, r, not o); (s, not r, o). `others` lend objects of the same relation."""
    sentence = thought.sentence
    if thought.negated:
        return (negate(sentence),)
    variants = (negate(sentence), _another_object(thought, others), swap(sentence))
    return tuple(dict.fromkeys(variant for variant in variants if variant != sentence))


def _another_object(thought: Thought, others: Iterable[Thought]) -> str:
    turned = opposite(thought.sentence)
    if turned != thought.sentence:
        return turned
    held = {name.casefold() for name in thought.objects}
    rivals = (
        name
        for other in others
        if other.relation == thought.relation and other.id != thought.id
        for name in other.objects
        if name.casefold() not in held
    )
    lang = "zh" if language(thought.sentence) == "zh" else "en"
    placeholder = _ELSEWHERE if thought.relation.endswith(" in") else _ELSE
    another = next(rivals, placeholder[lang])
    sentence = thought.sentence
    for name in thought.objects:
        sentence = sentence.replace(name, another, 1)
    return sentence
