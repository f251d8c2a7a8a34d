"""The doors of the house: what the core asks of a model, a store and a clock.

Adapters live in `models/` and `stores/`; one contract suite a port (`tests/contract`) runs on each.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from thinkback.types import (
    Action,
    ApiKey,
    ClaimedTurn,
    Entity,
    EraseResult,
    Hashing,
    IndexDelta,
    IndexEntry,
    ItemKind,
    Kind,
    Message,
    NewTurn,
    Plan,
    RecallCount,
    Reply,
    SpaceKey,
    SpaceStats,
    Summary,
    SummaryUpdate,
    ThinkFailure,
    Thought,
    Turn,
    UnindexedItem,
    VersionStamp,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Clock(Protocol):
    """Now, as an aware UTC datetime. Tests and replays bring their own."""

    def __call__(self) -> datetime: ...


class Embedder(Protocol):
    """Text -> unit vectors. `name` identifies the vector space: equal names, comparable vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, float32, each of length 1; raises ModelError, never returns fewer rows."""
        ...


class LLM(Protocol):
    """Messages -> text. Failures are ModelError; an empty answer is a BadReply, never a success."""

    @property
    def name(self) -> str: ...

    @property
    def extracts(self) -> bool:
        """Whether it is able enough to generate and organise thoughts; else the rules do it."""
        ...

    @property
    def follows(self) -> bool:
        """Whether it is able to follow a long prompt; a smaller one is given few words and few facts."""
        ...

    @property
    def speaks(self) -> tuple[str, ...] | None:
        """The languages it answers in ("en", "zh", ...), None if it is not known to be limited."""
        ...

    @property
    def masks(self) -> bool:
        """Whether `stream` can keep words from being said (TiM 001, Eq. 9). May ask the server, once."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        """The whole answer. With `schema` (JSON schema) the text is JSON that parses."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        """The answer piece by piece, without the words in `forbid` where the model `masks`.

        What `yield from` returns is the whole of it, with its cost.
        """
        ...


class TurnStore(Protocol):
    """Turns: written once, acknowledged when durable, kept in sequence."""

    def append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        """All in one transaction. A `key` seen before returns the turn it made then."""
        ...

    def turns(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        session: str | None = None,
        after: int = 0,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Turn]:
        """In sequence; with `newest`, the last `limit` of them (still in sequence)."""
        ...

    def sessions(self, space: str) -> list[str]: ...


class ThinkQueue(Protocol):
    """Post-think work. The bank is the queue: pending is a turn whose `thought_at` is empty."""

    def claim(self, space: str | None, limit: int, lease_seconds: float, now: datetime) -> list[ClaimedTurn]:
        """Lease the oldest pending turns of one space; a space under a live lease is left alone."""
        ...

    def apply(
        self, space: str, plan: Plan, entries: Sequence[IndexEntry], now: datetime, epoch: int | None = None
    ) -> list[Action]:
        """Thoughts, entries, journal and `thought_at` in one transaction. LeaseLost if not ours.

        `epoch` is the one the entries' groups were computed for: Outdated if it has passed.
        """
        ...

    def release(
        self,
        space: str,
        turn: int,
        lease: str,
        *,
        reason: str,
        retry_at: datetime | None,
        count_attempt: bool = True,
    ) -> None:
        """Give a turn back: to be tried again from `retry_at`, or, with None, to the dead letters.

        An attempt that is not `spent` is not counted: the turn had no part in its failing.
        """
        ...

    def pending(self, space: str | None) -> int: ...

    def backlog(self) -> int:
        """How many turns of all tenants are still to be thought over."""
        ...

    def failures(self, space: str) -> list[ThinkFailure]: ...

    def retry_failures(self, space: str) -> int: ...


class ThoughtStore(Protocol):
    """Thoughts, entities and the journal of every action on them."""

    def users(self) -> list[str]: ...

    def thoughts(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        subject: str | None = None,
        relation: str | None = None,
        group: int | None = None,
        kind: Kind | None = None,
        current: bool = True,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Thought]:
        """In sequence. `subject` matches by entity (any spelling); `current=False` includes retired ones."""
        ...

    def subject_names(self, space: str) -> list[str]:
        """Every subject thoughts were ever about."""
        ...

    def entities(self, space: str) -> list[Entity]: ...

    def record_recalls(self, space: str, thoughts: Sequence[int], now: datetime) -> None:
        """Count that these thoughts were recalled: only a retention policy asks for it."""
        ...

    def recall_counts(self, space: str, thoughts: Sequence[int]) -> dict[int, RecallCount]: ...

    def journal(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        thought: int | None = None,
        turn: int | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Action]: ...

    def retire(self, space: str, thought: int, reason: str, actor: str, now: datetime) -> Action: ...

    def undo(self, space: str, action: int, actor: str, now: datetime) -> Action: ...

    def erase(
        self, space: str, *, session: str | None = None, turn: int | None = None, now: datetime
    ) -> EraseResult:
        """Physically delete a turn, a session or the whole space with everything derived from it."""
        ...


class SummaryStore(Protocol):
    """Working memory: what each session has come to, and how."""

    def summary(self, space: str, session: str) -> Summary | None: ...

    def summaries(self, space: str) -> list[Summary]: ...

    def summaries_behind(self, space: str) -> list[str]:
        """The sessions that have a summary, and turns after it."""
        ...

    def summary_updates(self, space: str, session: str) -> list[SummaryUpdate]:
        """Its journal, oldest first."""
        ...

    def save_summary(
        self, space: str, summary: Summary, update: SummaryUpdate | None, expected: Summary
    ) -> None:
        """Write it with its line in the journal; Outdated if what is kept is not `seen` any more."""
        ...


class IndexStore(Protocol):
    """Vectors, terms and groups as rows: derived, kept so that a reader need not derive them again."""

    def unindexed(self, space: str, limit: int) -> list[UnindexedItem]:
        """What has no entry yet, in sequence."""
        ...

    def index(self, space: str, entries: Sequence[IndexEntry], epoch: int | None = None) -> None:
        """Write the entries of what `unindexed` gave, in that order; `epoch` as in `apply`."""
        ...

    def stamp(self, space: str) -> VersionStamp: ...

    def delta(self, space: str, since: VersionStamp) -> IndexDelta:
        """What changed since; everything, if the epoch is another."""
        ...

    def hashing(self, space: str) -> Hashing | None: ...

    def regroup(
        self, space: str, hashing: Hashing, groups: Mapping[tuple[ItemKind, int], int], expected: VersionStamp
    ) -> bool:
        """Replace R and every group in one transaction; False if the space changed since `seen`."""
        ...

    def embedder(self) -> str | None:
        """The name of the embedder that wrote the vectors, None in an empty database."""
        ...

    def bind_embedder(self, embedder: str) -> None:
        """Name the embedder of an empty database; EmbedderMismatch if it has another."""
        ...

    def reembed_begin(self, target: str) -> int:
        """Mark the database as on its way to `target`; how many entries are still to be converted."""
        ...

    def reembed_next(self, target: str, limit: int) -> list[tuple[SpaceKey, UnindexedItem]]:
        """The next (place, item), of every tenant, whose vector is not yet `target`'s."""
        ...

    def reembed_write(self, target: str, entries: Sequence[tuple[SpaceKey, IndexEntry]]) -> None: ...

    def reembed_finish(self, target: str) -> None: ...


