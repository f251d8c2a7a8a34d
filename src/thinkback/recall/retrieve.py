"""The thought retriever (TiM 002, 3.3): groups first, similarity inside them; and the bank beside the space.

Stage 1 picks the candidates, stage 2 scores them; both happen in `index.shelf`. By default thoughts and raw
turns are ranked together (decision 0013), so that what was not turned into a thought is still found; in TiM
turns only fill the places that thoughts leave. A preset may have candidates scored anew (`recall.rerank`).

    search -> rows -> judge -> beside -> past
"""

from __future__ import annotations

from typing import NamedTuple

from thinkback.index.space_index import Hits, SpaceIndex
from thinkback.language.safety.quarantine import withheld_reason
from thinkback.presets import Preset
from thinkback.recall.explain import build_understanding
from thinkback.recall.features import MemoryHit, build_hits, build_hits_with_features, rank_hits
from thinkback.recall.neighbours import add_neighbours
from thinkback.recall.query import MemoryLoader, PreparedQuery
from thinkback.recall.rerankers import Reranker, get_reranker, to_rerank_candidates
from thinkback.recall.retention import RetentionScorer
from thinkback.recall.search import Search, prepare_search
from thinkback.recall.selection import CANDIDATES_PER_RESULT, Selection, Selector
from thinkback.types import Candidate, Hashing, Recollection, Thought, Turn

_RERANK_CANDIDATES = 128  # candidates of each kind that a reranker is given
_MIN_CANDIDATES_BY_KIND = (
    48  # at least so many, where one of the kind asked for may stand behind many of another
)


class RetrievalResult(NamedTuple):
    """What is kept and what is dropped, and how both sides were searched; the bank only where it was."""

    space: Hits
    bank: Hits | None
    kept: list[Candidate]
    dropped: list[Candidate]


def retrieve(
    query: PreparedQuery, index: SpaceIndex, hashing: Hashing | None, preset: Preset, loader: MemoryLoader
) -> Recollection:
    """The k memories that matter most, best first; with `explain`, what was dropped as well."""
    search = prepare_search(query, index, hashing, preset, loader)
    if preset.rerank:
        done = _retrieve_reranked(search, get_reranker(preset.rerank))
    else:
        done = _retrieve_combined(search) if search.preset.rank_together else _retrieve_thoughts_first(search)
    found = done.space if len(done.space) or done.bank is None else done.bank
    promising = sorted(done.dropped, key=lambda item: -item.score.total) if query.explain else ()
    return Recollection(
        query=query.text,
        items=tuple(done.kept),
        dropped=tuple(promising),
        threshold=search.preset.threshold,
        group=found.group,
        probes=found.probes,
        exact=found.exact,
        understanding=build_understanding(search, done.space, done.bank) if query.explain else None,
    )


def _retrieve_combined(search: Search) -> RetrievalResult:
    """Thoughts and raw turns on one scale: what was not turned into a thought is found all the same."""
    question = search.query
    limit = max(
        _MIN_CANDIDATES_BY_KIND if question.kind_probabilities else 0, question.k * CANDIDATES_PER_RESULT
    )
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        if question.retention is not None:
            found = _apply_retention(question.retention, search, found)
        thoughts = {each.id: each for each in search.loader.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.loader.turns(bank.ids.tolist())}
        judge = Selector(search, turns)
        told = build_hits_with_features(search, "thought", found, thoughts)
        raw = build_hits_with_features(search, "turn", bank, turns)
        rows = rank_hits(search, told, raw)
        items, dropped = judge(rows, question.k)
        # What was not looked at may be better than what is kept, where all before it was no find.
        unseen = max((hits.score[-1] for hits in (found, bank) if len(hits) == limit), default=0.0)
        if not search.is_relevant(unseen) or (len(items) == question.k and items[-1].score.total >= unseen):
            items, dropped = _fill_remaining(search, judge, turns, items, dropped, question.k)
            return RetrievalResult(found, bank, items, dropped)
        limit *= CANDIDATES_PER_RESULT


