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
from thinkback.index.lexical import LexicalIndex, QueryTerms
from thinkback.index.rows import RowTable
from thinkback.index.vectors import row_dots

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.index.rows import Mask
    from thinkback.types import Hashing, IndexDelta, ItemKind, TermHashes, Vector

    Ints = npt.NDArray[np.int64]
    Slots = npt.NDArray[np.int32]
    Scores = npt.NDArray[np.float64]

SCAN_BELOW_ROWS = 100_000  # rows; a larger space is probed by groups
SHORTLIST_ROWS = 256  # rows that get an exact look, of more than `arena.EXACT_UP_TO`
_MIN_LEXICAL_CANDIDATES = 64  # the lexical candidates: at least so many, or four times the limit
_NEIGHBOUR_SEED_ROWS = 24  # rows whose neighbours in time are looked at as well
_SAMPLE_ROWS = 512  # rows by which a space too large to compare whole is known
_DUPLICATE_COSINE = 0.999  # a row so near, in no other words, says the query again
_CONVERSATION_GAP_SECONDS = 7200.0  # seconds: what was said within them belongs together


class ScoreDistribution(NamedTuple):
    """How scores of one sort lie in a space: their mean and standard deviation over `n` rows."""

    size: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class CandidateColumns:
    """What candidates are scored by, one array a part, a place a candidate; and the space they stand out of.

    `before`, `after` and the like are scores of the rows right before and after one in the same talk; where
    there is none, a lexical one is 0 and a cosine no number.
    `told` is the share of a row's words that the query tells already, `asked` the lexical score by what it
    asks alone, where that is not all of it. Times are in seconds since 1970.
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


RankFunction = Callable[[CandidateColumns], "Scores"]


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
    columns: CandidateColumns | None = None  # where a `rank` was given

    def __len__(self) -> int:
        return len(self.ids)


class SpaceIndex:
    """One space. Unit vectors are expected; one writer at a time, readers only between writes."""

    def __init__(self) -> None:
        self._rows: dict[ItemKind, RowTable] = {"turn": RowTable(), "thought": RowTable()}
        self._hashing_cache: tuple[Hashing, Vector] | None = None
        self._lexical_cache: tuple[LexicalIndex, Sequence[QueryTerms], Scores] | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return sum(rows.nbytes for rows in self._rows.values())

    def apply(self, delta: IndexDelta) -> None:
        """Take in what changed. A new epoch is the caller's cue to build a new shelf."""
        self._lexical_cache = None
        for kind, rows in self._rows.items():
            rows.put(entry for entry in delta.entries if entry.kind == kind)
            rows.set_periods(period for period in delta.periods if period.kind == kind)

    def search(
        self,
        kind: ItemKind,
        vector: Vector,
        query_terms: TermHashes | Sequence[QueryTerms],
        *,
        limit: int,
        hashing: Hashing | None = None,
        scan_below: int = SCAN_BELOW_ROWS,
        as_of: float | None = None,
        current_only: bool = True,
        allowed_ids: Collection[int] | None = None,
        weights: tuple[float, float] = (0.5, 0.5),
        rank: RankFunction | None = None,
        period: tuple[float, float] | None = None,
        stated_terms: TermHashes | None = None,
        question_terms: TermHashes | None = None,
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
        if len(rows) and vector.shape != (rows.vectors.dim,):
            raise InvalidInput(f"a query of shape {vector.shape} in a space of {rows.vectors.dim} dimensions")
        wordings = [QueryTerms(query_terms)] if isinstance(query_terms, np.ndarray) else query_terms
        lexical = self._lexical_scores(rows.lexical, wordings)
        allowed = rows.allowed(as_of=as_of, current_only=current_only, allowed_ids=allowed_ids)
        whole = hashing is None or len(rows) <= scan_below
        probes = np.zeros(0, dtype=np.int64)
        if hashing is not None:
            probes = lsh.nearest_groups(
                row_dots(self._hash_columns(hashing), vector), 1 if whole else hashing.probes
            )
        most = max(SHORTLIST_ROWS, 8 * limit)
        if whole:
            slots, cosine = rows.vectors.scan(vector, most, allowed)
        else:
            slots, cosine = rows.vectors.probe(vector, probes, most, allowed)
        exact = len(slots) == int(np.count_nonzero(allowed))
        said = lexical[slots]
        score = weights[0] * cosine + weights[1] * said
        if not exact and weights[1] > 0:
            wanted = _min_lexical_score(score, cosine, limit, weights)
            extra = _extra_lexical_slots(
                lexical, wanted, allowed, slots, max(_MIN_LEXICAL_CANDIDATES, 4 * limit)
            )
            if len(extra):
                slots = np.concatenate([slots, extra])
                cosine = np.concatenate([cosine, rows.vectors.cosines(vector, extra)])
                said = lexical[slots]
                score = weights[0] * cosine + weights[1] * said
        parts = None
        if rank is not None and len(slots):
            slots, cosine = self._add_neighbours(rows, vector, slots, cosine, lexical, allowed, period)
            said = lexical[slots]
            query = wordings[0].terms
            parts = self._candidate_columns(
                rows, vector, slots, cosine, lexical, query, allowed, exact, stated_terms, question_terms
            )
            score = rank(parts)
        top = _top_positions(score, rows.ids(slots), limit)
        return Hits(
            ids=rows.ids(slots[top]),
            turns=rows.source_turns(slots[top]),
            score=score[top],
            cosine=cosine[top],
            lexical=said[top],
            groups=rows.vectors.groups_of(slots[top]),
            group=int(probes[0]) if len(probes) else None,
            probes=0 if whole else len(probes),
            exact=exact,
            candidates=len(slots),
            columns=_take_rows(parts, top) if explain and parts is not None else None,
        )

    def _lexical_scores(self, lexicon: LexicalIndex, wordings: Sequence[QueryTerms]) -> Scores:
        """Every row's best lexical score; kept for the next search, which may be for the same question."""
        kept = self._lexical_cache
        if kept is None or kept[0] is not lexicon or kept[1] is not wordings:
            best = _score_variant(lexicon, wordings[0])
            for wording in wordings[1:]:
                np.maximum(best, _score_variant(lexicon, wording), out=best)
            kept = self._lexical_cache = lexicon, wordings, best
        return kept[2]

    @staticmethod
    def _add_neighbours(
        rows: RowTable,
        vector: Vector,
        slots: Slots,
        cosine: Vector,
        lexical: Scores,
        allowed: Mask,
        period: tuple[float, float] | None,
    ) -> tuple[Slots, Vector]:
        """The candidates with those that stand beside the best of them in time, or in the time asked for."""
        if len(slots) == len(allowed):
            return slots, cosine
        said = lexical[slots]
        best = slots[np.argsort(-said, kind="stable")[:_NEIGHBOUR_SEED_ROWS]]
        wanted = np.zeros(len(allowed), dtype=np.bool_)
        for beside in (best - 1, best + 1):
            wanted[beside[(beside >= 0) & (beside < len(allowed))]] = True
        wanted &= allowed
        wanted[slots] = False
        extra = np.flatnonzero(wanted).astype(np.int32)
        if period is not None:
            dated = rows.starts_within(*period) & allowed & ~wanted
            dated[slots] = False
            there = np.flatnonzero(dated).astype(np.int32)
            if len(there) > SHORTLIST_ROWS:  # a long time: what says the query's words comes first
                there = there[np.argsort(-lexical[there], kind="stable")[:SHORTLIST_ROWS]]
            extra = np.concatenate([extra, there])
        return np.concatenate([slots, extra]), np.concatenate([cosine, rows.vectors.cosines(vector, extra)])

    @staticmethod
    def _candidate_columns(
        rows: RowTable,
        vector: Vector,
        slots: Slots,
        cosine: Vector,
        lexical: Scores,
        query: TermHashes,
        allowed: Mask,
        exact: bool,
        stated_terms: TermHashes | None,
        question_terms: TermHashes | None,
    ) -> CandidateColumns:
        kept = lexical[: len(allowed)][allowed]
        near = cosine if exact else rows.vectors.cosines(vector, _sample_slots(allowed))
        again = cosine > _DUPLICATE_COSINE
        if again.any():
            again &= rows.lexical.document_coverage(query)[slots] == 1
        if again.any():  # a question asked every day must not be the measure of what answers it
            kept, near = kept[kept < lexical[slots[again]].min()], near[near <= _DUPLICATE_COSINE]
        earlier, later = (
            rows.adjacent_slots(slots, -1, _CONVERSATION_GAP_SECONDS),
            rows.adjacent_slots(slots, 1, _CONVERSATION_GAP_SECONDS),
        )
        saying = None if stated_terms is None else rows.lexical.document_coverage(stated_terms)
        wanted = None if question_terms is None else rows.lexical.score_all(question_terms).dense

        before, after = earlier >= 0, later >= 0

        def cosines(beside: Ints, there: Mask) -> Scores:
            found = np.full(len(beside), np.nan)
            found[there] = rows.vectors.cosines(vector, beside[there].astype(np.int32))
            return found

        return CandidateColumns(
            ids=rows.ids(slots),
            cosine=cosine,
            lexical=lexical[slots],
            lexical_before=np.where(before, lexical[earlier], 0.0),
            cosine_before=cosines(earlier, before),
            lexical_after=np.where(after, lexical[later], 0.0),
            cosine_after=cosines(later, after),
            query_coverage=np.zeros(len(slots)) if saying is None else saying[slots],
            query_coverage_before=np.zeros(len(slots))
            if saying is None
            else np.where(before, saying[earlier], 0.0),
            question_lexical=None if wanted is None else wanted[slots],
            length=rows.lexical.lengths(slots).astype(np.float64),
            start_time=rows.start_times(slots),
            cosine_distribution=_distribution(near),
            lexical_distribution=_distribution(kept),
            question_distribution=_distribution(kept if wanted is None else wanted[: len(allowed)][allowed]),
        )

    def vector_of(self, kind: ItemKind, id: int) -> Vector:
        """The vector of one row; NotFound if it is not here."""
        return self._rows[kind].vector(id)

    def adjacent_ids(self, kind: ItemKind, id: int) -> list[int]:
        """The rows that came right before and right after one."""
        return self._rows[kind].adjacent_ids(id)

    def valid_ids(
        self,
        kind: ItemKind,
        ids: Collection[int],
        *,
        as_of: float | None = None,
        current_only: bool = True,
        allowed_ids: Collection[int] | None = None,
    ) -> set[int]:
        """Those of these rows that a search with the same limits may return."""
        rows = self._rows[kind]
        return rows.filter_allowed(
            ids, rows.allowed(as_of=as_of, current_only=current_only, allowed_ids=allowed_ids)
        )

    def retired_from_turn(self, kind: ItemKind, turn: int) -> list[int]:
        """The rows that came of a turn and are held true no more."""
        return self._rows[kind].retired_from_turn(turn)

    def group_sizes(self, kind: ItemKind) -> Ints:
        """How many rows every group holds."""
        return self._rows[kind].vectors.group_sizes()

    def retired_ids(self, kind: ItemKind) -> list[int]:
        """The rows that are held true no more."""
        return self._rows[kind].retired_ids()

    def has_retired(self, kind: ItemKind) -> bool:
        """Whether a row is held true no more."""
        return self._rows[kind].has_retired

    def size(self, kind: ItemKind) -> int:
        return len(self._rows[kind])

    def ids(self, kind: ItemKind) -> Ints:
        """The ids of all rows, in the order they came."""
        return self._rows[kind].ids()

    def _hash_columns(self, hashing: Hashing) -> Vector:
        """R's columns as contiguous rows, kept from search to search: transposing costs more than hashing."""
        kept = self._hashing_cache
        if kept is None or kept[0] is not hashing:
            kept = self._hashing_cache = (hashing, np.ascontiguousarray(hashing.matrix.T))
        return kept[1]


def _distribution(values: Scores | Vector) -> ScoreDistribution:
    if not len(values):
        return ScoreDistribution(0, 0.0, 0.0)
    # as ndarray.mean and .std have it, without what they do for arrays of every kind
    n = len(values)
    mean = np.add.reduce(values) / values.dtype.type(n)
    apart = values - mean
    return ScoreDistribution(
        n, float(mean), float(np.sqrt(np.add.reduce(apart * apart) / values.dtype.type(n)))
    )


def _sample_slots(allowed: Mask) -> Slots:
    """Some of the allowed slots, evenly spread: enough to know how cosines lie."""
    there = np.flatnonzero(allowed).astype(np.int32)
    return there[:: max(1, len(there) // _SAMPLE_ROWS)]


def _take_rows(parts: CandidateColumns, top: Ints) -> CandidateColumns:
    columns = {each.name: getattr(parts, each.name) for each in fields(parts)}
    chosen: dict[str, Any] = {name: a[top] for name, a in columns.items() if isinstance(a, np.ndarray)}
    return replace(parts, **chosen)


def _score_variant(lexicon: LexicalIndex, wording: QueryTerms) -> Scores:
    dense = lexicon.score_all(wording.terms, wording.optional_terms).dense
    if wording.weight != 1:
        dense *= wording.weight
    return dense


def _min_lexical_score(score: Scores, cosine: Vector, limit: int, weights: tuple[float, float]) -> float:
    """The lexical score a row not looked at needs to be among the best, were it as near as the nearest."""
    if len(score) < limit:
        return 0.0
    last = np.partition(score, len(score) - limit)[len(score) - limit]
    return max(0.0, float(last - weights[0] * cosine.max()) / weights[1])


def _extra_lexical_slots(dense: Scores, above: float, allowed: Mask, seen: Slots, count: int) -> Slots:
    """Of the allowed slots not seen yet, the `count` that share the most with the query, in any order."""
    wanted = dense[: len(allowed)] > above
    wanted &= allowed
    wanted[seen] = False
    extra = np.flatnonzero(wanted).astype(np.int32)
    if len(extra) > count:
        extra = extra[np.argpartition(dense[extra], len(extra) - count)[len(extra) - count :]]
    return extra


def _top_positions(score: Scores, ids: Ints, limit: int) -> Ints:
    """The `limit` best, best first, ties to the lower id: the same however the rows lie in memory."""
    chosen = np.arange(len(score))
    if len(score) > limit:
        chosen = np.flatnonzero(score >= np.partition(score, len(score) - limit)[len(score) - limit])
    order = np.lexsort((ids[chosen], -score[chosen]))
    return chosen[order[:limit]]
