"""Turns of the memory bank, and what is stored with a turn: recalled items and consistency checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

Side = Literal["query", "response"]
ItemKind = Literal["turn", "thought"]


class Ref(NamedTuple):
    """A reference to a turn, thought or action, written as `thought:7`."""

    kind: Literal["turn", "thought", "action"]
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn before the store has assigned its id.

    `at` is when it was said. `key` is an optional idempotency key, unique within the space. `recalled` and
    `checks` describe how the response was produced.
    """

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
    """One user message (`query`) and its `response`. Immutable once stored.

    `recorded_at` is when it was stored, `thought_at` when post-thinking finished; None means pending.
    `hidden_by` is the journal action that hides the turn: it is neither recalled nor thought about.
    `findings` are the instructions and secrets in its texts, as `quarantine.scanned` found them: empty if
    there are none, None if it was not scanned.
    """

    JSON_FIELDS: ClassVar = (
        "ref",
        "id",
        "session",
        "query",
        "response",
        "at",
        "recorded_at",
        "thought_at",
        "key",
        "asker",
        "answerer",
        "recalled:rows",
        "checks",
        "hidden_by",
    )

    id: int
    recorded_at: datetime
    thought_at: datetime | None = None
    hidden_by: int | None = None
    findings: str | None = None

    @property
    def ref(self) -> Ref:
        return Ref("turn", self.id)

    @property
    def hidden(self) -> bool:
        return self.hidden_by is not None

    @property
    def text(self) -> str:
        """Query and response in one text, as embedded and searched (the TiM papers do the same)."""
        return "\n".join(self.texts)

    @property
    def texts(self) -> tuple[str, ...]:
        """Query and response, as far as they are not empty."""
        return tuple(side for side in (self.query, self.response) if side)

    def text_of(self, side: Side) -> str:
        """The query or the response."""
        return self.query if side == "query" else self.response


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """A thought or turn that was recalled for an answer, stored with the turn as numbers only."""

    kind: ItemKind
    id: int
    score: float
    cosine: float
    lexical: float
    group: int


CheckMethod = Literal["words", "safety", "model", "triple", "embedding"]
"""How a contradiction was found; "triple" and "embedding" occur in turns of earlier versions only."""

CheckOutcome = Literal["regenerated", "masked", "warned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyCheck:
    """One contradiction found in a draft answer (TiM (ACL), Eq. 10), stored with the turn.

    `words` is the sentence of draft number `draft` that contradicted `thought`. `outcome` says what followed:
    the model was asked again (`regenerated`), asked again with the contradicting words masked (`masked`), or
    the user was `warned`.
    """

    thought: int
    way: CheckMethod
    words: str
    reason: str
    score: float
    threshold: float
    draft: int
    outcome: CheckOutcome
