"""Memory-bounded cache of the spaces being read, shared by all tenants of a database."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from thinkback.index.row_cache import RowCache
from thinkback.index.space_index import SpaceIndex
from thinkback.types import Hashing, SpaceKey, VersionStamp

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class LruCache(Generic[_Key, _Value]):
    """Safe to share by threads. What goes is only let go of: whoever holds it can use it on."""

    def __init__(self, max_weight: int) -> None:
        self._max_weight = max_weight
        self._entries: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def weight(self) -> int:
        """Of all that is kept, together."""
        return self._weight

    def get(self, key: _Key) -> _Value | None:
        with self._lock:
            kept = self._entries.get(key)
            if kept is None:
                return None
            self._entries.move_to_end(key)
            return kept[0]

    def drop(self, key: _Key) -> None:
        with self._lock:
            if (kept := self._entries.pop(key, None)) is not None:
                self._weight -= kept[1]

    def put(self, key: _Key, value: _Value, weight: int) -> None:
        """Keep it as the last one used. It stays even if it alone is too heavy: else it were never kept."""
        with self._lock:
            self._weight += weight - self._entries.pop(key, (value, 0))[1]
            self._entries[key] = value, weight
            while self._weight > self._max_weight and len(self._entries) > 1:
                self._weight -= self._entries.popitem(last=False)[1][1]


DEFAULT_CACHE_BYTES = 512 << 20
EMPTY_SPACE_BYTES = 12 << 10  # of a view in which nothing is, measured


class CachedSpace:
    """One space as it is read: everything in memory, and R. Searched under its lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.index = SpaceIndex()
        self.row_cache = RowCache()
        self.stamp = VersionStamp()
        self.hashing: Hashing | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        matrix = 0 if self.hashing is None else 2 * self.hashing.matrix.nbytes  # the shelf has its transpose
        return EMPTY_SPACE_BYTES + matrix + self.index.nbytes + self.row_cache.nbytes


class SpaceCache:
    """The views of a database, one for all its tenants."""

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._spaces = LruCache[SpaceKey, CachedSpace](max_bytes)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._spaces)

    @property
    def nbytes(self) -> int:
        return self._spaces.weight

    def get(self, key: SpaceKey) -> CachedSpace:
        """The view of a space, empty if none is kept: whoever asks brings it up to date."""
        with self._lock:  # two that ask at once get the same one
            view = self._spaces.get(key)
            if view is None:
                view = CachedSpace()
                self._spaces.put(key, view, view.nbytes)
            return view

    def drop(self, key: SpaceKey) -> None:
        """Let go of all that is in memory of a space."""
        self._spaces.drop(key)

    def update_size(self, key: SpaceKey, space: CachedSpace) -> None:
        """Take note of a view that has grown; others may have to go for it."""
        self._spaces.put(key, space, space.nbytes)
