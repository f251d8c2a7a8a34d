"""A memo for what is read out of a text again and again; it keeps results, never the text itself.

Turns are never changed, and every recall asks of the same ones whether they hold an order or a secret. What
was erased must not live on in a cache, so a text is known by its digest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

Value = TypeVar("Value")

_MIN_CACHED_CHARACTERS = 32  # characters that are read anew faster than they are looked up


def cache_by_digest(max_entries: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Keep the results of the last `size` texts or so; the function must depend on nothing but the text."""

    def decorate(function: Callable[[str], Value]) -> Callable[[str], Value]:
        newer: dict[bytes, Value] = {}
        older: dict[bytes, Value] = {}

        @wraps(function)
        def remembered(text: str) -> Value:
            nonlocal newer, older
            if len(text) < _MIN_CACHED_CHARACTERS:
                return function(text)
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if key in newer:
                return newer[key]
            value = older[key] if key in older else function(text)
            if len(newer) >= max_entries // 2:  # two halves: the older one is forgotten whole
                newer, older = {}, newer
            newer[key] = value
            return value

        return remembered

    return decorate
