"""Fuzzy retrieval as seed 003 describes it, without its faults.

    total = 0.4 keyword overlap + 0.4 semantic similarity + 0.2 time

- keyword overlap: Jaccard on keywords, where a word also matches one that it contains or is contained in;
- semantic similarity: the "simplified cosine" of the seed, keywords in common over the root of the product of
  both counts. Not the embedder's cosine: the threshold of 0.3 is made for this one, and a cosine of 0.45, the
  usual one between any two Chinese sentences in MiniLM, would lift everything over it;
- time: 1.0 now, falling in a line to 0.7 a day ago, 0.7 for ever after.

The threshold (0.3) and the limit (5) stand in the preset. Where the seed's program fails, we do not:

- it takes a Chinese sentence for one word. Here keywords are search terms (`text.tokens`): English stems
  without stop words, and of Chinese every character that says something and every pair. No segmenter is
  needed, and a word that is partly the same matches in part, by its characters; so pairs are not looked for
  inside one another, which would count one character many times.
- it finds the question itself in the history, and adds the oldest records where too few match. Here the judge
  of `recall.retrieve` drops what repeats the query, and a place that nothing deserves stays empty.
- a word of one or two letters is part of half the dictionary: parts have three letters at least, and a
  number is no part of another.

The seed leaves open what a partial match is worth; here, as much as an equal one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import sqrt

from thinkback.recall.rerank.candidates import Seen
from thinkback.recall.search import Question
from thinkback.text.tokens import LONGEST_WORD, terms

KEYWORDS, SEMANTIC, TIME = 0.4, 0.4, 0.2
_DAY = timedelta(hours=24)
_OLD = 0.7
_SHORTEST = 3  # letters of a part
_PARTLY = 64  # keywords of a question that are looked for in part: a long text says enough in whole ones


def totals(question: Question, rows: Sequence[Seen]) -> list[float]:
    """The sum above of each."""
    asked = frozenset(terms(question.text))
    parts = _parts(sorted(asked))
    return [_total(asked, parts, row, question.now) for row in rows]


def _total(
    asked: frozenset[str], parts: Mapping[str, frozenset[str]], row: Seen, now: datetime | None
) -> float:
    told = frozenset(terms(row.text))
    return (
        KEYWORDS * _keyword_overlap(asked, parts, told)
        + SEMANTIC * _shared_vocabulary(asked, told)
        + TIME * _time_weight(row.at, now)
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
    return 1.0 - (1.0 - _OLD) * age


def _parts(asked: Iterable[str]) -> dict[str, frozenset[str]]:
    """The keywords that may match in part, each with every shorter word that it contains."""
    words = [word for word in asked if _has_parts(word)][:_PARTLY]
    return {word: frozenset(_inside(word)) for word in words}


def _has_parts(word: str) -> bool:
    return word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= LONGEST_WORD


def _inside(word: str) -> Iterable[str]:
    for start in range(len(word)):
        for end in range(start + _SHORTEST, len(word) + 1):
            yield word[start:end]
