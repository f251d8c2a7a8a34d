"""Everything of one space that recall searches, in memory: near by meaning, near by words, true at a time.

TiM 002, section 3.3: LSH-based retrieval, then similarity within the group. We deviate where the paper's way
loses memories: a small space is compared whole, a middling one by its signs first, a large one in as many
groups as its recall target needs; the best lexical matches always join the candidates, and all are ranked by
a weighted sum of cosine and lexical score, or by a rank that is given the parts of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index import lsh
from thinkback.index.arena import row_dots
from thinkback.index.lexical import Lexicon, Wording
from thinkback.index.rows import Rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.index.rows import Mask
    from thinkback.types import Delta, Hashing, ItemKind, Terms, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Scores = npt.NDArray[np.float64]

SCAN_BELOW = 100_000  # rows; a larger space is probed by groups
SHORTLIST = 256  # rows that get an exact look, of more than `arena.EXACT_UP_TO`
_LEXICAL = 64  # the lexical candidates: at least so many, or four times the limit
_SEEDS = 24  # rows whose neighbours in time are looked at as well
_SAMPLE = 512  # rows by which a space too large to compare whole is known
_AGAIN = 0.999  # a row so near, in no other words, says the query again
_TALK = 7200.0  # seconds: what was said within them belongs together


class Spread(NamedTuple):
    """How scores of one sort lie in a space: their mean and standard deviation over `n` rows."""

    n: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What candidates are scored by, one array a part, a place a candidate; and the space they stand out of.

    `before`, `after` and the like are scores of the rows right before and after one in the same talk; where
    there is none, a lexical one is 0 and a cosine no number.
    `told` is the share of a row's words that the query tells already, `asked` the lexical score by what it
    asks alone, where that is not all of it. Times are in seconds since 1970.
    """

    ids: Ints
    cosine: Vector
    lexical: Scores
    before: Scores
    cosine_before: Scores
    after: Scores
    cosine_after: Scores
    told: Scores
    told_before: Scores
    asked: Scores | None
    length: Scores  # in words
    since: Scores
    cosines: Spread
    lexicals: Spread
    askeds: Spread


Rank = Callable[[Parts], "Scores"]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """What a search found, best first, one array a column; and how it was found."""

    ids: Ints
    turns: Ints
    score: Scores
    cosine: Vector
    lexical: Scores
    groups: Ints
    group: int | None  # H(query), if a hashing was given
    probes: int  # groups looked into, 0 when the whole space was
    exact: bool  # whether every row that may be returned was compared exactly
    candidates: int  # rows compared exactly
    parts: Parts | None = None  # where a `rank` was given

    def __len__(self) -> int:
        return len(self.ids)


