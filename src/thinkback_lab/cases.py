"""What every data set is read into: cases, each a history to tell to a memory and questions to ask it.

    Dataset -> Case -> Item (what is told)  and  Question (what is asked, with what should come back)

A question's `gold` names the items that hold its answer. None are named where the history does not hold it
(`answerable` is false: nothing should come back), or where nobody noted them (retrieval is not scored).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal

from thinkback_lab.text import has_han

Kind = Literal["profile", "relationship", "knowledge", "event", "dialogue"]
SEMANTIC: tuple[Kind, ...] = ("profile", "relationship", "knowledge")
EPISODIC: tuple[Kind, ...] = ("event", "dialogue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
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
    def spoken(self) -> str:
        """The same with its speakers named: who "I" is, and who "you", is told by nothing else."""
        if not self.response:
            return self.query
        user, assistant = ("用户：", "助手：") if has_han(self.text) else ("User: ", "Assistant: ")
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
    items: tuple[Item, ...]
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
