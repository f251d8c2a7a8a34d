"""In-memory search index of one space: by meaning, by words, and by time.

TiM (arXiv), section 3.3, hashes the query and compares it with the memories of its group. That loses many
memories, so we deviate: a small space is compared completely, a medium one after a shortlist by bit sketches,
and only a large one by groups, as many as the recall target needs. The best lexical matches are always added.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.errors import InvalidInput
from thinkback.index import lsh
from thinkback.index.lexical import QueryTerms
from thinkback.index.rows import RowFilter, RowTable, ScannedRows
from thinkback.index.vectors import MAX_EXACT_ROWS, row_dots

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.index.rows import Mask
    from thinkback.types import Hashing, IndexDelta, ItemKind, NearestRows, Score, TermHashes, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Scores = npt.NDArray[np.float64]

SCAN_BELOW_ROWS = 100_000  # a larger space is searched by groups
SHORTLIST_ROWS = 256  # rows compared exactly if there are more than `vectors.MAX_EXACT_ROWS`
_MIN_LEXICAL_CANDIDATES = 64  # lexical candidates: at least this many, or four times the limit
_NEIGHBOUR_SEED_ROWS = 24  # best lexical matches whose neighbours in time become candidates too
_MAX_SORTED_ROWS = 512  # sorting this many is as fast as choosing the best ones first
_SAMPLE_ROWS = 512  # sample size for score statistics of a space that is not compared completely
_DUPLICATE_COSINE = 0.999  # a row this similar that contains only words of the query repeats the query

_ALL_CURRENT = RowFilter()


class ScoreDistribution(NamedTuple):
    """Mean and standard deviation of a score over `size` rows of the space."""

    size: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnOptions:
    """Inputs of `CandidateColumns`. `period` is a time range in seconds since 1970.

    `stated_terms` are the terms of the part of the query that states something, `question_terms` those of the
    part that asks; both are set only if the query has both parts.
    """

    period: tuple[float, float] | None = None
    stated_terms: TermHashes | None = None
    question_terms: TermHashes | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexQuery:
    """What to search for.

    `variants` are phrasings of one query: each row gets the lexical score of its best variant. `weights` are
    those of cosine and lexical score. With `part_vectors` (one row for each part of a long query) the cosine
    of a row is the mean of that of the whole query and that of its best part; in a large space the candidates
    are still those near the whole. With `columns`, the candidates come with the columns for a scorer, and
    include rows next to the best lexical matches and rows that start in the period. With `nearest`, only
    these rows and those that the database has not searched are compared by meaning.
    """

    vector: Vector
    variants: Sequence[QueryTerms]
    limit: int
    weights: tuple[float, float] = (0.5, 0.5)
    hashing: Hashing | None = None
    scan_below: int = SCAN_BELOW_ROWS
    columns: ColumnOptions | None = None
    nearest: NearestRows | None = None
    part_vectors: Vector | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CandidateColumns:
    """Inputs for scoring, one array per column and one element per candidate.

    `*_before` and `*_after` belong to the previous and next row of the same conversation; without such a row
    a lexical score is 0 and a cosine is NaN. `query_coverage` is the share of a row's words that the query
    states already. `question_lexical` is the lexical score for the asking part of the query alone, if the
    query has another part. Times are in seconds since 1970.
    """

    ids: Ints
    cosine: Vector
    lexical: Scores
    lexical_before: Scores
    cosine_before: Scores
    lexical_after: Scores
    cosine_after: Scores
    query_coverage: Scores
    query_coverage_before: Scores
    question_lexical: Scores | None
    length: Scores  # in words
    start_time: Scores
    cosine_distribution: ScoreDistribution
    lexical_distribution: ScoreDistribution
    question_distribution: ScoreDistribution


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The best candidates of a search, best first, one array per column; and how they were searched."""

    ids: Ints
    turns: Ints
    score: Scores
    cosine: Vector
    lexical: Scores
    groups: Ints
    group: int | None  # H(query), if a hashing was given
    probes: int  # number of groups searched, 0 if the whole space was
    exact: bool  # whether every allowed row was compared exactly
    candidates: int  # number of rows compared exactly
    positions: Ints  # of each hit in the candidates
    explained: tuple[
        Score, ...
    ] = ()  # the scores with their breakdown, set by the scorer of an explained search

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The rows worth scoring, one array per column."""

    ids: Ints
    turns: Ints
    cosine: Vector
    lexical: Scores
    weights: tuple[float, float]  # of cosine and lexical score
    groups: Ints
    group: int | None
    probes: int
    exact: bool
    columns: CandidateColumns | None = None

    @property
    def score(self) -> Scores:
        """The weighted sum of cosine and lexical score."""
        return _weighted_sum(self.cosine, self.lexical, self.weights)

    def top(self, limit: int, score: Scores | None = None) -> Hits:
        """The `limit` best by `score` (default: the weighted sum); ties go to the lower id."""
        ranking = self.score if score is None else score
        top = _top_positions(ranking, self.ids, limit)
        return Hits(
            ids=self.ids[top],
            turns=self.turns[top],
            score=ranking[top],
            cosine=self.cosine[top],
            lexical=self.lexical[top],
            groups=self.groups[top],
            group=self.group,
            probes=self.probes,
            exact=self.exact,
            candidates=len(self.ids),
            positions=top,
        )


def shortlist_size(limit: int) -> int:
    """How many rows are compared exactly for the `limit` best, where not all are."""
    return max(SHORTLIST_ROWS, 8 * limit)


class SpaceIndex:
    """The index of one space. Expects unit vectors; one writer at a time, no readers during a write."""

    def __init__(self) -> None:
        self._rows: dict[ItemKind, RowTable] = {"turn": RowTable(), "thought": RowTable()}
        self._hashing_cache: tuple[Hashing, Vector] | None = None
        # of the last query
        self._lexical_cache: dict[ItemKind, tuple[Sequence[QueryTerms], Scores]] = {}
        self._cosine_cache: dict[ItemKind, tuple[Vector, Vector | None, Vector]] = {}

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        return sum(rows.nbytes for rows in self._rows.values())

    def apply(self, delta: IndexDelta) -> None:
        """Apply a change of the space. After a change of epoch, start with a new index instead."""
        self._lexical_cache, self._cosine_cache = {}, {}
        for kind, rows in self._rows.items():
            rows.put(entry for entry in delta.entries if entry.kind == kind)
            rows.set_periods(period for period in delta.periods if period.kind == kind)

    def search(self, kind: ItemKind, query: IndexQuery, row_filter: RowFilter = _ALL_CURRENT) -> Hits:
        """The best rows by the weighted sum of cosine and lexical score."""
        return self.candidates(kind, query, row_filter).top(query.limit)

    def candidates(
        self, kind: ItemKind, query: IndexQuery, row_filter: RowFilter = _ALL_CURRENT
    ) -> Candidates:
        """All rows worth scoring; call `Candidates.top` with a score to rank them.

        Raises:
            InvalidInput: if the limit is below 1 or the vector has the wrong number of dimensions.
        """
        rows = self._rows[kind]
        if query.limit < 1:
            raise InvalidInput(f"a search needs a limit of at least 1, got {query.limit}")
        if len(rows) and query.vector.shape != (rows.vectors.dim,):
            raise InvalidInput(
                f"a query of shape {query.vector.shape} in a space of {rows.vectors.dim} dimensions"
            )
        scan = query.hashing is None or len(rows) <= query.scan_below
        groups = np.zeros(0, dtype=np.int64)
        if query.hashing is not None:
            projection = row_dots(self._hash_columns(query.hashing), query.vector)
            groups = lsh.nearest_groups(projection, 1 if scan else query.hashing.probes)
        lexical = self._lexical_scores(kind, query.variants)
        gathered: _Gathered
        if scan and query.nearest is None and len(rows) <= MAX_EXACT_ROWS:
            gathered = _AllRows(rows, query, lexical, rows.scan(row_filter), self._cosines(kind, query))
        else:
            gathered = _Shortlist(rows, query, lexical, rows.allowed(row_filter), None if scan else groups)
        scanned = gathered.scanned
        return Candidates(
            ids=scanned.ids,
            turns=scanned.turns,
            cosine=gathered.cosine,
            lexical=gathered.lexical,
            weights=query.weights,
            groups=scanned.groups,
            group=int(groups[0]) if len(groups) else None,
            probes=0 if scan or query.nearest is not None else len(groups),
            exact=gathered.exact,
            columns=gathered.columns(query.columns) if query.columns and len(scanned.slots) else None,
        )

    def _lexical_scores(self, kind: ItemKind, variants: Sequence[QueryTerms]) -> Scores:
        """The best lexical score of every row; cached because a recall searches with the same query again."""
        cached = self._lexical_cache.get(kind)
        if cached is None or cached[0] is not variants:
            best = self._rows[kind].lexical.best_scores(variants)
            cached = self._lexical_cache[kind] = variants, best
        return cached[1]

    def _cosines(self, kind: ItemKind, query: IndexQuery) -> Vector:
        """The cosine of every row; cached for the same reason."""
        cached = self._cosine_cache.get(kind)
        if cached is None or cached[0] is not query.vector or cached[1] is not query.part_vectors:
            rows = self._rows[kind]
            slots = np.arange(len(rows), dtype=np.int32)
            cosine = _with_parts(rows, query, slots, rows.vectors.all_cosines(query.vector))
            cached = self._cosine_cache[kind] = query.vector, query.part_vectors, cosine
        return cached[2]

    def vector_of(self, kind: ItemKind, id: int) -> Vector:
        """The vector of one row.

        Raises:
            NotFound: if the row is not in the index.
        """
        return self._rows[kind].vector(id)

    def adjacent_ids(self, kind: ItemKind, id: int) -> list[int]:
        """The rows that were added right before and right after this one."""
        return self._rows[kind].adjacent_ids(id)

    def valid_ids(
        self, kind: ItemKind, ids: Collection[int], row_filter: RowFilter = _ALL_CURRENT
    ) -> set[int]:
        """Those of `ids` that a search with this filter may return."""
        rows = self._rows[kind]
        return rows.filter_allowed(ids, rows.allowed(row_filter))

    def ids_with_term(self, kind: ItemKind, term: int) -> Ints:
        """The ids of the rows that contain a term, given by its hash."""
        rows = self._rows[kind]
        return rows.ids(rows.lexical.slots_of(term))

    def retired_from_turn(self, kind: ItemKind, turn: int) -> list[int]:
        """The retired rows that came from a turn."""
        return self._rows[kind].retired_from_turn(turn)

    def group_sizes(self, kind: ItemKind) -> Ints:
        """The number of rows in each group."""
        return self._rows[kind].vectors.group_sizes()

    def retired_ids(self, kind: ItemKind) -> list[int]:
        """All retired rows."""
        return self._rows[kind].retired_ids()

    def has_retired(self, kind: ItemKind) -> bool:
        """Whether any row is retired."""
        return self._rows[kind].has_retired

    def size(self, kind: ItemKind) -> int:
        """The number of rows."""
        return len(self._rows[kind])

    def ids(self, kind: ItemKind) -> Ints:
        """The ids of all rows, in the order they were added."""
        return self._rows[kind].ids()

    def _hash_columns(self, hashing: Hashing) -> Vector:
        """R transposed to contiguous rows; cached because transposing costs more than hashing."""
        cached = self._hashing_cache
        if cached is None or cached[0] is not hashing:
            cached = self._hashing_cache = (hashing, np.ascontiguousarray(hashing.matrix.T))
        return cached[1]


class _Gathered(ABC):
    """The candidates of one search, and the columns for scoring them."""

    scanned: ScannedRows
    cosine: Vector
    lexical: Scores
    exact: bool

    def __init__(self, rows: RowTable, query: IndexQuery, lexical_by_slot: Scores) -> None:
        self._rows = rows
        self._query = query
        self._by_slot = lexical_by_slot

    def columns(self, options: ColumnOptions) -> CandidateColumns:
        """The scoring columns of all candidates."""
        rows, scanned, lexical, cosine = self._rows, self.scanned, self.lexical, self.cosine
        slots = scanned.slots
        space_lexical = self._of_space(self._by_slot, lexical)
        space_cosine = self._space_cosine()
        if cosine.max() > _DUPLICATE_COSINE:
            repeats = cosine > _DUPLICATE_COSINE
            repeats &= rows.lexical.document_coverage(self._query.variants[0].terms)[slots] == 1
            if repeats.any():  # a question that is asked every day must not distort the statistics
                space_lexical = space_lexical[space_lexical < lexical[repeats].min()]
                space_cosine = space_cosine[space_cosine <= _DUPLICATE_COSINE]
        coverage = coverage_before = np.zeros(len(slots))
        if options.stated_terms is not None:
            stated = rows.lexical.document_coverage(options.stated_terms)
            coverage, coverage_before = stated[slots], _at(stated, scanned.adjacent[0], 0.0)
        question_lexical = None
        lexical_before, lexical_after = _at(self._by_slot, scanned.adjacent, 0.0)
        cosine_before, cosine_after = self._cosine_at(scanned.adjacent)
        lexical_distribution = question_distribution = _distribution(space_lexical)
        if options.question_terms is not None:
            by_question = rows.lexical.score_all(options.question_terms).dense
            question_lexical = by_question[slots]
            question_distribution = _distribution(self._of_space(by_question, question_lexical))
        return CandidateColumns(
            ids=scanned.ids,
            cosine=cosine,
            lexical=lexical,
            lexical_before=lexical_before,
            cosine_before=cosine_before,
            lexical_after=lexical_after,
            cosine_after=cosine_after,
            query_coverage=coverage,
            query_coverage_before=coverage_before,
            question_lexical=question_lexical,
            length=scanned.lengths,
            start_time=scanned.start_times,
            cosine_distribution=_distribution(space_cosine),
            lexical_distribution=lexical_distribution,
            question_distribution=question_distribution,
        )

    def _of_space(self, by_slot: Scores, chosen: Scores) -> Scores:
        """The values of all allowed rows; `chosen` are those of the candidates."""
        return chosen if self.exact else by_slot[: len(self.scanned.allowed)][self.scanned.allowed]

    def _space_cosine(self) -> Vector:
        """The cosines of all allowed rows, or of a sample of them."""
        return self.cosine

    @abstractmethod
    def _cosine_at(self, slots: Ints) -> Scores:
        """The cosines of these slots, NaN where there is none (-1)."""


class _AllRows(_Gathered):
    """The candidates if all rows are compared."""

    exact = True

    def __init__(
        self,
        rows: RowTable,
        query: IndexQuery,
        lexical_by_slot: Scores,
        scanned: ScannedRows,
        cosine_by_slot: Vector,
    ) -> None:
        super().__init__(rows, query, lexical_by_slot)
        self._cosine_by_slot = cosine_by_slot
        self.scanned = scanned
        self.cosine = cosine_by_slot[scanned.slots]
        self.lexical = lexical_by_slot[scanned.slots]

    def _cosine_at(self, slots: Ints) -> Scores:
        return _at(self._cosine_by_slot, slots, np.nan)


class _Shortlist(_Gathered):
    """The candidates if not all rows can be compared; `groups` are those that are searched, None for all."""

    def __init__(
        self,
        rows: RowTable,
        query: IndexQuery,
        lexical_by_slot: Scores,
        allowed: Mask,
        groups: Ints | None,
    ) -> None:
        super().__init__(rows, query, lexical_by_slot)
        self._allowed = allowed
        shortlist = shortlist_size(query.limit)
        if query.nearest is not None:
            slots = rows.nearest_slots(query.nearest, allowed)
            cosine = rows.vectors.cosines(query.vector, slots)
        elif groups is None:
            slots, cosine = rows.vectors.scan(query.vector, shortlist, allowed)
        else:
            slots, cosine = rows.vectors.probe(query.vector, groups, shortlist, allowed)
        self._slots, self.cosine = slots, _with_parts(rows, query, slots, cosine)
        self.exact = len(slots) == int(np.count_nonzero(allowed))
        if not self.exact and query.weights[1] > 0:
            self._add_lexical_matches()
        if query.columns is not None and len(self._slots):
            self._add_neighbours(query.columns.period)
        self.scanned = rows.columns(self._slots, allowed)
        self.lexical = lexical_by_slot[self._slots]

    def _add_lexical_matches(self) -> None:
        """Add the best lexical matches that could still be among the `limit` best rows."""
        limit, lexical, weights = self._query.limit, self._by_slot, self._query.weights
        score = _weighted_sum(self.cosine, lexical[self._slots], weights)
        wanted = lexical[: len(self._allowed)] > _min_lexical_score(score, self.cosine, limit, weights)
        wanted &= self._allowed
        wanted[self._slots] = False
        extra = np.flatnonzero(wanted).astype(np.int32)
        count = max(_MIN_LEXICAL_CANDIDATES, 4 * limit)
        if len(extra) > count:
            best = np.argpartition(lexical[extra], len(extra) - count)
            extra = extra[best[len(extra) - count :]]
        if len(extra):
            self._add(extra)

    def _add_neighbours(self, period: tuple[float, float] | None) -> None:
        """Add the rows next to the best lexical matches, and rows that start in the period."""
        allowed, lexical, slots = self._allowed, self._by_slot, self._slots
        if len(slots) == len(allowed):
            return
        best = slots[np.argsort(-lexical[slots], kind="stable")[:_NEIGHBOUR_SEED_ROWS]]
        wanted = np.zeros(len(allowed), dtype=np.bool_)
        for adjacent in (best - 1, best + 1):
            wanted[adjacent[(adjacent >= 0) & (adjacent < len(allowed))]] = True
        wanted &= allowed
        wanted[slots] = False
        extra = np.flatnonzero(wanted).astype(np.int32)
        if period is not None:
            started = self._rows.starts_within(*period) & allowed & ~wanted
            started[slots] = False
            in_period = np.flatnonzero(started).astype(np.int32)
            if len(in_period) > SHORTLIST_ROWS:  # a long period: prefer rows with words of the query
                order = np.argsort(-lexical[in_period], kind="stable")
                in_period = in_period[order[:SHORTLIST_ROWS]]
            extra = np.concatenate([extra, in_period])
        self._add(extra)

    def _add(self, extra: Slots) -> None:
        self._slots = np.concatenate([self._slots, extra])
        self.cosine = np.concatenate([self.cosine, self._cosines(extra)])

    def _space_cosine(self) -> Vector:
        return self.cosine if self.exact else self._cosines(_sample_slots(self._allowed))

    def _cosines(self, slots: Slots) -> Vector:
        whole = self._rows.vectors.cosines(self._query.vector, slots)
        return _with_parts(self._rows, self._query, slots, whole)

    def _cosine_at(self, slots: Ints) -> Scores:
        cosines = np.full(slots.shape, np.nan)
        exists = slots >= 0
        cosines[exists] = self._cosines(slots[exists].astype(np.int32))
        return cosines


def _at(by_slot: Scores | Vector, slots: Ints, default: float) -> Scores:
    """The values of these slots, with a default for -1."""
    return np.where(slots >= 0, by_slot[slots], np.float64(default))


def _weighted_sum(cosine: Vector, lexical: Scores, weights: tuple[float, float]) -> Scores:
    total: Scores = weights[0] * cosine + weights[1] * lexical
    return total


def _with_parts(rows: RowTable, query: IndexQuery, slots: Slots, cosine: Vector) -> Vector:
    """The cosines of the whole query with these rows, with those of its best part if it has parts."""
    if query.part_vectors is None or not len(slots):
        return cosine
    best: Vector = np.maximum.reduce([rows.vectors.cosines(part, slots) for part in query.part_vectors])
    mean: Vector = (cosine + best) * np.float32(0.5)
    return mean


def _distribution(values: Scores | Vector) -> ScoreDistribution:
    if not len(values):
        return ScoreDistribution(0, 0.0, 0.0)
    # the same results as ndarray.mean and ndarray.std, without their overhead
    size = len(values)
    mean = np.add.reduce(values) / values.dtype.type(size)
    centred = values - mean
    variance = np.add.reduce(centred * centred) / values.dtype.type(size)
    return ScoreDistribution(size, float(mean), float(np.sqrt(variance)))


def _sample_slots(allowed: Mask) -> Slots:
    """Evenly spaced allowed slots, enough to estimate the distribution of cosines."""
    slots = np.flatnonzero(allowed).astype(np.int32)
    return slots[:: max(1, len(slots) // _SAMPLE_ROWS)]


def _min_lexical_score(score: Scores, cosine: Vector, limit: int, weights: tuple[float, float]) -> float:
    """The lexical score that an unseen row needs to be among the best, if its cosine were the highest."""
    if len(score) < limit:
        return 0.0
    last = np.partition(score, len(score) - limit)[len(score) - limit]
    return max(0.0, float(last - weights[0] * cosine.max()) / weights[1])


def _top_positions(score: Scores, ids: Ints, limit: int) -> Ints:
    """Positions of the `limit` best scores, best first; ties go to the lower id, whatever the row order."""
    if len(score) <= _MAX_SORTED_ROWS:
        return np.lexsort((ids, -score))[:limit]
    chosen = np.arange(len(score))
    if len(score) > limit:
        chosen = np.flatnonzero(score >= np.partition(score, len(score) - limit)[len(score) - limit])
    order = np.lexsort((ids[chosen], -score[chosen]))
    return chosen[order[:limit]]
