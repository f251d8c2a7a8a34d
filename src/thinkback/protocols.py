"""The interfaces of language models, embedders, stores and clocks.

Implementations are in `thinkback.llms`, `thinkback.embedders` and `thinkback.storage`. Each must pass the
contract tests in `tests/contract`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from threading import Event
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
    NearestRows,
    NewTurn,
    Plan,
    RecallCount,
    Reply,
    Source,
    SpaceKey,
    SpaceStats,
    Summary,
    SummaryUpdate,
    ThinkFailure,
    Thought,
    Turn,
    UnindexedItem,
    UnindexedPage,
    VersionStamp,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from thinkback.types import Vector

ProgressCallback = Callable[[int, int], None]
"""Told how many of how many items are done."""


class Clock(Protocol):
    """Returns the current time as a timezone-aware UTC datetime."""

    def __call__(self) -> datetime: ...


class Embedder(Protocol):
    """Turns texts into unit vectors. Vectors are comparable if and only if the `name`s are equal."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One float32 row of length 1 per text.

        Raises:
            ModelError: the texts could not be embedded. There is never a partial result.
        """
        ...


class CrossEncoder(Protocol):
    """Reads two texts together. Scores are log odds; that of a pair does not depend on the others."""

    def answer_scores(self, question: str, memories: Sequence[str]) -> list[float]:
        """For each memory: does it answer the question, or is it needed for the answer?"""
        ...

    def outdated_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair of an older and a newer text: does the newer one make the older one outdated?"""
        ...


