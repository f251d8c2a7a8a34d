"""Detects sentences of an answer that contradict recalled thoughts: contradict(w, t) of TiM (ACL), Eq. 10.

Two methods. By triples: the sentence states another object of a relation that has only one, denies the
thought, or uses the opposite of its value. By embeddings: the sentence is nearer to a negated variant of the
thought than to the thought, and nearer than a threshold that adapts to the thought. If triples can be read
from a sentence, they decide: small embedders are bad at negation (docs/decisions/0008).
"""

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
from thinkback.language.sentences import is_question
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import detect_language
from thinkback.types import CheckMethod, NewTurn, Recollection, Thought, ThoughtDraft, Turn

if TYPE_CHECKING:
    from thinkback.types import Vector


def negated_variants(thought: Thought, others: Iterable[Thought] = ()) -> tuple[str, ...]:
    """Sentences that cannot be true together with a thought (perturb, TiM (ACL), Eq. 11).

    Not (s, r, o); (s, r, not o); (s, not r, o). The paper negates the subject in the third variant, but that
    somebody else lives in Lyon contradicts nothing; we invert the relation instead (likes, hates). Other
    objects of the same relation are taken from `others`.
    """
    sentence = thought.sentence
    if thought.negated:
        return (negate(sentence),)
    variants = (negate(sentence), _with_other_object(thought, others), invert_relation(sentence))
    return tuple(dict.fromkeys(variant for variant in variants if variant != sentence))


def _with_other_object(thought: Thought, others: Iterable[Thought]) -> str:
    """The sentence with the opposite object, or an object of another thought; unchanged if there is neither.

    A placeholder ("lives somewhere else") would be near to every sentence of the kind, including true ones.
    """
    inverted = replace_with_opposite(thought.sentence)
    if inverted != thought.sentence:
        return inverted
    own_objects = {name.casefold() for name in thought.objects}
    other_objects = (
        name
        for other in others
        if other.relation == thought.relation and other.id != thought.id and not other.negated
        for name in other.objects
        if name.casefold() not in own_objects
    )
    replacement = next(other_objects, "")
    return thought.sentence.replace(thought.objects[0], replacement, 1) if replacement else thought.sentence


_CLAUSE_BREAK = re.compile(r"[,;:，；：、。]|\s(?:and|but|while|whereas|although|though)\s|[但而]是?", re.I)
_FILLER_TERMS = frozenset(
    extract_terms("value level result reading relatively very quite rather slightly user test number")
)


def find_opposite_word(sentence: str, thought: Thought, recalled: Sequence[Thought]) -> str:
    """The word of the sentence with the opposite meaning of the thought's object ("high", "low"); else "".

    The clause may name the subject through its value: (white blood cell count, is, 3623.20/ul) and
    (3623.20/ul, is, a relatively high value) together say that the count is high (TiM (ACL), table 5).
    """
    own_words = [] if thought.negated else find_scale_words(thought.object)
    if not own_words:
        return ""
    for clause in _CLAUSE_BREAK.split(sentence):
        if is_hedged(clause):
            continue
        clause_words = find_scale_words(clause)
        for own in own_words:
            same_scale = [other for other in clause_words if other.scale == own.scale]
            if not same_scale or any(other.level == own.level for other in same_scale):
                continue
            if _mentions_subject(clause, thought, own, recalled):
                return same_scale[0].word
    return ""


def _mentions_subject(
    clause: str, thought: Thought, scale_word: ScaleWord, recalled: Sequence[Thought]
) -> bool:
    clause_terms = set(extract_terms(clause))
    return any(terms <= clause_terms for terms in _subject_terms(thought, scale_word, recalled))


def _subject_terms(
    thought: Thought, scale_word: ScaleWord, recalled: Sequence[Thought]
) -> Iterator[set[str]]:
    """Sets of terms by which a clause may name the subject of a thought."""
    owners = [
        other.subject
        for other in recalled
        if other.id != thought.id
        and any(normalise_name(name) == normalise_name(thought.subject) for name in other.objects)
    ]
    for words in (thought.subject, thought.object.replace(scale_word.word, " "), thought.relation, *owners):
        if terms := set(extract_terms(words)) - _FILLER_TERMS:
            yield terms


VARIANT_MARGIN = 0.1
"""How much nearer a variant must be than the thought itself (measured by benchmarks/consistency.py)."""
VARIANT_THRESHOLD_SHARE = 0.7
"""The adaptive threshold of Eq. 10: a share of the similarity between a thought and its nearest variant."""

EmbedFunction = Callable[[Sequence[str]], "Vector"]


class AnswerTripleReader(Protocol):
    """Reads triples from answers and compares them. Implemented in `think`, which recall must not import."""

    def read_answer(self, text: str, query: str, at: datetime) -> list[ThoughtDraft]: ...

    def find_conflict(self, stated: ThoughtDraft, held: ThoughtDraft) -> str: ...

    def find_outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]: ...


