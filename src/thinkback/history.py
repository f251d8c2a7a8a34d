"""Bitemporal queries: what was true when (valid time), and what was known when (recorded time).

The journal stores every thought before and after each action, so replaying it up to a moment reproduces the
space exactly as it was at that moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from thinkback.types import Action, Thought


def replay(actions: Iterable[Action], until: datetime | None = None) -> dict[int, Thought]:
    """All thoughts by id after these actions; with `until`, only actions recorded by then count."""
    thoughts: dict[int, Thought] = {}
    for action in actions:
        if until is None or action.at <= until:
            thoughts |= {thought.id: thought for thought in action.after}
    return thoughts


def hidden_turns(actions: Iterable[Action], until: datetime | None = None) -> dict[int, int]:
    """The turns hidden after these actions, each with the action that hides it."""
    by_id: dict[int, Action] = {}
    hidden: dict[int, int] = {}
    for action in actions:
        if until is not None and action.at > until:
            continue
        by_id[action.id] = base = action
        hides = True
        while base.undoes is not None and base.undoes in by_id:
            base, hides = by_id[base.undoes], not hides
        for turn in base.hides:
            if hides:
                hidden[turn] = base.id
            else:
                hidden.pop(turn, None)
    return hidden


def holds_at(thought: Thought, at: datetime) -> bool:
    """Whether the thought was true at that time."""
    started = thought.valid_from is None or thought.valid_from <= at
    return started and (thought.valid_to is None or at < thought.valid_to)


def filter_by_time(
    thoughts: Iterable[Thought], as_of: datetime | None, known_at: datetime | None
) -> list[Thought]:
    """Thoughts that were current at `known_at` and true at `as_of`.

    `thoughts` must be replayed up to `known_at`. With `as_of` alone, retired thoughts are included: they were
    true until something replaced them.
    """
    selected = [thought for thought in thoughts if known_at is None or thought.current]
    return selected if as_of is None else [thought for thought in selected if holds_at(thought, as_of)]


def describe_validity(thought: Thought) -> str:
    """When a thought was true, and when it was learned or retired, in words."""
    since = f"{thought.valid_from:%Y-%m-%d}" if thought.valid_from else "always"
    span = f"from {since} to {thought.valid_to:%Y-%m-%d}" if thought.valid_to else f"since {since}"
    if thought.retired_at is None:
        return f"holds {span}, learned {thought.recorded_at:%Y-%m-%d %H:%M}"
    return f"held {span}, retired {thought.retired_at:%Y-%m-%d %H:%M}"
