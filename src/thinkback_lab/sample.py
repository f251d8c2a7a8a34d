"""A part of a data set: the first ones, or with a seed a random sample that can be drawn again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def sample(items: Sequence[Item], limit: int | None, seed: int | None) -> list[Item]:
    """At most `limit` of them, in their own order."""
    if limit is None or limit >= len(items):
        return list(items)
    if seed is None:
        return list(items[:limit])
    places = sorted(random.Random(seed).sample(range(len(items)), limit))  # noqa: S311 - a sample, no secret
    return [items[place] for place in places]
