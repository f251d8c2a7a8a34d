"""The common form of every data set: cases, each a history to store and questions to ask about it; and sampling of them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeVar

from thinkback_lab.text import contains_chinese

Kind = Literal["profile", "relationship", "knowledge", "event", "dialogue"]
SEMANTIC_KINDS: tuple[Kind, ...] = ("profile", "relationship", "knowledge")
EPISODIC_KINDS: tuple[Kind, ...] = ("event", "dialogue")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryItem:
    """One thing a memory is told: a turn with its two sides, or a note, which has only a query."""

    id: str
    query: str
    response: str = ""
    at: datetime
    session: str = "default"
    kind: Kind = "dialogue"

    @property
    def text(self) -> str:
        return "\n".join(side for side in (self.query, self.response) if side)

    @property
    def text_with_speakers(self) -> str:
        """The same with its speakers named: who "I" is, and who "you", is told by nothing else."""
        if not self.response:
            return self.query
        user, assistant = ("用户：", "助手：") if contains_chinese(self.text) else ("User: ", "Assistant: ")
        return f"{user}{self.query}\n{assistant}{self.response}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing a memory is asked, at a time; `again` are other wordings of the same question."""

    id: str
    text: str
    at: datetime
    gold: tuple[str, ...] = ()
    answerable: bool = True
    answer: str = ""
    anchors: tuple[str, ...] = ()
    category: str = ""
    kind: Kind | None = None
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One history and its questions: nothing is shared between cases."""

    id: str
    items: tuple[HistoryItem, ...]
    questions: tuple[Question, ...]
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Cases, and the choices (language, split, domains) that led to them."""

    name: str
    cases: tuple[Case, ...]
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any word of the data."""
        told = json.dumps([asdict(case) for case in self.cases], default=datetime.isoformat, sort_keys=True)
        return sha256(told.encode()).hexdigest()[:12]


SampledT = TypeVar("SampledT")


def take_sample(items: Sequence[SampledT], limit: int | None, seed: int | None) -> list[SampledT]:
    """At most `limit` of them, in their own order."""
    if limit is None or limit >= len(items):
        return list(items)
    if seed is None:
        return list(items[:limit])
    places = sorted(random.Random(seed).sample(range(len(items)), limit))  # noqa: S311 - a sample, no secret
    return [items[place] for place in places]
