"""Detects sentences of an answer that contradict recalled thoughts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from thinkback.language.names import normalise_name
from thinkback.language.negation import (
    ScaleWord,
    find_scale_words,
    invert_relation,
    is_hedged,
    negate,
    replace_with_opposite,
)
from thinkback.language.scripts import detect_language
from thinkback.language.sentences import is_question
from thinkback.language.tokens import extract_terms
from thinkback.types import CheckMethod, NewTurn, Recollection, Thought, ThoughtDraft, Turn

if TYPE_CHECKING:
    from thinkback.types import Vector


def negated_variants(thought: Thought, others: Iterable[Thought] = ()) -> tuple[str, ...]:
    """Not (s, r, o); (s, r, not o); (s, not r, o). `others` lend objects of the same relation."""
    sentence = thought.sentence
    if thought.negated:
        return (negate(sentence),)
    variants = (negate(sentence), _with_other_object(thought, others), invert_relation(sentence))
    return tuple(dict.fromkeys(variant for variant in variants if variant != sentence))


def _with_other_object(thought: Thought, others: Iterable[Thought]) -> str:
    """With the opposite of its object, or with one that another thought has; itself if there is neither.

    A placeholder ("lives somewhere else") would be near to every sentence of the kind, true ones too.
    """
    turned = replace_with_opposite(thought.sentence)
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


_CLAUSE_BREAK = re.compile(r"[,;:，；：、。]|\s(?:and|but|while|whereas|although|though)\s|[但而]是?", re.I)
_FILLER_TERMS = frozenset(
    extract_terms("value level result reading relatively very quite rather slightly user test number")
)


def find_opposite_word(sentence: str, thought: Thought, recalled: Sequence[Thought]) -> str:
    """The word of the sentence that contradicts the thought's, empty where none does."""
    held = [] if thought.negated else find_scale_words(thought.object)
    if not held:
        return ""
    for clause in _CLAUSE_BREAK.split(sentence):
        if is_hedged(clause):
            continue
        said = find_scale_words(clause)
        for pole in held:
            words = [other for other in said if other.scale == pole.scale]
            if not words or any(other.level == pole.level for other in words):
                continue
            if _mentions_subject(clause, thought, pole, recalled):
                return words[0].word
    return ""


def _mentions_subject(clause: str, thought: Thought, pole: ScaleWord, recalled: Sequence[Thought]) -> bool:
    spoken = set(extract_terms(clause))
    return any(aspect <= spoken for aspect in _subject_terms(thought, pole, recalled))


def _subject_terms(thought: Thought, pole: ScaleWord, recalled: Sequence[Thought]) -> Iterator[set[str]]:
    """The terms by which a clause may name what the thought is about, a set a name."""
    owners = [
        other.subject
        for other in recalled
        if other.id != thought.id
        and any(normalise_name(name) == normalise_name(thought.subject) for name in other.objects)
    ]
    for words in (thought.subject, thought.object.replace(pole.word, " "), thought.relation, *owners):
        if aspect := set(extract_terms(words)) - _FILLER_TERMS:
            yield aspect


VARIANT_MARGIN = 0.1
"""By how much a variant must be nearer than the thought itself: measured by benchmarks/consistency.py."""
VARIANT_THRESHOLD_SHARE = 0.7
"""Of the similarity between a thought and its nearest variant: the adaptive threshold of Eq. 10."""

EmbedFunction = Callable[[Sequence[str]], "Vector"]


class AnswerTripleReader(Protocol):
    """Words -> triples, and whether two of them can both hold. Recall may not know how thinking reads."""

    def read_answer(self, text: str, query: str, at: datetime) -> list[ThoughtDraft]: ...

    def find_conflict(self, stated: ThoughtDraft, held: ThoughtDraft) -> str: ...

    def find_outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]: ...


@dataclass(frozen=True, slots=True)
class Conflict:
    """One sentence of a draft against one thought; `forbid` are its words that contradict (Eq. 9)."""

    thought: Thought
    sentence: str
    method: CheckMethod
    reason: str
    score: float = 1.0
    threshold: float = 1.0
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckerFactory:
    """What checking needs of the rest of the house."""

    reader: AnswerTripleReader
    embed: EmbedFunction

    def create(
        self, new_turn: NewTurn, recollection: Recollection, recent: Sequence[Turn]
    ) -> ConsistencyChecker | None:
        """A checker of the answers to `said`; None where no recalled thought could be contradicted.

        What the user says now, or said since a thought was made, outranks it: "I moved to Lyon!" may be
        answered with Lyon while the space still holds Paris.
        """
        recalled = [item.thought for item in recollection if item.thought is not None]
        if not recalled:
            return None
        outdated = self.reader.find_outdated(new_turn.query, new_turn.at, recalled)
        for turn in recent:
            older = [thought for thought in recalled if thought.last_turn < turn.id]
            outdated |= self.reader.find_outdated(turn.query, turn.at, older)
        held = [thought for thought in recalled if thought.id not in outdated]
        return ConsistencyChecker(held, self, new_turn) if held else None


