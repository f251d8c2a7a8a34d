"""What a model may propose about a group: plain values, to be guarded before they are believed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Merge:
    """These thoughts as one, in this sentence."""

    ids: tuple[int, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Forget:
    """This thought should go; `against` speaks against it."""

    id: int
    against: int | None
    reason: str