def _retrieve_reranked(search: Search, rerank: Reranker) -> RetrievalResult:
    """As a paper scores them: more candidates of both kinds than can be kept, each given a new total.

    What is no find in any case keeps the score of the search: it must not take the place of one.
    """
    limit = max(_RERANK_CANDIDATES, search.query.k * CANDIDATES_PER_RESULT)
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        thoughts = {each.id: each for each in search.loader.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.loader.turns(bank.ids.tolist())}
        judge = Selector(search, turns)
        finds = {
            turn.ref for turn in turns.values() if not (withheld_reason(turn) or judge.rejection_reason(turn))
        }
        if len(finds) >= search.query.k or len(bank) < limit:
            break
        limit *= CANDIDATES_PER_RESULT
    finds |= {thought.ref for thought in thoughts.values() if not withheld_reason(thought)}
    every = [*build_hits(search, "thought", found, thoughts), *build_hits(search, "turn", bank, turns)]
    rows = [row for row in every if row.memory.ref in finds]
    totals = rerank(
        search.query, to_rerank_candidates([(row.memory, row.score) for row in rows], search.loader)
    )
    why = f"scored anew by {search.preset.rerank}"
    rows = [row.with_total(total, why) for row, total in zip(rows, totals, strict=True)]
    told = [row for row in rows if isinstance(row.memory, Thought)]
    raw = [row for row in rows if isinstance(row.memory, Turn)]
    left = (row for row in every if row.memory.ref not in finds)
    standing = rank_hits(search, told, raw)
    kept, dropped = judge(sorted((*standing, *left), key=MemoryHit.sort_key), search.query.k)
    return RetrievalResult(found, bank, kept, dropped)


def _retrieve_thoughts_first(search: Search) -> RetrievalResult:
    """As the papers do it: the space, and the bank only for the places that it leaves."""
    question = search.query
    wider = question.explain or question.retention is not None
    found = search.hits("thought", question.k * CANDIDATES_PER_RESULT if wider else question.k)
    if question.retention is not None:
        found = _apply_retention(question.retention, search, found)
    thoughts = {each.id: each for each in search.loader.thoughts(found.ids.tolist())}
    items, dropped = Selector(search, {})(build_hits(search, "thought", found, thoughts), question.k)
    wanted = question.k - len(items)
    limit = question.k * CANDIDATES_PER_RESULT
    bank = None
    while wanted:
        bank = search.hits("turn", limit)
        turns = {each.id: each for each in search.loader.turns(bank.ids.tolist())}
        judge = Selector(search, turns, items)
        filling, left = judge(build_hits(search, "turn", bank, turns), wanted)
        if len(filling) == wanted or not search.has_more(bank, limit):
            filling, left = _fill_remaining(search, judge, turns, filling, left, wanted)
            items, dropped = items + filling, dropped + left
            break
        limit *= CANDIDATES_PER_RESULT
    return RetrievalResult(found, bank, items, dropped)


def _fill_remaining(
    search: Search,
    selector: Selector,
    turns: dict[int, Turn],
    kept: list[Candidate],
    dropped: list[Candidate],
    limit: int,
) -> Selection:
    """The places not taken yet go to what was said beside a find, and last to what is past."""
    named = [turns[id_] for id_ in selector.thoughts_by_turn if id_ in turns]
    kept, dropped = add_neighbours(search, kept, dropped, limit, selector, named)
    return selector.fill_with_outdated(kept, dropped, limit)


def _apply_retention(retention: RetentionScorer, search: Search, hits: Hits) -> Hits:
    """The hits as time has left them: a policy may rank lower or leave out, never retire."""
    factors = retention.factors(search.loader.thoughts(hits.ids.tolist()))
    return retention.apply(hits, factors, len(hits))
