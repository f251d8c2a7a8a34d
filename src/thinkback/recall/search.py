"""One search: a prepared query, the index of the space, the preset and the scorer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from thinkback.index.lexical import QueryTerms, hash_terms
from thinkback.index.space_index import Hits, SpaceIndex
from thinkback.language.query_rewrite import non_relation_terms
from thinkback.language.query_time import QueryTime, TimelessQuery, parse_query_time, remove_times
from thinkback.language.questions import QueryParts, split_query
from thinkback.language.scripts import has_han
from thinkback.language.tokens import extract_terms
from thinkback.presets import Preset, plain_variant
from thinkback.recall.query import (
    KnowledgeSnapshot,
    MemoryLoader,
    PreparedQuery,
    build_query_variants,
    literal_query_variants,
)
from thinkback.recall.score import Scorer
from thinkback.types import Hashing, ItemKind

if TYPE_CHECKING:
    from thinkback.types import TermHashes


MAX_PLAIN_ROWS = 8  # rows; so few are no measure, and each is measured by itself
_MAX_FEW_TURNS = 32  # turns, of which the nearest are worth a look in any case


class _RowFilter(NamedTuple):
    """Which rows a search may return: what holds at a time, is not retired, is one of these ids."""

    as_of: float | None
    current_only: bool
    allowed_ids: Collection[int] | None


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """A question and all that it is put to."""

    query: PreparedQuery
    index: SpaceIndex
    hashing: Hashing | None
    preset: Preset
    loader: MemoryLoader
    scorer: Scorer
    variants: Mapping[ItemKind, tuple[QueryTerms, ...]]
    spoken: QueryParts
    open_terms: frozenset[str]  # words of the question that stand for no relation
    reaches_back: bool = False  # it asks for what was so before: what is held true no more may answer it
    accepts_nearest: bool = False
    """Whether a Chinese question is put to so few turns that the nearest may well be the one.

    Neither words nor a small embedder can tell: Chinese is asked in other characters than it was told in.
    """

    def hits(self, kind: ItemKind, limit: int, *, include_retired: bool = False) -> Hits:
        """The best of what holds at the time asked for; `whenever` takes what was retired as well."""
        allowing = self._row_filter(
            kind, include_retired=include_retired or (kind == "thought" and self.reaches_back)
        )
        scan_below = self.preset.scan_below
        # Where words have no weight they must not propose candidates either: TiM looks into groups alone.
        return self.index.search(
            kind,
            self.query.vector,
            self.variants[kind] if self.preset.lexical else self.query.terms[:0],
            limit=limit,
            hashing=self.hashing if self.query.explain or self.index.size(kind) > scan_below else None,
            scan_below=scan_below,
            as_of=allowing.as_of,
            current_only=allowing.current_only,
            allowed_ids=allowing.allowed_ids,
            weights=(self.preset.cosine, self.preset.lexical),
            rank=self.scorer_for(kind) if self.preset.weights or self.scorer.period else None,
            period=self.scorer.period,
            stated_terms=_hash_text(self.spoken.statement),
            question_terms=_hash_text(self.spoken.question) if self.spoken.statement else None,
            explain=self.query.explain,
        )

    def valid_ids(self, kind: ItemKind, ids: Sequence[int]) -> set[int]:
        """Those of these rows that hold at the time asked for, even if the question reaches back."""
        allowing = self._row_filter(kind, include_retired=False)
        return self.index.valid_ids(
            kind,
            ids,
            as_of=allowing.as_of,
            current_only=allowing.current_only,
            allowed_ids=allowing.allowed_ids,
        )

    def _row_filter(self, kind: ItemKind, *, include_retired: bool) -> _RowFilter:
        known = self.query.snapshot
        as_of = None if include_retired or self.query.as_of is None else self.query.as_of.timestamp()
        if known is not None and kind == "thought":
            as_of = None  # what held then is already chosen, by the intervals as they were known
        current_only = as_of is None and not include_retired and known is None
        return _RowFilter(
            as_of, current_only, None if known is None else self._snapshot_ids(known, kind, include_retired)
        )

    def scorer_for(self, kind: ItemKind) -> Scorer:
        if kind == "turn":
            return self.scorer
        return replace(self.scorer, for_thoughts=True, about_ids=self.query.about_ids)

    @staticmethod
    def _snapshot_ids(known: KnowledgeSnapshot, kind: ItemKind, whenever: bool) -> Collection[int]:
        if kind == "turn":
            return known.turns
        return known.all_thoughts if whenever else known.valid_thoughts

    @property
    def strict(self) -> bool:
        """Whether a place stays empty rather than being given to what does not matter."""
        return _is_strict(self.preset)

    @property
    def limit_reason(self) -> str:
        """What is said of a find for which there is no place."""
        if self.query.k == self.preset.max_items:
            return f"beyond the {self.preset.max_items} that {self.preset.name} recalls at most"
        return f"beyond the {self.query.k} asked for"

    def is_relevant(self, score: float) -> bool:
        return score >= self.preset.threshold

    def is_nearly_relevant(self, score: float, lexical: float) -> bool:
        """Whether a turn may take a place that is left: it shares words with the question, if not many."""
        return self.is_relevant(score) or (
            score >= self.preset.fill_threshold / (2 if self.accepts_nearest else 1) and lexical > 0
        )

    def has_more(self, hits: Hits, limit: int) -> bool:
        return len(hits) == limit and self.is_relevant(hits.score[-1])


def prepare_search(
    query: PreparedQuery, index: SpaceIndex, hashing: Hashing | None, preset: Preset, loader: MemoryLoader
) -> Search:
    """The question made ready: its wordings, the time it names, whether it tells something."""
    timed = preset.weights is not None
    rows = index.size("turn") + index.size("thought")
    if preset.weights and _is_too_small(rows):
        preset = plain_variant(preset)
    if not preset.target_recall and hashing is not None and hashing.probes > 1:
        hashing = replace(hashing, probes=1)  # as the papers do, whatever the groups were made for
    if preset.max_items is not None:
        query = replace(query, k=min(query.k, preset.max_items))
    put = split_query(query.text)
    when = QueryTime((), "any") if query.now is None else parse_query_time(query.text, query.now)
    within = _time_range(when) if timed else None
    wanted = remove_times(query.text, when) if within else TimelessQuery(query.text)
    scorer = Scorer(
        preset, query.text, put.manner, period=within, whole_period=wanted.time_only, space_rows=rows
    )
    reaches_back = when.tense == "before" and query.as_of is None and query.snapshot is None
    wordings = (
        build_query_variants(replace(query, text=wanted.text))
        if preset.rewrite_query
        else literal_query_variants(query)
    )
    return Search(
        query,
        index,
        hashing,
        preset,
        loader.load_once(),
        scorer,
        wordings,
        put,
        frozenset(non_relation_terms(query.text)),
        reaches_back,
        not _is_strict(preset) and index.size("turn") <= _MAX_FEW_TURNS and has_han(query.text),
    )


def _is_strict(preset: Preset) -> bool:
    return preset.fill_threshold >= preset.threshold


def _is_too_small(rows: int) -> bool:
    """Whether a space is too small to measure by it."""
    return rows <= MAX_PLAIN_ROWS


def _time_range(asked: QueryTime) -> tuple[float, float] | None:
    """The time that a question names, in seconds since 1970; from the first to the last if it names more."""
    if not asked.spans:
        return None
    starts = [-inf if span.start is None else span.start.timestamp() for span in asked.spans]
    ends = [inf if span.end is None else span.end.timestamp() for span in asked.spans]
    return min(starts), max(ends)


def _hash_text(words: str) -> TermHashes | None:
    return hash_terms(extract_terms(words)) if words else None
