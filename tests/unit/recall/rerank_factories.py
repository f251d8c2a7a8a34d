"""Candidates and queries for the tests of rerankers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
from tests.factories import NOW

from thinkback.recall.query import PreparedQuery
from thinkback.recall.rerankers import RerankCandidate
from thinkback.types import Kind, Score, Thought, Turn


def asks(
    text: str, *, k: int = 5, now: datetime | None = NOW, kinds: Mapping[Kind, float] = {}
) -> PreparedQuery:
    vector = np.zeros(4, dtype=np.float32)
    return PreparedQuery(text=text, vector=vector, k=k, now=now, kind_probabilities=kinds)


def turn(text: str, *, total: float = 0.0, at: datetime = NOW) -> RerankCandidate:
    said = Turn(id=1, query=text, response="", at=at, recorded_at=NOW, session="default")
    return RerankCandidate(said, Score(total, 0.0, 0.0), at)


def thought(kind: Kind, *, total: float, sentence: str = "The user likes tea.") -> RerankCandidate:
    held = Thought(
        id=1,
        subject="user",
        relation="likes",
        objects=("tea",),
        sentence=sentence,
        kind=kind,
        sources=(),
        recorded_at=NOW,
    )
    return RerankCandidate(held, Score(total, 0.0, 0.0), NOW)
