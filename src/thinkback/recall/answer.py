"""Answers without a language model: the sentences of recalled memories that answer the question.

A sentence is scored by the score of its memory, the words it shares with the question, and whether it has the
form of an answer (a number for "how many", a time for "when"). Sentences of thoughts are preferred to raw
ones. Redundant sentences and those far behind the best one are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thinkback.language.clauses import telling_clauses
from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.query_tense import detect_query_tense
from thinkback.language.questions import AnswerTest, QuestionType, answer_test, classify_question
from thinkback.language.sentences import count_words, is_question, shorten, split_chunks
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.recall.chat_phrases import say
from thinkback.recall.outdated import mark_outdated
from thinkback.types import Candidate, Recollection, Ref, Side, Thought

MAX_SENTENCES = 5  # in an answer
MAX_CHAT_ANSWER_WORDS = 120
MIN_RELATIVE_SCORE = 0.6  # a sentence needs this share of the best score
MAX_TURN_CHARS = 20_000  # of one side of a turn
_MAX_SENTENCE_TOKENS = 60  # longer sentences are cut at their clauses
_THOUGHT_FACTOR = 1.2  # score factor for a sentence of a thought
_ANSWER_FORM_FACTOR = 1.3  # score factor for the form of an answer
# score factor for an outdated sentence, or a current one if the question is about the past
_WRONG_TENSE_FACTOR = 0.5
# Looser than the forms that recall uses (`language.questions.answer_test`)
_ANSWER_PATTERNS: dict[QuestionType, re.Pattern[str]] = {
    "where": re.compile(r"\b(?:in|at|to|from|near|on)\b|[在到去往]", re.IGNORECASE),
    "who": re.compile(r"\w [A-Z]|叫|[爸妈哥姐弟妹爷奶叔姨舅姑]"),
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer and the memory it comes from."""

    ref: Ref
    text: str


def unknown_answer(question: str) -> str:
    """ "You have not told me that.", in the language of the question."""
    return say("not_told", question)


