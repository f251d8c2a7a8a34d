"""contradict(w, t) of TiM 001, Eq. 10, checked twice: a sentence of a draft against each recalled thought.

By triples: the sentence states another object of a relation that holds one, denies the thought, or puts its
subject at the other end of a scale. By embeddings: the sentence is nearer to a negated variant of the thought
(`perturb`) than to the thought itself, and nearer than a threshold that adapts to the thought. Where the
triples can read a sentence their verdict stands: small embedders tell a denial badly (decision 0008).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from thinkback.recall.opposites import opposed
from thinkback.recall.perturb import perturb
from thinkback.text.language import language
from thinkback.text.negation import hedged
from thinkback.text.sentences import is_question
from thinkback.text.tokens import terms
from thinkback.types import CheckWay, Draft, Recollection, Said, Thought, Turn

if TYPE_CHECKING:
    from thinkback.types import Vector

MARGIN = 0.1
"""By how much a variant must be nearer than the thought itself: measured by benchmarks/consistency.py."""
SHARE = 0.7
"""Of the similarity between a thought and its nearest variant: the adaptive threshold of Eq. 10."""

Embed = Callable[[Sequence[str]], "Vector"]


class Reader(Protocol):
    """Words -> triples, and whether two of them can both hold. Recall may not know how thinking reads."""

    def answered(self, text: str, query: str, at: datetime) -> list[Draft]: ...

    def conflict(self, stated: Draft, held: Draft) -> str: ...

    def outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]: ...


@dataclass(frozen=True, slots=True)
class Conflict:
    """One sentence of a draft against one thought; `forbid` are its words that contradict (Eq. 9)."""

    thought: Thought
    words: str
    way: CheckWay
    reason: str
    score: float = 1.0
    threshold: float = 1.0
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """What checking needs of the rest of the house."""

    reader: Reader
    embed: Embed

    def of(self, said: Said, recollection: Recollection, recent: Sequence[Turn]) -> Checker | None:
        """A checker of the answers to `said`; None where no recalled thought could be contradicted.

        What the user says now, or said since a thought was made, outranks it: "I moved to Lyon!" may be
        answered with Lyon while the space still holds Paris.
        """
        recalled = [item.thought for item in recollection if item.thought is not None]
        if not recalled:
            return None
        outdated = self.reader.outdated(said.query, said.at, recalled)
        for turn in recent:
            older = [thought for thought in recalled if thought.last_turn < turn.id]
            outdated |= self.reader.outdated(turn.query, turn.at, older)
        held = [thought for thought in recalled if thought.id not in outdated]
        return Checker(held, self, said) if held else None


class Checker:
    """Checks the sentences of one answer as they come; knows what the answer has stated so far."""

    def __init__(self, thoughts: Sequence[Thought], means: Checks, said: Said) -> None:
        self._thoughts = thoughts
        self._reader, self._embed = means.reader, means.embed
        self._said = said
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
            elif not any(_same_claim(draft, thought) for draft in stated):
                undecided.append(thought)
        return [*found, *self._by_embedding(undecided, sentence)]

    def sentence_of(self, thought: int) -> str:
        """The words of one of the thoughts this checker holds an answer to."""
        return next(held.sentence for held in self._thoughts if held.id == thought)

    def _stated(self, before: str, sentence: str) -> list[Draft]:
        """What this sentence states: one that opens the answer may be a bare reply to the question, and one
        that says "she" is read with what went before.
        """
        at = self._said.at
        if not before.strip():
            return self._reader.answered(sentence, self._said.query, at)
        if not _PRONOUN.search(sentence):
            return self._reader.answered(sentence, "", at)
        seen = {_claim(draft) for draft in self._reader.answered(before, "", at)}
        whole = self._reader.answered(before + sentence, "", at)
        return [draft for draft in whole if _claim(draft) not in seen]

    def _by_triples(self, thought: Thought, sentence: str, stated: Sequence[Draft]) -> Conflict | None:
        for draft in stated:
            reason = self._reader.conflict(draft, thought)
            if reason and not _says_too(sentence, thought, draft):
                forbid = () if draft.negated != thought.negated else self._forbidden(draft.objects)
                return Conflict(thought, sentence.strip(), "triple", reason, forbid=forbid)
        if word := opposed(sentence, thought, self._thoughts):
            reason = f"{word!r} is the opposite of {thought.object!r}"
            return Conflict(thought, sentence.strip(), "triple", reason, forbid=self._forbidden((word,)))
        return None

    def _by_embedding(self, thoughts: Sequence[Thought], sentence: str) -> Iterator[Conflict]:
        """Eq. 10, for thoughts that share a word with the sentence: any other it does not speak of.

        Nor does it speak against one if it is nearer to what another says: "you live in Lyon" is nothing
        against a sister in Rome, though a variant of that has her live in Lyon.
        """
        spoken = set() if hedged(sentence) else set(terms(sentence))
        sharing = [thought for thought in self._thoughts if spoken & set(terms(thought.sentence))]
        near = [thought for thought in sharing if thought in thoughts]
        if not near:
            return
        (said,) = self._embed([_of_the_user(sentence)])
        agreed = max(float(self._variants(thought)[0] @ said) for thought in sharing)
        for thought in near:
            vectors = self._variants(thought)
            to_itself, to_variant = float(vectors[0] @ said), float((vectors[1:] @ said).max())
            threshold = max(to_itself + MARGIN, SHARE * float((vectors[1:] @ vectors[0]).max()))
            if to_variant > max(threshold, agreed):
                reason = "nearer to its negation than to itself"
                yield Conflict(
                    thought, sentence.strip(), "embedding", reason, round(to_variant, 4), round(threshold, 4)
                )

    def _variants(self, thought: Thought) -> Vector:
        """The vectors of a thought and of its negated variants, made once an answer."""
        if thought.id not in self._vectors:
            self._vectors[thought.id] = self._embed([thought.sentence, *perturb(thought, self._thoughts)])
        return self._vectors[thought.id]

    def _forbidden(self, objects: Sequence[str]) -> tuple[str, ...]:
        """The words to mask: none that the right answer may need, and no digits, which share their tokens."""
        needed = {word for thought in self._thoughts for word in _words(thought.sentence)}
        needed |= set(_words(self._said.query))
        return tuple(
            dict.fromkeys(
                word
                for name in objects
                for word in _words(name)
                if len(word) > 1 and not any(_alike(word, other) for other in needed)
            )
        )


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _alike(one: str, other: str) -> bool:
    """Words that begin alike may share the token that would be masked."""
    a, b = one.casefold(), other.casefold()
    return a[:3] == b[:3] or (not a.isascii() and (a in b or b in a))


_WORD = re.compile(r"[^\W\d_]+")
_PRONOUN = re.compile(r"\b(?:he|she|his|her|they|their)\b|[他她它]", re.I)
_NOT = re.compile(r"(?:\bnot(?: in| at)?\s+|不[是在]?)\Z", re.I)
_YOU: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\byou(?:'re| are)\b", re.I), "the user is"),
    (re.compile(r"\byour\b", re.I), "the user's"),
    (re.compile(r"\byou\b", re.I), "the user"),
)


def _of_the_user(sentence: str) -> str:
    """As thoughts are said: of the user, in the third person."""
    if language(sentence) == "zh":
        return re.sub("[你您]", "用户", sentence)
    for pattern, other in _YOU:
        sentence = pattern.sub(other, sentence)
    return sentence


def _claim(draft: Draft) -> tuple[str, str, tuple[str, ...], bool]:
    return draft.subject, draft.relation, draft.objects, draft.negated


def _same_claim(draft: Draft, thought: Thought) -> bool:
    return (draft.subject, draft.relation) == (thought.subject, thought.relation)


def _says_too(sentence: str, thought: Thought, draft: Draft) -> bool:
    """Whether a sentence that states another object says the right one, too: "first Paris, now Lyon"."""
    if draft.negated or thought.negated:
        return False
    return any(
        name in sentence and not _NOT.search(sentence[: sentence.index(name)]) for name in thought.objects
    )
