"""Values of working memory that no store keeps: what is proposed for a summary, and what a model is given."""

from __future__ import annotations

from dataclasses import dataclass

from thinkback.types import Excluded, Message, SummaryField, Talk

LISTS: tuple[SummaryField, ...] = ("needs", "constraints", "facts", "to_clarify", "discussed")
"""The fields that hold plain sentences."""

CONFIRMED: tuple[SummaryField, ...] = ("needs", "constraints", "facts")
"""Those of them that only grow or are revised in the open, as excluded options do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """An item that is to take the place of another: it names the old one, and why."""

    field: SummaryField
    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What one reading of a turn would add to a summary; nothing of it is believed before it is merged.

    `reopened` are options the user raises again, `settled` questions that need no answer any more.
    """

    talk: Talk | None = None
    topic: str = ""
    conclusion: str = ""
    needs: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    facts: tuple[str, ...] = ()
    to_clarify: tuple[str, ...] = ()
    discussed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    revisions: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a kind of talk is remembered: what is shown first, how many memories, how near they must be."""

    first: tuple[SummaryField, ...]
    k: int
    share: float  # of the best memory's score: what scores less is left out


@dataclass(frozen=True, slots=True)
class Part:
    """One part of what a model is given, as it stands there, and about how many tokens it costs."""

    name: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """All that a model is given at one turn."""

    parts: tuple[Part, ...]
    messages: tuple[Message, ...]
    tokens: int
    talk: Talk = "small talk"

    def part(self, name: str) -> str:
        """The text of one part, empty where there is none."""
        return "\n".join(part.text for part in self.parts if part.name == name)
