"""Fuzzy retrieval of llm-dialogue-simulation as its authors describe it, with its faults: for comparison
only.

  score = 0.4 keyword overlap + 0.4 shared vocabulary + 0.2 time

- keyword overlap: Jaccard index of the keywords (words without stop words); words also match if one contains
  the other;
- shared vocabulary: "simplified cosine", common words divided by the root of the product of both counts;
- time: 1.0 now, falling linearly to 0.7 after a day, and 0.7 from then on.

The threshold is 0.3, with at most five results. The description leaves open how words are cleaned (we strip
punctuation), the stop words (our own list), and the weight of partial matches (the same as of equal words).

Faults: words are separated by spaces, so a Chinese sentence is one word; the question may find itself in the
history; and if too few records match, the oldest ones are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt

from thinkback_lab.cases import HistoryItem
from thinkback_lab.systems.interface import Resources, RetrievedMemory

KEYWORD_WEIGHT, VOCABULARY_WEIGHT, TIME_WEIGHT = 0.4, 0.4, 0.2
THRESHOLD = 0.3
MAX_RESULTS = 5
_ONE_DAY = timedelta(hours=24)
_MIN_TIME_FACTOR = 0.7
_PUNCTUATION = ".,;:!?\"'()[]{}<>…—-“”‘’。，；：！？、（）《》「」"
_STOP_WORD_LIST = """
a an and are as at be but by can did do does for from had has have how i if in is it its me my of on or our
she he so that the their them then there these they this to was we were what when where which who why will
with would you your 的 了 是 在 我 你 他 她 它 们 这 那 和 与 也 都 就 吗 呢 吧 啊 什么 怎么
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words and keywords of a text."""

    words: frozenset[str]
    keywords: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Vocabulary:
        words = frozenset(cut for word in text.casefold().split() if (cut := word.strip(_PUNCTUATION)))
        return cls(words, words - STOP_WORDS)


class FuzzyOriginal:
    """Scores every record for every question."""

    def __init__(self, resources: Resources) -> None:
        self._records: list[tuple[HistoryItem, Vocabulary]] = []

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._records += ((item, Vocabulary.of(item.text)) for item in items)

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        query = Vocabulary.of(question)
        scored = [(fuzzy_score(query, vocabulary, at - item.at), item) for item, vocabulary in self._records]
        limit = min(k, MAX_RESULTS)
        selected = sorted((each for each in scored if each[0] >= THRESHOLD), key=lambda each: -each[0])[
            :limit
        ]
        selected += [each for each in scored if each[0] < THRESHOLD][: limit - len(selected)]
        return [RetrievedMemory(item.text, (item.id,), points) for points, item in selected]


def fuzzy_score(query: Vocabulary, record: Vocabulary, age: timedelta) -> float:
    """Weighted sum of the three parts; at least 0.14 from time alone."""
    return (
        KEYWORD_WEIGHT * keyword_overlap(query.keywords, record.keywords)
        + VOCABULARY_WEIGHT * shared_vocabulary(query.words, record.words)
        + TIME_WEIGHT * time_factor(age)
    )


def keyword_overlap(query: frozenset[str], record: frozenset[str]) -> float:
    matched = sum(any(one in other or other in one for other in record) for one in query)
    union = len(query) + len(record) - matched
    return min(1.0, matched / union) if union else 0.0


def shared_vocabulary(query: frozenset[str], record: frozenset[str]) -> float:
    return len(query & record) / sqrt(len(query) * len(record)) if query and record else 0.0


def time_factor(age: timedelta) -> float:
    return 1.0 - (1.0 - _MIN_TIME_FACTOR) * min(max(age / _ONE_DAY, 0.0), 1.0)
