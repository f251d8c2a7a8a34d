"""Candidates and questions for rerankers, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np
from tests.making import NOW

from thinkback.index.lexical import hash_terms
from thinkback.recall.rerank import Seen
from thinkback.recall.search import Question
from thinkback.text.tokens import terms
from thinkback.types import Kind, Score, Thought, Turn


def asks(text: str, *, k: int = 5, now: datetime | None = NOW, kinds: Mapping[Kind, float] = {}) -> Question:
    vector = np.zeros(4, dtype=np.float32)
    return Question(text, vector, hash_terms(terms(text)), k, now=now, kinds=kinds)


def turn(text: str, *, total: float = 0.0, at: datetime = NOW) -> Seen:
    said = Turn(id=1, query=text, response="", at=at, recorded_at=NOW, session="default")
    return Seen(said, Score(total, 0.0, 0.0), at)


def thought(kind: Kind, *, total: float, sentence: str = "The user likes tea.") -> Seen:
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
    return Seen(held, Score(total, 0.0, 0.0), NOW)
