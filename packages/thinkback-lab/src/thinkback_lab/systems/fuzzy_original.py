"""Seed 003's fuzzy retrieval as its authors describe it, its faults kept: to compare with, not to use.

    score = 0.4 keyword overlap + 0.4 shared vocabulary + 0.2 time

- keyword overlap: Jaccard on keywords (words but for stop words), where a word also matches one that it
  contains or that contains it;
- shared vocabulary: "simplified cosine", the words in common over the root of the product of both counts;
- time: 1.0 now, falling in a line to 0.7 a day ago, 0.7 for ever after.

A record counts from 0.3, and there are never more than five. The description leaves open how words are
cleaned (we cut punctuation at their ends), which stop words there are (we list our own), and whether a
partial match counts less than an equal one (here it does not).

Its faults: words are what stands between blanks, so a Chinese sentence is one word, matched whole or by what
it contains; nothing keeps the question from finding itself in the history; and where too few records match,
the oldest are added, matching or not.
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
    """The words of a text, as this algorithm sees them."""

    words: frozenset[str]
    keywords: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Vocabulary:
        words = frozenset(cut for word in text.casefold().split() if (cut := word.strip(_PUNCTUATION)))
        return cls(words, words - STOP_WORDS)


class FuzzyOriginal:
    """Every record is scored for every question."""

    def __init__(self, resources: Resources) -> None:
        self._records: list[tuple[HistoryItem, Vocabulary]] = []

    def tell(self, items: Sequence[HistoryItem]) -> None:
        self._records += ((item, Vocabulary.of(item.text)) for item in items)

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        asked = Vocabulary.of(question)
        scored = [(fuzzy_score(asked, seen, at - item.at), item) for item, seen in self._records]
        most = min(k, MAX_RESULTS)
        chosen = sorted((each for each in scored if each[0] >= THRESHOLD), key=lambda each: -each[0])[:most]
        chosen += [each for each in scored if each[0] < THRESHOLD][: most - len(chosen)]
        return [RetrievedMemory(item.text, (item.id,), points) for points, item in chosen]


def fuzzy_score(asked: Vocabulary, seen: Vocabulary, age: timedelta) -> float:
    """The sum above, 0.14 at the least: time alone gives that much."""
    return (
        KEYWORD_WEIGHT * keyword_overlap(asked.keywords, seen.keywords)
        + VOCABULARY_WEIGHT * shared_vocabulary(asked.words, seen.words)
        + TIME_WEIGHT * time_factor(age)
    )


def keyword_overlap(asked: frozenset[str], seen: frozenset[str]) -> float:
    matched = sum(any(one in other or other in one for other in seen) for one in asked)
    union = len(asked) + len(seen) - matched
    return min(1.0, matched / union) if union else 0.0


def shared_vocabulary(asked: frozenset[str], seen: frozenset[str]) -> float:
    return len(asked & seen) / sqrt(len(asked) * len(seen)) if asked and seen else 0.0


def time_factor(age: timedelta) -> float:
    return 1.0 - (1.0 - _MIN_TIME_FACTOR) * min(max(age / _ONE_DAY, 0.0), 1.0)
