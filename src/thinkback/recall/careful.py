"""The best candidates of a search, read together with the question by the cross-encoder.

    place = SEARCH_WEIGHT * logit(total of the search) + READING_WEIGHT * log odds of an answer

The candidates that were read exchange their totals, so that thresholds keep their meaning; what may
answer has a total of at least RELEVANT_TOTAL. All log odds together say how likely the memory bank holds an
answer at all (`Recollection.confidence`): the network is trained to weigh the memories against "none".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import exp, inf, log
from typing import NamedTuple

from thinkback.language.sentences import split_sentences
from thinkback.protocols import CrossEncoder
from thinkback.recall.answerable import AnswerJudge
from thinkback.recall.features import MemoryHit
from thinkback.recall.nearest import is_stored_question
from thinkback.recall.question_classifier import asks_for_memory
from thinkback.recall.search import MAX_PLAIN_ROWS, Search
from thinkback.recall.updates import NewerItem, mark_items
from thinkback.types import SAID, Candidate, Ref, Thought, Turn

SEARCH_WEIGHT, READING_WEIGHT = 1.0, 0.5
MAX_CONTEXT_CHARS = 400  # a sentence kept as said is read with its whole message up to this length
MAX_COMPARED = 8  # items that are compared with each other
MIN_RIVAL_SCORE = -4.0  # log odds of an answer from which an item is compared
MIN_RELEVANT_SCORE = -1.0  # log odds of an answer from which a memory is recalled, whatever search says
MIN_PROBABLE_SCORE = 0.0  # log odds from which a message that only asks is recalled
RELEVANT_TOTAL = 0.3  # the least total of a memory from MIN_RELEVANT_SCORE on
MIN_OUTDATED_SCORE = -1.0  # of a newer message, to mark a message as possibly outdated
MIN_OUTDATED_TRIPLE_SCORE = 1.7  # "we had ramen today" does not replace "my favourite food is sushi"
LIMIT_SHARE_IF_WORDS_FIT = 0.3  # of `Preset.min_confidence`, if words and form of a memory fit
LIMIT_SHARE_IF_STATED = 0.4
"""The same if half of what is read are stated thoughts, by a model or a rule, not the user's own words.

