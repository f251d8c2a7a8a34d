"""Turns of the memory bank, and what is stored with a turn: recalled items and consistency checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

Side = Literal["query", "response"]
ItemKind = Literal["turn", "thought"]


class Ref(NamedTuple):
    """How a turn, thought or action is named outside its space: `thought:7`."""

    kind: Literal["turn", "thought", "action"]
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


# --- the memory bank -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn as it is told to us, before the bank has numbered it."""

    query: str
    response: str = ""
    at: datetime
    session: str = "default"
    key: str | None = None
    asker: str = "user"
    answerer: str = "assistant"
    recalled: tuple[RecalledItem, ...] = ()
    checks: tuple[ConsistencyCheck, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(NewTurn):
    """One question and its response. Written once, never changed."""

    id: int
    recorded_at: datetime
    thought_at: datetime | None = None

    @property
    def ref(self) -> Ref:
        return Ref("turn", self.id)

    @property
    def text(self) -> str:
        """What is embedded and searched: both sides, as the papers do."""
        return "\n".join(side for side in (self.query, self.response) if side)

    def text_of(self, side: Side) -> str:
        return self.query if side == "query" else self.response


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One item that was recalled for an answer: kept with the turn, as numbers only."""

    kind: ItemKind
    id: int
    score: float
    cosine: float
    lexical: float
    group: int


CheckMethod = Literal["triple", "embedding"]
CheckOutcome = Literal["regenerated", "masked", "warned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyCheck:
    """One contradiction caught in a draft of an answer (TiM 001, Eq. 10): kept with the turn.

    `words` is the sentence of draft number `draft` that contradicted the thought. Then the model was asked
    again (`regenerated`), asked again with the contradicting words masked, or the user was `warned`.
    """

    thought: int
    way: CheckMethod
    words: str
    reason: str
    score: float
    threshold: float
    draft: int
    outcome: CheckOutcome
