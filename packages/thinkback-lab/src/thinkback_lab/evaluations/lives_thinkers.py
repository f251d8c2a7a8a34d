"""Stand-ins for post-think that replay lives with thoughts of known quality, to develop and measure recall.

  gold       upper bound: every gold fact becomes a thought, and what it replaces, ends or asks to forget is
             retired, as by a model that makes no mistake.
  sentences  extractive thinking: the user's sentences that state a fact are kept as said, together with a
             tenth of the other ones. Nothing is ever retired.

Both write through the store and bypass the reader, the guard and the planner.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol

from thinkback import Memory
from thinkback.indexing import Indexer
from thinkback.language.kind_features import guess_kind
from thinkback.language.sentences import Sentence, split_chunks
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import count_tokens
from thinkback.presets import HYBRID
from thinkback.think.thinker import LEASE_SECONDS
from thinkback.types import Action, Operation, Plan, Side, Source, ThoughtDraft, Turn
from thinkback_lab.datasets.lives import GoldFact, LifeTurn

StandIn = Literal["gold", "sentences"]
LivesThinkMode = Literal["auto", "extractive", "llm", "gold", "sentences"]
"""`ThinkMode` or a stand-in."""

SAID = "said"
"""The relation of a sentence that is kept as it was said."""

_MAX_SENTENCE_TOKENS = 40  # longer sentences are cut at their clauses
_OTHER_SENTENCES_PER_KEPT = 10  # of the sentences without a fact, one in so many is kept


class TurnThinker(Protocol):
    """Thinks about the pending turn of a memory, given the gold of the turn."""

    def think(self, turn: LifeTurn) -> None: ...


def create_thinker(name: StandIn, memory: Memory) -> TurnThinker:
    """A thinker for one life, whose turns are remembered in `memory` one by one."""
    writer = _PlanWriter(memory, Indexer(memory.store, memory.embedder, HYBRID))
    return GoldThinker(writer) if name == "gold" else SentenceThinker(writer)


@dataclass(slots=True)
class GoldThinker:
    """Stores the gold facts of one life as thoughts."""

    _writer: _PlanWriter
    thought_ids: dict[str, int] = field(default_factory=dict)  # current thoughts by fact id

    def think(self, turn: LifeTurn) -> None:
        stored, lease = self._writer.claim()
        operations = tuple(self._operations(turn, stored))
        actions = self._writer.apply(stored, lease, "gold", operations)
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
            yield Operation(action="supersede", reason="gold: no longer true", retire=ended)
        if forgotten := self._take(turn.forget):
            yield Operation(action="forget", reason="gold: asked to forget", retire=forgotten)

    def _take(self, facts: Sequence[str]) -> tuple[int, ...]:
        """The current thoughts of these facts, which are to be retired."""
        return tuple(self.thought_ids.pop(fact) for fact in facts if fact in self.thought_ids)


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


@dataclass(slots=True)
class SentenceThinker:
    """Keeps sentences of the user as thoughts, as they were said."""

    _writer: _PlanWriter

    def think(self, turn: LifeTurn) -> None:
        stored, lease = self._writer.claim()
        sentences = split_chunks(stored.query, lambda text: count_tokens(text) <= _MAX_SENTENCE_TOKENS)
        kept = [sentence for sentence in sentences if _is_kept(sentence, turn)]
        operations = tuple(
            Operation(action="insert", reason="stand-in: kept as said", add=(_said(sentence, stored),))
            for sentence in kept
        )
        self._writer.apply(stored, lease, "sentences", operations)


def _is_kept(sentence: Sentence, turn: LifeTurn) -> bool:
    starts = [(turn.user.find(fact.quote), len(fact.quote)) for fact in turn.facts]
    if any(start >= 0 and sentence.start < start + size and start < sentence.end for start, size in starts):
        return True
    return hashlib.sha256(sentence.text.encode()).digest()[0] % _OTHER_SENTENCES_PER_KEPT == 0


def _said(sentence: Sentence, turn: Turn) -> ThoughtDraft:
    return ThoughtDraft(
        subject="user",
        relation=SAID,
        objects=(add_dates(sentence.text, turn.at),),
        sentence=add_dates(sentence.text, turn.at),
        kind=guess_kind(sentence.text) or "dialogue",
        sources=(Source(turn.id, turn.asker, "query", sentence.start, sentence.end),),
    )


@dataclass(frozen=True, slots=True)
class _PlanWriter:
    """Claims the pending turn of a memory and applies operations to it."""

    memory: Memory
    indexer: Indexer

    def claim(self) -> tuple[Turn, str]:
        """The pending turn and its lease."""
        (turn,) = self.memory.turns(limit=1, newest=True)
        (claim,) = self.memory.store.claim(self.memory.user, 1, LEASE_SECONDS, turn.at)
        return claim.turn, claim.lease

    def apply(
        self, turn: Turn, lease: str, actor: str, operations: tuple[Operation, ...]
    ) -> Sequence[Action]:
        space = self.memory.user
        plan = Plan(turn=turn.id, lease=lease, actor=actor, operations=operations)
        self.indexer.index_pending(space)
        entries, epoch = self.indexer.entries_for_plan(space, plan)
        return self.memory.store.apply(space, plan, entries, turn.at, epoch)
