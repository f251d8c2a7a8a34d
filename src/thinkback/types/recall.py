"""Results of recall: scored candidates, query understanding, recollections, answers and explanations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple

from thinkback.types.operation import Action
from thinkback.types.thought import Kind, Thought
from thinkback.types.turn import ConsistencyCheck, ItemKind, RecalledItem, Ref, Turn
from thinkback.types.usage import Usage

# --- recall ----------------------------------------------------------------------------------


class ScoreComponent(NamedTuple):
    """What one part gives to a score: how much there is of it, and what that counts."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        return self.weight * self.value


class Adjustment(NamedTuple):
    """Why a score is not what its parts make it: what it was before, and after."""

    why: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """How a score came about: the contributions of the `parts` sum to `linear`; that is bent to a score from
    0 to 1, `bent`, and the `adjustments` lead from there to the total."""

    components: tuple[ScoreComponent, ...]
    linear: float
    initial: float
    adjustments: tuple[Adjustment, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """How well one candidate answers; `sum` tells how it came about, where a recall is explained."""

    total: float
    cosine: float
    lexical: float
    breakdown: ScoreBreakdown | None = None

    def adjusted(self, total: float, why: str) -> Score:
        """The same with another total; the reason is kept where the score is explained."""
        if total == self.total:
            return self
        made = self.breakdown
        if made is not None:
            steps = (*made.adjustments, Adjustment(why, self.total, total))
            made = replace(made, adjustments=steps)
        return Score(total, self.cosine, self.lexical, made)


@dataclass(frozen=True, slots=True)
class OutdatedInfo:
    """Until when something was so, what is held true in its place, and which `facts` of a raw turn it was."""

    until: datetime
    replaced_by: tuple[Thought, ...] = ()
    facts: tuple[Thought, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thought or raw turn that was considered, with its reason; of what is `past`, the text says so."""

    ref: Ref
    text: str
    score: Score
    group: int
    reason: str
    verdict: str = ""  # what the reason begins with: `matters`, or why it was dropped
    thought: Thought | None = None
    turn: Turn | None = None
    outdated: OutdatedInfo | None = None


class TimeSpan(NamedTuple):
    """A time that a query names: from `start` up to, not including, `end`; None is open."""

    words: str
    start: datetime | None
    end: datetime | None


class SearchTrace(NamedTuple):
    """How one kind of memory was searched: so many candidates of `rows` were compared exactly.

    `probes` groups were looked into, 0 means the whole space; of the query's `group` they are the nearest.
    """

    kind: ItemKind
    rows: int
    candidates: int
    probes: int
    exact: bool
    group: int | None


class QueryVariant(NamedTuple):
    """One way a question was put: its search terms, those that count only where known, and their worth."""

    kinds: tuple[ItemKind, ...]
    terms: tuple[str, ...]
    if_known: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryUnderstanding:
    """What a query was taken for, and what was searched with: told where a recall is explained."""

    question: str  # who, where, when, ... or none
    tense: str  # whether it asks for now, before or any time
    spans: tuple[TimeSpan, ...] = ()
    reaches_back: bool = False  # what is held true no more may answer it
    manner: str = "asks"  # it asks, tells, or is a whole passage ("at length")
    told: str = ""  # the part that tells: what it says itself is no answer
    kinds: tuple[tuple[Kind, float], ...] = ()  # which kind of memory it asks for, the likeliest first
    names: tuple[str, ...] = ()  # also searched for,
    aliases: tuple[str, ...] = ()  # further names of those it speaks of,
    ways: tuple[str, ...] = ()  # how it leads to them, in words,
    bridge: tuple[Ref, ...] = ()  # and the thoughts on the way
    wordings: tuple[QueryVariant, ...] = ()
    searched: tuple[SearchTrace, ...] = ()
    preset: str = ""
    relative: bool = False  # whether parts count in standard deviations over the space
    nearly: float = 0.0  # down to it a raw turn that shares a word may take a place that is left
    middle: float | None = None  # the sum of parts that scores 0.5 in this space, where sums are bent


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The few memories that matter for a query, best first; and, if asked, what was dropped and why."""

    query: str
    items: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...] = ()
    threshold: float = 0.0
    group: int | None = None  # the query's own, where it was needed or asked for (`explain`)
    probes: int = 0
    exact: bool = True
    understanding: QueryUnderstanding | None = None  # if it is explained
    usage: Usage = Usage()

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Candidate:
        return self.items[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply, the turn it became, and the memories it was given.

    `warning` ends the text of an answer that still contradicts a thought after every try; the turn's response
    is without it, or what was recalled would be remembered again.
    """

    text: str
    turn: Turn
    recollection: Recollection
    usage: Usage = Usage()
    warning: str = ""
    integrated: str = ""
    """The one thought the memories were joined into for it (TiM 000, Eq. 7), where that is on,"""
    not_integrated: str = ""
    """or why they were not."""

    @property
    def checks(self) -> tuple[ConsistencyCheck, ...]:
        """The contradictions caught on the way to this answer."""
        return self.turn.checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """A short answer from memories alone (PerLTQA, Eq. 4): `[1]` in its text cites the first of `used`.

    `words` counts words, of Chinese characters, without the citations. Where a model was there but the rules
    answered, `note` says why.
    """

    text: str
    used: tuple[Ref, ...]
    known: bool
    by: Literal["rules", "llm"]
    words: int
    recollection: Recollection
    usage: Usage = Usage()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of a thought, of an answer, or, without a `ref`, of a recall."""

    ref: Ref | None
    text: str
    lines: tuple[str, ...]
    sources: tuple[Turn, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    actions: tuple[Action, ...] = ()
    used: tuple[RecalledItem, ...] = ()
    checks: tuple[ConsistencyCheck, ...] = ()
