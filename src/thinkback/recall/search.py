"""A question and what it is put to: its wordings, the shelf, the preset, and the words behind a hit.

A question is searched for as it was asked, less the words that only ask, as a thought would say the answer,
and in words that mean alike (`text.questions`); of its wordings the best score counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from thinkback.index.lexical import Wording, hash_terms
from thinkback.index.shelf import Hits, Shelf
from thinkback.presets import Preset, plain
from thinkback.recall.fate import Ends, Journal
from thinkback.recall.retention import Fading
from thinkback.recall.scoring import Scorer
from thinkback.recall.understand import Understood
from thinkback.text.questions.asked_when import Asked, Untimed, asked_when, untimed
from thinkback.text.questions.asking import asked_for, open_terms, rewordings
from thinkback.text.questions.spoken import Spoken, is_brief, spoken
from thinkback.text.questions.thesaurus import alike
from thinkback.text.scripts import has_han
from thinkback.text.tokens import terms
from thinkback.types import Hashing, ItemKind, Kind, Thought, Turn

if TYPE_CHECKING:
    from thinkback.types import Terms, Vector

_ALIKE = 0.7  # what a word that means alike is worth of the word itself
TINY = 8  # rows; so few are no measure, and each is measured by itself
_FEW = 32  # turns, of which the nearest are worth a look in any case


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What was known at an earlier time: thoughts held true then (at the time asked for), all, and turns."""

    held: Collection[int]
    ever: Collection[int]
    turns: Collection[int]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query, ready to be searched with."""

    text: str
    vector: Vector
    terms: Terms
    k: int
    as_of: datetime | None = None
    explain: bool = False
    known: Known | None = None
    fading: Fading | None = None
    now: datetime | None = None  # when it is asked
    about: tuple[int, ...] = ()  # thoughts told of those it speaks of
    meant: str = ""  # the same with the names of those it speaks of: "my sister" is Anna
    kinds: Mapping[Kind, float] = field(default_factory=dict)  # P(kind | question); empty: nothing is known
    understood: Understood | None = None  # how they were found, to be explained


Value = TypeVar("Value")


class Reading(Protocol):
    """What a function makes of a text; where texts are read again and again, it may know that already."""

    def __call__(self, function: Callable[[str], Value], text: str, /) -> Value: ...


def _anew(function: Callable[[str], Value], text: str) -> Value:
    return function(text)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """Where the words of a hit are read."""

    thoughts: Callable[[Sequence[int]], Sequence[Thought]]
    turns: Callable[[Sequence[int]], Sequence[Turn]]
    journal: Journal
    ends: Ends | None = None  # what is known of their ends from earlier questions, to be added to
    reading: Reading = _anew

    def once(self) -> Lookup:
        """The same for one question, which may ask for a memory again and again: each is read once."""
        return replace(self, thoughts=_once(self.thoughts), turns=_once(self.turns))


Read = TypeVar("Read", Thought, Turn)


def _once(read: Callable[[Sequence[int]], Sequence[Read]]) -> Callable[[Sequence[int]], Sequence[Read]]:
    found: dict[int, Read] = {}

    def look(ids: Sequence[int]) -> Sequence[Read]:
        if missing := [id_ for id_ in ids if id_ not in found]:
            found.update((each.id, each) for each in read(missing))
        return [found[id_] for id_ in sorted(ids) if id_ in found]

    return look


class _Allowing(NamedTuple):
    """Which rows a search may return: what holds at a time, is not retired, is one of these ids."""

    as_of: float | None
    current_only: bool
    only: Collection[int] | None


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A question and all that it is put to."""

    question: Question
    shelf: Shelf
    hashing: Hashing | None
    preset: Preset
    lookup: Lookup
    scorer: Scorer
    wordings: Mapping[ItemKind, tuple[Wording, ...]]
    spoken: Spoken
    open_terms: frozenset[str]  # words of the question that stand for no relation
    reaches_back: bool = False  # it asks for what was so before: what is held true no more may answer it
    few: bool = False
    """Whether a Chinese question is put to so few turns that the nearest may well be the one.

    Neither words nor a small embedder can tell: Chinese is asked in other characters than it was told in.
    """

    def hits(self, kind: ItemKind, limit: int, *, whenever: bool = False) -> Hits:
        """The best of what holds at the time asked for; `whenever` takes what was retired as well."""
        allowing = self._allowing(kind, whenever=whenever or (kind == "thought" and self.reaches_back))
        scan_below = self.preset.scan_below
        # Where words have no weight they must not propose candidates either: TiM looks into groups alone.
        return self.shelf.search(
            kind,
            self.question.vector,
            self.wordings[kind] if self.preset.lexical else self.question.terms[:0],
            limit=limit,
            hashing=self.hashing if self.question.explain or self.shelf.size(kind) > scan_below else None,
            scan_below=scan_below,
            as_of=allowing.as_of,
            current_only=allowing.current_only,
            only=allowing.only,
            weights=(self.preset.cosine, self.preset.lexical),
            rank=self.scorer_of(kind) if self.preset.weights or self.scorer.within else None,
            within=self.scorer.within,
            told=_hashed(self.spoken.told),
            asked=_hashed(self.spoken.asked) if self.spoken.told else None,
            explain=self.question.explain,
        )

    def holding(self, kind: ItemKind, ids: Sequence[int]) -> set[int]:
        """Those of these rows that hold at the time asked for, even if the question reaches back."""
        allowing = self._allowing(kind, whenever=False)
        return self.shelf.holding(
            kind, ids, as_of=allowing.as_of, current_only=allowing.current_only, only=allowing.only
        )

    def _allowing(self, kind: ItemKind, *, whenever: bool) -> _Allowing:
        known = self.question.known
        as_of = None if whenever or self.question.as_of is None else self.question.as_of.timestamp()
        if known is not None and kind == "thought":
            as_of = None  # what held then is already chosen, by the intervals as they were known
        current_only = as_of is None and not whenever and known is None
        return _Allowing(as_of, current_only, None if known is None else self._only(known, kind, whenever))

    def scorer_of(self, kind: ItemKind) -> Scorer:
        if kind == "turn":
            return self.scorer
        return replace(self.scorer, thoughts=True, about=self.question.about)

    @staticmethod
    def _only(known: Known, kind: ItemKind, whenever: bool) -> Collection[int]:
        if kind == "turn":
            return known.turns
        return known.ever if whenever else known.held

    @property
    def strict(self) -> bool:
        """Whether a place stays empty rather than being given to what does not matter."""
        return _strict(self.preset)

    @property
    def beyond(self) -> str:
        """What is said of a find for which there is no place."""
        if self.question.k == self.preset.most:
            return f"beyond the {self.preset.most} that {self.preset.name} recalls at most"
        return f"beyond the {self.question.k} asked for"

    def matters(self, score: float) -> bool:
        return score >= self.preset.threshold

    def nearly(self, score: float, lexical: float) -> bool:
        """Whether a turn may take a place that is left: it shares words with the question, if not many."""
        return self.matters(score) or (score >= self.preset.nearly / (2 if self.few else 1) and lexical > 0)

    def may_be_more(self, hits: Hits, limit: int) -> bool:
        return len(hits) == limit and self.matters(hits.score[-1])


