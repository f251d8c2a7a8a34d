"""The values that flow through thinkback: frozen, and they know no database.

    write:  Turn -> Draft -> Change -> Plan -> Action (the journal) and Thought (the space)
                 -> Edit -> SummaryUpdate (its journal) and Summary (the working memory of a session)
    read:   query -> Candidate -> Recollection -> Answer, Synthesis

Ids are sequence numbers within one space: order is by sequence, never by wall clock.
Times are aware datetimes in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Terms = npt.NDArray[np.uint32]

Kind = Literal["profile", "relationship", "knowledge", "event", "dialogue"]
"""The kinds of memory of PerLTQA: the first three are semantic, the last two episodic."""

KINDS: tuple[Kind, ...] = ("profile", "relationship", "knowledge", "event", "dialogue")

SAME = "same as"
"""The relation that makes two names one's, or (denied) two people's: who is who is a thought as well."""

CORRECTED_IN = "corrected in "
"""So begins the reason of a thought that was retired for a correction; the name of its turn follows."""

ActionKind = Literal["insert", "merge", "forget", "supersede", "undo"]
Side = Literal["query", "response"]
ItemKind = Literal["turn", "thought"]


class Ref(NamedTuple):
    """How a turn, thought or action is named outside its space: `thought:7`."""

    kind: Literal["turn", "thought", "action"]
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


# --- the memory bank -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn as it is told to us, before the bank has numbered it."""

    query: str
    response: str = ""
    at: datetime
    session: str = "default"
    key: str | None = None
    asker: str = "user"
    answerer: str = "assistant"
    recalled: tuple[Used, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Said):
    """One question and its response. Written once, never changed."""

    id: int
    recorded_at: datetime
    thought_at: datetime | None = None

    @property
    def ref(self) -> Ref:
        return Ref("turn", self.id)

    @property
    def text(self) -> str:
        """What is embedded and searched: both sides, as the papers do."""
        return "\n".join(side for side in (self.query, self.response) if side)

    def said(self, side: Side) -> str:
        return self.query if side == "query" else self.response


@dataclass(frozen=True, slots=True)
class Used:
    """One item that was recalled for an answer: kept with the turn, as numbers only."""

    kind: ItemKind
    id: int
    score: float
    cosine: float
    lexical: float
    group: int


