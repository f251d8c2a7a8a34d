"""Caches for functions of a text.

Every recall analyses the same immutable turns again: `cache_by_digest`. The key is a digest because erased
text must not survive in a cache. And every recall analyses its query in several places: `cache_recent`.
Words and names are kept as they are, until this process erases something: `cache_words`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import blake2b
from typing import Concatenate, ParamSpec, TypeVar

Value = TypeVar("Value")
Rest = ParamSpec("Rest")

_RECENT_TEXTS = 8
_MIN_CACHED_CHARACTERS = 32  # for most functions computing is faster than a lookup for shorter texts
_clear_functions: list[Callable[[], None]] = []


def cache_by_digest(
    max_entries: int, min_characters: int = _MIN_CACHED_CHARACTERS, *, holds_words: bool = False
) -> Callable[[Callable[Concatenate[str, Rest], Value]], Callable[Concatenate[str, Rest], Value]]:
    """Cache the results of about the last `max_entries` texts of at least `min_characters`.

    The decorated function must depend on its text and its further positional arguments only. If its result
    has words of the text (`holds_words`), it is kept until `clear_cached_words` at most.
    """

    def decorate(
        function: Callable[Concatenate[str, Rest], Value],
    ) -> Callable[Concatenate[str, Rest], Value]:
        newer: dict[tuple[object, ...], Value] = {}
        older: dict[tuple[object, ...], Value] = {}

        @wraps(function)
        def cached(text: str, /, *args: Rest.args, **named: Rest.kwargs) -> Value:
            nonlocal newer, older
            if len(text) < min_characters or named:
                return function(text, *args, **named)
            key = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), *args)
            recent, former = newer, older  # another thread may exchange them meanwhile
            if key in recent:
                return recent[key]
            value = former[key] if key in former else function(text, *args, **named)
            if len(newer) >= max_entries // 2:  # two generations; the older one is dropped whole
                newer, older = {}, newer
            newer[key] = value
            return value

        def clear() -> None:
            nonlocal newer, older
            newer, older = {}, {}

        if holds_words:
            _clear_functions.append(clear)
        return cached

    return decorate


def cache_recent(function: Callable[[str], Value]) -> Callable[[str], Value]:
    """Cache the results of the last few texts. The result must be immutable."""
    return wraps(function)(lru_cache(maxsize=_RECENT_TEXTS)(function))


def cache_words(max_entries: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Cache the results of the last words or names until `clear_cached_words`."""

    def decorate(function: Callable[[str], Value]) -> Callable[[str], Value]:
        cached = lru_cache(maxsize=max_entries)(function)
        _clear_functions.append(cached.cache_clear)
        return cached

    return decorate


def clear_cached_words() -> None:
    """Clear the caches of this process that keep words: after an erasure."""
    for clear in _clear_functions:
        clear()
