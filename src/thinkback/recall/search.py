"""One search: a prepared query, the index of the space, the preset and the scorer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thinkback.index.lexical import QueryTerms, hash_term, hash_terms
from thinkback.index.rows import RowFilter
from thinkback.index.space_index import (
    Candidates,
    ColumnOptions,
    Hits,
    IndexQuery,
    SpaceIndex,
    shortlist_size,
)
from thinkback.language.assistant_questions import asks_for_reply
from thinkback.language.query_rewrite import non_relation_terms
from thinkback.language.query_time import QueryTime, TimelessQuery, parse_query_time, remove_times
from thinkback.language.questions import QueryParts, split_query
from thinkback.language.tokens import extract_terms
from thinkback.language.transcripts import speaker_term
from thinkback.language.writing_systems import has_han
from thinkback.presets import Preset, plain_variant
from thinkback.recall.query import (
    KnowledgeSnapshot,
    MemoryLoader,
    PreparedQuery,
    SearchVariants,
    build_variants,
    literal_variants,
)
from thinkback.recall.retired import NO_RETIRED, RetiredThoughts, read_retired
from thinkback.recall.score import ScoredColumns, Scorer, explain_scores, mark_ids
from thinkback.types import Candidate, Hashing, ItemKind, NearestRows, Thought, Turn

if TYPE_CHECKING:
    import numpy.typing as npt

    from thinkback.index.space_index import Ints
    from thinkback.recall.score import Scores
    from thinkback.types import TermHashes

MAX_PLAIN_ROWS = 8  # in a smaller space scores are not normalised: there are too few rows for statistics
CANDIDATES_PER_RESULT = 4  # candidates considered for each memory to recall
MAX_FEW_TURNS = 32  # in a smaller memory bank the nearest turns may be worth showing

_MIN_THOUGHTS_PER_TURN = 0.5  # from here on thoughts stand for the turns they were drawn from
_MAX_THOUGHTS_PER_TURN = 2.0  # more of them say no more about how much of the memory bank was thought about


_NO_TERMS = (QueryTerms(hash_terms(())),)


class _Scored(NamedTuple):
    """The candidates of one kind with their scores; `scored` is None if the index ranked them itself."""

    limit: int
    candidates: Candidates
    scored: ScoredColumns | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """A query and everything it is searched with."""

    query: PreparedQuery
    index: SpaceIndex
    hashing: Hashing | None
    preset: Preset
    loader: MemoryLoader
    scorer: Scorer
    variants: SearchVariants
    terms: Mapping[ItemKind, tuple[QueryTerms, ...]]  # the hashed variants
    query_parts: QueryParts
    query_time: QueryTime
    columns: ColumnOptions | None  # None if the index ranks the candidates itself
    open_terms: frozenset[str]  # words of the query that do not express a relation
    asks_for_reply: bool = False  # the query asks for the assistant's own words
    reaches_back: bool = False  # the query asks about the past, so retired thoughts may answer it
    accepts_nearest: bool = False
    """Whether the nearest turns are shown even below the threshold.

    So for a Chinese query in a small memory bank: questions use other characters than statements, so that
    neither words nor a small embedder can tell which turn answers.
    """
    _found: dict[tuple[ItemKind, bool], _Scored] = field(default_factory=dict)
    _scorers: dict[ItemKind, Scorer] = field(default_factory=dict)

    @property
    def shows_retired(self) -> bool:
        """Whether retired facts are candidates, to be shown as past: not if the query is about now.

        Retired sentences kept as said are candidates nevertheless: they may tell more than what is over.
        """
        return not self.is_limited_in_time and (
            self.reaches_back or (self.preset.weights is not None and self.query_time.tense == "any")
        )

    @property
    def is_limited_in_time(self) -> bool:
        """Whether the query is limited to an earlier time or state of knowledge."""
        return self.query.as_of is not None or self.query.snapshot is not None

    @property
    def retired(self) -> RetiredThoughts:
        """The thoughts that are retired now."""
        if not self.index.has_retired("thought"):
            return NO_RETIRED
        return self.loader.memoise_retired(
            lambda: read_retired(self.index.retired_ids("thought"), self.loader.thoughts)
        )

    @property
    def _retired_sentences(self) -> Collection[int]:
        """Which of the newest retired thoughts are sentences kept as said.

        They are searched like current ones, and shown as past: a sentence often says more than what changed.
        """
        return () if self.is_limited_in_time else self.retired.sentences

    @property
    def thoughts_per_turn(self) -> float:
        """How much of the memory bank was turned into thoughts, at most 2."""
        return min(_MAX_THOUGHTS_PER_TURN, self.index.size("thought") / max(1, self.index.size("turn")))

    @property
    def thoughts_stand_for_turns(self) -> bool:
        """Whether most turns were thought about, so that thoughts leave out little that matters."""
        return self.preset.weights is not None and self.thoughts_per_turn >= _MIN_THOUGHTS_PER_TURN

    def source_turn(self, item: Candidate) -> Turn | None:
        """The turn in which a recalled item was said last; None without a source."""
        if item.turn is not None:
            return item.turn
        if item.thought is None or not item.thought.sources:
            return None
        turns = self.loader.turns([item.thought.last_turn])
        return turns[0] if turns else None

    def days_said(self, thought: Thought) -> set[date]:
        """The days of the source turns of a thought; without any, the day when it was recorded."""
        turns = self.loader.turns(sorted({source.turn for source in thought.sources}))
        return {turn.at.date() for turn in turns} or {thought.recorded_at.date()}

    def hits(self, kind: ItemKind, limit: int, *, include_retired: bool = False) -> Hits:
        """The best rows that are valid at the time of the query, optionally with retired ones."""
        include_retired = include_retired or (
            kind == "thought" and (self.shows_retired or bool(self._retired_sentences))
        )
        _, candidates, scored = self._scored(kind, limit, include_retired)
        hits = candidates.top(limit, None if scored is None else scored.total)
        if not self.query.explain:
            return hits
        return replace(hits, explained=explain_scores(self.scorer_for(kind), hits, scored))

    def _scored(self, kind: ItemKind, limit: int, include_retired: bool) -> _Scored:
        """The scored candidates of one kind; searched once, unless a later call has a larger limit."""
        key = kind, include_retired
        found = self._found.get(key)
        # if all rows were compared, a larger limit finds no others
        if found is None or (found.limit < limit and not found.candidates.exact):
            row_filter = self._row_filter(kind, include_retired=include_retired)
            candidates = self.index.candidates(kind, self._index_query(kind, limit), row_filter)
            scored = None
            if candidates.columns is not None:
                further = self._thought_columns(candidates, limit) if kind == "thought" else {}
                further |= self._speaker_column(candidates.ids if kind == "turn" else candidates.turns)
                scored = self.scorer_for(kind).score(candidates.columns, further)
            found = self._found[key] = _Scored(limit, candidates, scored)
        return found

    def _thought_columns(self, candidates: Candidates, limit: int) -> dict[str, Scores]:
        """Columns that need more than the candidates themselves.

        `thinking`: thoughts per turn, at most 2: only where most turns were thought about do thoughts stand
        for them, and several thoughts of a turn leave out less than one. `source`: the weighted sum of each
        thought's turn; `retired`: 1 for a retired thought that is no sentence kept as said.
        """
        if self.preset.weights is None:
            return {}
        columns: dict[str, Scores] = {"thinking": np.full(len(candidates.ids), self.thoughts_per_turn)}
        if self.index.has_retired("thought"):
            retired = self.retired.ids.difference(self._retired_sentences)
            columns["retired"] = mark_ids(candidates.ids, retired)
        _, turns, scored = self._scored("turn", limit, include_retired=False)
        if scored is not None and len(turns.ids):
            order = np.argsort(turns.ids)
            ids, linear = turns.ids[order], scored.linear[order]
            position = np.minimum(np.searchsorted(ids, candidates.turns), len(ids) - 1)
            known = ids[position] == candidates.turns
            columns["source"] = np.where(known, linear[position], min(0.0, float(linear.min())))
        return columns

    def _speaker_column(self, turns: Ints) -> dict[str, Scores]:
        """`speaker`: 1 for the turns of the one speaker whom the query names."""
        if self.preset.weights is None or len(self.query.speakers) != 1:
            return {}
        term = hash_term(speaker_term(self.query.speakers[0]))
        return {"speaker": mark_ids(turns, frozenset(self.index.ids_with_term("turn", term).tolist()))}

    def _index_query(self, kind: ItemKind, limit: int) -> IndexQuery:
        preset = self.preset
        needs_groups = self.query.explain or self.index.size(kind) > preset.scan_below
        return IndexQuery(
            vector=self.query.vector,
            # If words have no weight they must not propose candidates either: TiM searches groups alone.
            variants=self.terms[kind] if preset.lexical else _NO_TERMS,
            limit=limit,
            weights=(preset.cosine, preset.lexical),
            hashing=self.hashing if needs_groups else None,
            scan_below=preset.scan_below,
            columns=self.columns,
            nearest=self._nearest(kind, limit),
            part_vectors=self.query.part_vectors,
        )

    def _nearest(self, kind: ItemKind, limit: int) -> NearestRows | None:
        """What the database finds nearest; None if the rows are compared here. Those of a past time are."""
        if self.query.as_of is not None or self.query.snapshot is not None:
            return None
        return self.loader.nearest(kind, self.query.vector, shortlist_size(limit), self.index.size(kind))

    def valid_ids(self, kind: ItemKind, ids: Sequence[int]) -> set[int]:
        """Those of `ids` that are valid at the time of the query, even if the query asks about the past."""
        return self.index.valid_ids(kind, ids, self._row_filter(kind, include_retired=False))

    def _row_filter(self, kind: ItemKind, *, include_retired: bool) -> RowFilter:
        snapshot = self.query.snapshot
        as_of = None if include_retired or self.query.as_of is None else self.query.as_of.timestamp()
        if snapshot is not None and kind == "thought":
            as_of = None  # the snapshot has already applied the validity periods as they were known then
        current_only = as_of is None and not include_retired and snapshot is None
        ids = None if snapshot is None else _snapshot_ids(snapshot, kind, include_retired)
        return RowFilter(as_of, current_only, ids)

    def scorer_for(self, kind: ItemKind) -> Scorer:
        """The scorer for thoughts or for turns."""
        if kind == "turn":
            return self.scorer
        if kind not in self._scorers:
            self._scorers[kind] = replace(self.scorer, for_thoughts=True, about_ids=self.query.about_ids)
        return self._scorers[kind]

    @property
    def strict(self) -> bool:
        """Whether leftover slots stay empty."""
        return _is_strict(self.preset)

    @property
    def limit_reason(self) -> str:
        """The reason for dropping a relevant candidate that exceeds the limit."""
        if self.query.k == self.preset.max_items:
            return f"beyond the {self.preset.max_items} that {self.preset.name} recalls at most"
        return f"beyond the {self.query.k} asked for"

    def is_relevant(self, score: float) -> bool:
        return score >= self.preset.threshold

    @property
    def _fill_threshold(self) -> float:
        return self.preset.fill_threshold / (2 if self.accepts_nearest else 1)

    def is_nearly_relevant(self, score: float, lexical: float) -> bool:
        """Whether a turn may fill a leftover slot: it needs a word in common with the query."""
        return self.is_relevant(score) or (score >= self._fill_threshold and lexical > 0)

    def are_nearly_relevant(self, hits: Hits) -> npt.NDArray[np.bool_]:
        """The same for all hits."""
        fills: npt.NDArray[np.bool_] = (hits.score >= self._fill_threshold) & (hits.lexical > 0)
        return fills | (hits.score >= self.preset.threshold)

    def has_more(self, hits: Hits, limit: int) -> bool:
        """Whether a search with a larger limit may find more relevant rows."""
        return len(hits) == limit and self.is_relevant(hits.score[-1])


def prepare_search(
    query: PreparedQuery, index: SpaceIndex, hashing: Hashing | None, preset: Preset, loader: MemoryLoader
) -> Search:
    """Analyse the query (time, parts, variants) and choose the scorer for this space."""
    uses_time = preset.weights is not None
    rows = index.size("turn") + index.size("thought")
    if preset.weights and _is_too_small(rows):
        preset = plain_variant(preset)
    if not preset.target_recall and hashing is not None and hashing.probes > 1:
        hashing = replace(hashing, probes=1)  # as in the papers, whatever the hashing was calibrated for
    if preset.max_items is not None:
        query = replace(query, k=min(query.k, preset.max_items))
    parts = split_query(query.text)
    time = QueryTime((), "any") if query.now is None else parse_query_time(query.text, query.now)
    period = _time_range(time) if uses_time else None
    timeless = remove_times(query.wording, time) if period else TimelessQuery(query.wording)
    if preset.rewrite_query:
        variants = build_variants(timeless.text, query.expanded_text)
    else:
        variants = literal_variants(query.text)
    return Search(
        query=query,
        index=index,
        hashing=hashing,
        preset=preset,
        loader=loader.load_once(),
        scorer=Scorer(
            preset=preset,
            text=query.text,
            manner=parts.manner,
            period=period,
            whole_period=timeless.time_only,
            space_rows=rows,
        ),
        variants=variants,
        terms=variants.hashed(),
        query_parts=parts,
        query_time=time,
        columns=_column_options(parts, period) if preset.weights or period else None,
        open_terms=frozenset(non_relation_terms(query.text)),
        asks_for_reply=asks_for_reply(query.text),
        reaches_back=time.tense == "before" and query.as_of is None and query.snapshot is None,
        accepts_nearest=(
            not _is_strict(preset) and index.size("turn") <= MAX_FEW_TURNS and has_han(query.text)
        ),
    )


def _snapshot_ids(snapshot: KnowledgeSnapshot, kind: ItemKind, include_retired: bool) -> Collection[int]:
    if kind == "turn":
        return snapshot.turns
    return snapshot.all_thoughts if include_retired else snapshot.valid_thoughts


def _is_strict(preset: Preset) -> bool:
    return preset.fill_threshold >= preset.threshold


def _is_too_small(rows: int) -> bool:
    """Whether a space has too few rows to normalise scores by their distribution."""
    return rows <= MAX_PLAIN_ROWS


def _time_range(time: QueryTime) -> tuple[float, float] | None:
    """The time that a query mentions, from the first to the last, in seconds since 1970."""
    if not time.spans:
        return None
    starts = [-inf if span.start is None else span.start.timestamp() for span in time.spans]
    ends = [inf if span.end is None else span.end.timestamp() for span in time.spans]
    return min(starts), max(ends)


def _column_options(parts: QueryParts, period: tuple[float, float] | None) -> ColumnOptions:
    return ColumnOptions(
        period=period,
        stated_terms=_hash_text(parts.statement),
        question_terms=_hash_text(parts.question) if parts.statement else None,
    )


def _hash_text(text: str) -> TermHashes | None:
    return hash_terms(extract_terms(text)) if text else None
