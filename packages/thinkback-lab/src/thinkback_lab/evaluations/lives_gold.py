"""The upper bound of thinking: every gold fact of a life becomes a thought, to develop and measure recall.

What a fact replaces, ends or asks to forget is retired, as by a model that makes no mistake. The thoughts are
written through the store and bypass the reader, the guard and the planner. A request to forget is carried out
by `remember` already: what it retired is not retired again, and its turn may need no further thinking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from thinkback import Memory
from thinkback.indexing import Indexer
from thinkback.presets import HYBRID
from thinkback.think.leases import LEASE_SECONDS
from thinkback.types import Action, Operation, Plan, Side, Source, ThoughtDraft, Turn
from thinkback_lab.datasets.lives import GoldFact, LifeTurn


def create_gold_thinker(memory: Memory) -> GoldThinker:
    """A thinker for one life, whose turns are remembered in `memory` one by one."""
    return GoldThinker(_PlanWriter(memory, Indexer(memory.store, memory.embedder, HYBRID)))


@dataclass(slots=True)
class GoldThinker:
    """Stores the gold facts of one life as thoughts."""

    _writer: _PlanWriter
    thought_ids: dict[str, int] = field(default_factory=dict)  # current thoughts by fact id

    def think(self, turn: LifeTurn) -> None:
        stored, lease = self._writer.claim()
        operations = tuple(self._operations(turn, stored))
        actions = self._writer.apply(stored, lease, operations)
        new = [thought.id for action in actions for thought in action.changed if thought.current]
        self.thought_ids |= zip((fact.id for fact in turn.facts), new, strict=True)

    def _operations(self, turn: LifeTurn, stored: Turn) -> Iterator[Operation]:
        for fact in turn.facts:
            retired = self._take(fact.replaces)
            yield Operation(
                action="supersede" if retired else "insert",
                reason=f"gold fact {fact.id}",
                add=(_draft(fact, stored),),
                retire=retired,
            )
        if ended := self._take(turn.ends):
            yield Operation(action="end", reason="gold: no longer true", retire=ended, ended_at=stored.at)
        if forgotten := self._take(turn.forget):
            yield Operation(action="forget", reason="gold: asked to forget", retire=forgotten)

    def _take(self, facts: Sequence[str]) -> tuple[int, ...]:
        """The current thoughts of these facts, which are to be retired."""
        taken = [self.thought_ids.pop(fact) for fact in facts if fact in self.thought_ids]
        current = self._writer.current_ids() if taken else frozenset()
        return tuple(id_ for id_ in taken if id_ in current)


def _draft(fact: GoldFact, turn: Turn) -> ThoughtDraft:
    side: Side = "query" if fact.quote in turn.query else "response"
    start = turn.text_of(side).index(fact.quote)
    speaker = turn.asker if side == "query" else turn.answerer
    return ThoughtDraft(
        subject=fact.about,
        relation=fact.relation,
        objects=(fact.value,),
        sentence=fact.text,
        kind=fact.kind,
        sources=(Source(turn.id, speaker, side, start, start + len(fact.quote)),),
        valid_from=_parse_date(fact.valid_from),
        valid_to=_parse_date(fact.valid_to),
    )


def _parse_date(date: str | None) -> datetime | None:
    """The start of a day, month or year."""
    if date is None:
        return None
    year, month, day = (*map(int, date.split("-")), 1, 1)[:3]
    return datetime(year, month, day, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _PlanWriter:
    """Claims the pending turn of a memory and applies operations to it."""

    memory: Memory
    indexer: Indexer

    def claim(self) -> tuple[Turn, str | None]:
        """The newest turn and its lease; no lease if there is nothing left to think about."""
        (turn,) = self.memory.turns(limit=1, newest=True, hidden=True)
        for claim in self.memory.store.claim(self.memory.user, 1, LEASE_SECONDS, turn.at):
            return claim.turn, claim.lease
        return turn, None

    def current_ids(self) -> frozenset[int]:
        return frozenset(thought.id for thought in self.memory.thoughts())

    def apply(self, turn: Turn, lease: str | None, operations: tuple[Operation, ...]) -> Sequence[Action]:
        space = self.memory.user
        plan = Plan(
            turn=None if lease is None else turn.id,
            lease=lease or "",
            actor="gold",
            operations=operations,
            cause=turn.id,
        )
        self.indexer.index_pending(space)
        entries, epoch = self.indexer.entries_for_plan(space, plan)
        return self.memory.store.apply(space, plan, entries, turn.at, epoch)