class ApiKeyStore(Protocol):
    """Who may ask a server, of every tenant."""

    def add_key(self, key: ApiKey) -> None:
        """Conflict if its id is taken."""
        ...

    def key(self, id_: str) -> ApiKey | None: ...

    def requires_keys(self) -> bool:
        """Whether there has ever been a key: then everybody needs one, also when the last is gone."""
        ...

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """In the order they were made; revoked ones too."""
        ...

    def revoke_key(self, id_: str, now: datetime) -> ApiKey:
        """NotFound if there is none; revoking again changes nothing."""
        ...


class Store(TurnStore, ThinkQueue, ThoughtStore, SummaryStore, IndexStore, ApiKeyStore, Protocol):
    """One database of many spaces, seen by one tenant: no other's space is found by any method.

    Only keys, embedders and upkeep of the whole file (`check`, `reembed_*`, `spaces`, `waiting`,
    `erase_tenant`) know of all tenants.
    """

    @property
    def tenant(self) -> str:
        """Whose spaces these are; empty for the library and the command line."""
        ...

    def for_tenant(self, tenant: str) -> Store:
        """The same database as another tenant sees it; it lives as long as this one."""
        ...

    def spaces(self) -> list[SpaceKey]:
        """Every space of every tenant."""
        ...

    def pending_spaces(self, now: datetime) -> list[SpaceKey]:
        """The places with turns to think over that nobody holds now, longest waiting first."""
        ...

    def load(
        self,
        space: str,
        turns: Sequence[Turn],
        actions: Sequence[Action],
        entities: Sequence[Entity],
        summaries: Sequence[Summary] = (),
        updates: Sequence[SummaryUpdate] = (),
    ) -> None:
        """Write an exported space, ids and all, into an empty one (journal replay)."""
        ...

    def erase_tenant(self, tenant: str, now: datetime) -> EraseResult:
        """Physically delete all spaces and all keys of a tenant; NotFound if it has neither."""
        ...

    def stats(self, space: str) -> SpaceStats: ...

    def check(self) -> list[str]:
        """Problems found by a full integrity check; empty when all is well."""
        ...

    def close(self) -> None: ...
