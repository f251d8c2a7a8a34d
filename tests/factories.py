"""Values for tests of stores, and shortcuts from a turn to its thoughts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from thinkback.protocols import Store
from thinkback.types import (
    Action,
    IndexEntry,
    ItemKind,
    NewTurn,
    Operation,
    Plan,
    Source,
    Thought,
    ThoughtDraft,
    Turn,
)

if TYPE_CHECKING:
    from thinkback.types import Vector

EMBEDDER = "toy"
DIM = 16


def minute(n: float) -> datetime:
    return datetime(2024, 5, 1, 12, tzinfo=UTC) + timedelta(minutes=n)


NOW = minute(0)


def new_turn(query: str, response: str = "", *, session: str = "default", key: str | None = None) -> NewTurn:
    return NewTurn(query=query, response=response, at=NOW, session=session, key=key)


def append_turns(store: Store, space: str, *queries: str, session: str = "default") -> list[Turn]:
    return store.append(space, [new_turn(query, session=session) for query in queries], NOW)


def thought_draft(
    sentence: str,
    *turns: int,
    subject: str = "user",
    relation: str = "likes",
    valid_from: datetime | None = None,
) -> ThoughtDraft:
    return ThoughtDraft(
        subject=subject,
        relation=relation,
        objects=(sentence,),
        sentence=sentence,
        kind="profile",
        sources=tuple(Source(turn, subject, "query", 0, len(sentence)) for turn in turns),
        valid_from=valid_from,
    )


def insert_operation(*drafts: ThoughtDraft, reason: str = "new") -> Operation:
    return Operation(action="insert", reason=reason, add=drafts)


def supersede_operation(new: ThoughtDraft, *old: int, reason: str = "newer") -> Operation:
    return Operation(action="supersede", reason=reason, add=(new,), retire=old)


def merge_operation(new: ThoughtDraft, *old: int, reason: str = "the same") -> Operation:
    return Operation(action="merge", reason=reason, add=(new,), retire=old)


def forget_operation(*old: int, reason: str = "denied") -> Operation:
    return Operation(action="forget", reason=reason, retire=old)


def end_operation(*old: int, reason: str = "over", ended_at: datetime | None = None) -> Operation:
    return Operation(action="end", reason=reason, retire=old, ended_at=ended_at)


def text_vector(text: str) -> Vector:
    made = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIM).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made), dtype=np.float32)


def index_entry(kind: ItemKind, id_: int, text: str, group: int = 0) -> IndexEntry:
    words = sorted({zlib.crc32(word.encode()) for word in text.split()})
    return IndexEntry(kind, id_, text_vector(text), np.array(words, dtype=np.uint32), group)


def entries_for_plan(plan: Plan) -> list[IndexEntry]:
    return [index_entry("thought", 0, item.sentence) for item in plan.drafts]


def apply_operations(store: Store, space: str, *operations: Operation, now: datetime = NOW) -> list[Action]:
    """Claim the oldest pending turn and apply these operations for it."""
    (claimed,) = store.claim(space, 1, 60, now)
    plan = Plan(turn=claimed.turn.id, lease=claimed.lease, actor="tester", operations=operations)
    return store.apply(space, plan, entries_for_plan(plan), now)


def add_thought(store: Store, space: str, sentence: str, *, session: str = "default") -> tuple[Turn, Thought]:
    """Store a turn and a thought with the same text."""
    (turn,) = append_turns(store, space, sentence, session=session)
    (action,) = apply_operations(store, space, insert_operation(thought_draft(sentence, turn.id)))
    return turn, action.after[0]


def index_all(store: Store, space: str) -> None:
    while found := store.unindexed(space, 100).items:
        store.index(space, [index_entry(item.kind, item.id, item.text) for item in found])


def replay_journal(actions: Iterable[Action]) -> list[Thought]:
    """The thoughts according to the journal."""
    thoughts = {thought.id: thought for action in actions for thought in action.after}
    return [thoughts[id_] for id_ in sorted(thoughts)]


def sentences(thoughts: Iterable[Thought]) -> list[str]:
    return [thought.sentence for thought in thoughts]