def searching(
    question: Question, shelf: Shelf, hashing: Hashing | None, preset: Preset, lookup: Lookup
) -> Search:
    """The question made ready: its wordings, the time it names, whether it tells something."""
    timed = preset.weights is not None
    rows = shelf.size("turn") + shelf.size("thought")
    if preset.weights and _no_measure(rows):
        preset = plain(preset)
    if not preset.target and hashing is not None and hashing.probes > 1:
        hashing = replace(hashing, probes=1)  # as the papers do, whatever the groups were made for
    if preset.most is not None:
        question = replace(question, k=min(question.k, preset.most))
    put = spoken(question.text)
    when = Asked((), "any") if question.now is None else asked_when(question.text, question.now)
    within = _within(when) if timed else None
    wanted = untimed(question.text, when) if within else Untimed(question.text)
    scorer = Scorer(preset, question.text, put.manner, within=within, anything=wanted.anything, rows=rows)
    reaches_back = when.tense == "before" and question.as_of is None and question.known is None
    wordings = wordings_of(replace(question, text=wanted.text)) if preset.rewords else _as_asked(question)
    return Search(
        question,
        shelf,
        hashing,
        preset,
        lookup.once(),
        scorer,
        wordings,
        put,
        frozenset(open_terms(question.text)),
        reaches_back,
        not _strict(preset) and shelf.size("turn") <= _FEW and has_han(question.text),
    )


def _strict(preset: Preset) -> bool:
    return preset.nearly >= preset.threshold


def _no_measure(rows: int) -> bool:
    """Whether a space is too small to measure by it."""
    return rows <= TINY


def _within(asked: Asked) -> tuple[float, float] | None:
    """The time that a question names, in seconds since 1970; from the first to the last if it names more."""
    if not asked.spans:
        return None
    starts = [-inf if span.start is None else span.start.timestamp() for span in asked.spans]
    ends = [inf if span.end is None else span.end.timestamp() for span in asked.spans]
    return min(starts), max(ends)


def wordings_of(question: Question) -> dict[ItemKind, tuple[Wording, ...]]:
    """By what each kind is searched: raw turns in the question's own words, thoughts in their phrases too."""
    own = tuple(_own(question))
    phrased = tuple(_as_a_thought(question.text))
    if question.meant:
        own = (*own, Wording(hash_terms(terms(question.meant))), _worded(asked_for(question.meant)))
        phrased = (*phrased, *_as_a_thought(question.meant))
    return {"turn": own, "thought": (*own, *phrased)}


def _as_asked(question: Question) -> dict[ItemKind, tuple[Wording, ...]]:
    """By the question's own words, and nothing else."""
    asked = (Wording(question.terms),)
    return {"turn": asked, "thought": asked}


def _own(question: Question) -> Iterator[Wording]:
    """As it was asked; without the words that only ask; in words like its own.

    Of Chinese every two neighbours are a term, and many pairs are no word: a pair that nobody wrote must not
    weigh as if a rare word were missing.
    """
    yield Wording(hash_terms(terms(question.text)))
    if not is_brief(question.text):
        return
    if (wanted := asked_for(question.text)) != terms(question.text):
        yield _worded(wanted)
    if like := alike(question.text):
        yield Wording(hash_terms(()), hash_terms(like), _ALIKE)


def _as_a_thought(text: str) -> Iterator[Wording]:
    """As a thought that answers would say it."""
    if is_brief(text):
        told = {frozenset(terms(text)), frozenset(asked_for(text))}
        for wanted in rewordings(text):
            if frozenset(wanted) not in told:
                told.add(frozenset(wanted))
                yield _worded(wanted)


def _worded(wanted: Sequence[str]) -> Wording:
    words = [term for term in wanted if term.isascii() or len(term) == 1]
    pairs = [term for term in wanted if not term.isascii() and len(term) > 1]
    return Wording(hash_terms(words), hash_terms(pairs))


def _hashed(words: str) -> Terms | None:
    return hash_terms(terms(words)) if words else None