class LLM(Protocol):
    """A chat model. It raises `ModelError` on failure, and `BadReply` for an empty answer."""

    @property
    def name(self) -> str: ...

    @property
    def extracts(self) -> bool:
        """Whether it is good enough to generate and consolidate thoughts. Otherwise rules do it."""
        ...

    @property
    def follows(self) -> bool:
        """Whether it can follow a long prompt. Otherwise it gets a short prompt with few facts."""
        ...

    @property
    def speaks(self) -> tuple[str, ...] | None:
        """The languages it can answer in ("en", "zh", ...), or None if there is no known limit."""
        ...

    @property
    def masks(self) -> bool:
        """Whether `stream` supports `forbid` (TiM (ACL), Eq. 9). May ask the server once."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        """The whole answer. With a JSON `schema` the text is valid JSON."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        """Yield the answer in pieces and return the whole reply (the value of `yield from`).

        The words in `forbid` are not generated if the model `masks`; otherwise `forbid` is ignored.
        """
        ...


class TurnStore(Protocol):
    """The memory bank: immutable turns in order."""

    def append(self, space: str, new_turns: Sequence[NewTurn], now: datetime) -> list[Turn]:
        """Store turns in one transaction; they are durable on return.

        A key that was used before returns the turn stored then.

        Raises:
            Conflict: the key was used before with another text.
        """
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
        hidden: bool = False,
    ) -> list[Turn]:
        """Turns in order of their id; with `newest`, the last `limit` turns (in the same order).

        Hidden turns are included only with `hidden`, or if they are asked for by `ids`.
        """
        ...

    def sessions(self, space: str) -> list[str]:
        """All session names, oldest session first."""
        ...


class MetadataStore(Protocol):
    """Metadata that clients send with turns. It is erased with its turn."""

    def set_metadata(self, space: str, turns: Sequence[int], metadata: Mapping[str, Any]) -> None:
        """Replace the metadata of these turns; turns that do not exist are left out."""
        ...

    def metadata(self, space: str, turns: Sequence[int]) -> dict[int, dict[str, Any]]:
        """The metadata of these turns, for those that have any."""
        ...


class ThinkQueue(Protocol):
    """Post-think work. The turns are the queue: a turn without `thought_at` is pending."""

    def claim(self, space: str | None, limit: int, lease_seconds: float, now: datetime) -> list[ClaimedTurn]:
        """Lease the oldest pending turns of a space (None: the space that has waited longest).

        Returns an empty list while another worker holds a valid lease on the space.
        """
        ...

    def renew(self, space: str, lease: str, lease_seconds: float, now: datetime) -> bool:
        """Extend a lease while its worker is alive.

        Returns False if there is nothing to extend: all its turns are done, released or taken over.
        """
        ...

    def apply(
        self, space: str, plan: Plan, entries: Sequence[IndexEntry], now: datetime, epoch: int | None = None
    ) -> list[Action]:
        """Write thoughts, index entries, journal and `thought_at` in one transaction.

        Args:
            entries: one per new thought, in the order of `plan.drafts`.
            epoch: the epoch for which the groups of the entries were computed.

        Raises:
            LeaseLost: the lease of the plan is no longer valid.
            ConcurrentUpdate: the epoch has changed.
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
        """Give a claimed turn back, to be retried from `retry_at`; None makes it a dead letter.

        With `count_attempt=False` the attempt does not count, because the turn did not cause the failure.
        """
        ...

    def pending(self, space: str | None) -> int:
        """Number of pending turns of a space, or of all spaces of this tenant."""
        ...

    def backlog(self) -> int:
        """Number of pending turns of all tenants."""
        ...

    def wait_for_turns(self, seconds: float, stop: Event) -> None:
        """Wait until new turns may have come, `stop` is set, or the time is over."""
        ...

    def failures(self, space: str) -> list[ThinkFailure]: ...

    def retry_failures(self, space: str) -> int:
        """Make all dead letters pending again. Returns their number."""
        ...


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
        """Thoughts in order of their id.

        `subject` is matched by normalised name; `current=False` includes retired thoughts.
        """
        ...

    def forgotten_sources(self, space: str, turns: Sequence[int]) -> list[Source]:
        """Where these turns state thoughts that the user asked to forget, or corrected."""
        ...

    def subject_names(self, space: str) -> list[str]:
        """All subjects of thoughts, past and present."""
        ...

    def entities(self, space: str) -> list[Entity]: ...

    def record_recalls(self, space: str, thoughts: Sequence[int], now: datetime) -> None:
        """Count a recall of these thoughts. Used by presets with a retention policy only."""
        ...

    def recall_counts(self, space: str, thoughts: Sequence[int]) -> dict[int, RecallCount]:
        """How often each thought was recalled; thoughts never recalled are missing."""
        ...

    def journal(
        self,
        space: str,
        *,
        ids: Sequence[int] | None = None,
        thought: int | None = None,
        turn: int | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Action]:
        """Actions in order of their id."""
        ...

    def retire(self, space: str, thought: int, reason: str, actor: str, now: datetime) -> Action:
        """Retire a current thought.

        Raises:
            NotFound: there is no such thought.
            Conflict: it is already retired.
        """
        ...

    def forget(
        self,
        space: str,
        *,
        thoughts: Sequence[int] = (),
        turns: Sequence[int] = (),
        reason: str,
        actor: str,
        now: datetime,
        cause: int | None = None,
        keep_thoughts: bool = False,
    ) -> Action:
        """Retire thoughts and hide turns, in one action.

        Hiding a turn also takes back what thinking about it changed, and retires thoughts drawn from hidden
        turns only. A hidden turn is neither searched nor thought about. `cause` is the turn that asked for
        it. With `keep_thoughts` only the given thoughts are retired.

        Raises:
            NotFound: there is no such thought or turn.
            Conflict: a thought is already retired, or a turn is already hidden.
        """
        ...

    def undo(self, space: str, action: int, actor: str, now: datetime, *, cause: int | None = None) -> Action:
        """Undo an action. `cause` is the turn that asked for it.

        Raises:
            NotFound: there is no such action.
            Conflict: it is already undone, or a thought has changed since.
        """
        ...

    def erase(
        self, space: str, *, session: str | None = None, turn: int | None = None, now: datetime
    ) -> EraseResult:
        """Physically delete a turn, a session or the whole space with everything derived from it.

        An error means that nothing was deleted. `EraseResult.bytes_pending` says that the rows are deleted
        but the files could not be rewritten yet; see `finish_erasures`.
        """
        ...