def select_answer_sentences(
    question: str, recollection: Recollection, max_words: int
) -> list[AnswerSentence]:
    """The sentences that answer the question, best first; empty if none does."""
    ranked = sorted(score_sentences(question, recollection), key=lambda sentence: -sentence.score)
    selected: list[AnswerSentence] = []
    used: list[ScoredSentence] = []
    words_left = max_words
    contenders = [sentence for sentence in ranked if sentence.score >= MIN_RELATIVE_SCORE * ranked[0].score]
    for contender in contenders:
        sentence = next((other for other in contenders if other.covers(contender)), contender)
        if len(selected) == MAX_SENTENCES:
            break
        if any(sentence.is_redundant_to(other) for other in used):
            continue
        short = shorten(sentence.text, lambda text, limit=words_left: count_words(text) <= limit)  # type: ignore[misc]
        if not short or (selected and short != sentence.text):  # only the best one may be shortened
            continue
        selected.append(AnswerSentence(sentence.candidate.ref, short))
        used.append(sentence)
        words_left -= count_words(short)
    return selected


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence with its score.

    `answered_terms` are the words it shares with the question, and "?" if it has the form of an answer.
    """

    candidate: Candidate
    text: str
    score: float
    terms: frozenset[str]
    answered_terms: frozenset[str]

    @property
    def thought(self) -> Thought | None:
        """The thought that says it: an item may state several. None for a raw turn."""
        thoughts = self.candidate.thoughts
        return next((each for each in thoughts if each.sentence == self.text), self.candidate.thought)

    @property
    def ref(self) -> Ref:
        """The memory that says it."""
        return self.candidate.ref if self.thought is None else self.thought.ref

    @property
    def said_in(self) -> int:
        """The turn that says it; the last one for a thought."""
        return self.ref.id if self.thought is None else self.thought.last_turn

    @property
    def turns(self) -> frozenset[int]:
        thought = self.thought
        return frozenset((s.turn for s in thought.sources) if thought else (self.candidate.ref.id,))

    def covers(self, other: ScoredSentence) -> bool:
        """Whether this is a thought that answers everything that a raw sentence of its turn answers."""
        thought_and_turn = self.candidate.thought is not None and other.candidate.turn is not None
        return (
            thought_and_turn
            and not self.turns.isdisjoint(other.turns)
            and other.answered_terms <= self.answered_terms
        )

    def is_redundant_to(self, other: ScoredSentence) -> bool:
        """Whether this adds no words, or, for the same turn, no answered terms."""
        if self.terms <= other.terms:
            return True
        involves_turn = self.candidate.turn is not None or other.candidate.turn is not None
        unrelated = self.candidate.ref == other.candidate.ref or self.turns.isdisjoint(other.turns)
        return involves_turn and not unrelated and self.answered_terms <= other.answered_terms


def score_sentences(
    question: str, recollection: Recollection, sides: Sequence[Side] = ("query", "response")
) -> Iterator[ScoredSentence]:
    """Score each sentence of the recalled memories that is related to the question.

    `sides` are the sides of raw turns that may be used.
    """
    question_terms = frozenset(content_terms(question))
    phrasings = [frozenset(phrasing) for phrasing in rewrite_question(question)]
    all_terms = question_terms.union(*phrasings)
    is_answer = answer_test(question) or _answer_matcher(question)
    about_past = detect_query_tense(question, timed=False, long_ago=False) == "before"
    for item in recollection:
        relevant = item.score.total >= recollection.threshold
        for text, outdated in _statements(item, sides):
            terms = frozenset(extract_terms(text))
            match = _overlap(terms, question_terms)
            if phrasings:
                match = (match + max(_overlap(terms, phrasing) for phrasing in phrasings)) / 2
            if not relevant and not match:
                continue
            has_answer_form = is_answer is not None and is_answer(text)
            score = (
                item.score.total
                * (0.5 + 0.5 * match)
                * (1 if outdated == about_past else _WRONG_TENSE_FACTOR)
            )
            score *= (_THOUGHT_FACTOR if item.thought else 1) * (
                _ANSWER_FORM_FACTOR if has_answer_form else 1
            )
            answered = terms & all_terms | ({"?"} if has_answer_form else set())
            yield ScoredSentence(item, text, score, terms, answered)


def _answer_matcher(question: str) -> AnswerTest | None:
    form = _ANSWER_PATTERNS.get(classify_question(question))
    return None if form is None else lambda text: form.search(text) is not None


def _overlap(words: frozenset[str], wanted: frozenset[str]) -> float:
    return len(words & wanted) / len(wanted) if wanted else 0.0


def _statements(item: Candidate, sides: Sequence[Side]) -> Iterator[tuple[str, bool]]:
    """The statements of a memory and whether each is outdated; of questions, what they tell besides."""
    turn = item.turn
    if turn is None:
        texts = [item.text] if item.outdated else [thought.sentence for thought in item.thoughts]
        for statement in texts or [item.text]:
            yield " ".join(statement.split()), item.outdated is not None
        return
    outdated_sources = [
        source for fact in (item.outdated.facts if item.outdated else ()) for source in fact.sources
    ]
    for side in sides:
        outdated_spans = [
            source for source in outdated_sources if source.turn == turn.id and source.side == side
        ]
        for sentence in split_chunks(
            turn.text_of(side)[:MAX_TURN_CHARS], lambda text: count_tokens(text) <= _MAX_SENTENCE_TOKENS
        ):
            outdated = any(
                source.start < sentence.end and sentence.start < source.end for source in outdated_spans
            )
            asks = is_question(sentence.text)
            for stated in telling_clauses(sentence.text) if asks else [sentence]:
                text = " ".join(stated.text.split())
                yield mark_outdated(text, item.outdated) if outdated else text, outdated
