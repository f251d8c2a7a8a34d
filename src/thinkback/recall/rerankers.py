"""Rerankers: alternative scoring of candidates as published in papers, chosen by the preset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import exp, sqrt
from typing import Literal, NamedTuple

from thinkback.errors import InvalidInput
from thinkback.language.tokens import MAX_WORD_CHARACTERS, extract_terms
from thinkback.recall.kinds import memory_kind
from thinkback.recall.query import MemoryLoader, PreparedQuery
from thinkback.types import Kind, Score, Thought, Turn


class RerankCandidate(NamedTuple):
    """A candidate: its memory, how the search scored it, and when it was said."""

    memory: Thought | Turn
    score: Score
    at: datetime

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    @property
    def kind(self) -> Kind:
        """A raw turn whose form does not tell is a piece of dialogue."""
        return memory_kind(self.memory) or "dialogue"


Reranker = Callable[[PreparedQuery, Sequence[RerankCandidate]], Sequence[float]]
"""A new total for each candidate, in their order; 0 for one that is no find."""


def to_rerank_candidates(
    rows: Sequence[tuple[Thought | Turn, Score]], lookup: MemoryLoader
) -> list[RerankCandidate]:
    """Candidates with their times: a thought was said when its last turn was, or noted down without one."""
    said = {memory.id: memory.at for memory, _ in rows if isinstance(memory, Turn)}
    unread = {memory.last_turn for memory, _ in rows if isinstance(memory, Thought)} - said.keys()
    said.update((turn.id, turn.at) for turn in lookup.turns(sorted(unread)))

    def at(memory: Thought | Turn) -> datetime:
        return memory.at if isinstance(memory, Turn) else said.get(memory.last_turn, memory.recorded_at)

    return [RerankCandidate(memory, score, at(memory)) for memory, score in rows]


KEYWORD_WEIGHT, SEMANTIC_WEIGHT, TIME_WEIGHT = 0.4, 0.4, 0.2
_DAY = timedelta(hours=24)
_OLD_TIME_WEIGHT = 0.7
_MIN_PART_LETTERS = 3  # letters of a part
_MAX_PARTIAL_KEYWORDS = (
    64  # keywords of a question that are looked for in part: a long text says enough in whole ones
)


def fuzzy_scores(question: PreparedQuery, rows: Sequence[RerankCandidate]) -> list[float]:
    """The sum above of each."""
    asked = frozenset(extract_terms(question.text))
    parts = _substrings_by_word(sorted(asked))
    return [_fuzzy_score(asked, parts, row, question.now) for row in rows]


def _fuzzy_score(
    asked: frozenset[str], parts: Mapping[str, frozenset[str]], row: RerankCandidate, now: datetime | None
) -> float:
    told = frozenset(extract_terms(row.text))
    return (
        KEYWORD_WEIGHT * _keyword_overlap(asked, parts, told)
        + SEMANTIC_WEIGHT * _shared_vocabulary(asked, told)
        + TIME_WEIGHT * _time_weight(row.at, now)
    )


def _keyword_overlap(
    asked: frozenset[str], parts: Mapping[str, frozenset[str]], told: frozenset[str]
) -> float:
    matched = len(asked & told)
    others = [(word, inside) for word, inside in parts.items() if word not in told]
    if others:
        words = f" {' '.join(word for word in told if _has_parts(word))} "
        matched += sum(word in words or not inside.isdisjoint(told) for word, inside in others)
    union = len(asked) + len(told) - matched
    return min(1.0, matched / union) if union else 0.0


def _shared_vocabulary(asked: frozenset[str], told: frozenset[str]) -> float:
    return len(asked & told) / sqrt(len(asked) * len(told)) if asked and told else 0.0


def _time_weight(at: datetime, now: datetime | None) -> float:
    """Where it is not known when the question is asked, nothing is recent."""
    age = 1.0 if now is None else min(max((now - at) / _DAY, 0.0), 1.0)
    return 1.0 - (1.0 - _OLD_TIME_WEIGHT) * age


def _substrings_by_word(asked: Iterable[str]) -> dict[str, frozenset[str]]:
    """The keywords that may match in part, each with every shorter word that it contains."""
    words = [word for word in asked if _has_parts(word)][:_MAX_PARTIAL_KEYWORDS]
    return {word: frozenset(_substrings(word)) for word in words}


def _has_parts(word: str) -> bool:
    return word.isascii() and word.isalpha() and _MIN_PART_LETTERS <= len(word) <= MAX_WORD_CHARACTERS


def _substrings(word: str) -> Iterable[str]:
    for start in range(len(word)):
        for end in range(start + _MIN_PART_LETTERS, len(word) + 1):
            yield word[start:end]


ALPHA = BETA = 0.5

MemoryHalf = Literal["semantic", "episodic"]
_HALF_OF_KIND: dict[Kind, MemoryHalf] = {
    "profile": "semantic",
    "relationship": "semantic",
    "knowledge": "semantic",
    "event": "episodic",
    "dialogue": "episodic",
}


def perltqa_scores(question: PreparedQuery, rows: Sequence[RerankCandidate]) -> list[float]:
    """Of each half the k best by s, scored by the equation; 0 for the others, and for what no word led to."""
    likely = _half_probabilities(question.kind_probabilities)
    scored = [0.0] * len(rows)
    places = sorted(range(len(rows)), key=lambda place: -rows[place].score.total)  # stable
    left: dict[MemoryHalf, int] = {"semantic": question.k, "episodic": question.k}
    for place in places:
        row = rows[place]
        half = _HALF_OF_KIND[row.kind]
        if left[half] and row.score.total > 0:
            left[half] -= 1
            scored[place] = ALPHA * likely[half] + BETA * _sigmoid(row.score.total)
    return scored


def _half_probabilities(kinds: Mapping[Kind, float]) -> dict[MemoryHalf, float]:
    if not kinds:
        return {"semantic": 0.5, "episodic": 0.5}
    summed: dict[MemoryHalf, float] = {"semantic": 0.0, "episodic": 0.0}
    for kind, probability in kinds.items():
        summed[_HALF_OF_KIND[kind]] += probability
    return summed


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))


__all__ = ["Reranker", "RerankCandidate", "get_reranker", "to_rerank_candidates"]

_RERANKERS: dict[str, Reranker] = {"fuzzy": fuzzy_scores, "perltqa": perltqa_scores}


def get_reranker(name: str) -> Reranker:
    if name not in _RERANKERS:
        raise InvalidInput(f"nothing reranks by {name!r}: choose from {', '.join(sorted(_RERANKERS))}")
    return _RERANKERS[name]
