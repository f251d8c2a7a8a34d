"""Results of recall: scored candidates, query understanding, recollections, answers and explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from thinkback.types.operation import Action
from thinkback.types.thought import Kind, Thought
from thinkback.types.turn import ConsistencyCheck, ItemKind, RecalledItem, Ref, Turn
from thinkback.types.usage import NO_USAGE, Usage


class ScoreComponent(NamedTuple):
    """One term of a weighted score, for example `cosine`."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        return self.weight * self.value


class Adjustment(NamedTuple):
    """A change of a score after the weighted sum, with its reason."""

    why: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """How a score was computed.

    The contributions of `components` add up to `linear`, which is mapped to `initial` (0 to 1); the
    `adjustments` lead from there to the total.
    """

    JSON_FIELDS: ClassVar = ("parts=components", "linear", "bent=initial", "adjustments")

    components: tuple[ScoreComponent, ...]
    linear: float
    initial: float
    adjustments: tuple[Adjustment, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """How well a candidate matches the query. `breakdown` is set only in an explained recall."""

    JSON_FIELDS: ClassVar = ("total", "cosine", "lexical", "sum=breakdown")

    total: float
    cosine: float
    lexical: float
    breakdown: ScoreBreakdown | None = None

    def adjusted(self, total: float, why: str) -> Score:
        """A copy with another total; the breakdown, if any, records the reason."""
        if total == self.total:
            return self
        breakdown = self.breakdown
        if breakdown is not None:
            adjustments = (*breakdown.adjustments, Adjustment(why, self.total, total))
            breakdown = replace(breakdown, adjustments=adjustments)
        return Score(total, self.cosine, self.lexical, breakdown)


class SentenceRef(NamedTuple):
    """A thought by its reference and sentence."""

    ref: Ref
    sentence: str


@dataclass(frozen=True, slots=True)
class OutdatedInfo:
    """Why a memory is out of date: until when it was true and which thoughts replaced it.

    For a raw turn, `facts` are the outdated thoughts that were drawn from it. If it is not `certain`, a newer
    memory from `until` may have replaced it; `newer` is that memory if it was recalled beside this one.
    """

    JSON_FIELDS: ClassVar = (
        "until",
        "certain",
        "facts=fact_sentences",
        "replaced_by=replacement_sentences",
    )

    until: datetime
    replaced_by: tuple[Thought, ...] = ()
    facts: tuple[Thought, ...] = ()
    certain: bool = True
    newer: Ref | None = None

    @property
    def fact_sentences(self) -> tuple[SentenceRef, ...]:
        return tuple(SentenceRef(thought.ref, thought.sentence) for thought in self.facts)

    @property
    def replacement_sentences(self) -> tuple[SentenceRef, ...]:
        return tuple(SentenceRef(thought.ref, thought.sentence) for thought in self.replaced_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A thought or raw turn that was considered, and why it was kept or dropped.

    `text` is what a model is given: the sentence of a thought with its date, or the user's words in a turn
    with speaker and date. If it is `outdated`, its `text` says so. `joined` are further thoughts that `text`
    states, from the same turn or about the same thing. The reply of a raw turn is part of `text` only if
    `with_response` is set, because the assistant's words are no evidence about the user.
    """

    JSON_FIELDS: ClassVar = (
        "rank",
        "ref",
        "kind",
        "text",
        "score",
        "group",
        "verdict",
        "reason",
        "past=outdated",
        "thought",
        "turn",
    )

    ref: Ref
    text: str
    score: Score
    group: int
    reason: str
    verdict: str = ""  # the start of the reason: `matters`, or why it was dropped
    thought: Thought | None = None
    turn: Turn | None = None
    outdated: OutdatedInfo | None = None
    joined: tuple[Thought, ...] = ()
    with_response: bool = False

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        """All thoughts that the text states; none for a raw turn."""
        return () if self.thought is None else (self.thought, *self.joined)

    @property
    def kind(self) -> Kind | Literal["turn"]:
        """The kind of a thought; `turn` for a raw turn."""
        return self.thought.kind if self.thought else "turn"

    @property
    def rank(self) -> int | None:
        """None: only the JSON of a whole recollection numbers its items, from 1."""
        return None


class TimeSpan(NamedTuple):
    """A time expression in a query: from `start` to `end` (exclusive); None is open."""

    words: str
    start: datetime | None
    end: datetime | None


class SearchTrace(NamedTuple):
    """How one kind of item was searched: `candidates` out of `rows` were compared exactly.

    `probes` is the number of groups searched, starting with the query's own `group`; 0 is the whole space.
    """

    kind: ItemKind
    rows: int
    candidates: int
    probes: int
    exact: bool
    group: int | None


class QueryVariant(NamedTuple):
    """One phrasing of the query that was searched.

    `if_known` are terms that count only if they occur in the space; `weight` scales the lexical score.
    """

    kinds: tuple[ItemKind, ...]
    terms: tuple[str, ...]
    if_known: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryUnderstanding:
    """How a query was interpreted and searched; set only in an explained recall."""

    question: str  # "who", "where", "when", ... or "none"
    tense: str  # asks about now, before, or any time
    spans: tuple[TimeSpan, ...] = ()
    reaches_back: bool = False  # retired thoughts may answer it
    manner: str = "asks"  # "asks", "tells", or "at length" for a whole passage
    told: str = ""  # the part of the query that states something; repeating it is no answer
    kinds: tuple[tuple[Kind, float], ...] = ()  # probability of each memory kind, likeliest first
    names: tuple[str, ...] = ()  # names that were searched for in addition to the query
    aliases: tuple[str, ...] = ()  # other names of the entities in the query
    ways: tuple[str, ...] = ()  # how the query leads to these names, in words
    bridge: tuple[Ref, ...] = ()  # the thoughts that link the query to these names
    wordings: tuple[QueryVariant, ...] = ()
    searched: tuple[SearchTrace, ...] = ()
    preset: str = ""
    relative: bool = False  # components are in standard deviations over the space
    nearly: float = 0.0  # lower threshold for raw turns that fill leftover slots
    middle: float | None = None  # the linear sum that maps to a score of 0.5 in this space


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The memories that matter for a query, best first.

    An explained recall also has `dropped` candidates and the query `understanding`.
    """

    JSON_FIELDS: ClassVar = (
        "query",
        "items",
        "dropped",
        "threshold",
        "group",
        "probes",
        "exact",
        "confidence",
        "understanding",
        "receipt=usage",
    )

    query: str
    items: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...] = ()
    threshold: float = 0.0
    group: int | None = None  # the query's own group, if it was computed
    probes: int = 0
    exact: bool = True
    confidence: float | None = None  # that the memory bank holds an answer; None if it was not estimated
    answers: Mapping[Ref, float] = field(default_factory=dict, repr=False, hash=False)
    """Log odds that a memory answers the query, of all candidates that were read together with it."""
    understanding: QueryUnderstanding | None = None
    usage: Usage = NO_USAGE

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Candidate:
        return self.items[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of `Memory.chat`, the stored turn, and the memories the model was given.

    If every draft contradicted a thought, `text` ends with `warning`. The stored turn does not contain the
    warning, because recalled text must not be remembered as something the user said.
    """

    text: str
    turn: Turn
    recollection: Recollection
    usage: Usage = NO_USAGE
    warning: str = ""
    integrated: str = ""
    """The single thought that the memories were combined into (TiM (EMNLP), Eq. 7), if that is enabled."""
    not_integrated: str = ""
    """Why the memories could not be combined."""

    @property
    def checks(self) -> tuple[ConsistencyCheck, ...]:
        """The contradictions found in drafts of this answer."""
        return self.turn.checks


class Citation(NamedTuple):
    """A memory that an answer cites: its number in the text, its reference and its words."""

    cited: int
    ref: Ref
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """A short answer from memories alone (PerLTQA, Eq. 4). `[1]` in the text cites the first of `used`.

    `words` counts words (Chinese: characters) without citations. If a model was configured but the rules
    answered, `note` says why.
    """

    JSON_FIELDS: ClassVar = (
        "question",
        "text",
        "known",
        "by",
        "words",
        "used=citations",
        "note=optional_note",
        "receipt=usage",
    )

    text: str
    used: tuple[Ref, ...]
    known: bool
    by: Literal["rules", "llm"]
    words: int
    recollection: Recollection
    usage: Usage = NO_USAGE
    note: str = ""

    @property
    def question(self) -> str:
        return self.recollection.query

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The memories the text cites, numbered as in the text."""
        texts = {item.ref: item.text for item in self.recollection}
        return tuple(Citation(number, ref, texts[ref]) for number, ref in enumerate(self.used, start=1))

    @property
    def optional_note(self) -> str | None:
        return self.note or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a thought is held, an answer was given, or (without `ref`) a recall found its items."""

    ref: Ref | None
    text: str
    lines: tuple[str, ...]
    sources: tuple[Turn, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    actions: tuple[Action, ...] = ()
    used: tuple[RecalledItem, ...] = ()
    checks: tuple[ConsistencyCheck, ...] = ()
