"""A cache bounded by the weight of what it holds: what was used least recently goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Lru(Generic[_Key, _Value]):
    """Safe to share by threads. What goes is only let go of: whoever holds it can use it on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def weight(self) -> int:
        """Of all that is kept, together."""
        return self._weight

    def get(self, key: _Key) -> _Value | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            return kept[0]

    def drop(self, key: _Key) -> None:
        with self._lock:
            if (kept := self._kept.pop(key, None)) is not None:
                self._weight -= kept[1]

    def put(self, key: _Key, value: _Value, weight: int) -> None:
        """Keep it as the last one used. It stays even if it alone is too heavy: else it were never kept."""
        with self._lock:
            self._weight += weight - self._kept.pop(key, (value, 0))[1]
            self._kept[key] = value, weight
            while self._weight > self._most and len(self._kept) > 1:
                self._weight -= self._kept.popitem(last=False)[1][1]
