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

from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.query_tense import detect_query_tense
from thinkback.language.questions import AnswerTest, QuestionType, answer_test, classify_question
from thinkback.language.scripts import detect_language
from thinkback.language.sentences import count_words, is_question, shorten, split_chunks
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.recall.outdated import mark_outdated
from thinkback.types import Candidate, Recollection, Ref

_PHRASES = {
    "en": ("I remember:", "I do not know that yet.", "Noted."),
    "zh": ("我记得：", "这个我还不知道。", "记下了。"),
}
MAX_SENTENCES = 5  # that an answer has at most
MAX_CHAT_ANSWER_WORDS = 120  # words of an answer in a chat
MIN_RELATIVE_SCORE = 0.6  # of the best sentence's score, which another one needs to be said as well
MAX_TURN_CHARS = 20_000  # characters of a raw turn
_MAX_SENTENCE_TOKENS = 60  # tokens of a sentence; a longer one is cut at its clauses
_THOUGHT_FACTOR = 1.2  # what being a thought's sentence counts,
_ANSWER_FORM_FACTOR = 1.3  # what saying the kind of thing asked for does,
_WRONG_TENSE_FACTOR = 0.5  # and what being past does, or present where the past is asked for
_ANSWER_PATTERNS: dict[
    QuestionType, re.Pattern[str]
] = {  # looser forms than recall goes by (`text.questions.answers`)
    "where": re.compile(r"\b(?:in|at|to|from|near|on)\b|[在到去往]", re.IGNORECASE),
    "who": re.compile(r"\w [A-Z]|叫|[爸妈哥姐弟妹爷奶叔姨舅姑]"),
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that answers, and the memory it is from."""

    ref: Ref
    text: str


def answer_from_memory(message: str, recollection: Recollection) -> str:
    """What is remembered of it, in the words of memory; a statement is only acknowledged."""
    remembered, unknown, noted = _phrases_for(message)
    if not is_question(message):
        return noted
    lines = [
        f"- {told.text}" for told in select_answer_sentences(message, recollection, MAX_CHAT_ANSWER_WORDS)
    ]
    return "\n".join([remembered, *lines]) if lines else unknown


def unknown_answer(question: str) -> str:
    """That it is not known, in the language of the question."""
    return _phrases_for(question)[1]


def select_answer_sentences(
    question: str, recollection: Recollection, max_words: int
) -> list[AnswerSentence]:
    """The few sentences that answer, best first, in at most so many words; none where it is not known."""
    ranked = sorted(_score_sentences(question, recollection), key=lambda each: -each.score)
    said: list[AnswerSentence] = []
    kept: list[_ScoredSentence] = []
    left = max_words
    near = [each for each in ranked if each.score >= MIN_RELATIVE_SCORE * ranked[0].score]
    for found in near:
        each = next((other for other in near if other.covers(found)), found)
        if len(said) == MAX_SENTENCES:
            break
        if any(each.is_redundant_to(other) for other in kept):
            continue
        short = shorten(each.text, lambda text, left=left: count_words(text) <= left)  # type: ignore[misc]
        if not short or (said and short != each.text):  # only the best is worth a part
            continue
        said.append(AnswerSentence(each.candidate.ref, short))
        kept.append(each)
        left -= count_words(short)
    return said


@dataclass(frozen=True, slots=True)
class _ScoredSentence:
    """One that has to do with the question, and what it says of it."""

    candidate: Candidate
    text: str
    score: float
    terms: frozenset[str]
    answered_terms: frozenset[str]  # of the words that are asked for, and "?" for the kind of thing that is

    @property
    def turns(self) -> frozenset[int]:
        thought = self.candidate.thought
        return frozenset((s.turn for s in thought.sources) if thought else (self.candidate.ref.id,))

    def covers(self, other: _ScoredSentence) -> bool:
        """Whether this is a thought that says all that a raw sentence of its turn says of what is asked."""
        drawn = self.candidate.thought is not None and other.candidate.turn is not None
        return (
            drawn and not self.turns.isdisjoint(other.turns) and other.answered_terms <= self.answered_terms
        )

    def is_redundant_to(self, other: _ScoredSentence) -> bool:
        """Whether it says no more than the other, or of the same turn no more of what is asked."""
        if self.terms <= other.terms:
            return True
        raw = self.candidate.turn is not None or other.candidate.turn is not None
        apart = self.candidate.ref == other.candidate.ref or self.turns.isdisjoint(other.turns)
        return raw and not apart and self.answered_terms <= other.answered_terms


def _score_sentences(question: str, recollection: Recollection) -> Iterator[_ScoredSentence]:
    """Each sentence of the recalled memories that has to do with the question."""
    asked = frozenset(content_terms(question))
    wordings = [frozenset(each) for each in rewrite_question(question)]
    every = asked.union(*wordings)
    fits = answer_test(question) or _answer_matcher(question)
    before = detect_query_tense(question, timed=False, long_ago=False) == "before"
    for item in recollection:
        matters = item.score.total >= recollection.threshold
        for text, past in _statements(item):
            words = frozenset(extract_terms(text))
            match = _overlap(words, asked)
            if wordings:
                match = (match + max(_overlap(words, each) for each in wordings)) / 2
            if not matters and not match:
                continue
            fitting = fits is not None and fits(text)
            score = item.score.total * (0.5 + 0.5 * match) * (1 if past == before else _WRONG_TENSE_FACTOR)
            score *= (_THOUGHT_FACTOR if item.thought else 1) * (_ANSWER_FORM_FACTOR if fitting else 1)
            said = words & every | ({"?"} if fitting else set())
            yield _ScoredSentence(item, text, score, words, said)


def _answer_matcher(question: str) -> AnswerTest | None:
    form = _ANSWER_PATTERNS.get(classify_question(question))
    return None if form is None else lambda text: form.search(text) is not None


def _overlap(words: frozenset[str], wanted: frozenset[str]) -> float:
    return len(words & wanted) / len(wanted) if wanted else 0.0


def _statements(item: Candidate) -> Iterator[tuple[str, bool]]:
    """What a memory states, sentence by sentence, and whether it is past; what only asks answers nothing."""
    turn = item.turn
    if turn is None:
        yield " ".join(item.text.split()), item.outdated is not None
        return
    told = [source for fact in (item.outdated.facts if item.outdated else ()) for source in fact.sources]
    for side in ("query", "response"):
        gone = [each for each in told if each.turn == turn.id and each.side == side]
        for sentence in split_chunks(
            turn.text_of(side)[:MAX_TURN_CHARS], lambda text: count_tokens(text) <= _MAX_SENTENCE_TOKENS
        ):
            if not is_question(sentence.text):
                past = any(each.start < sentence.end and sentence.start < each.end for each in gone)
                text = " ".join(sentence.text.split())
                yield mark_outdated(text, item.outdated) if past else text, past


def _phrases_for(message: str) -> tuple[str, str, str]:
    return _PHRASES["zh" if detect_language(message) == "zh" else "en"]