class ConsistencyChecker:
    """Checks the sentences of one answer as they come; knows what the answer has stated so far."""

    def __init__(self, thoughts: Sequence[Thought], factory: CheckerFactory, new_turn: NewTurn) -> None:
        self._thoughts = thoughts
        self._reader, self._embed = factory.reader, factory.embed
        self._new_turn = new_turn
        self._vectors: dict[int, Vector] = {}

    def conflicts(self, before: str, sentence: str) -> list[Conflict]:
        """What in `sentence`, said after `before`, contradicts a thought; at most one conflict a thought."""
        if is_question(sentence):
            return []
        stated = self._stated(before, sentence)
        found: list[Conflict] = []
        undecided: list[Thought] = []
        for thought in self._thoughts:
            if conflict := self._by_triples(thought, sentence, stated):
                found.append(conflict)
            elif not any(_same_slot(draft, thought) for draft in stated):
                undecided.append(thought)
        return [*found, *self._by_embedding(undecided, sentence)]

    def sentence_of(self, thought: int) -> str:
        """The words of one of the thoughts this checker holds an answer to."""
        return next(held.sentence for held in self._thoughts if held.id == thought)

    def _stated(self, before: str, sentence: str) -> list[ThoughtDraft]:
        """What this sentence states: one that opens the answer may be a bare reply to the question, and one
        that says "she" is read with what went before.
        """
        at = self._new_turn.at
        if not before.strip():
            return self._reader.read_answer(sentence, self._new_turn.query, at)
        if not _PRONOUN.search(sentence):
            return self._reader.read_answer(sentence, "", at)
        seen = {_triple(draft) for draft in self._reader.read_answer(before, "", at)}
        whole = self._reader.read_answer(before + sentence, "", at)
        return [draft for draft in whole if _triple(draft) not in seen]

    def _by_triples(self, thought: Thought, sentence: str, stated: Sequence[ThoughtDraft]) -> Conflict | None:
        for draft in stated:
            reason = self._reader.find_conflict(draft, thought)
            if reason and not _also_states(sentence, thought, draft):
                forbid = () if draft.negated != thought.negated else self._forbidden(draft.objects)
                return Conflict(thought, sentence.strip(), "triple", reason, forbid=forbid)
        if word := find_opposite_word(sentence, thought, self._thoughts):
            reason = f"{word!r} is the opposite of {thought.object!r}"
            return Conflict(thought, sentence.strip(), "triple", reason, forbid=self._forbidden((word,)))
        return None

    def _by_embedding(self, thoughts: Sequence[Thought], sentence: str) -> Iterator[Conflict]:
        """Eq. 10, for thoughts that share a word with the sentence: any other it does not speak of.

        Nor does it speak against one if it is nearer to what another says: "you live in Lyon" is nothing
        against a sister in Rome, though a variant of that has her live in Lyon.
        """
        spoken = set() if is_hedged(sentence) else set(extract_terms(sentence))
        sharing = [thought for thought in self._thoughts if spoken & set(extract_terms(thought.sentence))]
        near = [thought for thought in sharing if thought in thoughts]
        if not near:
            return
        (said,) = self._embed([_to_third_person(sentence)])
        agreed = max(float(self._variants(thought)[0] @ said) for thought in sharing)
        for thought in near:
            vectors = self._variants(thought)
            to_itself, to_variant = float(vectors[0] @ said), float((vectors[1:] @ said).max())
            threshold = max(
                to_itself + VARIANT_MARGIN, VARIANT_THRESHOLD_SHARE * float((vectors[1:] @ vectors[0]).max())
            )
            if to_variant > max(threshold, agreed):
                reason = "nearer to its negation than to itself"
                yield Conflict(
                    thought, sentence.strip(), "embedding", reason, round(to_variant, 4), round(threshold, 4)
                )

    def _variants(self, thought: Thought) -> Vector:
        """The vectors of a thought and of its negated variants, made once an answer."""
        if thought.id not in self._vectors:
            self._vectors[thought.id] = self._embed(
                [thought.sentence, *negated_variants(thought, self._thoughts)]
            )
        return self._vectors[thought.id]

    def _forbidden(self, objects: Sequence[str]) -> tuple[str, ...]:
        """The words to mask: none that the right answer may need, and no digits, which share their tokens."""
        needed = {word for thought in self._thoughts for word in _split_words(thought.sentence)}
        needed |= set(_split_words(self._new_turn.query))
        return tuple(
            dict.fromkeys(
                word
                for name in objects
                for word in _split_words(name)
                if len(word) > 1 and not any(_may_share_token(word, other) for other in needed)
            )
        )


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def _may_share_token(one: str, other: str) -> bool:
    """Words that begin alike may share the token that would be masked."""
    a, b = one.casefold(), other.casefold()
    return a[:3] == b[:3] or (not a.isascii() and (a in b or b in a))


_WORD = re.compile(r"[^\W\d_]+")
_PRONOUN = re.compile(r"\b(?:he|she|his|her|they|their)\b|[他她它]", re.I)
_NEGATED_BEFORE = re.compile(r"(?:\bnot(?: in| at)?\s+|不[是在]?)\Z", re.I)
_SECOND_PERSON: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\byou(?:'re| are)\b", re.I), "the user is"),
    (re.compile(r"\byour\b", re.I), "the user's"),
    (re.compile(r"\byou\b", re.I), "the user"),
)


def _to_third_person(sentence: str) -> str:
    """As thoughts are said: of the user, in the third person."""
    if detect_language(sentence) == "zh":
        return re.sub("[你您]", "用户", sentence)
    for pattern, other in _SECOND_PERSON:
        sentence = pattern.sub(other, sentence)
    return sentence


def _triple(draft: ThoughtDraft) -> tuple[str, str, tuple[str, ...], bool]:
    return draft.subject, draft.relation, draft.objects, draft.negated


def _same_slot(draft: ThoughtDraft, thought: Thought) -> bool:
    return (draft.subject, draft.relation) == (thought.subject, thought.relation)


def _also_states(sentence: str, thought: Thought, draft: ThoughtDraft) -> bool:
    """Whether a sentence that states another object says the right one, too: "first Paris, now Lyon"."""
    if draft.negated or thought.negated:
        return False
    return any(
        name in sentence and not _NEGATED_BEFORE.search(sentence[: sentence.index(name)])
        for name in thought.objects
    )
