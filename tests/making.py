"""Small values for the store's tests, and the shortest way from a turn to its thoughts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from thinkback.ports import Store
from thinkback.types import Action, Change, Draft, Entry, ItemKind, Plan, Said, Source, Thought, Turn

if TYPE_CHECKING:
    from thinkback.types import Vector

EMBEDDER = "toy"
DIM = 16


def minute(n: float) -> datetime:
    return datetime(2024, 5, 1, 12, tzinfo=UTC) + timedelta(minutes=n)


NOW = minute(0)


def say(query: str, response: str = "", *, session: str = "default", key: str | None = None) -> Said:
    return Said(query=query, response=response, at=NOW, session=session, key=key)


def remember(store: Store, space: str, *queries: str, session: str = "default") -> list[Turn]:
    return store.append(space, [say(query, session=session) for query in queries], NOW)


def draft(
    sentence: str,
    *turns: int,
    subject: str = "user",
    relation: str = "likes",
    valid_from: datetime | None = None,
) -> Draft:
    return Draft(
        subject=subject,
        relation=relation,
        objects=(sentence,),
        sentence=sentence,
        kind="profile",
        sources=tuple(Source(turn, subject, "query", 0, len(sentence)) for turn in turns),
        valid_from=valid_from,
    )


def insert(*drafts: Draft, reason: str = "new") -> Change:
    return Change(action="insert", reason=reason, add=drafts)


def supersede(new: Draft, *old: int, reason: str = "newer") -> Change:
    return Change(action="supersede", reason=reason, add=(new,), retire=old)


def merge(new: Draft, *old: int, reason: str = "the same") -> Change:
    return Change(action="merge", reason=reason, add=(new,), retire=old)


def deny(*old: int, reason: str = "denied") -> Change:
    return Change(action="forget", reason=reason, retire=old)


def vector(text: str) -> Vector:
    made = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIM).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made), dtype=np.float32)


def entry(kind: ItemKind, id_: int, text: str, group: int = 0) -> Entry:
    words = sorted({zlib.crc32(word.encode()) for word in text.split()})
    return Entry(kind, id_, vector(text), np.array(words, dtype=np.uint32), group)


def entries_of(plan: Plan) -> list[Entry]:
    return [entry("thought", 0, item.sentence) for item in plan.drafts]


def think(store: Store, space: str, *changes: Change, now: datetime = NOW) -> list[Action]:
    """Claim the oldest pending turn and apply these changes as its thoughts."""
    (claimed,) = store.claim(space, 1, 60, now)
    plan = Plan(turn=claimed.turn.id, lease=claimed.lease, actor="tester", changes=changes)
    return store.apply(space, plan, entries_of(plan), now)


def tell(store: Store, space: str, sentence: str, *, session: str = "default") -> tuple[Turn, Thought]:
    """One turn that becomes one thought of the same words."""
    (turn,) = remember(store, space, sentence, session=session)
    (action,) = think(store, space, insert(draft(sentence, turn.id)))
    return turn, action.after[0]


def index_all(store: Store, space: str) -> None:
    while found := store.unindexed(space, 100):
        store.index(space, [entry(item.kind, item.id, item.text) for item in found])


def replay(actions: Iterable[Action]) -> list[Thought]:
    """The space as its journal tells it."""
    thoughts = {thought.id: thought for action in actions for thought in action.after}
    return [thoughts[id_] for id_ in sorted(thoughts)]


def sentences(thoughts: Iterable[Thought]) -> list[str]:
    return [thought.sentence for thought in thoughts]
