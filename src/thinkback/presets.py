"""Named ways to search: those of the papers, kept faithful, two plain ones, and the default that works.

`tim` is Think-in-Memory as written (seeds 000-002): a random R, the query's own group and no other, cosine
alone. It finds a tenth to a quarter of the true neighbours (`benchmarks/lsh_recall.py`), so it is a preset
to compare with. `fuzzy` is seed 003 without its faults and `perltqa` seed 004; both score candidates anew
(`recall/rerank/`). `bm25` goes by words alone, `dense` by meaning alone.

The default, `hybrid`, searches a space whole while that is quick, probes as many groups of a learned R as its
recall target needs beyond, and weighs meaning, words and time by how far they stand out of the space
(`recall/scoring.py`), with weights learned on open data (`benchmarks/weights.py`). `fading` is
the default with Ebbinghaus' forgetting: what was not recalled for long ranks lower, and is archived at last.

Whatever the preset, what is no longer held true, what only asks, and what repeats the query is no find.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from sys import maxsize
from typing import Literal

from thinkback.errors import InvalidInput

RerankMethod = Literal["", "fuzzy", "perltqa"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Forgetting by time, R = exp(-t/S): S is `days`, and each recall adds `growth` times as much again.

    A score loses up to `weight` of itself; below `archive_below` (0: never) a thought is left out.
    """

    days: float = 30.0
    growth: float = 1.0
    weight: float = 0.5
    archive_below: float = 0.0

    def __post_init__(self) -> None:
        if self.days <= 0 or self.growth < 0 or not 0 <= self.weight <= 1 or not 0 <= self.archive_below < 1:
            raise InvalidInput(f"{self}: days must be positive, growth at least 0, the others from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreWeights:
    """What each part of a relative score is worth; words and meaning count in standard deviations."""

    words: float
    asked: float = 0.0  # the words of the clause that asks
    meaning: float
    meaning_han: float  # where the question is Chinese: the default embedder knows little of it
    before: float = 0.0  # the same words right before, in the same talk,
    meaning_before: float = 0.0  # and the same meaning
    after: float = 0.0  # likewise right after
    meaning_after: float = 0.0
    told: float = 0.0  # for being what the query tells already,
    told_before: float = 0.0  # and for being what follows that
    length: float = 0.0  # for each time that it is e times as long: a long text says more
    thought: float = 0.0  # for being a thought; what the rules drew is a part of what was said
    time: float = 0.0  # it began in the time that the question names
    about: float = 0.0  # it is told of somebody whom the question speaks of
    kind: float = 0.0  # for being of the kind that is surely asked for
    answers: float = 0.0  # for having the form of an answer: a time where it is asked when


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTypeWeights:
    """The weights for a query that asks, for one that tells, and for a whole passage."""

    asks: ScoreWeights
    tells: ScoreWeights
    at_length: ScoreWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    cosine: float  # weights of the score's two parts, each as it is
    lexical: float
    threshold: float  # below it a memory does not matter
    fill_threshold: (
        float  # down to it a raw turn may take a place that is left; none may where it is the threshold
    )
    scan_below: int  # spaces up to this size are searched whole, larger ones by groups
    learned_hashing: bool  # R's columns: learned from the space, or random
    target_recall: float  # recall@10 that probing must reach; 0 probes one group, as the paper does
    rank_together: bool = False  # whether thoughts and raw turns are ranked together, or thoughts come first
    rewrite_query: bool = True  # whether a question is also searched for in other words than its own
    rerank: RerankMethod = (
        ""  # who scores the candidates anew, if anybody; then the weights only choose these
    )
    max_items: int | None = None  # so many memories and no more, whatever is asked for
    weights: QueryTypeWeights | None = None  # those of a relative score, in place of the two
    midpoint: float = 0.0  # the weighted sum that scores 0.5,
    logistic_scale: float = 1.0  # and how quickly the score rises there
    group_by: Literal["turn", "thought"] = "turn"  # whose embedding decides a thought's group
    retention: Retention | None = None  # forgetting by time

    @property
    def uses_kinds(self) -> bool:
        """Whether it matters which kind of memory a question asks for."""
        return self.rerank == "perltqa" or self.weights is not None

    def __post_init__(self) -> None:
        if self.rerank and self.retention is not None:
            raise InvalidInput(f"preset {self.name!r}: {self.rerank} scores anew, so that nothing could fade")


_QUESTION_WEIGHTS = ScoreWeights(  # rounded from what `benchmarks/weights.py` learned
    words=0.75,
    asked=0.25,
    meaning=1.0,
    meaning_han=0.6,
    before=0.3,
    meaning_before=0.5,
    meaning_after=0.15,
    told=-8.0,
    told_before=9.0,
    length=0.3,
    thought=-1.0,
    time=3.0,
    about=1.0,  # too few questions tell of it to learn it
    kind=3.0,
    answers=1.5,
)
_STATEMENT_WEIGHTS = (
    replace(  # learned: words .5, before .7, told -4 and 6; but a sentence is also searched by
        _QUESTION_WEIGHTS,
        words=0.9,
        asked=0.0,
        meaning=2.0,
        meaning_han=0.4,
        before=0.45,
        meaning_before=0.4,
        after=0.15,
        told=-1.5,
        told_before=3.5,
    )
)
_PASSAGE_WEIGHTS = replace(
    _QUESTION_WEIGHTS,
    words=1.65,
    asked=0.0,
    meaning=1.45,
    meaning_han=0.45,
    before=-0.3,
    meaning_before=0.2,
    meaning_after=0.25,
    told=0.0,
    told_before=0.0,
)
HYBRID = Preset(
    name="hybrid",
    cosine=0.5,
    lexical=0.5,
    rank_together=True,
    weights=QueryTypeWeights(asks=_QUESTION_WEIGHTS, tells=_STATEMENT_WEIGHTS, at_length=_PASSAGE_WEIGHTS),
    midpoint=5.0,
    logistic_scale=2.5,
    threshold=0.13,
    fill_threshold=0.09,
    scan_below=100_000,
    learned_hashing=True,
    target_recall=0.95,
)
TIM = Preset(
    name="tim",
    cosine=1.0,
    lexical=0.0,
    threshold=0.2,
    fill_threshold=0.2,
    scan_below=0,
    learned_hashing=False,
    target_recall=0.0,
)
FADING = replace(HYBRID, name="fading", retention=Retention(archive_below=0.05))
DENSE = replace(
    TIM, name="dense", rank_together=True, scan_below=maxsize, learned_hashing=True, target_recall=0.95
)
BM25 = Preset(
    name="bm25",
    rank_together=True,
    rewrite_query=False,
    cosine=0.0,
    lexical=1.0,
    threshold=0.01,  # to share a word is enough, but for one that all share
    fill_threshold=0.01,
    scan_below=100_000,
    learned_hashing=True,
    target_recall=0.95,
)
PERLTQA = replace(BM25, name="perltqa", rerank="perltqa", threshold=0.25, fill_threshold=0.25)
FUZZY = replace(
    BM25,
    name="fuzzy",
    rerank="fuzzy",
    max_items=5,
    cosine=0.5,
    lexical=0.5,
    threshold=0.3,
    fill_threshold=0.3,
)
PRESETS = {preset.name: preset for preset in (HYBRID, FADING, TIM, FUZZY, PERLTQA, BM25, DENSE)}


_PLAIN_THRESHOLD_EXPONENT = 0.93  # a relative threshold on the plain scale: 0.13 is 0.15 there, and 1 stays 1


def plain_variant(preset: Preset) -> Preset:
    """A relative preset for a space of so few rows that they are no measure: each is measured by itself."""
    return replace(
        preset,
        weights=None,
        rank_together=preset.retention is None,  # a turn does not fade, and must not stand before what does
        threshold=preset.threshold**_PLAIN_THRESHOLD_EXPONENT,
        fill_threshold=preset.fill_threshold**_PLAIN_THRESHOLD_EXPONENT,
    )


def get_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise InvalidInput(f"no preset {name!r}: choose from {', '.join(sorted(PRESETS))}")
    return PRESETS[name]
