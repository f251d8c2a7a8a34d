"""Forgetting by time: Ebbinghaus' R = exp(-t/S), where S grows with each recall (as in MemoryBank).

A policy, and off by default. It never retires a thought: what fades ranks lower, and below a floor it is
archived, that is, left out of recall while it stays in the space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from thinkback.index.space_index import Hits
from thinkback.presets import Retention
from thinkback.types import RecallCount, Thought

_SECONDS_PER_DAY = 86_400.0


def retention_factor(policy: Retention, since: datetime, times: int, now: datetime) -> float:
    """R of what was learned, or last recalled, at `since`, and recalled so often: from 1 down to 0."""
    days = max(0.0, (now - since).total_seconds() / _SECONDS_PER_DAY)
    return math.exp(-days / (policy.days * (1 + policy.growth * times)))


@dataclass(frozen=True, slots=True, eq=False)
class RetentionScorer:
    """The policy at one moment, and where it reads how often a thought was recalled."""

    policy: Retention
    now: datetime
    recalls: Callable[[Sequence[int]], Mapping[int, RecallCount]]

    def factors(self, thoughts: Sequence[Thought]) -> dict[int, float]:
        """R of each thought."""
        recalled = self.recalls([thought.id for thought in thoughts])
        found: dict[int, float] = {}
        for thought in thoughts:
            times, last = recalled.get(thought.id, RecallCount(0, thought.recorded_at))
            found[thought.id] = retention_factor(self.policy, max(last, thought.recorded_at), times, self.now)
        return found

    def is_archived(self, retention: float) -> bool:
        return retention < self.policy.archive_below

    def apply(self, hits: Hits, retention: Mapping[int, float], limit: int) -> Hits:
        """The hits by their faded score, best first; what is archived comes last and matters no more."""
        kept = np.array([retention.get(id_, 1.0) for id_ in hits.ids.tolist()])
        score = hits.score * (1 - self.policy.weight * (1 - kept))
        score[kept < self.policy.archive_below] = 0.0
        order = np.lexsort((hits.ids, -score))[:limit]
        return replace(
            hits,
            ids=hits.ids[order],
            turns=hits.turns[order],
            score=score[order],
            cosine=hits.cosine[order],
            lexical=hits.lexical[order],
            groups=hits.groups[order],
        )
