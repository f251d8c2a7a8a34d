"""Values of the core as the tools answer them: with opaque ids, and without orders and secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from thinkback.apps.server import ids
from thinkback.apps.server.mcp.results import Change, FoundItem, MemoryItem, Quote
from thinkback.memory import Memory
from thinkback.text.safety.quarantine import redacted
from thinkback.types import Action, Candidate, Thought, Turn


def thought(memory: Memory, value: Thought, said_at: datetime | None = None) -> MemoryItem:
    return MemoryItem(
        id=ids.named(memory.user, value.ref),
        text=redacted(value).sentence,
        kind=value.kind,
        current=value.current,
        said_at=said_at,
        valid_from=value.valid_from,
        valid_to=value.valid_to,
    )


def thoughts(memory: Memory, values: list[Thought]) -> list[MemoryItem]:
    """The same of many, with when each was said last."""
    said = _said_at(memory, (value.last_turn for value in values))
    return [thought(memory, value, said.get(value.last_turn)) for value in values]


def _said_at(memory: Memory, turns: Iterable[int]) -> dict[int, datetime]:
    numbers = sorted(set(turns))
    return {turn.id: turn.at for turn in memory.store.turns(memory.user, ids=numbers)} if numbers else {}


def turn(memory: Memory, value: Turn) -> MemoryItem:
    return MemoryItem(
        id=ids.named(memory.user, value.ref), text=redacted(value).text, kind="turn", said_at=value.at
    )


def found(memory: Memory, values: Iterable[Candidate]) -> list[FoundItem]:
    """What recall found; it is redacted already, and of what is past the text says so."""
    items = list(values)
    said = _said_at(memory, (value.thought.last_turn for value in items if value.thought))
    return [_found(memory, value, said) for value in items]


def _found(memory: Memory, value: Candidate, said: Mapping[int, datetime]) -> FoundItem:
    held = value.thought
    return FoundItem(
        id=ids.named(memory.user, value.ref),
        text=value.text,
        kind="turn" if held is None else held.kind,
        current=value.past is None,
        said_at=said.get(held.last_turn) if held else value.turn.at if value.turn else None,
        valid_from=None if held is None else held.valid_from,
        valid_to=None if held is None else held.valid_to,
        score=round(value.score.total, 4),
        reason=value.reason,
    )


def change(memory: Memory, action: Action) -> Change:
    return Change(
        action_id=ids.named(memory.user, action.ref),
        action=action.action,
        reason=action.reason,
        added=[thought(memory, each) for each in action.changed if each.current],
        retired=[thought(memory, each) for each in action.changed if not each.current],
    )


def quotes(memory: Memory, value: Thought) -> list[Quote]:
    """The words a thought was drawn from; a quarantined turn is quoted as it may be recalled."""
    numbers = sorted({source.turn for source in value.sources})
    turns = {each.id: each for each in memory.store.turns(memory.user, ids=numbers)} if numbers else {}
    return [
        Quote(
            turn_id=ids.named(memory.user, said.ref),
            speaker=source.speaker,
            words=said.said(source.side)[source.start : source.end]
            if redacted(said) is said
            else redacted(said).said(source.side),
            at=said.at,
        )
        for source in value.sources
        if (said := turns.get(source.turn)) is not None
    ]
