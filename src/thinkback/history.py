"""The space on both axes of time: what held when, and what we knew when, read from its journal.

The journal keeps every thought before and after each action, so folding it up to a moment gives the space
as it was then, exactly: undone actions, closed intervals and all.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from thinkback.types import Action, Thought


def replay(actions: Iterable[Action], until: datetime | None = None) -> dict[int, Thought]:
    """Every thought as these actions, in sequence, leave it; with `until`, only what was recorded by then."""
    known: dict[int, Thought] = {}
    for action in actions:
        if until is None or action.at <= until:
            known |= {thought.id: thought for thought in action.after}
    return known


def holds_at(thought: Thought, at: datetime) -> bool:
    """Whether what it says was so at that time."""
    begun = thought.valid_from is None or thought.valid_from <= at
    return begun and (thought.valid_to is None or at < thought.valid_to)


def filter_by_time(
    thoughts: Iterable[Thought], as_of: datetime | None, known_at: datetime | None
) -> list[Thought]:
    """Of thoughts replayed up to `known_at`: those held true then, and, with `as_of`, so at that time.

    Asked for `as_of` alone, a retired thought is seen as well: it held, until something else did.
    """
    found = [thought for thought in thoughts if known_at is None or thought.current]
    return found if as_of is None else [thought for thought in found if holds_at(thought, as_of)]


def describe_validity(thought: Thought) -> str:
    """Both axes in words: when it held, and when we learned it or held it true no longer."""
    since = f"{thought.valid_from:%Y-%m-%d}" if thought.valid_from else "always"
    span = f"from {since} to {thought.valid_to:%Y-%m-%d}" if thought.valid_to else f"since {since}"
    if thought.retired_at is None:
        return f"holds {span}, learned {thought.recorded_at:%Y-%m-%d %H:%M}"
    return f"held {span}, retired {thought.retired_at:%Y-%m-%d %H:%M}"
