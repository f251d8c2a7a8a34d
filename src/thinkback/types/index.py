"""Index entries, validity periods, group hashing and version stamps. The index is a cache that can be rebuilt from rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from thinkback.types.turn import ItemKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    TermHashes = npt.NDArray[np.uint32]


# --- the index: a cache, rebuilt from rows at any time ---------------------------------------


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index keeps of one turn or thought; a thought not yet numbered has id 0."""

    kind: ItemKind
    id: int
    vector: Vector
    terms: TermHashes
    group: int = 0


@dataclass(frozen=True, slots=True)
class UnindexedItem:
    """A turn or thought whose text is not (or not any more) in the index; `turn` decides its group."""

    kind: ItemKind
    id: int
    text: str
    turn: int


@dataclass(frozen=True, slots=True, eq=False)
class Hashing:
    """R of H(x) = argmax([xR; -xR]) (TiM 002, Eq. 1), as it is stored with its space.

    `matrix` has shape (d, b/2). `probes` groups are looked into by a query; `learned` tells whether
    the columns were learned from the space or drawn at random from `seed`. `size` is how many items
    the space had then.
    """

    matrix: Vector
    seed: int
    learned: bool
    probes: int
    size: int

    @property
    def groups(self) -> int:
        """b, the number of groups."""
        return 2 * int(self.matrix.shape[1])


@dataclass(frozen=True, slots=True)
class ValidityPeriod:
    """When an item holds and when we held it true, for filtering by time; ids as in Entry.

    A raw turn holds from the time it was said, and `turn` is its own id.
    """

    id: int
    turn: int
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    kind: ItemKind = "thought"


class RecallCount(NamedTuple):
    """How often a thought was recalled, and when last."""

    times: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class VersionStamp:
    """How far a reader has seen a space. A new epoch means: forget all and read anew.

    `behind` tells that something is not indexed yet.
    """

    epoch: int = -1
    version: int = -1
    has_unindexed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class IndexDelta:
    """What changed in a space's index since a stamp."""

    stamp: VersionStamp
    entries: tuple[IndexEntry, ...] = ()
    periods: tuple[ValidityPeriod, ...] = ()