CheckWay = Literal["triple", "embedding"]
CheckOutcome = Literal["regenerated", "masked", "warned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One contradiction caught in a draft of an answer (TiM 001, Eq. 10): kept with the turn.

    `words` is the sentence of draft number `draft` that contradicted the thought. Then the model was asked
    again (`regenerated`), asked again with the contradicting words masked, or the user was `warned`.
    """

    thought: int
    way: CheckWay
    words: str
    reason: str
    score: float
    threshold: float
    draft: int
    outcome: CheckOutcome


# --- the metacognition space -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """Where a thought comes from: the turn, who said it, and which characters of which side."""

    turn: int
    speaker: str
    side: Side
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A thought before it is organised: (subject, relation, objects) and its sentence."""

    subject: str
    relation: str
    objects: tuple[str, ...]
    sentence: str
    kind: Kind
    sources: tuple[Source, ...]
    negated: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    began_by: datetime | None = field(default=None, compare=False, repr=False)
    """The last moment at which it may have begun, where a span was said ("in 2010"): only to compare with."""
    maker: str = field(default="", compare=False, repr=False)
    """Which of several generators made it, for the journal; the thought itself does not keep it."""

    @property
    def object(self) -> str:
        return ", ".join(self.objects)

    @property
    def last_turn(self) -> int:
        """The turn that spoke of it last, 0 if it has no source."""
        return max((source.turn for source in self.sources), default=0)

    @property
    def searched(self) -> str:
        """What is embedded and searched; a decision about names answers no question, so it is not found."""
        return "" if self.relation == SAME else self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(Draft):
    """The smallest unit of the space. `retired_at` is when we stopped holding it true."""

    id: int
    recorded_at: datetime
    retired_at: datetime | None = None

    @property
    def ref(self) -> Ref:
        return Ref("thought", self.id)

    @property
    def current(self) -> bool:
        return self.retired_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One action the organiser proposes: add these drafts, retire these thoughts, for this reason.

    `ended` is when the retired ones ceased to hold; without it, when the new one began or the turn was said.
    `given` are current thoughts it rests on and leaves alone: if one of them is erased, so is the change.
    """

    action: ActionKind
    reason: str
    add: tuple[Draft, ...] = ()
    retire: tuple[int, ...] = ()
    ended: datetime | None = None
    given: tuple[int, ...] = ()
    actor: str = ""
    """Who made it, where the plan has several makers; empty means the plan's actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that thinking over a turn (or reorganising, without one) changes: as one transaction or not."""

    turn: int | None
    lease: str
    actor: str
    changes: tuple[Change, ...] = ()

    @property
    def drafts(self) -> tuple[Draft, ...]:
        return tuple(draft for change in self.changes for draft in change.add)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One line of the journal: every thought it touched, before and after.

    A thought that it only rests on stands on both sides as it is.
    """

    id: int
    action: ActionKind
    reason: str
    actor: str
    at: datetime
    turn: int | None = None
    undoes: int | None = None
    undone_by: int | None = None
    before: tuple[Thought, ...] = ()
    after: tuple[Thought, ...] = ()

    @property
    def ref(self) -> Ref:
        return Ref("action", self.id)

    @property
    def given(self) -> tuple[Thought, ...]:
        """What it rests on and left alone."""
        return tuple(thought for thought in self.after if thought in self.before)

    @property
    def changed(self) -> tuple[Thought, ...]:
        """What it added, retired or restored, as it left it."""
        return tuple(thought for thought in self.after if thought not in self.before)


@dataclass(frozen=True, slots=True)
class Version:
    """One thought in the history of a subject, and the actions that made it and ended it."""

    thought: Thought
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn leased to one worker for post-thinking, with the text the space knows about it."""

    space: str
    turn: Turn
    lease: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A turn whose post-thinking was given up (the dead letter), with the reason."""

    turn: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Who or what thoughts speak of, with the names it goes by and the thoughts that decided so."""

    id: int
    name: str
    aliases: tuple[str, ...] = ()
    decisions: tuple[Thought, ...] = ()


# --- working memory --------------------------------------------------------------------------

Talk = Literal["task", "question-answering", "medical", "small talk", "planning"]
TALKS: tuple[Talk, ...] = ("task", "question-answering", "medical", "small talk", "planning")

SummaryField = Literal[
    "topic", "conclusion", "talk", "needs", "constraints", "excluded", "facts", "to_clarify", "discussed"
]


@dataclass(frozen=True, slots=True)
class Excluded:
    """An option that is out, and why; an empty reason was not given."""

    option: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one session has come to (seed 003), as of its turn `turn`; oldest items first.

    Needs, constraints, excluded options and facts accumulate: they grow, or are revised in the open.
    """

    session: str
    version: int = 0
    turn: int = 0
    talk: Talk = "small talk"
    topic: str = ""
    conclusion: str = ""
    needs: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    facts: tuple[str, ...] = ()
    to_clarify: tuple[str, ...] = ()
    discussed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of a summary: `new` in the place of `old`; without `old` added, without `new` taken out.

    Of an excluded option, `reason` is why it is out; else it tells why the item changed.
    """

    field: SummaryField
    old: str = ""
    new: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUpdate:
    """One line of a summary's journal: what became of it after `turn`, or why it stayed as it was."""

    session: str
    version: int
    turn: int
    actor: str
    at: datetime
    edits: tuple[Edit, ...] = ()
    problem: str = ""


# --- the index: a cache, rebuilt from rows at any time ---------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index keeps of one turn or thought; a thought not yet numbered has id 0."""

    kind: ItemKind
    id: int
    vector: Vector
    terms: Terms
    group: int = 0


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A turn or thought whose text is not (or not any more) in the index; `turn` decides its group."""

    kind: ItemKind
    id: int
    text: str
    turn: int


@dataclass(frozen=True, slots=True, eq=False)
class Hashing:
    """R of H(x) = argmax([xR; -xR]) (TiM 002, Eq. 1), as it is stored with its space.

    `matrix` has shape (d, b/2). `probes` groups are looked into by a query; `learned` tells whether
    the columns were learned from the space or drawn at random from `seed`. `size` is how many items
    the space had then.
    """

    matrix: Vector
    seed: int
    learned: bool
    probes: int
    size: int

    @property
    def groups(self) -> int:
        """b, the number of groups."""
        return 2 * int(self.matrix.shape[1])


@dataclass(frozen=True, slots=True)
class Period:
    """When an item holds and when we held it true, for filtering by time; ids as in Entry.

    A raw turn holds from the time it was said, and `turn` is its own id.
    """

    id: int
    turn: int
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    kind: ItemKind = "thought"


class Recalled(NamedTuple):
    """How often a thought was recalled, and when last."""

    times: int
    last: datetime


@dataclass(frozen=True, slots=True)
class Stamp:
    """How far a reader has seen a space. A new epoch means: forget all and read anew.

    `behind` tells that something is not indexed yet.
    """

    epoch: int = -1
    version: int = -1
    behind: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed in a space's index since a stamp."""

    stamp: Stamp
    entries: tuple[Entry, ...] = ()
    periods: tuple[Period, ...] = ()


Place = tuple[str, str]
"""Where a space is in a database of many tenants: (tenant, space)."""

# --- who may ask -----------------------------------------------------------------------------

KeyScope = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of the server as it is kept: bound to a tenant; of its secret only a hash is known.

    Bound to a `user` too, it speaks for that one alone.
    """

    id: str
    tenant: str
    scopes: frozenset[KeyScope]
    digest: bytes = field(repr=False)
    label: str = ""
    user: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


# --- models ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model answered, and what it cost."""

    text: str
    prompt_tokens: int = 0  # 0 where the server does not say
    completion_tokens: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a call cost."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: Mapping[str, float] = field(default_factory=dict)


# --- recall ----------------------------------------------------------------------------------


class Part(NamedTuple):
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
class Sum:
    """How a score came about: the contributions of the `parts` sum to `linear`; that is bent to a score from
    0 to 1, `bent`, and the `adjustments` lead from there to the total."""

    parts: tuple[Part, ...]
    linear: float
    bent: float
    adjustments: tuple[Adjustment, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """How well one candidate answers; `sum` tells how it came about, where a recall is explained."""

    total: float
    cosine: float
    lexical: float
    sum: Sum | None = None

    def moved(self, total: float, why: str) -> Score:
        """The same with another total; the reason is kept where the score is explained."""
        if total == self.total:
            return self
        made = self.sum
        if made is not None:
            steps = (*made.adjustments, Adjustment(why, self.total, total))
            made = replace(made, adjustments=steps)
        return Score(total, self.cosine, self.lexical, made)


@dataclass(frozen=True, slots=True)
class Past:
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
    past: Past | None = None


class Span(NamedTuple):
    """A time that a query names: from `start` up to, not including, `end`; None is open."""

    words: str
    start: datetime | None
    end: datetime | None


class Searched(NamedTuple):
    """How one kind of memory was searched: so many candidates of `rows` were compared exactly.

    `probes` groups were looked into, 0 means the whole space; of the query's `group` they are the nearest.
    """

    kind: ItemKind
    rows: int
    candidates: int
    probes: int
    exact: bool
    group: int | None


class Wordings(NamedTuple):
    """One way a question was put: its search terms, those that count only where known, and their worth."""

    kinds: tuple[ItemKind, ...]
    terms: tuple[str, ...]
    if_known: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What a query was taken for, and what was searched with: told where a recall is explained."""

    question: str  # who, where, when, ... or none
    tense: str  # whether it asks for now, before or any time
    spans: tuple[Span, ...] = ()
    reaches_back: bool = False  # what is held true no more may answer it
    manner: str = "asks"  # it asks, tells, or is a whole passage ("at length")
    told: str = ""  # the part that tells: what it says itself is no answer
    kinds: tuple[tuple[Kind, float], ...] = ()  # which kind of memory it asks for, the likeliest first
    names: tuple[str, ...] = ()  # also searched for,
    aliases: tuple[str, ...] = ()  # further names of those it speaks of,
    ways: tuple[str, ...] = ()  # how it leads to them, in words,
    bridge: tuple[Ref, ...] = ()  # and the thoughts on the way
    wordings: tuple[Wordings, ...] = ()
    searched: tuple[Searched, ...] = ()
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
    understanding: Understanding | None = None  # if it is explained
    receipt: Receipt = Receipt()

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
    receipt: Receipt = Receipt()
    warning: str = ""
    integrated: str = ""
    """The one thought the memories were joined into for it (TiM 000, Eq. 7), where that is on,"""
    not_integrated: str = ""
    """or why they were not."""

    @property
    def checks(self) -> tuple[Check, ...]:
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
    receipt: Receipt = Receipt()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The explanation of a thought, of an answer, or, without a `ref`, of a recall."""

    ref: Ref | None
    text: str
    lines: tuple[str, ...]
    sources: tuple[Turn, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    actions: tuple[Action, ...] = ()
    used: tuple[Used, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What an erasure removed; `quoted_in` are surviving turns whose answers had recalled it."""

    turns: int
    thoughts: int
    actions: int
    requeued: int = 0
    quoted_in: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtOver:
    """What a round of post-thinking did; `problems` tells which groups a model failed to put in order."""

    turns: int = 0
    failed: int = 0
    actions: tuple[Action, ...] = ()
    problems: tuple[str, ...] = ()
    receipt: Receipt = Receipt()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """One space in numbers."""

    user: str
    turns: int
    thoughts: int
    retired: int
    entities: int
    actions: int
    pending: int
    failed: int
    groups: int
    largest_group: int
    embedder: str
