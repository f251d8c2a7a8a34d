"""Values of the search index: entries, validity periods, group hashing, version stamps.

The index is a cache; it can be rebuilt from the stored turns and thoughts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from thinkback.types.turn import ItemKind, Turn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    TermHashes = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """Vector, hashed terms and group of one turn or thought. A thought that is not stored yet has id 0."""

    kind: ItemKind
    id: int
    vector: Vector
    terms: TermHashes
    group: int = 0


IndexedTexts = tuple[str, ...]
"""What is indexed of one item, as one text: each part is searched for secrets and instructions alone."""


@dataclass(frozen=True, slots=True)
class UnindexedItem:
    """A turn or thought that needs an index entry. The vector of turn `turn` may decide its group.

    `texts` are the two sides of a turn, or the sentence of a thought. `period` is when it holds, if it is
    stored already; `stored_turn` is the whole turn.
    """

    kind: ItemKind
    id: int
    texts: IndexedTexts
    turn: int
    period: ValidityPeriod | None = None
    stored_turn: Turn | None = None

    @property
    def text(self) -> str:
        """The texts as one."""
        return "\n".join(self.texts)


class UnindexedPage(NamedTuple):
    """Items without an index entry, and the stamp of their space when they were read."""

    items: list[UnindexedItem]
    stamp: VersionStamp


@dataclass(frozen=True, slots=True, eq=False)
class Hashing:
    """The matrix R of the group hash H(x) = argmax([xR; -xR]) (TiM (arXiv), Eq. 1), stored per space.

    Attributes:
        matrix: R, of shape (dimensions, groups / 2).
        seed: seed of the random generator.
        learned: whether the columns were learned from the space or drawn at random.
        probes: how many groups a query searches.
        size: number of items in the space when the matrix was created.
    """

    matrix: Vector
    seed: int
    learned: bool
    probes: int
    size: int

    @property
    def groups(self) -> int:
        """The number of groups (b in the paper)."""
        return 2 * int(self.matrix.shape[1])


@dataclass(frozen=True, slots=True)
class ValidityPeriod:
    """When an item is valid and when it was known, for filtering by time.

    For a turn, `valid_from` is when it was said and `turn` is its own id.
    """

    id: int
    turn: int
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    kind: ItemKind = "thought"


class NearestRows(NamedTuple):
    """Rows near to a query, found by the database. Rows with an id above `covered` were not searched."""

    ids: tuple[int, ...]
    covered: int


class RecallCount(NamedTuple):
    """How often a thought was recalled, and when it was recalled last."""

    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class VersionStamp:
    """The version of a space that a reader has seen. A new epoch invalidates everything read before.

    `has_unindexed` is true while some turns or thoughts have no index entry yet.
    """

    epoch: int = -1
    version: int = -1
    has_unindexed: bool = field(default=False, compare=False)

    def follows(self, earlier: VersionStamp) -> bool:
        """Whether this is the version directly after an earlier one."""
        return self.epoch == earlier.epoch and self.version == earlier.version + 1


@dataclass(frozen=True, slots=True)
class IndexDelta:
    """Index entries and validity periods that changed since an earlier stamp.

    `turns` are new turns that were read on the way.
    """

    stamp: VersionStamp
    entries: tuple[IndexEntry, ...] = ()
    periods: tuple[ValidityPeriod, ...] = ()
    turns: tuple[Turn, ...] = ()