They are short and complete, so that what was told and what was not are further apart: on lives `dev` with a
recorded model, 11 of 16 questions about things never told are below .2, and 2 of 203 others (7 below .5;
counted before the network was continued with dialogues).
"""
_SMALLEST = 1e-6  # of a score, so that its logit is finite


class ReadCandidates(NamedTuple):
    """Candidates with new scores, best first, and the log odds that they answer the query, by reference.

    Without log odds nothing was read: the query asks for nothing that could have been told.

    Attributes:
        confidence: the probability that the memory bank holds an answer.
        words_fit: whether one of them has the words of the question and the form of an answer.
        half_stated: whether at least half of what was read are stated thoughts, not the user's own words.
    """

    hits: list[MemoryHit]
    answers: Mapping[Ref, float]
    confidence: float | None = None
    words_fit: bool = False
    half_stated: bool = False

    @property
    def probable_answers(self) -> frozenset[Ref]:
        """What probably answers the question."""
        return frozenset(ref for ref, score in self.answers.items() if score >= MIN_PROBABLE_SCORE)

    def is_silent(self, search: Search) -> bool:
        """Whether nothing is to be recalled: no answer is likely, and the space is not tiny."""
        if self.confidence is None or search.scorer.space_rows <= MAX_PLAIN_ROWS:
            return False
        return self.confidence < self.confidence_limit(search)

    def confidence_limit(self, search: Search) -> float:
        """The confidence below which nothing is recalled."""
        if self.words_fit:
            share = LIMIT_SHARE_IF_WORDS_FIT
        else:
            share = LIMIT_SHARE_IF_STATED if self.half_stated else 1.0
        return share * search.preset.min_confidence


def read_candidates(search: Search, ranked: Sequence[MemoryHit]) -> ReadCandidates:
    """Score the best `search.preset.read_candidates` of the ranked hits anew."""
    encoder, count = search.query.cross_encoder, search.preset.read_candidates
    wants_answer = search.query.snapshot is None and asks_for_memory(search.query.text)
    if encoder is None or not ranked or not wants_answer:
        return ReadCandidates(list(ranked), {})
    shown = [hit for hit in ranked if not hit.row.withheld_reason]
    texts = {hit.row.ref: _text(search, hit) for hit in shown}
    wanted = list(dict.fromkeys(texts.values()))[:count]
    if not wanted:
        return ReadCandidates(list(ranked), {})
    scores = dict(zip(wanted, encoder.answer_scores(search.query.text, wanted), strict=True))
    read = [hit for hit in shown if texts[hit.row.ref] in scores]
    rest = [hit for hit in ranked if texts.get(hit.row.ref) not in scores]
    answers = {hit.row.ref: scores[texts[hit.row.ref]] for hit in read}
    ordering = _limit_turns(read, answers)
    best_first = sorted(read, key=lambda hit: -_combine(hit.total, ordering[hit.row.ref]))
    totals = sorted((hit.total for hit in read), reverse=True)
    read = []
    for hit, total in zip(best_first, totals, strict=True):
        score = ordering[hit.row.ref]
        least = RELEVANT_TOTAL if score >= MIN_RELEVANT_SCORE else 0.0
        read.append(hit.with_total(max(total, least), f"answers the question: {_sigmoid(score):.2f}"))
    judge = AnswerJudge(search.query.text)
    words_fit = any(judge.match(text) is not None for text in wanted)
    confidence = _sigmoid(log(sum(map(exp, scores.values()))))  # 1 is the weight of "none of them"
    hits = sorted((*read, *rest), key=MemoryHit.sort_key)
    stated = {texts[hit.row.ref] for hit in read if not (hit.row.is_turn or hit.row.is_spoken)}
    return ReadCandidates(hits, answers, confidence, words_fit, 2 * len(stated) >= len(wanted))


def mark_read_updates(
    items: Sequence[Candidate],
    answers: Mapping[Ref, float],
    encoder: CrossEncoder,
    source_turn: Callable[[Candidate], Turn | None],
) -> list[Candidate]:
    """The items with those marked that a newer item makes outdated, as far as both answer the question.

    A message that only asks changes nothing.
    """
    told = [
        _ToldItem(position, turn, *_compared_text(item, turn))
        for position, item in enumerate(items[:MAX_COMPARED])
        if item.outdated is None
        and answers.get(item.ref, -inf) >= MIN_RIVAL_SCORE
        and (turn := source_turn(item)) is not None
    ]
    told.sort(key=lambda each: each.turn.at)
    pairs = [
        (old, new)
        for old, new in combinations(told, 2)
        if old.turn.at < new.turn.at and not _only_asks(new.turn.query)
    ]
    if not pairs:
        return list(items)
    scores = encoder.outdated_scores([(old.text, new.turn.query) for old, new in pairs])
    newest: dict[int, NewerItem] = {}
    for (old, new), score in zip(pairs, scores, strict=True):
        if score >= (MIN_OUTDATED_TRIPLE_SCORE if old.is_triple else MIN_OUTDATED_SCORE):
            # pairs are in order of time, so the newest stays
            newest[old.position] = NewerItem(new.position, new.turn.at)
    return mark_items(items, newest)


def _only_asks(message: str) -> bool:
    return all(is_stored_question(sentence.text) for sentence in split_sentences(message))


def _compared_text(item: Candidate, turn: Turn) -> tuple[str, bool]:
    """What newer messages are compared with: the item's message, or its sentence if that is a triple."""
    thought = item.thought
    is_triple = thought is not None and thought.relation != SAID
    return (thought.sentence if thought is not None and is_triple else turn.query), is_triple


class _ToldItem(NamedTuple):
    """An item of a recollection, the turn it was told in, and what newer messages are compared with."""

    position: int
    turn: Turn
    text: str
    is_triple: bool


def _limit_turns(read: Sequence[MemoryHit], answers: Mapping[Ref, float]) -> dict[Ref, float]:
    """The log odds with those of a turn limited to those of the best current thought drawn from it."""
    limits: dict[Ref, float] = {}
    for hit in read:
        if isinstance(hit.memory, Thought) and hit.memory.current:
            turn = Ref("turn", hit.memory.last_turn)
            limits[turn] = max(limits.get(turn, -inf), answers[hit.row.ref])
    return {ref: min(score, limits.get(ref, inf)) for ref, score in answers.items()}


def _text(search: Search, hit: MemoryHit) -> str:
    """What is read of a memory: the user's words, without the reply."""
    memory = hit.memory
    if isinstance(memory, Turn):
        return memory.query
    if memory.relation == SAID and memory.is_of_one_turn:
        turns = search.loader.turns([memory.last_turn])
        if turns and len(turns[0].query) <= MAX_CONTEXT_CHARS:
            return turns[0].query
    return memory.sentence


def _combine(total: float, score: float) -> float:
    kept = min(max(total, _SMALLEST), 1 - _SMALLEST)
    return SEARCH_WEIGHT * log(kept / (1 - kept)) + READING_WEIGHT * score


def _sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))
