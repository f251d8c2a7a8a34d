"""The common form of every data set: cases, each a history to store and questions to ask about it.

  Dataset -> Case -> HistoryItem (what is stored) and Question (what is asked, with the expected result)

`Question.gold` names the items that contain the answer. It is empty if the history does not contain the
answer (`answerable` is false, nothing should be recalled), or if nobody annotated it (retrieval is then not
scored).
"""

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
    """One entry of a history: a turn (query and response) or a note (query only)."""

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
        """The text with its speakers labelled, so that a reader knows who "I" and "you" are."""
        if not self.response:
            return self.query
        user, assistant = ("用户：", "助手：") if contains_chinese(self.text) else ("User: ", "Assistant: ")
        return f"{user}{self.query}\n{assistant}{self.response}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the time it is asked; `again` contains other wordings of it."""

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
    """One history and its questions. Cases share nothing."""

    id: str
    items: tuple[HistoryItem, ...]
    questions: tuple[Question, ...]
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The cases of a data set, and the options (language, split, domains) they were loaded with."""

    name: str
    cases: tuple[Case, ...]
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """First 12 hexadecimal digits of a SHA-256 over all cases."""
        cases = json.dumps([asdict(case) for case in self.cases], default=datetime.isoformat, sort_keys=True)
        return sha256(cases.encode()).hexdigest()[:12]


SampledT = TypeVar("SampledT")


def take_sample(items: Sequence[SampledT], limit: int | None, seed: int | None) -> list[SampledT]:
    """Take at most `limit` items: the first ones, or with a seed a random sample; their order is kept."""
    if limit is None or limit >= len(items):
        return list(items)
    if seed is None:
        return list(items[:limit])
    positions = sorted(random.Random(seed).sample(range(len(items)), limit))  # noqa: S311 - a sample, no secret
    return [items[position] for position in positions]