class Shelf:
    """One space. Unit vectors are expected; one writer at a time, readers only between writes."""

    def __init__(self) -> None:
        self._rows: dict[ItemKind, Rows] = {"turn": Rows(), "thought": Rows()}
        self._hashing: tuple[Hashing, Vector] | None = None
        self._worded: tuple[Lexicon, Sequence[Wording], Scores] | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return sum(rows.nbytes for rows in self._rows.values())

    def apply(self, delta: Delta) -> None:
        """Take in what changed. A new epoch is the caller's cue to build a new shelf."""
        self._worded = None
        for kind, rows in self._rows.items():
            rows.put(entry for entry in delta.entries if entry.kind == kind)
            rows.date(period for period in delta.periods if period.kind == kind)

    def search(
        self,
        kind: ItemKind,
        vector: Vector,
        query_terms: Terms | Sequence[Wording],
        *,
        limit: int,
        hashing: Hashing | None = None,
        scan_below: int = SCAN_BELOW,
        as_of: float | None = None,
        current_only: bool = True,
        only: Collection[int] | None = None,
        weights: tuple[float, float] = (0.5, 0.5),
        rank: Rank | None = None,
        within: tuple[float, float] | None = None,
        told: Terms | None = None,
        asked: Terms | None = None,
        explain: bool = True,
    ) -> Hits:
        """The `limit` best rows by `weights` (of cosine and of lexical score); ties go to the lower id.

        With a `rank` its score decides; then the neighbours in time of the best lexical matches are looked at
        too, and what began `within` these seconds. `told` and `asked` are the words of the query's two parts;
        `explain` keeps the parts that the rank was given.

        Several `query_terms` are wordings of one question: of its lexical scores a row's best counts.

        `as_of` (seconds since 1970) keeps what held at that time; `current_only` drops what was retired;
        `only` keeps these ids.
        """
        rows = self._rows[kind]
        if limit < 1:
            raise InvalidInput(f"a search needs a limit of at least 1, got {limit}")
        if len(rows) and vector.shape != (rows.arena.dim,):
            raise InvalidInput(f"a query of shape {vector.shape} in a space of {rows.arena.dim} dimensions")
        wordings = [Wording(query_terms)] if isinstance(query_terms, np.ndarray) else query_terms
        lexical = self._lexical(rows.lexicon, wordings)
        allowed = rows.allowed(as_of=as_of, current_only=current_only, only=only)
        whole = hashing is None or len(rows) <= scan_below
        probes = np.zeros(0, dtype=np.int64)
        if hashing is not None:
            probes = lsh.nearest(row_dots(self._columns(hashing), vector), 1 if whole else hashing.probes)
        most = max(SHORTLIST, 8 * limit)
        if whole:
            slots, cosine = rows.arena.scan(vector, most, allowed)
        else:
            slots, cosine = rows.arena.probe(vector, probes, most, allowed)
        exact = len(slots) == int(np.count_nonzero(allowed))
        said = lexical[slots]
        score = weights[0] * cosine + weights[1] * said
        if not exact and weights[1] > 0:
            wanted = _beyond(score, cosine, limit, weights)
            extra = _lexical_extra(lexical, wanted, allowed, slots, max(_LEXICAL, 4 * limit))
            if len(extra):
                slots = np.concatenate([slots, extra])
                cosine = np.concatenate([cosine, rows.arena.cosines(vector, extra)])
                said = lexical[slots]
                score = weights[0] * cosine + weights[1] * said
        parts = None
        if rank is not None and len(slots):
            slots, cosine = self._joined(rows, vector, slots, cosine, lexical, allowed, within)
            said = lexical[slots]
            query = wordings[0].terms
            parts = self._parts(rows, vector, slots, cosine, lexical, query, allowed, exact, told, asked)
            score = rank(parts)
        top = _top(score, rows.ids(slots), limit)
        return Hits(
            ids=rows.ids(slots[top]),
            turns=rows.turns(slots[top]),
            score=score[top],
            cosine=cosine[top],
            lexical=said[top],
            groups=rows.arena.groups(slots[top]),
            group=int(probes[0]) if len(probes) else None,
            probes=0 if whole else len(probes),
            exact=exact,
            candidates=len(slots),
            parts=_chosen(parts, top) if explain and parts is not None else None,
        )

    def _lexical(self, lexicon: Lexicon, wordings: Sequence[Wording]) -> Scores:
        """Every row's best lexical score; kept for the next search, which may be for the same question."""
        kept = self._worded
        if kept is None or kept[0] is not lexicon or kept[1] is not wordings:
            best = _weighed(lexicon, wordings[0])
            for wording in wordings[1:]:
                np.maximum(best, _weighed(lexicon, wording), out=best)
            kept = self._worded = lexicon, wordings, best
        return kept[2]

    @staticmethod
    def _joined(
        rows: Rows,
        vector: Vector,
        slots: Slots,
        cosine: Vector,
        lexical: Scores,
        allowed: Mask,
        within: tuple[float, float] | None,
    ) -> tuple[Slots, Vector]:
        """The candidates with those that stand beside the best of them in time, or in the time asked for."""
        if len(slots) == len(allowed):
            return slots, cosine
        said = lexical[slots]
        best = slots[np.argsort(-said, kind="stable")[:_SEEDS]]
        wanted = np.zeros(len(allowed), dtype=np.bool_)
        for beside in (best - 1, best + 1):
            wanted[beside[(beside >= 0) & (beside < len(allowed))]] = True
        wanted &= allowed
        wanted[slots] = False
        extra = np.flatnonzero(wanted).astype(np.int32)
        if within is not None:
            dated = rows.began(*within) & allowed & ~wanted
            dated[slots] = False
            there = np.flatnonzero(dated).astype(np.int32)
            if len(there) > SHORTLIST:  # a long time: what says the query's words comes first
                there = there[np.argsort(-lexical[there], kind="stable")[:SHORTLIST]]
            extra = np.concatenate([extra, there])
        return np.concatenate([slots, extra]), np.concatenate([cosine, rows.arena.cosines(vector, extra)])

    @staticmethod
    def _parts(
        rows: Rows,
        vector: Vector,
        slots: Slots,
        cosine: Vector,
        lexical: Scores,
        query: Terms,
        allowed: Mask,
        exact: bool,
        told: Terms | None,
        asked: Terms | None,
    ) -> Parts:
        kept = lexical[: len(allowed)][allowed]
        near = cosine if exact else rows.arena.cosines(vector, _sampled(allowed))
        again = cosine > _AGAIN
        if again.any():
            again &= rows.lexicon.told(query)[slots] == 1
        if again.any():  # a question asked every day must not be the measure of what answers it
            kept, near = kept[kept < lexical[slots[again]].min()], near[near <= _AGAIN]
        earlier, later = rows.near(slots, -1, _TALK), rows.near(slots, 1, _TALK)
        saying = None if told is None else rows.lexicon.told(told)
        wanted = None if asked is None else rows.lexicon.weigh(asked).dense

        before, after = earlier >= 0, later >= 0

        def cosines(beside: Ints, there: Mask) -> Scores:
            found = np.full(len(beside), np.nan)
            found[there] = rows.arena.cosines(vector, beside[there].astype(np.int32))
            return found

        return Parts(
            ids=rows.ids(slots),
            cosine=cosine,
            lexical=lexical[slots],
            before=np.where(before, lexical[earlier], 0.0),
            cosine_before=cosines(earlier, before),
            after=np.where(after, lexical[later], 0.0),
            cosine_after=cosines(later, after),
            told=np.zeros(len(slots)) if saying is None else saying[slots],
            told_before=np.zeros(len(slots)) if saying is None else np.where(before, saying[earlier], 0.0),
            asked=None if wanted is None else wanted[slots],
            length=rows.lexicon.lengths(slots).astype(np.float64),
            since=rows.since(slots),
            cosines=_spread(near),
            lexicals=_spread(kept),
            askeds=_spread(kept if wanted is None else wanted[: len(allowed)][allowed]),
        )

    def vector_of(self, kind: ItemKind, id: int) -> Vector:
        """The vector of one row; NotFound if it is not here."""
        return self._rows[kind].vector(id)

    def beside(self, kind: ItemKind, id: int) -> list[int]:
        """The rows that came right before and right after one."""
        return self._rows[kind].beside(id)

    def holding(
        self,
        kind: ItemKind,
        ids: Collection[int],
        *,
        as_of: float | None = None,
        current_only: bool = True,
        only: Collection[int] | None = None,
    ) -> set[int]:
        """Those of these rows that a search with the same limits may return."""
        rows = self._rows[kind]
        return rows.among(ids, rows.allowed(as_of=as_of, current_only=current_only, only=only))

    def retired_of(self, kind: ItemKind, turn: int) -> list[int]:
        """The rows that came of a turn and are held true no more."""
        return self._rows[kind].retired_of(turn)

    def groups_sizes(self, kind: ItemKind) -> Ints:
        """How many rows every group holds."""
        return self._rows[kind].arena.sizes()

    def retired(self, kind: ItemKind) -> list[int]:
        """The rows that are held true no more."""
        return self._rows[kind].retired()

    def any_retired(self, kind: ItemKind) -> bool:
        """Whether a row is held true no more."""
        return self._rows[kind].any_retired

    def size(self, kind: ItemKind) -> int:
        return len(self._rows[kind])

    def items(self, kind: ItemKind) -> Ints:
        """The ids of all rows, in the order they came."""
        return self._rows[kind].ids()

    def _columns(self, hashing: Hashing) -> Vector:
        """R's columns as contiguous rows, kept from search to search: transposing costs more than hashing."""
        kept = self._hashing
        if kept is None or kept[0] is not hashing:
            kept = self._hashing = (hashing, np.ascontiguousarray(hashing.matrix.T))
        return kept[1]


