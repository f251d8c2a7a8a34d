"""The retired thoughts of a space, as far as a recall has to know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from thinkback.types import SAID, Thought

_MAX_SENTENCES_READ = 64  # the newest, to see whether sentences kept as said are among them
_MAX_SOURCES_READ = 256  # up to this many, reading them all is cheaper than a search


class RetiredThoughts(NamedTuple):
    """Which thoughts are retired, which of the newest are sentences kept as said, and whence they came.

    `source_turns` is None if there are too many thoughts to read them all.
    """

    ids: frozenset[int]
    sentences: frozenset[int]
    source_turns: frozenset[int] | None


NO_RETIRED = RetiredThoughts(frozenset(), frozenset(), frozenset())


def read_retired(ids: Sequence[int], read: Callable[[Sequence[int]], Sequence[Thought]]) -> RetiredThoughts:
    """Read what has to be known of the retired thoughts with these ids."""
    read_all = len(ids) <= _MAX_SOURCES_READ
    newest = sorted(ids)[-_MAX_SENTENCES_READ:]
    thoughts = {thought.id: thought for thought in read(ids if read_all else newest)}
    return RetiredThoughts(
        frozenset(ids),
        frozenset(id_ for id_ in newest if id_ in thoughts and thoughts[id_].relation == SAID),
        frozenset(source.turn for thought in thoughts.values() for source in thought.sources)
        if read_all
        else None,
    )
