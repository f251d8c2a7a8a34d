"""Answering with no language model at all: the sentences of the memories that answer, and nothing made up.

A sentence counts by its memory's score, by the words of the question it says, and by whether it says what
the question's type asks for: a number for how many, a time for when. A thought's sentence is preferred to raw
words. What comes far behind the best is left out, and what says the same of the same turn again; where
nothing recalled has to do with the question, nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thinkback.recall.past import marked
from thinkback.text.language import language
from thinkback.text.questions.answers import Holds, answers
from thinkback.text.questions.asked_tense import asked_tense
from thinkback.text.questions.asking import asked_for, rewordings
from thinkback.text.questions.question_type import QuestionType, question_type
from thinkback.text.sentences import is_question
from thinkback.text.tokens import count_tokens, terms
from thinkback.text.trim import chunks, count_words, shortened
from thinkback.types import Candidate, Recollection, Ref

_WORDS = {
    "en": ("I remember:", "I do not know that yet.", "Noted."),
    "zh": ("我记得：", "这个我还不知道。", "记下了。"),
}
SENTENCES = 5  # that an answer has at most
LONGEST = 120  # words of an answer in a chat
NEAR = 0.6  # of the best sentence's score, which another one needs to be said as well
LOOKED_AT = 20_000  # characters of a raw turn
_LONG = 60  # tokens of a sentence; a longer one is cut at its clauses
_THOUGHT = 1.2  # what being a thought's sentence counts,
_FITTING = 1.3  # what saying the kind of thing asked for does,
_PAST = 0.5  # and what being past does, or present where the past is asked for
_FITS: dict[QuestionType, re.Pattern[str]] = {  # looser forms than recall goes by (`text.questions.answers`)
    "where": re.compile(r"\b(?:in|at|to|from|near|on)\b|[在到去往]", re.IGNORECASE),
    "who": re.compile(r"\w [A-Z]|叫|[爸妈哥姐弟妹爷奶叔姨舅姑]"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that answers, and the memory it is from."""

    ref: Ref
    text: str


def from_memory(message: str, recollection: Recollection) -> str:
    """What is remembered of it, in the words of memory; a statement is only acknowledged."""
    remembered, unknown, noted = _words(message)
    if not is_question(message):
        return noted
    lines = [f"- {told.text}" for told in answering(message, recollection, LONGEST)]
    return "\n".join([remembered, *lines]) if lines else unknown


def unknown(question: str) -> str:
    """That it is not known, in the language of the question."""
    return _words(question)[1]


def answering(question: str, recollection: Recollection, most: int) -> list[Told]:
    """The few sentences that answer, best first, in at most so many words; none where it is not known."""
    ranked = sorted(_sentences(question, recollection), key=lambda each: -each.score)
    said: list[Told] = []
    kept: list[_Sentence] = []
    left = most
    near = [each for each in ranked if each.score >= NEAR * ranked[0].score]
    for found in near:
        each = next((other for other in near if other.tells(found)), found)
        if len(said) == SENTENCES:
            break
        if any(each.repeats(other) for other in kept):
            continue
        short = shortened(each.text, lambda text, left=left: count_words(text) <= left)  # type: ignore[misc]
        if not short or (said and short != each.text):  # only the best is worth a part
            continue
        said.append(Told(each.item.ref, short))
        kept.append(each)
        left -= count_words(short)
    return said


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One that has to do with the question, and what it says of it."""

    item: Candidate
    text: str
    score: float
    words: frozenset[str]
    answers: frozenset[str]  # of the words that are asked for, and "?" for the kind of thing that is

    @property
    def turns(self) -> frozenset[int]:
        thought = self.item.thought
        return frozenset((s.turn for s in thought.sources) if thought else (self.item.ref.id,))

    def tells(self, other: _Sentence) -> bool:
        """Whether this is a thought that says all that a raw sentence of its turn says of what is asked."""
        drawn = self.item.thought is not None and other.item.turn is not None
        return drawn and not self.turns.isdisjoint(other.turns) and other.answers <= self.answers

    def repeats(self, other: _Sentence) -> bool:
        """Whether it says no more than the other, or of the same turn no more of what is asked."""
        if self.words <= other.words:
            return True
        raw = self.item.turn is not None or other.item.turn is not None
        apart = self.item.ref == other.item.ref or self.turns.isdisjoint(other.turns)
        return raw and not apart and self.answers <= other.answers


def _sentences(question: str, recollection: Recollection) -> Iterator[_Sentence]:
    """Each sentence of the recalled memories that has to do with the question."""
    asked = frozenset(asked_for(question))
    wordings = [frozenset(each) for each in rewordings(question)]
    every = asked.union(*wordings)
    fits = answers(question) or _fits(question)
    before = asked_tense(question, timed=False, long_ago=False) == "before"
    for item in recollection:
        matters = item.score.total >= recollection.threshold
        for text, past in _said(item):
            words = frozenset(terms(text))
            match = _share(words, asked)
            if wordings:
                match = (match + max(_share(words, each) for each in wordings)) / 2
            if not matters and not match:
                continue
            fitting = fits is not None and fits(text)
            score = item.score.total * (0.5 + 0.5 * match) * (1 if past == before else _PAST)
            score *= (_THOUGHT if item.thought else 1) * (_FITTING if fitting else 1)
            said = words & every | ({"?"} if fitting else set())
            yield _Sentence(item, text, score, words, said)


def _fits(question: str) -> Holds | None:
    form = _FITS.get(question_type(question))
    return None if form is None else lambda text: form.search(text) is not None


def _share(words: frozenset[str], wanted: frozenset[str]) -> float:
    return len(words & wanted) / len(wanted) if wanted else 0.0


def _said(item: Candidate) -> Iterator[tuple[str, bool]]:
    """What a memory states, sentence by sentence, and whether it is past; what only asks answers nothing."""
    turn = item.turn
    if turn is None:
        yield " ".join(item.text.split()), item.past is not None
        return
    told = [source for fact in (item.past.facts if item.past else ()) for source in fact.sources]
    for side in ("query", "response"):
        gone = [each for each in told if each.turn == turn.id and each.side == side]
        for sentence in chunks(turn.said(side)[:LOOKED_AT], lambda text: count_tokens(text) <= _LONG):
            if not is_question(sentence.text):
                past = any(each.start < sentence.end and sentence.start < each.end for each in gone)
                text = " ".join(sentence.text.split())
                yield marked(text, item.past) if past else text, past


def _words(message: str) -> tuple[str, str, str]:
    return _WORDS["zh" if language(message) == "zh" else "en"]
