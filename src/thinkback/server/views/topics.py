"""The groups of a space as topics: each with the words that are most telling of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from thinkback.language.protocol import load_language
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import FUNCTION_CHARACTERS, NUMBER_PATTERN_EN, STOP_WORDS, fold_text
from thinkback.server.views.snapshot import SpaceSnapshot

LABEL_WORDS = 3
MIN_SPACED_CHARACTERS = 4
HAN_WORD_SIZES = (2, 3, 4)
USER_WORDS = ("user", "用户")  # thoughts call the user so: it tells nothing about a topic
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(NUMBER_PATTERN_EN)
_HAN_RUN = re.compile(r"[一-鿿]+")


# The topics of the snapshots that are in use: the words of all thoughts are counted once for each version.
_TOPICS: WeakKeyDictionary[SpaceSnapshot, list[dict[str, Any]]] = WeakKeyDictionary()


def topics(snapshot: SpaceSnapshot, limit: int) -> dict[str, Any]:
    """The largest groups of current thoughts, each with its label and its number of thoughts."""
    found = _TOPICS.get(snapshot)
    if found is None:
        found = _TOPICS[snapshot] = _find_topics(snapshot)
    return {"items": found[:limit], "total": len(found)}


def _find_topics(snapshot: SpaceSnapshot) -> list[dict[str, Any]]:
    sentences: dict[int, list[str]] = {}
    for row, group in zip(snapshot.rows, snapshot.group_numbers, strict=True):
        if row.thought.current and group >= 0:
            sentences.setdefault(int(group), []).append(row.thought.sentence)
    labels = label_groups(sentences)
    largest = sorted(sentences, key=lambda group: (-len(sentences[group]), group))
    return [{"group": group, "count": len(sentences[group]), "label": labels[group]} for group in largest]


def label_groups(sentences: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """The most telling words of each group: frequent in it, and rare in the others."""
    counts = {
        group: Counter(word for sentence in of_group for word in _content_words(sentence))
        for group, of_group in sentences.items()
    }
    overall: Counter[str] = Counter()
    for of_group in counts.values():
        overall.update(of_group)
    return {group: ", ".join(_telling(of_group, overall)) for group, of_group in counts.items()}


def _telling(counts: Counter[str], overall: Counter[str]) -> Iterable[str]:
    """A longer Chinese word goes before its parts, which are not repeated."""
    chosen: list[str] = []
    for word in sorted(counts, key=lambda word: (-(counts[word] ** 2) / overall[word], -len(word), word)):
        if not any(word in other or other in word for other in chosen):
            chosen.append(word)
        if len(chosen) == LABEL_WORDS:
            break
    return chosen


@cache_by_digest(16384, min_characters=1, holds_words=True)
def _content_words(sentence: str) -> frozenset[str]:
    folded = fold_text(sentence)
    words = {
        word
        for word in _WORD.findall(folded)
        if len(word) >= MIN_SPACED_CHARACTERS
        and word not in _common_words()
        and not _HAN_RUN.search(word)
        and not _NUMBER.fullmatch(word)
    }
    for run in _HAN_RUN.findall(folded.replace(USER_WORDS[1], " ")):
        for size in HAN_WORD_SIZES:
            pieces = (run[start : start + size] for start in range(len(run) - size + 1))
            words.update(piece for piece in pieces if FUNCTION_CHARACTERS.isdisjoint(piece))
    return frozenset(words)


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    """Words that tell nothing about a topic, contractions included."""
    lexicon = load_language("en").lexicon
    words = STOP_WORDS.union(*(lexicon.words(name) for name in ("not_values", "not_places", "not_names")))
    return words | {USER_WORDS[0]} | {word.replace("'", "’") for word in words if "'" in word}
