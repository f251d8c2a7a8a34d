"""A draft that puts a thing at the other end of its scale: a high count is "reasonable" (TiM 001, table 5).

The thing may be named by its value's owner: (white blood cell count, is, 3623.20/ul) and (3623.20/ul, is, a
relatively high value) together say that the count is high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from thinkback.text.negation import Pole, hedged, poles
from thinkback.text.people.names import normalise
from thinkback.text.tokens import terms
from thinkback.types import Thought

_CLAUSE = re.compile(r"[,;:，；：、。]|\s(?:and|but|while|whereas|although|though)\s|[但而]是?", re.I)
_FILLER = frozenset(
    terms("value level result reading relatively very quite rather slightly user test number")
)


def opposed(sentence: str, thought: Thought, recalled: Sequence[Thought]) -> str:
    """The word of the sentence that contradicts the thought's, empty where none does."""
    held = [] if thought.negated else poles(thought.object)
    if not held:
        return ""
    for clause in _CLAUSE.split(sentence):
        if hedged(clause):
            continue
        said = poles(clause)
        for pole in held:
            words = [other for other in said if other.scale == pole.scale]
            if not words or any(other.end == pole.end for other in words):
                continue
            if _speaks_of(clause, thought, pole, recalled):
                return words[0].word
    return ""


def _speaks_of(clause: str, thought: Thought, pole: Pole, recalled: Sequence[Thought]) -> bool:
    spoken = set(terms(clause))
    return any(aspect <= spoken for aspect in _aspects(thought, pole, recalled))


def _aspects(thought: Thought, pole: Pole, recalled: Sequence[Thought]) -> Iterator[set[str]]:
    """The terms by which a clause may name what the thought is about, a set a name."""
    owners = [
        other.subject
        for other in recalled
        if other.id != thought.id
        and any(normalise(name) == normalise(thought.subject) for name in other.objects)
    ]
    for words in (thought.subject, thought.object.replace(pole.word, " "), thought.relation, *owners):
        if aspect := set(terms(words)) - _FILLER:
            yield aspect
