"""Finds the value that a correction means among the thoughts of the messages before it.

In doubt nothing is corrected. Words of similar meaning are compared in English sentences and in the values of
triples; where a Chinese word begins and ends is not known, so a Chinese sentence is corrected by type only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import numpy as np

from thinkback.language.corrections import Correction
from thinkback.language.names import normalise_name
from thinkback.language.value_types import find_values, value_type
from thinkback.language.writing_systems import has_han
from thinkback.protocols import Embedder
from thinkback.types import SAID, Thought, Turn

Target = tuple[Thought, str]

_MIN_SPELLING_SIMILARITY = 0.6  # of a name and its corrected spelling
_MIN_MEANING_SIMILARITY = 0.4  # "Porto" and "Lisbon" have .69, "Porto" and "horrible" .15
_WORD = re.compile(r"[^\W_][\w'’-]*")


class ValueSimilarity:
    """How alike values are in meaning: the cosine of the embedder, and of the encoder for Chinese.

    The limits hold for MiniLM and for the encoder; with other embedders the result is None.
    """

    def __init__(self, embedder: Embedder, encoder: Embedder | None) -> None:
        self._embedder = embedder if "minilm" in embedder.name else None
        self._encoder = encoder

    def __call__(self, value: str, others: Sequence[str]) -> list[float] | None:
        model = self._encoder if has_han(value) else self._embedder
        if model is None:
            return None
        vector, *vectors = model.embed([value, *others])
        return [float(other @ vector) for other in vectors]


def find_corrected(
    correction: Correction, thoughts: Sequence[Thought], previous: Turn, similarity: ValueSimilarity
) -> Target | None:
    """The thought and its value that a correction means; None if that is not certain.

    `thoughts` are those of the messages before, `previous` is the last of these messages. A value that is
    named ("not Paris") may be in any of them, others only in the last one. If the answer to that was a
    question, the new message may answer it, unless it says that something was wrong.
    """
    if _asks_back(previous) and correction.strength != "certain":
        return None
    if correction.old:
        found = list(_named(correction, thoughts, similarity))
    else:
        last = [
            thought for thought in thoughts if any(source.turn == previous.id for source in thought.sources)
        ]
        found = list(_of_same_type(correction.new, last)) or list(_similar(correction.new, last, similarity))
    triples = [(thought, value) for thought, value in found if thought.relation != SAID]
    targets = triples or found
    if len(targets) != 1:
        return None
    ((thought, value),) = targets
    old, new = normalise_name(value), normalise_name(correction.new)
    says_it_again = f" {old} " in f" {new} "  # "poor rex"
    return targets[0] if not says_it_again and said_text(thought).count(value) == 1 else None


def said_text(thought: Thought) -> str:
    """The sentence of a thought; of a sentence kept as said, without the dates that were written into it."""
    return thought.object if thought.relation == SAID else thought.sentence


def _named(
    correction: Correction, thoughts: Sequence[Thought], similarity: ValueSimilarity
) -> Iterator[Target]:
    """Where the old value stands, if the new one may take its place."""
    old, new = correction.old, correction.new
    if not correction.in_fixed_form and not _may_replace(old, new, similarity):
        return
    whole_word = re.compile(rf"(?<![^\W\u3400-\u9fff]){re.escape(old)}(?![^\W\u3400-\u9fff])", re.IGNORECASE)
    for thought in thoughts:
        found = whole_word.findall(said_text(thought))
        if len(found) == 1:
            yield thought, found[0]


def _may_replace(old: str, new: str, similarity: ValueSimilarity) -> bool:
    """Whether two values are of one type, spelt alike, or of similar meaning."""
    if value_type(old) is not None or value_type(new) is not None:
        return value_type(old) == value_type(new)
    if _spelling_similarity(old, new) >= _MIN_SPELLING_SIMILARITY:
        return True
    scores = similarity(new, [old])
    return _are_names(old, new) if scores is None else scores[0] >= _MIN_MEANING_SIMILARITY


def _of_same_type(new: str, thoughts: Sequence[Thought]) -> Iterator[Target]:
    for thought in thoughts:
        yield from ((thought, value) for value in find_values(said_text(thought), new))


def _similar(new: str, thoughts: Sequence[Thought], similarity: ValueSimilarity) -> Iterator[Target]:
    """The value that is spelt like the new one, or means something of the same kind."""
    if value_type(new) is not None:
        return
    stated = [
        (thought, value) for thought in thoughts if thought.relation != SAID for value in thought.objects
    ]
    kept = [thought for thought in thoughts if thought.relation == SAID]
    places = [*stated, *((thought, value) for thought in kept for value in _words(thought.object, new))]
    if not places:
        return
    spelling = [_spelling_similarity(value, new) for _, value in places]
    meaning = similarity(new, [value for _, value in places])
    if max(spelling) >= _MIN_SPELLING_SIMILARITY:
        yield places[int(np.argmax(spelling))]
    elif meaning is None:  # without a model, only names can be compared: they begin with a capital letter
        yield from (place for place in stated if len(stated) == 1 and _are_names(place[1], new))
    elif max(meaning) >= _MIN_MEANING_SIMILARITY:
        yield places[int(np.argmax(meaning))]


def _words(sentence: str, new: str) -> list[str]:
    """The runs of as many words of a sentence as the new value has."""
    if has_han(sentence):
        return []
    words = list(_WORD.finditer(sentence))
    pairs = zip(words, words[len(new.split()) - 1 :], strict=False)
    runs = [sentence[first.start() : last.end()] for first, last in pairs]
    return [run for run in runs if sentence.count(run) == 1]


def _are_names(*values: str) -> bool:
    return all(value[:1].isupper() for value in values)


def _spelling_similarity(one: str, other: str) -> float:
    one, other = one.casefold(), other.casefold()
    return SequenceMatcher(None, one, other).ratio() if one != other else 0.0


def _asks_back(turn: Turn) -> bool:
    return "?" in turn.response or "？" in turn.response
