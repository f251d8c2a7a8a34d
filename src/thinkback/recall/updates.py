"""Soft updates: of two recalled sentences kept as said, the older one may be outdated by the newer one.

Without a model nothing certain is known about updates in free talk, so nothing is retired. A trained scorer
(`language.update_scorer`) only labels and orders what is recalled: the newer sentence comes first, the older
one carries the date of the newer one as a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from thinkback.language.update_scorer import (
    LABEL_THRESHOLD,
    QuestionFeatures,
    SentenceFeatures,
    read_question,
    read_sentence,
    score_update,
)
from thinkback.language.writing_systems import has_han
from thinkback.recall.query import Memoiser, call_uncached
from thinkback.types import SAID, Candidate, OutdatedInfo

_MIN_DAYS = 1 / 24 / 60  # a sentence of the same message updates nothing
_SECONDS_PER_DAY = 86_400.0


class SpokenItem(NamedTuple):
    """A recalled item in the user's own words: what the scorer reads in them, and when it was said."""

    position: int
    words: SentenceFeatures
    said_at: datetime


def mark_possible_updates(
    items: Sequence[Candidate],
    question: str,
    said_at: Callable[[Candidate], datetime | None],
    memoise: Memoiser = call_uncached,
) -> list[Candidate]:
    """The items recalled for a question with possibly outdated ones marked, each after the newer one."""
    spoken = [
        SpokenItem(position, memoise(read_sentence, _words(item)), at)
        for position, item in enumerate(items)
        if _is_spoken(item) and (at := said_at(item)) is not None
    ]
    if len(spoken) < 2:
        return list(items)
    asked = read_question(question)
    result = list(items)
    newest: dict[int, SpokenItem] = {}
    for old in spoken:
        updates = [new for new in spoken if _is_update(old, new, asked)]
        if updates:
            newest[old.position] = max(updates, key=lambda new: new.said_at)
            result[old.position] = _mark(items[old.position], newest[old.position].said_at)

    def place(position: int) -> float:
        """Where an item belongs: an outdated one not before the one that updates it."""
        return max(position, newest[position].position + 0.5) if position in newest else position

    return [result[position] for position in sorted(range(len(items)), key=place)]


def _is_spoken(item: Candidate) -> bool:
    if item.outdated is not None:
        return False
    return item.turn is not None or (item.thought is not None and item.thought.relation == SAID)


def _words(item: Candidate) -> str:
    if item.thought is not None:
        return item.thought.sentence
    return item.turn.query if item.turn is not None else item.text


def _is_update(old: SpokenItem, new: SpokenItem, question: QuestionFeatures) -> bool:
    days = (new.said_at - old.said_at).total_seconds() / _SECONDS_PER_DAY
    if days <= _MIN_DAYS:
        return False
    return score_update(old.words, new.words, question=question, days=days) >= LABEL_THRESHOLD


def _mark(item: Candidate, since: datetime) -> Candidate:
    text = mark_possibly_outdated(item.text, since)
    return replace(item, text=text, outdated=OutdatedInfo(since, certain=False))


def mark_possibly_outdated(text: str, since: datetime) -> str:
    """The text with a note that something newer was said on a day."""
    day = f"{since:%Y-%m-%d}"
    note = f"（可能已过时，{day}有新说法）" if has_han(text) else f" (possibly outdated: newer on {day})"
    return text + note
