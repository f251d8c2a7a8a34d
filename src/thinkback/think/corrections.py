"""Finds the value that a correction means among the thoughts of the messages before it, and plans the change.

In doubt nothing is corrected. Words of similar meaning are compared in English sentences and in the values of
triples; where a Chinese word begins and ends is not known, so a Chinese sentence is corrected by type only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher

import numpy as np

from thinkback.language.corrections import Correction, gendered_roles
from thinkback.language.names import normalise_name, phonetic_similarity
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import fold_text
from thinkback.language.value_types import find_values, same_length, value_type
from thinkback.language.word_sorts import find_same_sort, is_known_as_other
from thinkback.language.writing_systems import has_han
from thinkback.protocols import Embedder, Store
from thinkback.think.command_context import SeemsQuestion, only_asks, previous_turns, thoughts_of
from thinkback.think.forgetting import RemainderKeeper
from thinkback.types import SAID, Operation, Source, Thought, ThoughtDraft, Turn

Target = tuple[Thought, str]

_CORRECTED_TURNS = 3  # previous turns whose thoughts a correction may mean
_MAX_BARE_GAP = timedelta(minutes=10)  # between a fact and a bare value that corrects it
_MAX_KEPT_CHARS = 500  # of a message whose sentences are kept because one is corrected
_MIN_SPELLING_SIMILARITY = 0.6  # of a name and its corrected spelling
_MIN_MEANING_SIMILARITY = 0.4  # "Porto" and "Lisbon" have .69, "Porto" and "horrible" .15
_MIN_SOUND_SIMILARITY = 0.8  # of a Chinese name and its corrected form
_MAX_NAME_CHARACTERS = 4
_BEFORE_PLACE = re.compile(
    r"(?:\b(?:in|at|on|to|from|near|into|by)(?: (?:the|an?|my|our))? |[在到去往于从])\Z", re.IGNORECASE
)
_CLAUSE_ZH = re.compile(r"[，,。！!；;\s]+")
_CAPITALISED = re.compile(r"(?<=[\w,;] )(?!I\b)[^\W\d_a-z]\w*")
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


class Corrector:
    """Plans how the value that a correction means is replaced."""

    def __init__(
        self,
        store: Store,
        remainder: RemainderKeeper,
        similarity: ValueSimilarity,
        seems_question: SeemsQuestion,
    ) -> None:
        self._store = store
        self._seems_question = seems_question
        self._remainder = remainder
        self._similarity = similarity

    def plan(self, space: str, turn: Turn, correction: Correction, start: int = 0) -> Operation | None:
        """The operation that replaces the value, if only one can be meant; the new one stands after `start`.

        Nothing may have been drawn from the message before. If it has the value, its sentences are kept
        first.
        """
        previous = self._told_before(space, turn)
        if not previous or (correction.strength == "bare" and turn.at - previous[-1].at > _MAX_BARE_GAP):
            return None
        last = previous[-1]
        if (
            correction.strength != "bare"
            and last.thought_at is not None
            and len(last.query) <= _MAX_KEPT_CHARS
            and _count_alike(last.query, correction.new) == 1
            and not thoughts_of(self._store, space, [last])
        ):
            self._remainder.keep(space, last, lambda text: False)
        thoughts = thoughts_of(self._store, space, previous)
        target = find_corrected(correction, thoughts, last, self._similarity)
        if target is None:
            return None
        thought, value = target
        start = turn.query.find(correction.new, start)
        if start < 0:  # the value is not said in one piece
            return None
        source = Source(turn.id, turn.asker, "query", start, start + len(correction.new))
        new = _without_repeated_unit(thought.sentence, value, correction.new)
        sentence = said_text(thought).replace(value, new)
        is_said = thought.relation == SAID
        is_date = value_type(new) in ("weekday", "date", "month")
        draft = ThoughtDraft(
            subject=thought.subject,
            relation=thought.relation,
            objects=(sentence,) if is_said else tuple(_replace(item, value, new) for item in thought.objects),
            sentence=add_dates(sentence, self._said_at(space, thought, last)) if is_said else sentence,
            kind=thought.kind,
            sources=(*thought.sources, source),
            negated=thought.negated,
            valid_from=None if is_date else thought.valid_from,
            valid_to=None if is_date else thought.valid_to,
        )
        reason = f"{turn.ref} corrects {value!r} to {correction.new!r}"
        return Operation(action="supersede", reason=reason, add=(draft,), retire=(thought.id,))

    def _told_before(self, space: str, turn: Turn) -> list[Turn]:
        """The turns before that a correction may mean: a question in between corrects and tells nothing."""
        return [
            other
            for other in previous_turns(self._store, space, turn)
            if not only_asks(other, self._seems_question) or thoughts_of(self._store, space, [other])
        ][-_CORRECTED_TURNS:]

    def _said_at(self, space: str, thought: Thought, last: Turn) -> datetime:
        """When a sentence was said first: its relative times are counted from there."""
        turns = self._store.turns(space, ids=[thought.sources[0].turn]) if thought.sources else []
        return turns[0].at if turns else last.at


def find_corrected(
    correction: Correction, thoughts: Sequence[Thought], previous: Turn, similarity: ValueSimilarity
) -> Target | None:
    """The thought and its value that a correction means; None if that is not certain.

    `thoughts` are those of the messages before, `previous` is the last of these messages. A value that is
    named ("not Paris") may be in any of them; others are searched in the last one, and those whose form tells
    their type also in the messages before it. If the answer to the last one was a question, the new message
    may answer it, unless it says that something was wrong.
    """
    if _asks_back(previous) and correction.strength != "certain":
        return None
    last = [each for each in thoughts if any(source.turn == previous.id for source in each.sources)]
    if correction.role == "name":
        found = list(_named_people(correction, last, thoughts))
    elif correction.old:
        found = list(_named(correction, thoughts, similarity))
    else:
        found = (
            list(_of_same_type(correction.new, last))
            or list(_of_same_sort(correction.new, last))
            or (
                [] if correction.needs_known_words else list(_similar(correction, last, previous, similarity))
            )
            or ([] if correction.strength == "bare" else list(_of_same_type(correction.new, thoughts)))
        )
    if correction.in_passing and value_type(correction.new) == "number":
        found = [(thought, value) for thought, value in found if same_length(value, correction.new)]
    triples = [(thought, value) for thought, value in found if thought.relation != SAID]
    targets = triples or found
    if len(targets) != 1:
        return None
    ((thought, value),) = targets
    old, new = normalise_name(value), normalise_name(correction.new)
    # "poor rex", but not "his name is rex miller"
    says_it_again = f" {old} " in f" {new} " and (correction.role != "name" or old == new)
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


def _named_people(
    correction: Correction, last: Sequence[Thought], thoughts: Sequence[Thought]
) -> Iterator[Target]:
    """The people and pets that were named, whom "her name is" may mean.

    A name is spelt alike, or the message says that something is corrected and it looks like a name.
    """
    for group in (last, thoughts):
        named = [
            (thought, thought.object)
            for thought in group
            if thought.kind == "relationship" and thought.relation.startswith("has ") and not thought.negated
            if thought.relation.removeprefix("has ") not in gendered_roles(correction.who)
        ]
        named = [target for target in named if not correction.old or target[1] == correction.old]
        alike = [target for target in named if _are_alike(target[1], correction.new)]
        if alike or (named and correction.strength != "bare" and _looks_like_name(correction.new)):
            yield from alike or named
            return


def _looks_like_name(text: str) -> bool:
    if has_han(text):
        return not is_known_as_other(text, "first_names")
    return all(word[:1].isupper() for word in text.split())


def _are_alike(name: str, new: str) -> bool:
    """Whether one name may be the other one spelt better: they sound or look alike, also without accents."""
    if has_han(name) and has_han(new):
        return phonetic_similarity(name, new) >= _MIN_SOUND_SIMILARITY
    words = fold_text(new).split()
    return any(
        word.startswith(fold_text(name))
        or _spelling_similarity(fold_text(name), word) >= _MIN_SPELLING_SIMILARITY
        for word in [*words, fold_text(new)]
    )


def _may_replace(old: str, new: str, similarity: ValueSimilarity) -> bool:
    """Whether two values are of one type, spelt alike, or of similar meaning."""
    if value_type(old) is not None or value_type(new) is not None:
        return value_type(old) == value_type(new)
    if _spelling_similarity(old, new) >= _MIN_SPELLING_SIMILARITY:
        return True
    if old[:1].isupper() and new[:1].isupper():  # two names
        return True
    scores = similarity(new, [old])
    return scores is not None and scores[0] >= _MIN_MEANING_SIMILARITY


def _count_alike(text: str, new: str) -> int:
    return len(find_values(text, new) or find_same_sort(text, new))


def _of_same_type(new: str, thoughts: Sequence[Thought]) -> Iterator[Target]:
    for thought in thoughts:
        yield from ((thought, value) for value in find_values(said_text(thought), new))


def _of_same_sort(new: str, thoughts: Sequence[Thought]) -> Iterator[Target]:
    """Known words of one sort, such as two towns."""
    for thought in thoughts:
        yield from ((thought, value) for value in find_same_sort(said_text(thought), new))


def _similar(
    correction: Correction, thoughts: Sequence[Thought], previous: Turn, similarity: ValueSimilarity
) -> Iterator[Target]:
    """The value that is spelt like the new one, or means something of the same kind.

    A place ("in lisbon") only replaces one.
    """
    new = correction.new
    if value_type(new) is not None:
        return
    stated = [
        (thought, value) for thought in thoughts if thought.relation != SAID for value in thought.objects
    ]
    kept = [thought for thought in thoughts if thought.relation == SAID]
    places = [*stated, *((thought, value) for thought in kept for value in _words(thought.object, new))]
    if correction.role == "place":
        places = [(thought, value) for thought, value in places if _is_after_place_word(thought, value)]
    if not places:
        return
    spelling = [_spelling_similarity(value, new) for _, value in places]
    if max(spelling) >= _MIN_SPELLING_SIMILARITY:
        yield places[int(np.argmax(spelling))]
        return
    if correction.role != "place" and len(stated) == 1 and _are_names(stated[0], new, previous):
        yield stated[0]
        return
    meaning = similarity(new, [value for _, value in places])
    if meaning is not None and max(meaning) >= _MIN_MEANING_SIMILARITY:
        yield places[int(np.argmax(meaning))]


def _words(sentence: str, new: str) -> list[str]:
    """The runs of as many words of a sentence as the new value has."""
    if has_han(sentence):
        return []
    words = list(_WORD.finditer(sentence))
    pairs = zip(words, words[len(new.split()) - 1 :], strict=False)
    runs = [sentence[first.start() : last.end()] for first, last in pairs]
    return [run for run in runs if sentence.count(run) == 1]


def _is_after_place_word(thought: Thought, value: str) -> bool:
    sentence = said_text(thought)
    return _BEFORE_PLACE.search(sentence[: sentence.find(value)]) is not None


def _are_names(target: Target, new: str, previous: Turn) -> bool:
    """Whether both values are names: capitalised, or in Chinese characters where somebody is named.

    A known word of another sort is none. If the message tells more than the name, the new value may be meant
    for the rest of it: 我姐叫小云，在成都当老师.
    """
    thought, value = target
    if is_known_as_other(new, "first_names") and not is_known_as_other(value, "first_names"):
        return False
    if has_han(value) and has_han(new):
        if thought.kind != "relationship" or len(new) > _MAX_NAME_CHARACTERS:
            return False
        is_alone = len([clause for clause in _CLAUSE_ZH.split(previous.query) if clause]) == 1
        return is_alone or _are_alike(value, new)
    others = {word for word in _CAPITALISED.findall(previous.query) if word.lower() not in value.lower()}
    return value[:1].isupper() and new[:1].isupper() and not others


def _spelling_similarity(one: str, other: str) -> float:
    """How alike two words are spelt; 0 if they are the same or begin with different letters."""
    one, other = one.casefold(), other.casefold()
    return SequenceMatcher(None, one, other).ratio() if one != other and one[:1] == other[:1] else 0.0


def _asks_back(turn: Turn) -> bool:
    return "?" in turn.response or "？" in turn.response


def _without_repeated_unit(sentence: str, value: str, new: str) -> str:
    """The new value without the words that already follow the old one: "8 people" and "13 people" -> "13"."""
    rest = sentence.partition(value)[2].lower().lstrip()
    first, _, unit = new.partition(" ")
    return first if unit and rest.startswith(unit.lower()) else new


def _replace(item: str, value: str, new: str) -> str:
    """An object of a triple with the new value. The value may have a unit that the object has not: 5, 5岁."""
    if item in value and item != value:
        return new.removesuffix(value.removeprefix(item))
    return item.replace(value, new) if item.count(value) == 1 else item
