"""Rerankers: scoring of candidates as in two papers, chosen by the preset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import exp, sqrt
from typing import Literal, NamedTuple

from thinkback.errors import InvalidInput
from thinkback.language.tokens import MAX_WORD_CHARACTERS, extract_terms
from thinkback.recall.kind_classifier import memory_kind
from thinkback.recall.query import MemoryLoader, PreparedQuery
from thinkback.types import Kind, Score, Thought, Turn


class RerankCandidate(NamedTuple):
    """A candidate: its memory, its score in the search, and when it was said."""

    memory: Thought | Turn
    score: Score
    at: datetime

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    @property
    def kind(self) -> Kind:
        """The kind of the memory; a turn of unknown kind is dialogue."""
        return memory_kind(self.memory) or "dialogue"


Reranker = Callable[[PreparedQuery, Sequence[RerankCandidate]], Sequence[float]]
"""A new score for each candidate, in the same order; 0 drops a candidate."""


def to_rerank_candidates(
    rows: Sequence[tuple[Thought | Turn, Score]], loader: MemoryLoader
) -> list[RerankCandidate]:
    """Add times: a thought was said in its last source turn, or else when it was recorded."""
    time_of_turn = {memory.id: memory.at for memory, _ in rows if isinstance(memory, Turn)}
    missing = {memory.last_turn for memory, _ in rows if isinstance(memory, Thought)} - time_of_turn.keys()
    time_of_turn.update((turn.id, turn.at) for turn in loader.turns(sorted(missing)))

    def time_of(memory: Thought | Turn) -> datetime:
        return (
            memory.at if isinstance(memory, Turn) else time_of_turn.get(memory.last_turn, memory.recorded_at)
        )

    return [RerankCandidate(memory, score, time_of(memory)) for memory, score in rows]


KEYWORD_WEIGHT, SEMANTIC_WEIGHT, TIME_WEIGHT = 0.4, 0.4, 0.2
_DAY = timedelta(hours=24)
_OLD_TIME_WEIGHT = 0.7
_MIN_PART_LETTERS = 3  # of a partial match
_MAX_PARTIAL_KEYWORDS = 64  # of the query; a long text has enough whole words


def fuzzy_scores(query: PreparedQuery, candidates: Sequence[RerankCandidate]) -> list[float]:
    """Fuzzy retrieval of llm-dialogue-simulation, without its faults.

        score = 0.4 keyword overlap + 0.4 semantic similarity + 0.2 time

    Keyword overlap is the Jaccard index of the keywords; a word also matches a word that contains it.
    Semantic similarity is the "simplified cosine" of the project: common keywords divided by the root of the
    product of both counts. It is not the cosine of the embedder: the threshold of 0.3 is meant for this
    measure, and 0.45, the usual cosine of any two Chinese sentences in MiniLM, would exceed it. Time is 1.0
    now and falls linearly to 0.7 after a day. Threshold and limit (5) are in the preset.

    Faults of the original that are avoided: it treats a Chinese sentence as one word (keywords here are
    search terms: English stems, Chinese characters and pairs); it finds the question itself in the history
    and fills up with the oldest records (`recall.selection` drops repetitions and leaves slots empty); words
    of one or two letters are part of half the dictionary (partial matches need three letters, and numbers
    never match in part). The project leaves open what a partial match counts; here it counts as a full one.
    """
    keywords = frozenset(extract_terms(query.text))
    substrings = _substrings_by_word(sorted(keywords))
    return [_fuzzy_score(keywords, substrings, candidate, query.now) for candidate in candidates]


def _fuzzy_score(
    keywords: frozenset[str],
    substrings: Mapping[str, frozenset[str]],
    candidate: RerankCandidate,
    now: datetime | None,
) -> float:
    words = frozenset(extract_terms(candidate.text))
    return (
        KEYWORD_WEIGHT * _keyword_overlap(keywords, substrings, words)
        + SEMANTIC_WEIGHT * _shared_vocabulary(keywords, words)
        + TIME_WEIGHT * _time_weight(candidate.at, now)
    )


def _keyword_overlap(
    keywords: frozenset[str], substrings: Mapping[str, frozenset[str]], words: frozenset[str]
) -> float:
    matched = len(keywords & words)
    unmatched = [(word, parts) for word, parts in substrings.items() if word not in words]
    if unmatched:
        long_words = f" {' '.join(word for word in words if _has_parts(word))} "
        matched += sum(word in long_words or not parts.isdisjoint(words) for word, parts in unmatched)
    union = len(keywords) + len(words) - matched
    return min(1.0, matched / union) if union else 0.0


def _shared_vocabulary(keywords: frozenset[str], words: frozenset[str]) -> float:
    return len(keywords & words) / sqrt(len(keywords) * len(words)) if keywords and words else 0.0


def _time_weight(at: datetime, now: datetime | None) -> float:
    """1.0 now, falling to 0.7 after a day; 0.7 if the time of the query is unknown."""
    age = 1.0 if now is None else min(max((now - at) / _DAY, 0.0), 1.0)
    return 1.0 - (1.0 - _OLD_TIME_WEIGHT) * age


def _substrings_by_word(keywords: Iterable[str]) -> dict[str, frozenset[str]]:
    """The keywords that may match in part, each with all shorter words it contains."""
    words = [word for word in keywords if _has_parts(word)][:_MAX_PARTIAL_KEYWORDS]
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


def perltqa_scores(query: PreparedQuery, candidates: Sequence[RerankCandidate]) -> list[float]:
    """Re-ranking by memory classification (PerLTQA, section 3.4 and A.4).

    Eq. 1 classifies the query (`kind_probabilities`, uniform if unknown). Eq. 2 retrieves k memories of each
    class, semantic and episodic. Eq. 3 ranks them:

        s' = 0.5 P(class of the memory | query) + 0.5 sigmoid(s)

    The classes of the paper are the two halves, so P of a half is the sum over its kinds. s is the score of
    the preset, in `perltqa` BM25 as a share of the query's information. The BM25 of the paper is unbounded;
    this one is below 1 and changes s' by an eighth at most: a confident classification decides between the
    halves, words decide within them.

    Candidates beyond the k best of their class, or without a common word, get 0.
    """
    probability = _half_probabilities(query.kind_probabilities)
    scores = [0.0] * len(candidates)
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].score.total)  # stable
    left: dict[MemoryHalf, int] = {"semantic": query.k, "episodic": query.k}
    for index in order:
        candidate = candidates[index]
        half = _HALF_OF_KIND[candidate.kind]
        if left[half] and candidate.score.total > 0:
            left[half] -= 1
            scores[index] = ALPHA * probability[half] + BETA * _sigmoid(candidate.score.total)
    return scores


def _half_probabilities(kinds: Mapping[Kind, float]) -> dict[MemoryHalf, float]:
    if not kinds:
        return {"semantic": 0.5, "episodic": 0.5}
    summed: dict[MemoryHalf, float] = {"semantic": 0.0, "episodic": 0.0}
    for kind, probability in kinds.items():
        summed[_HALF_OF_KIND[kind]] += probability
    return summed


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))


_RERANKERS: dict[str, Reranker] = {"fuzzy": fuzzy_scores, "perltqa": perltqa_scores}


def get_reranker(name: str) -> Reranker:
    """The reranker with this name.

    Raises:
        InvalidInput: if there is none.
    """
    if name not in _RERANKERS:
        raise InvalidInput(f"unknown reranker {name!r}: choose from {', '.join(sorted(_RERANKERS))}")
    return _RERANKERS[name]
