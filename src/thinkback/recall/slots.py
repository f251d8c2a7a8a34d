"""Thoughts that a newer thought of the same slot (subject and relation) may have replaced.

Thinking retires what is certainly replaced. What it left standing is still likely to be outdated if a later
turn gave the same subject and relation another value: "works from 6 to 2" in September, "works from 7 to 3"
in October. Relations of the registry that hold several values ("likes") are left alone. Others may do so too
("visits"), so a trained scorer judges each pair, and the older thought is only marked as possibly outdated.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from thinkback.language.update_scorer import QuestionFeatures, read_question, read_sentence, score_update
from thinkback.recall.features import MemoryHit
from thinkback.recall.query import Memoiser, call_uncached
from thinkback.recall.rows import ThoughtRow
from thinkback.types import Thought

MIN_SLOT_UPDATE_SCORE = 0.4
"""On pairs of facts with one slot in the lives of `train`: precision .73 where only the next value counts as
a replacement, recall .88."""
_SECONDS_PER_DAY = 86_400.0


class SlotUpdate(NamedTuple):
    """The thought that may have replaced another one, and since when."""

    newer: Thought
    since: datetime


def find_slot_updates(
    hits: Iterable[MemoryHit], question: str, memoise: Memoiser = call_uncached
) -> dict[int, SlotUpdate]:
    """By the id of the older thought: the newest thought of its slot that may have replaced it."""
    slots: dict[tuple[str, str], list[Thought]] = {}
    for hit in hits:
        row = hit.row
        if isinstance(row, ThoughtRow) and (key := row.slot) is not None:
            slots.setdefault(key, []).append(row.memory)
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
    by_id = {hit.row.id: hit for hit in hits if not hit.row.is_turn}
    placed: set[int] = set()
    result: list[MemoryHit] = []
    for hit in hits:
        id_ = hit.row.id
        if hit.row.is_turn:
            result.append(hit)
            continue
        update = updates.get(id_)
        if update is not None and update.newer.id not in placed and id_ not in placed:
            newer = by_id[update.newer.id]
            placed.add(update.newer.id)
            total = max(newer.total, hit.total)
            result.append(newer.with_total(total, f"newer than {hit.row.ref}"))
        if id_ not in placed:
            placed.add(id_)
            result.append(hit)
    return result
