"""Soft updates: of two recalled sentences kept as said, the older one may be outdated by the newer one.

Without a model nothing certain is known about updates in free talk, so nothing is retired. A trained scorer
(`language.update_scorer`) only labels what is recalled: the older sentence carries the date of the newer one
as a note. It keeps its rank, because many labels are wrong (docs/log.md, sixteenth part). Of a sentence that
is shown within its message both are compared, so that nothing goes unlabelled because a sentence of the
message was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from thinkback.types import SAID, Candidate, OutdatedInfo, Ref, Turn

_MIN_DAYS = 1 / 24 / 60  # a sentence of the same message updates nothing
_SECONDS_PER_DAY = 86_400.0


class SpokenItem(NamedTuple):
    """A recalled item in the user's own words: the sentence, its message, and when it was said."""

    position: int
    words: SentenceFeatures
    message: SentenceFeatures
    said_at: datetime


def mark_possible_updates(
    items: Sequence[Candidate],
    question: str,
    source_turn: Callable[[Candidate], Turn | None],
    memoise: Memoiser = call_uncached,
) -> list[Candidate]:
    """The items recalled for a question with possibly outdated ones marked."""

    def read(text: str) -> SentenceFeatures:
        return memoise(read_sentence, text)

    spoken = [
        SpokenItem(
            position, read(item.thought.sentence if item.thought else turn.query), read(turn.query), turn.at
        )
        for position, item in enumerate(items)
        if is_spoken(item) and (turn := source_turn(item)) is not None
    ]
    if len(spoken) < 2:
        return list(items)
    asked = read_question(question)
    newest: dict[int, NewerItem] = {}
    newest_first = sorted(spoken, key=lambda item: item.said_at, reverse=True)
    for rank, old in enumerate(newest_first):
        update = next((new for new in newest_first[:rank] if _is_update(old, new, asked)), None)
        if update is not None:
            newest[old.position] = NewerItem(update.position, update.said_at)
    return mark_items(items, newest)


class NewerItem(NamedTuple):
    """The item that may have replaced another one, by its position, and when it was said."""

    position: int
    said_at: datetime


def mark_items(items: Sequence[Candidate], newest: Mapping[int, NewerItem]) -> list[Candidate]:
    """The items with those at the positions of `newest` marked."""
    return [
        _mark(item, newest[position].said_at, items[newest[position].position].ref)
        if position in newest
        else item
        for position, item in enumerate(items)
    ]


def is_spoken(item: Candidate) -> bool:
    """Whether an item is in the user's own words, and not yet known to be outdated."""
    if item.outdated is not None:
        return False
    return item.turn is not None or (item.thought is not None and item.thought.relation == SAID)


def _is_update(old: SpokenItem, new: SpokenItem, question: QuestionFeatures) -> bool:
    days = (new.said_at - old.said_at).total_seconds() / _SECONDS_PER_DAY
    if days <= _MIN_DAYS:
        return False
    pairs = {(old.words, new.words): None, (old.message, new.message): None}
    return any(
        score_update(*pair, question=question, days=days) >= LABEL_THRESHOLD
        for pair in pairs
        if pair[0].shares_word(pair[1])  # no others score that high
    )


def _mark(item: Candidate, since: datetime, newer: Ref) -> Candidate:
    text = mark_possibly_outdated(item.text, since)
    return replace(item, text=text, outdated=OutdatedInfo(since, certain=False, newer=newer))


def mark_possibly_outdated(text: str, since: datetime) -> str:
    """The text with a note that something newer was said on a day."""
    day = f"{since:%Y-%m-%d}"
    note = f"（可能已过时，{day}有新说法）" if has_han(text) else f" (possibly outdated: newer on {day})"
    return text + note
