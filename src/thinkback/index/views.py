"""The spaces that are being read, in memory, of every tenant of a database, within a bound of bytes.

A view is a cache of a cache: rows are the truth, entries follow them, and a view follows the entries. So one
that was let go of is read again when it is asked for, and whoever still holds it can search it on.
"""

from __future__ import annotations

import threading

from thinkback.index.kept import Kept
from thinkback.index.lru import Lru
from thinkback.index.shelf import Shelf
from thinkback.types import Hashing, Place, Stamp

CACHE_BYTES = 512 << 20
VIEW_BYTES = 12 << 10  # of a view in which nothing is, measured


class View:
    """One space as it is read: everything in memory, and R. Searched under its lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.shelf = Shelf()
        self.kept = Kept()
        self.stamp = Stamp()
        self.hashing: Hashing | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        matrix = 0 if self.hashing is None else 2 * self.hashing.matrix.nbytes  # the shelf has its transpose
        return VIEW_BYTES + matrix + self.shelf.nbytes + self.kept.nbytes


class Views:
    """The views of a database, one for all its tenants."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._kept = Lru[Place, View](most_bytes)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        return self._kept.weight

    def of(self, place: Place) -> View:
        """The view of a space, empty if none is kept: whoever asks brings it up to date."""
        with self._lock:  # two that ask at once get the same one
            view = self._kept.get(place)
            if view is None:
                view = View()
                self._kept.put(place, view, view.nbytes)
            return view

    def drop(self, place: Place) -> None:
        """Let go of all that is in memory of a space."""
        self._kept.drop(place)

    def weigh(self, place: Place, view: View) -> None:
        """Take note of a view that has grown; others may have to go for it."""
        self._kept.put(place, view, view.nbytes)