class SummaryStore(Protocol):
    """Session summaries and their edit history."""

    def summary(self, space: str, session: str) -> Summary | None: ...

    def summaries(self, space: str) -> list[Summary]: ...

    def summaries_behind(self, space: str) -> list[str]:
        """Sessions that have a summary and newer turns."""
        ...

    def summary_updates(self, space: str, session: str) -> list[SummaryUpdate]:
        """All updates of a session's summary, oldest first."""
        ...

    def save_summary(
        self, space: str, summary: Summary, update: SummaryUpdate | None, expected: Summary
    ) -> None:
        """Write a summary and its journal entry.

        Raises:
            ConcurrentUpdate: the stored summary is no longer `expected`, or the turn was erased.
        """
        ...


class IndexStore(Protocol):
    """Index entries. They are derived data, stored so that readers need not recompute them."""

    def unindexed(self, space: str, limit: int) -> UnindexedPage:
        """Items without an index entry, in order, and the stamp at which they were read."""
        ...

    def index(self, space: str, entries: Sequence[IndexEntry], epoch: int | None = None) -> VersionStamp:
        """Write the entries for the items returned by `unindexed`, in that order; `epoch` as in `apply`.

        Returns the stamp of the space with them. If it follows the one at which the items were read, nothing
        else has changed since.
        """
        ...

    def stamp(self, space: str) -> VersionStamp:
        """The current version of a space."""
        ...

    def delta(self, space: str, since: VersionStamp) -> IndexDelta:
        """What changed since a stamp; everything, if the epoch has changed."""
        ...

    def hashing(self, space: str) -> Hashing | None: ...

    def regroup(
        self, space: str, hashing: Hashing, groups: Mapping[tuple[ItemKind, int], int], expected: VersionStamp
    ) -> bool:
        """Replace the hashing and all groups in one transaction.

        Returns False (and changes nothing) if the space is no longer at the `expected` stamp.
        """
        ...

    def nearest(
        self, space: str, kind: ItemKind, vector: Vector, limit: int, size: int
    ) -> NearestRows | None:
        """The `limit` rows of a space nearest to a vector, as a search index inside the database finds them.

        None if there is none: then the caller searches its copy of the space, which has `size` rows.
        """
        ...

    def extend_search_index(self, space: str, kind: ItemKind, size: int) -> None:
        """Add new rows to the search index inside the database, or create it, if the space is large."""
        ...

    def embedder(self) -> str | None:
        """The name of the embedder that wrote the vectors; None in an empty database."""
        ...

    def bind_embedder(self, embedder: str) -> None:
        """Declare the embedder in use. An empty database records it.

        Raises:
            EmbedderMismatch: the database has vectors of another embedder.
        """
        ...

    def reembed_begin(self, target: str) -> int:
        """Start (or resume) converting to embedder `target`. Returns the number of entries to convert."""
        ...

    def reembed_next(self, target: str, limit: int) -> list[tuple[SpaceKey, UnindexedItem]]:
        """The next items, of all tenants, whose vectors are not yet converted."""
        ...

    def reembed_write(self, target: str, entries: Sequence[tuple[SpaceKey, IndexEntry]]) -> None: ...

    def reembed_finish(self, target: str) -> None:
        """Complete the conversion. Groups are deleted, because they belong to the old vectors."""
        ...


class ApiKeyStore(Protocol):
    """API keys of the server, for all tenants."""

    def add_key(self, key: ApiKey) -> None:
        """Raises:
        Conflict: a key with this id exists.
        """
        ...

    def key(self, id_: str) -> ApiKey | None: ...

    def requires_keys(self) -> bool:
        """Whether requests need a key: True once a key has existed, even if it was revoked since."""
        ...

    def require_keys(self) -> None:
        """Let requests need a key from now on, as if one had existed."""
        ...

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """Keys in order of creation, including revoked ones."""
        ...

    def delete_key(self, id_: str) -> None:
        """Delete a key, if it exists. For sessions, which are many; keys of users are revoked and kept."""
        ...

    def revoke_key(self, id_: str, now: datetime) -> ApiKey:
        """Revoke a key. Revoking it again changes nothing.

        Raises:
            NotFound: there is no such key.
        """
        ...


