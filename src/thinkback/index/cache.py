"""Memory-bounded cache of the spaces being read, shared by all tenants of a database.

It can always be rebuilt from the rows of the database. A space that was dropped is read again on demand;
callers that already hold it can keep using it.
"""

from __future__ import annotations

import threading
from typing import Protocol

from cachetools import LRUCache

from thinkback.index.space_index import SpaceIndex
from thinkback.types import Hashing, IndexDelta, SpaceKey, VersionStamp

DEFAULT_CACHE_BYTES = 512 << 20
EMPTY_SPACE_BYTES = 12 << 10  # measured


class DerivedData(Protocol):
    """Data that a reader derives from the rows of a space; it is dropped with the space."""

    @property
    def nbytes(self) -> int: ...

    def invalidate(self, delta: IndexDelta) -> None:
        """Drop what a change of the space may have changed."""


class CachedSpace:
    """One space in memory: its index, its hashing R, and derived data. Use it under its lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.index = SpaceIndex()
        self.derived: DerivedData | None = None
        self.stamp = VersionStamp()
        self.hashing: Hashing | None = None

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        matrix = 0 if self.hashing is None else 2 * self.hashing.matrix.nbytes  # the index has its transpose
        derived = 0 if self.derived is None else self.derived.nbytes
        return EMPTY_SPACE_BYTES + matrix + self.index.nbytes + derived

    def clear(self, hashing: Hashing | None) -> None:
        """Start again with an empty index, for a new epoch of the space."""
        self.index = SpaceIndex()
        self.derived = None
        self.hashing = hashing

    def apply(self, delta: IndexDelta) -> None:
        """Apply a change of the space."""
        self.index.apply(delta)
        if self.derived is not None:
            self.derived.invalidate(delta)
        self.stamp = delta.stamp


class SpaceCache:
    """The spaces in memory, least recently used dropped first. Safe to share between threads."""

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        # A space larger than the cache counts as the whole cache: it displaces all others, but is kept.
        self._spaces: LRUCache[SpaceKey, CachedSpace] = LRUCache(
            max_bytes, getsizeof=lambda space: min(space.nbytes, max_bytes)
        )
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._spaces)

    @property
    def nbytes(self) -> int:
        """Approximate memory use of all spaces, at most the size of the cache."""
        return int(self._spaces.currsize)

    def get(self, key: SpaceKey) -> CachedSpace:
        """The cached space, or a new empty one; the caller brings it up to date."""
        with self._lock:
            space = self._spaces.get(key)
            if space is None:
                space = self._spaces[key] = CachedSpace()
            return space

    def drop(self, key: SpaceKey) -> None:
        """Remove a space from memory."""
        with self._lock:
            self._spaces.pop(key, None)

    def update_size(self, key: SpaceKey, space: CachedSpace) -> None:
        """Record the current size of a space; others are dropped if the cache is full."""
        with self._lock:
            self._spaces.pop(key, None)  # else it might be dropped itself while space is made for it
            self._spaces[key] = space
