"""The thought retriever (TiM 002, 3.3): groups first, similarity inside them; and the bank beside the space.

Stage 1 picks the candidates, stage 2 scores them; both happen in `index.shelf`. By default thoughts and raw
turns are ranked together (decision 0013), so that what was not turned into a thought is still found; in TiM
turns only fill the places that thoughts leave. A preset may have candidates scored anew (`recall.rerank`).

    search -> rows -> judge -> beside -> past
"""

from __future__ import annotations

from typing import NamedTuple

from thinkback.index.shelf import Hits, Shelf
from thinkback.presets import Preset
from thinkback.recall.beside import joined
from thinkback.recall.judge import CONSIDERED, Judge, Judged
from thinkback.recall.rerank import Reranker, reranker, seen
from thinkback.recall.retention import Fading
from thinkback.recall.rows import Row, ranked, read_rows, rows_of
from thinkback.recall.search import Lookup, Question, Search, searching
from thinkback.recall.taken_for import understanding
from thinkback.text.safety.quarantine import withheld
from thinkback.types import Candidate, Hashing, Recollection, Thought, Turn

_SCORED_ANEW = 128  # candidates of each kind that a reranker is given
_BY_KIND = 48  # at least so many, where one of the kind asked for may stand behind many of another


class Outcome(NamedTuple):
    """What is kept and what is dropped, and how both sides were searched; the bank only where it was."""

    space: Hits
    bank: Hits | None
    kept: list[Candidate]
    dropped: list[Candidate]


def retrieve(
    question: Question, shelf: Shelf, hashing: Hashing | None, preset: Preset, lookup: Lookup
) -> Recollection:
    """The k memories that matter most, best first; with `explain`, what was dropped as well."""
    search = searching(question, shelf, hashing, preset, lookup)
    if preset.rerank:
        done = _scored_anew(search, reranker(preset.rerank))
    else:
        done = _together(search) if search.preset.together else _thoughts_first(search)
    found = done.space if len(done.space) or done.bank is None else done.bank
    promising = sorted(done.dropped, key=lambda item: -item.score.total) if question.explain else ()
    return Recollection(
        query=question.text,
        items=tuple(done.kept),
        dropped=tuple(promising),
        threshold=search.preset.threshold,
        group=found.group,
        probes=found.probes,
        exact=found.exact,
        understanding=understanding(search, done.space, done.bank) if question.explain else None,
    )


def _together(search: Search) -> Outcome:
    """Thoughts and raw turns on one scale: what was not turned into a thought is found all the same."""
    question = search.question
    limit = max(_BY_KIND if question.kinds else 0, question.k * CONSIDERED)
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        if question.fading is not None:
            found = _faded(question.fading, search, found)
        thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = Judge(search, turns)
        told = read_rows(search, "thought", found, thoughts)
        raw = read_rows(search, "turn", bank, turns)
        rows = ranked(search, told, raw)
        items, dropped = judge(rows, question.k)
        # What was not looked at may be better than what is kept, where all before it was no find.
        unseen = max((hits.score[-1] for hits in (found, bank) if len(hits) == limit), default=0.0)
        if not search.matters(unseen) or (len(items) == question.k and items[-1].score.total >= unseen):
            items, dropped = _filled(search, judge, turns, items, dropped, question.k)
            return Outcome(found, bank, items, dropped)
        limit *= CONSIDERED


def _scored_anew(search: Search, rerank: Reranker) -> Outcome:
    """As a paper scores them: more candidates of both kinds than can be kept, each given a new total.

    What is no find in any case keeps the score of the search: it must not take the place of one.
    """
    limit = max(_SCORED_ANEW, search.question.k * CONSIDERED)
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = Judge(search, turns)
        finds = {turn.ref for turn in turns.values() if not (withheld(turn) or judge.against(turn))}
        if len(finds) >= search.question.k or len(bank) < limit:
            break
        limit *= CONSIDERED
    finds |= {thought.ref for thought in thoughts.values() if not withheld(thought)}
    every = [*rows_of(search, "thought", found, thoughts), *rows_of(search, "turn", bank, turns)]
    rows = [row for row in every if row.memory.ref in finds]
    totals = rerank(search.question, seen([(row.memory, row.score) for row in rows], search.lookup))
    why = f"scored anew by {search.preset.rerank}"
    rows = [row.moved(total, why) for row, total in zip(rows, totals, strict=True)]
    told = [row for row in rows if isinstance(row.memory, Thought)]
    raw = [row for row in rows if isinstance(row.memory, Turn)]
    left = (row for row in every if row.memory.ref not in finds)
    standing = ranked(search, told, raw)
    kept, dropped = judge(sorted((*standing, *left), key=Row.order), search.question.k)
    return Outcome(found, bank, kept, dropped)


def _thoughts_first(search: Search) -> Outcome:
    """As the papers do it: the space, and the bank only for the places that it leaves."""
    question = search.question
    wider = question.explain or question.fading is not None
    found = search.hits("thought", question.k * CONSIDERED if wider else question.k)
    if question.fading is not None:
        found = _faded(question.fading, search, found)
    thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
    items, dropped = Judge(search, {})(rows_of(search, "thought", found, thoughts), question.k)
    wanted = question.k - len(items)
    limit = question.k * CONSIDERED
    bank = None
    while wanted:
        bank = search.hits("turn", limit)
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = Judge(search, turns, items)
        filling, left = judge(rows_of(search, "turn", bank, turns), wanted)
        if len(filling) == wanted or not search.may_be_more(bank, limit):
            filling, left = _filled(search, judge, turns, filling, left, wanted)
            items, dropped = items + filling, dropped + left
            break
        limit *= CONSIDERED
    return Outcome(found, bank, items, dropped)


def _filled(
    search: Search,
    judge: Judge,
    turns: dict[int, Turn],
    kept: list[Candidate],
    left: list[Candidate],
    most: int,
) -> Judged:
    """The places not taken yet go to what was said beside a find, and last to what is past."""
    named = [turns[id_] for id_ in judge.told if id_ in turns]
    kept, left = joined(search, kept, left, most, judge, named)
    return judge.fill_with_past(kept, left, most)


def _faded(fading: Fading, search: Search, hits: Hits) -> Hits:
    """The hits as time has left them: a policy may rank lower or leave out, never retire."""
    retention = fading.of(search.lookup.thoughts(hits.ids.tolist()))
    return fading.ranked(hits, retention, len(hits))