class RequestLimitStore(Protocol):
    """What the server processes on one database have used of the limits of each client."""

    def take_requests(self, client: str, count: int, rate: float, burst: float, now: datetime) -> bool:
        """Take requests from the token bucket of a client; False (and nothing taken) if it has not as many.

        The bucket holds `burst` requests and is refilled with `rate` per second.
        """
        ...

    def lease_slots(
        self, client: str, process: str, wanted: int, limit: int, lease_seconds: float, now: datetime
    ) -> int:
        """Set how many concurrent requests of a client a process may run; returns how many are granted.

        All processes together have at most `limit`. The grant replaces an earlier one of the process, and
        ends after `lease_seconds`.
        """
        ...

    def renew_slots(
        self, process: str, wanted: Mapping[str, int], lease_seconds: float, now: datetime
    ) -> dict[str, int]:
        """Renew the grants of a process for these clients at once, and give back those above `wanted`.

        Returns the slots that the process still has. Grants that have ended are missing: lease them again.
        """
        ...


class Store(
    TurnStore,
    MetadataStore,
    ThinkQueue,
    ThoughtStore,
    SummaryStore,
    IndexStore,
    ApiKeyStore,
    RequestLimitStore,
    Protocol,
):
    """A database of many spaces, as one tenant sees it. Spaces of other tenants are invisible.

    Exceptions, which cover all tenants: API keys, limits of requests, `reembed_*`, `spaces`,
    `pending_spaces`, `backlog`, `check`, `verify`, `backup`, `erase_tenant`, `erasures_pending` and
    `finish_erasures`.
    """

    @property
    def tenant(self) -> str:
        """The tenant; empty for local use."""
        ...

    def for_tenant(self, tenant: str) -> Store:
        """The same database as another tenant sees it. It is closed together with this one."""
        ...

    def for_recall(self) -> Store:
        """The same database, read from a replica that may be behind; itself if there is none."""
        ...

    def spaces(self) -> list[SpaceKey]:
        """All spaces of all tenants."""
        ...

    def pending_spaces(self, now: datetime) -> list[SpaceKey]:
        """Spaces (of all tenants) with pending turns and no valid lease, longest waiting first."""
        ...

    def load(
        self,
        space: str,
        turns: Sequence[Turn],
        actions: Sequence[Action],
        entities: Sequence[Entity],
        summaries: Sequence[Summary] = (),
        updates: Sequence[SummaryUpdate] = (),
        metadata: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> None:
        """Write an exported space, with its ids, into a space that does not exist yet.

        `metadata` is that of turns, by their ids.

        Raises:
            Conflict: the space exists.
            IntegrityError: the values contradict each other.
        """
        ...

    def read_space(self, space: str) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of a space by table, in order of their keys, for `write_space` of another database.

        Raises:
            NotFound: there is no such space.
        """
        ...

    def write_space(self, space: str, tables: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Write the rows from `read_space` into a space that does not exist yet, in one transaction.

        Raises:
            Conflict: the space exists.
        """
        ...

    def erase_tenant(self, tenant: str, now: datetime) -> EraseResult:
        """Physically delete all spaces and keys of a tenant.

        Raises:
            NotFound: the tenant has neither.
        """
        ...

    def erasures_pending(self) -> bool:
        """Whether bytes of erased rows are still in the files. Changes nothing."""
        ...

    def finish_erasures(self) -> bool:
        """Remove the bytes of erased rows that are still in the files, in the background and repeatedly.

        Returns whether there are any. Cheap if there are none.
        """
        ...

    def stats(self, space: str) -> SpaceStats: ...

    def check(self) -> list[str]:
        """Run the integrity check of the database. Returns the problems found."""
        ...

    def verify(self) -> list[str]:
        """`check`, and whether all rows can be read and agree with each other. Returns the problems found.

        The problems name tables and numbers, never stored text.
        """
        ...

    def backup(self, path: str) -> None:
        """Write a consistent copy of the whole database, while it is in use, and verify it.

        Raises:
            Conflict: the file exists.
            CorruptStore: the copy has problems, so there is no backup.
        """
        ...

    def close(self) -> None: ...