@dataclass(frozen=True, slots=True)
class Conflict:
    """A sentence that contradicts a thought. `forbid` are the contradicting words, to be masked (Eq. 9)."""

    thought: Thought
    sentence: str
    method: CheckMethod
    reason: str
    score: float = 1.0
    threshold: float = 1.0
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckerFactory:
    """Creates the checker for an answer."""

    reader: AnswerTripleReader
    embed: EmbedFunction

    def create(
        self, new_turn: NewTurn, recollection: Recollection, recent: Sequence[Turn]
    ) -> ConsistencyChecker | None:
        """The checker for answers to `new_turn`; None if no recalled thought could be contradicted.

        What the user said after a thought was formed takes precedence: "I moved to Lyon!" may be answered
        with Lyon while the space still says Paris.
        """
        recalled = [item.thought for item in recollection if item.thought is not None]
        if not recalled:
            return None
        outdated = self.reader.find_outdated(new_turn.query, new_turn.at, recalled)
        for turn in recent:
            older = [thought for thought in recalled if thought.last_turn < turn.id]
            outdated |= self.reader.find_outdated(turn.query, turn.at, older)
        current = [thought for thought in recalled if thought.id not in outdated]
        return ConsistencyChecker(current, self, new_turn) if current else None


class ConsistencyChecker:
    """Checks the sentences of one answer."""

    def __init__(self, thoughts: Sequence[Thought], factory: CheckerFactory, new_turn: NewTurn) -> None:
        self._thoughts = thoughts
        self._reader, self._embed = factory.reader, factory.embed
        self._new_turn = new_turn
        self._vectors: dict[int, Vector] = {}

    def conflicts(self, before: str, sentence: str) -> list[Conflict]:
        """The contradictions in `sentence`, which follows the text `before`; at most one for each thought."""
        if is_question(sentence):
            return []
        stated = self._stated(before, sentence)
        conflicts: list[Conflict] = []
        undecided: list[Thought] = []
        for thought in self._thoughts:
            if conflict := self._by_triples(thought, sentence, stated):
                conflicts.append(conflict)
            elif not any(_same_slot(draft, thought) for draft in stated):
                undecided.append(thought)
        return [*conflicts, *self._by_embedding(undecided, sentence)]

    def sentence_of(self, thought: int) -> str:
        """The sentence of one of the checked thoughts."""
        return next(candidate.sentence for candidate in self._thoughts if candidate.id == thought)

    def _stated(self, before: str, sentence: str) -> list[ThoughtDraft]:
        """The triples that this sentence states.

        The first sentence may be a bare reply to the question; a sentence with a pronoun is read with the
        text before it.
        """
        at = self._new_turn.at
        if not before.strip():
            return self._reader.read_answer(sentence, self._new_turn.query, at)
        if not _PRONOUN.search(sentence):
            return self._reader.read_answer(sentence, "", at)
        known = {_triple(draft) for draft in self._reader.read_answer(before, "", at)}
        whole = self._reader.read_answer(before + sentence, "", at)
        return [draft for draft in whole if _triple(draft) not in known]

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
        """Eq. 10, for thoughts that share a word with the sentence.

        There is no conflict if the sentence is nearer to what another thought says: "you live in Lyon" does
        not contradict a sister in Rome, although a variant of that thought has her live in Lyon.
        """
        terms = set() if is_hedged(sentence) else set(extract_terms(sentence))
        related = [thought for thought in self._thoughts if terms & set(extract_terms(thought.sentence))]
        candidates = [thought for thought in related if thought in thoughts]
        if not candidates:
            return
        (vector,) = self._embed([_to_third_person(sentence)])
        best_agreement = max(float(self._variants(thought)[0] @ vector) for thought in related)
        for thought in candidates:
            vectors = self._variants(thought)
            to_itself, to_variant = float(vectors[0] @ vector), float((vectors[1:] @ vector).max())
            threshold = max(
                to_itself + VARIANT_MARGIN, VARIANT_THRESHOLD_SHARE * float((vectors[1:] @ vectors[0]).max())
            )
            if to_variant > max(threshold, best_agreement):
                reason = "nearer to its negation than to itself"
                yield Conflict(
                    thought, sentence.strip(), "embedding", reason, round(to_variant, 4), round(threshold, 4)
                )

    def _variants(self, thought: Thought) -> Vector:
        """The vectors of a thought and its negated variants, computed once per answer."""
        if thought.id not in self._vectors:
            self._vectors[thought.id] = self._embed(
                [thought.sentence, *negated_variants(thought, self._thoughts)]
            )
        return self._vectors[thought.id]

    def _forbidden(self, objects: Sequence[str]) -> tuple[str, ...]:
        """The words to mask.

        Not words that the right answer may need, and not digits, which share their tokens with other numbers.
        """
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
    """Words with the same beginning may share the token that would be masked."""
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
    """The sentence about "the user", as thoughts are phrased."""
    if detect_language(sentence) == "zh":
        return re.sub("[你您]", "用户", sentence)
    for pattern, replacement in _SECOND_PERSON:
        sentence = pattern.sub(replacement, sentence)
    return sentence


def _triple(draft: ThoughtDraft) -> tuple[str, str, tuple[str, ...], bool]:
    return draft.subject, draft.relation, draft.objects, draft.negated


def _same_slot(draft: ThoughtDraft, thought: Thought) -> bool:
    return (draft.subject, draft.relation) == (thought.subject, thought.relation)


def _also_states(sentence: str, thought: Thought, draft: ThoughtDraft) -> bool:
    """Whether a sentence with another object also says the right one: "first Paris, now Lyon"."""
    if draft.negated or thought.negated:
        return False
    return any(
        name in sentence and not _NEGATED_BEFORE.search(sentence[: sentence.index(name)])
        for name in thought.objects
    )
