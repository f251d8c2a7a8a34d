"""Who and what a thought speaks of: names to keys, so that two spellings meet (TiM 001, entity resolution).

This first set resolves by spelling, article, possessive, kin word and stem; issue 3 adds similarity, aliases
learned from text ("my sister Anna") and scripts. Stores keep the alias table, keyed by `normalise`.
"""

from __future__ import annotations

from thinkback.text.names import USER, normalise
from thinkback.text.tokens import fold, stem
from thinkback.think.relations import canonical

__all__ = ["USER", "key_of", "normalise", "object_key"]


def key_of(subject: str, relation: str) -> tuple[str, str]:
    """What Algorithm 1 compares: equal keys speak of the same thing in the same respect."""
    return normalise(subject), canonical(relation)


def object_key(name: str) -> str:
    """Objects with one key are one object: "to play football" and "playing football", "a dog" and "dogs"."""
    words = fold(normalise(name)).split()
    if len(words) > 1 and words[0] == "to":
        words = words[1:]
    return " ".join(stem(word) if word.isascii() else word for word in words)
