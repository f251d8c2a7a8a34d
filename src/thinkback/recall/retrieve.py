"""Retrieves the memories for a query: search, score, select, and fill free places with neighbouring turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from thinkback.index.space_index import Hits, SpaceIndex
from thinkback.presets import Preset
from thinkback.recall.calculations import add_calculation
from thinkback.recall.careful import ReadCandidates, mark_read_updates, read_candidates
from thinkback.recall.explain import build_understanding
from thinkback.recall.features import MemoryHit, build_hits, build_hits_with_features, rank_hits
from thinkback.recall.former_values import leave_out_former
from thinkback.recall.outdated import OutdatedFacts
from thinkback.recall.overview import asks_for_overview, overview_hits
from thinkback.recall.query import MemoryLoader, PreparedQuery
from thinkback.recall.rerankers import Reranker, get_reranker, to_rerank_candidates
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.recall.score import RetentionScorer
from thinkback.recall.search import CANDIDATES_PER_RESULT, MAX_FEW_TURNS, Search, prepare_search
from thinkback.recall.selection import Selection, Selector
from thinkback.recall.slots import find_slot_updates, newer_first
from thinkback.recall.updates import mark_possible_updates
from thinkback.types import Candidate, Hashing, Recollection, Ref, Turn

_MAX_REFERENCE_CHARS = 2000  # of a turn, to decide whether it refers to someone
_MAX_NEAREST_TURNS = 3  # nearest turns that may be kept below the threshold
_MIN_SCORE_RATIO = 1.25  # how much better than the next candidates the nearest turns must be
_CONVERSATION_GAP = timedelta(hours=2)  # turns of a session within this time belong together
_ABOUT_THE_USER = re.compile(r"\b(?:i|my|me|mine)\b|[我俺咱]", re.IGNORECASE)
_REFERENCE_WORDS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|hers|their|its|there)\b|[他她它牠]|[那这這][边邊里裡儿兒]",
    re.IGNORECASE,
)


def add_neighbours(
    search: Search,
    kept: list[Candidate],
    dropped: list[Candidate],
    limit: int,
    selector: Selector,
    covered_turns: Sequence[TurnRow],
) -> tuple[list[Candidate], list[Candidate]]:
    """Move turns from `dropped` to `kept` while there are slots left.

    First turns right before or after a kept turn or one of `covered_turns` that refer to it ("she" is named
    in the other one). Then, in a small memory bank, the nearest turns.
    """
    if search.strict:
        return kept, dropped
    anchors = [*(turn.memory for turn in covered_turns), *(item.turn for item in kept if item.turn)]
    adjacent = {id_ for turn in anchors for id_ in search.index.adjacent_ids("turn", turn.id)}
    added: dict[Ref, Candidate] = {}

    def keep(item: Candidate, why: str) -> None:
        if item.turn is None or len(kept) + len(added) >= limit:
            return
        turn = search.loader.row_of_turn(item.turn)
        if not (turn.withheld_reason or selector.rejection_reason(turn)):
            added.setdefault(item.ref, selector.accept(item, turn, why))

    for item in dropped:
        if item.ref.id in adjacent and item.turn and any(_refers_back(item.turn, other) for other in anchors):
            keep(item, "said beside it")
    # If the next candidates are about as near, none of them stands out.
    next_best = _MIN_SCORE_RATIO * max(
        (item.score.total for item in dropped[_MAX_NEAREST_TURNS:]), default=0.0
    )
    for item in dropped[:_MAX_NEAREST_TURNS] if search.accepts_nearest else ():
        if item.score.total >= max(search.preset.fill_threshold / 2, next_best):
            keep(item, "near")
    few_turns = search.index.size("turn") <= MAX_FEW_TURNS
    if not kept and not added and few_turns and _ABOUT_THE_USER.search(search.query.text):
        for item in dropped[:_MAX_NEAREST_TURNS]:  # better something than nothing about oneself
            keep(item, "near")
    return kept + list(added.values()), [item for item in dropped if item.ref not in added]


def _refers_back(one: Turn, other: Turn) -> bool:
    """Whether the later of two turns of a conversation uses a pronoun that the earlier one may explain."""
    later = max(one, other, key=lambda turn: turn.id)
    same_conversation = one.session == other.session and abs(one.at - other.at) <= _CONVERSATION_GAP
    return same_conversation and bool(_REFERENCE_WORDS.search(later.query[:_MAX_REFERENCE_CHARS]))


_RERANK_CANDIDATES = 128  # of each kind, for a reranker
_MIN_CANDIDATES_BY_KIND = 24  # if kinds are scored: the wanted kind may rank behind many of another


class RetrievalResult(NamedTuple):
    """Kept and dropped candidates, and the hits they came from (None: turns were not searched)."""

    thought_hits: Hits
    turn_hits: Hits | None
    kept: list[Candidate]
    dropped: list[Candidate]
    read: ReadCandidates | None = None  # if the cross-encoder read them


def retrieve(
    query: PreparedQuery, index: SpaceIndex, hashing: Hashing | None, preset: Preset, loader: MemoryLoader
) -> Recollection:
    """The `query.k` most relevant memories, best first; if explained, with the dropped candidates."""
    search = prepare_search(query, index, hashing, preset, loader)
    if query.snapshot is None and asks_for_overview(query.text):
        result = _retrieve_overview(search)
    elif preset.rerank:
        result = _retrieve_reranked(search, get_reranker(preset.rerank))
    elif search.preset.rank_together:
        result = _retrieve_combined(search)
    else:
        result = _retrieve_thoughts_first(search)
    thought_hits, turn_hits = result.thought_hits, result.turn_hits
    hits = thought_hits if len(thought_hits) or turn_hits is None else turn_hits
    dropped = sorted(result.dropped, key=lambda item: -item.score.total) if query.explain else ()
    kept = result.kept
    read = result.read
    if _asks_about_now(search):
        if query.cross_encoder is not None and read is not None and read.answers:
            kept = mark_read_updates(kept, read.answers, query.cross_encoder, search.source_turn)
        elif search.query_parts.manner != "at length":  # the scorer learned from questions
            kept = mark_possible_updates(kept, query.text, search.source_turn, search.loader.memoise)
    if preset.weights is not None:
        kept = add_calculation(kept, query.text, search.days_said)
    return Recollection(
        query=query.text,
        items=tuple(kept),
        dropped=tuple(dropped),
        threshold=search.preset.threshold,
        group=hits.group,
        probes=hits.probes,
        exact=hits.exact,
        confidence=None if read is None else read.confidence,
        answers={} if read is None else read.answers,
        understanding=build_understanding(search, thought_hits, turn_hits) if query.explain else None,
    )


def _asks_about_now(search: Search) -> bool:
    """Whether what a newer memory says matters.

    Not if a query asks for a former state or names a time that is over, or for what was true or known then.
    """
    now = search.query.now
    if search.query.as_of is not None or search.query.snapshot is not None or search.reaches_back:
        return False
    return not any(now is not None and span.end and span.end <= now for span in search.query_time.spans)


def _retrieve_overview(search: Search) -> RetrievalResult:
    """The newest memories, for a question about everything that is known."""
    hits = search.hits("thought", search.query.k)
    kept, dropped = Selector(search, OutdatedFacts(search, ())).select(
        overview_hits(search, hits), search.query.k
    )
    return RetrievalResult(hits, None, kept, dropped)


def _retrieve_combined(search: Search) -> RetrievalResult:
    """Rank thoughts and raw turns on one scale."""
    k = search.query.k
    limit = max(_MIN_CANDIDATES_BY_KIND if search.query.kind_probabilities else 0, k * CANDIDATES_PER_RESULT)
    while True:
        thought_hits, turn_hits = search.hits("thought", limit), search.hits("turn", limit)
        if search.query.retention is not None:
            thought_hits = _apply_retention(search.query.retention, search, thought_hits)
        thoughts, turns = _load_thoughts(search, thought_hits), _load_turns(search, turn_hits)
        outdated = OutdatedFacts(search, turns)
        ranked = rank_hits(
            search,
            build_hits_with_features(search, "thought", thought_hits, thoughts),
            build_hits_with_features(search, "turn", turn_hits, turns),
            outdated,
        )
        read = read_candidates(search, ranked) if search.preset.read_candidates else None
        ranked = ranked if read is None else read.hits
        if read is not None and read.answers and _asks_about_now(search):
            ranked = leave_out_former(search, ranked, read.answers)
        updates = (
            find_slot_updates(ranked, search.query.text, search.loader.memoise)
            if _asks_about_now(search)
            else {}
        )
        ranked = newer_first(ranked, updates)
        probable = read.probable_answers if read is not None else frozenset()
        selector = Selector(search, outdated, slot_updates=updates, probable_answers=probable)
        kept, dropped = selector.select(ranked, k)
        # Rows beyond the limit may be better than the kept ones if many candidates were rejected.
        unseen = max(
            (hits.score[-1] for hits in (thought_hits, turn_hits) if len(hits) == limit), default=0.0
        )
        if not search.is_relevant(unseen) or (len(kept) == k and kept[-1].score.total >= unseen):
            kept, dropped = _fill_remaining(search, selector, turns, kept, dropped, k)
            if read is not None and read.is_silent(search):
                reason = f"no answer: {read.confidence:.2f} < {read.confidence_limit(search):.2f}"
                dropped = [*(replace(item, reason=reason, verdict=reason) for item in kept), *dropped]
                kept = []
            return RetrievalResult(thought_hits, turn_hits, kept, dropped, read)
        limit *= CANDIDATES_PER_RESULT


def _retrieve_reranked(search: Search, rerank: Reranker) -> RetrievalResult:
    """Let a reranker score more candidates of both kinds than can be kept.

    Rejected candidates keep the score of the search, so that they take no slot from the others.
    """
    k = search.query.k
    limit = max(_RERANK_CANDIDATES, k * CANDIDATES_PER_RESULT)
    while True:
        thought_hits, turn_hits = search.hits("thought", limit), search.hits("turn", limit)
        thoughts, turns = _load_thoughts(search, thought_hits), _load_turns(search, turn_hits)
        outdated = OutdatedFacts(search, turns)
        selector = Selector(search, outdated)
        eligible = {
            turn.ref for turn in turns if not (turn.withheld_reason or selector.rejection_reason(turn))
        }
        if len(eligible) >= k or len(turn_hits) < limit:
            break
        limit *= CANDIDATES_PER_RESULT
    eligible |= {thought.ref for thought in thoughts if not thought.withheld_reason}
    hits = [*build_hits(thought_hits, thoughts), *build_hits(turn_hits, turns)]
    candidates = [hit for hit in hits if hit.row.ref in eligible]
    totals = rerank(
        search.query, to_rerank_candidates([(hit.memory, hit.score) for hit in candidates], search.loader)
    )
    why = f"scored anew by {search.preset.rerank}"
    reranked = [hit.with_total(total, why) for hit, total in zip(candidates, totals, strict=True)]
    ranked = rank_hits(
        search,
        [hit for hit in reranked if not hit.row.is_turn],
        [hit for hit in reranked if hit.row.is_turn],
        outdated,
    )
    rejected = (hit for hit in hits if hit.row.ref not in eligible)
    kept, dropped = selector.select(sorted((*ranked, *rejected), key=MemoryHit.sort_key), k)
    return RetrievalResult(thought_hits, turn_hits, kept, dropped)


def _retrieve_thoughts_first(search: Search) -> RetrievalResult:
    """As in the papers: thoughts first, turns only for the slots that are left."""
    query = search.query
    wider = query.explain or query.retention is not None
    thought_hits = search.hits("thought", query.k * CANDIDATES_PER_RESULT if wider else query.k)
    if query.retention is not None:
        thought_hits = _apply_retention(query.retention, search, thought_hits)
    thoughts = _load_thoughts(search, thought_hits)
    kept, dropped = Selector(search, OutdatedFacts(search, ())).select(
        build_hits(thought_hits, thoughts), query.k
    )
    free = query.k - len(kept)
    limit = query.k * CANDIDATES_PER_RESULT
    turn_hits = None
    while free:
        turn_hits = search.hits("turn", limit)
        turns = _load_turns(search, turn_hits)
        selector = Selector(search, OutdatedFacts(search, turns), kept)
        kept_turns, dropped_turns = selector.select(build_hits(turn_hits, turns), free)
        if len(kept_turns) == free or not search.has_more(turn_hits, limit):
            kept_turns, dropped_turns = _fill_remaining(
                search, selector, turns, kept_turns, dropped_turns, free
            )
            kept, dropped = kept + kept_turns, dropped + dropped_turns
            break
        limit *= CANDIDATES_PER_RESULT
    return RetrievalResult(thought_hits, turn_hits, kept, dropped)


def _load_thoughts(search: Search, hits: Hits) -> Sequence[ThoughtRow]:
    return search.loader.thought_rows(hits.ids.tolist())


def _load_turns(search: Search, hits: Hits) -> Sequence[TurnRow]:
    return search.loader.turn_rows(hits.ids.tolist())


def _fill_remaining(
    search: Search,
    selector: Selector,
    turns: Sequence[TurnRow],
    kept: list[Candidate],
    dropped: list[Candidate],
    limit: int,
) -> Selection:
    """Fill leftover slots with turns next to a kept memory, then with outdated turns."""
    by_id = {turn.id: turn for turn in turns}
    covered = [by_id[id_] for id_ in selector.thoughts_by_turn if id_ in by_id]
    kept, dropped = add_neighbours(search, kept, dropped, limit, selector, covered)
    return selector.fill_with_outdated(kept, dropped, limit)


def _apply_retention(retention: RetentionScorer, search: Search, hits: Hits) -> Hits:
    """The hits with faded scores."""
    factors = retention.factors(search.loader.thoughts(hits.ids.tolist()))
    return retention.apply(hits, factors, len(hits))