def _spread(values: Scores | Vector) -> Spread:
    if not len(values):
        return Spread(0, 0.0, 0.0)
    # as ndarray.mean and .std have it, without what they do for arrays of every kind
    n = len(values)
    mean = np.add.reduce(values) / values.dtype.type(n)
    apart = values - mean
    return Spread(n, float(mean), float(np.sqrt(np.add.reduce(apart * apart) / values.dtype.type(n))))


def _sampled(allowed: Mask) -> Slots:
    """Some of the allowed slots, evenly spread: enough to know how cosines lie."""
    there = np.flatnonzero(allowed).astype(np.int32)
    return there[:: max(1, len(there) // _SAMPLE)]


def _chosen(parts: Parts, top: Ints) -> Parts:
    columns = {each.name: getattr(parts, each.name) for each in fields(parts)}
    chosen: dict[str, Any] = {name: a[top] for name, a in columns.items() if isinstance(a, np.ndarray)}
    return replace(parts, **chosen)


def _weighed(lexicon: Lexicon, wording: Wording) -> Scores:
    dense = lexicon.weigh(wording.terms, wording.if_known).dense
    if wording.weight != 1:
        dense *= wording.weight
    return dense


def _beyond(score: Scores, cosine: Vector, limit: int, weights: tuple[float, float]) -> float:
    """The lexical score a row not looked at needs to be among the best, were it as near as the nearest."""
    if len(score) < limit:
        return 0.0
    last = np.partition(score, len(score) - limit)[len(score) - limit]
    return max(0.0, float(last - weights[0] * cosine.max()) / weights[1])


def _lexical_extra(dense: Scores, above: float, allowed: Mask, seen: Slots, count: int) -> Slots:
    """Of the allowed slots not seen yet, the `count` that share the most with the query, in any order."""
    wanted = dense[: len(allowed)] > above
    wanted &= allowed
    wanted[seen] = False
    extra = np.flatnonzero(wanted).astype(np.int32)
    if len(extra) > count:
        extra = extra[np.argpartition(dense[extra], len(extra) - count)[len(extra) - count :]]
    return extra


def _top(score: Scores, ids: Ints, limit: int) -> Ints:
    """The `limit` best, best first, ties to the lower id: the same however the rows lie in memory."""
    chosen = np.arange(len(score))
    if len(score) > limit:
        chosen = np.flatnonzero(score >= np.partition(score, len(score) - limit)[len(score) - limit])
    order = np.lexsort((ids[chosen], -score[chosen]))
    return chosen[order[:limit]]
