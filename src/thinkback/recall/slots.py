"""Thoughts that a newer thought of the same slot (subject and relation) may have replaced.

Thinking retires what is certainly replaced. What it left standing is still likely to be outdated if a later
turn gave the same subject and relation another value: "works from 6 to 2" in September, "works from 7 to 3"
in October. Relations of the registry that hold several values ("likes") are left alone. Others may do so too
("visits"), so a trained scorer judges each pair, and the older thought is only marked as possibly outdated.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import NamedTuple

from thinkback.language.names import normalise_name
from thinkback.language.relations import canonical_relation, list_relations
from thinkback.language.update_scorer import QuestionFeatures, read_question, read_sentence, score_update
from thinkback.recall.features import MemoryHit
from thinkback.recall.query import Memoiser, RowMemoiser, call_row_uncached, call_uncached
from thinkback.types import SAID, Thought

MIN_SLOT_UPDATE_SCORE = 0.4
"""On pairs of facts with one slot in the lives of `train`: precision .73 where only the next value counts as
a replacement, recall .88."""
_SECONDS_PER_DAY = 86_400.0
_MULTIPLE_KINDS = frozenset(("relationship", "dialogue"))  # several people and topics share one relation


class SlotUpdate(NamedTuple):
    """The thought that may have replaced another one, and since when."""

    newer: Thought
    since: datetime


def find_slot_updates(
    hits: Iterable[MemoryHit],
    question: str,
    memoise: Memoiser = call_uncached,
    memoise_row: RowMemoiser = call_row_uncached,
) -> dict[int, SlotUpdate]:
    """By the id of the older thought: the newest thought of its slot that may have replaced it."""
    slots: dict[tuple[str, str], list[Thought]] = {}
    for hit in hits:
        thought = hit.memory
        if isinstance(thought, Thought) and (key := memoise_row(_slot_key, thought)) is not None:
            slots.setdefault(key, []).append(thought)
    found: dict[int, SlotUpdate] = {}
    rivals = [thoughts for thoughts in slots.values() if len(thoughts) > 1]
    asked = read_question(question) if rivals else None
    for thoughts in rivals:
        ordered = sorted(thoughts, key=lambda thought: (thought.last_turn, thought.id))
        for position, old in enumerate(ordered):
            for new in reversed(ordered[position + 1 :]):
                if asked is not None and _is_update(old, new, asked, memoise):
                    found[old.id] = SlotUpdate(new, _since(new))
                    break
    return found


def _slot_key(thought: Thought) -> tuple[str, str] | None:
    """Subject and relation of a thought that a newer one may replace; None for others."""
    has_slot = (
        thought.current
        and thought.relation != SAID
        and canonical_relation(thought.relation) not in _multi_valued()
        and thought.kind not in _MULTIPLE_KINDS
        and not thought.negated
        and bool(thought.sources)
    )
    return (normalise_name(thought.subject), thought.relation.casefold()) if has_slot else None


@cache
def _multi_valued() -> frozenset[str]:
    return frozenset(relation.name for relation in list_relations() if not relation.single_valued)


def _is_update(old: Thought, new: Thought, question: QuestionFeatures, memoise: Memoiser) -> bool:
    if new.last_turn <= old.last_turn or set(new.objects) == set(old.objects):
        return False
    days = (new.recorded_at - old.recorded_at).total_seconds() / _SECONDS_PER_DAY
    before, after = memoise(read_sentence, old.sentence), memoise(read_sentence, new.sentence)
    return score_update(before, after, question=question, days=max(days, 0.0)) >= MIN_SLOT_UPDATE_SCORE


def _since(thought: Thought) -> datetime:
    return thought.valid_from or thought.recorded_at


def newer_first(hits: list[MemoryHit], updates: dict[int, SlotUpdate]) -> list[MemoryHit]:
    """The ranked hits with each newer thought directly before the first one that it may have replaced."""
    if not updates:
        return hits
    by_id = {hit.memory.id: hit for hit in hits if isinstance(hit.memory, Thought)}
    placed: set[int] = set()
    result: list[MemoryHit] = []
    for hit in hits:
        thought = hit.memory
        if not isinstance(thought, Thought):
            result.append(hit)
            continue
        update = updates.get(thought.id)
        if update is not None and update.newer.id not in placed and thought.id not in placed:
            newer = by_id[update.newer.id]
            placed.add(update.newer.id)
            total = max(newer.score.total, hit.score.total)
            result.append(newer.with_total(total, f"newer than {thought.ref}"))
        if thought.id not in placed:
            placed.add(thought.id)
            result.append(hit)
    return result
