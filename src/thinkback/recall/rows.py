"""Rows: what a search found, each hit with its memory, so that thoughts and raw turns stand on one scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from thinkback.index.shelf import Hits
from thinkback.recall.breakdown import breakdown
from thinkback.recall.search import Search
from thinkback.recall.signs import Signs, signs
from thinkback.text.questions.thesaurus import alike
from thinkback.text.tokens import terms
from thinkback.types import ItemKind, Score, Thought, Turn

_SAYS_MORE = 2  # words of a turn that no recalled thought tells, for which it is worth a place


class Row(NamedTuple):
    """One hit with its memory."""

    memory: Thought | Turn
    score: Score
    group: int
    hits: Hits

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    def moved(self, total: float, why: str) -> Row:
        """The same with another total."""
        score = self.score.moved(total, why)
        return self if score is self.score else Row(self.memory, score, self.group, self.hits)

    def order(self) -> tuple[float, bool, int]:
        """Best first; of equals the thought, then the older."""
        return -self.score.total, isinstance(self.memory, Turn), self.memory.id


def rows_of(
    search: Search, kind: ItemKind, hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]
) -> list[Row]:
    """Hits as rows; what was erased by another process since the shelf was read is passed over."""
    rows = [
        Row(memories[id_], Score(total, cosine, lexical), group, hits)
        for id_, total, cosine, lexical, group in _columns(hits)
        if id_ in memories
    ]
    if not search.question.explain:
        return rows
    explained = breakdown(hits, search.scorer_of(kind))
    return [row._replace(score=explained(row.memory.id, row.score)) for row in rows]


def read_rows(
    search: Search, kind: ItemKind, hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]
) -> list[Row]:
    """The same with what only their words tell counted in."""
    tell = signs(search.question, search.lookup.reading)
    liftings: dict[Signs, Callable[[float], float]] = {}

    def lifted(memory: Thought | Turn, total: float) -> tuple[float, str]:
        told = tell(memory)
        if told not in liftings:
            liftings[told] = search.scorer.lifting(told.told)
        return liftings[told](total), told.words

    if search.question.explain:
        rows = rows_of(search, kind, hits, memories)
        return [row.moved(*lifted(row.memory, row.score.total)) for row in rows]
    return [  # of a score that is not explained only the last state counts
        Row(memory, Score(lifted(memory, total)[0], cosine, lexical), group, hits)
        for id_, total, cosine, lexical, group in _columns(hits)
        if (memory := memories.get(id_)) is not None
    ]


def _columns(hits: Hits) -> Iterator[tuple[int, float, float, float, int]]:
    columns = (hits.ids, hits.score, hits.cosine, hits.lexical, hits.groups)
    return zip(*(each.tolist() for each in columns), strict=True)


def ranked(search: Search, thoughts: Sequence[Row], turns: Sequence[Row]) -> list[Row]:
    """All rows, best first, where a thought that tells all of its turn stands for it: it scores as high."""
    return sorted((*_standing(search, thoughts, turns), *turns), key=Row.order)


def _standing(search: Search, thoughts: Sequence[Row], turns: Sequence[Row]) -> Iterator[Row]:
    turn_of = {row.memory.id: row for row in turns}
    for row in thoughts:
        memory, total = row.memory, row.score.total
        sources = {source.turn for source in memory.sources} if isinstance(memory, Thought) else ()
        said = turn_of.get(next(iter(sources))) if len(sources) == 1 else None
        turn = said.memory if said is not None and said.score.total > total > 0 else None
        if isinstance(turn, Turn) and said is not None and not says_more(search, turn, [row.text]):
            yield row.moved(said.score.total, f"stands for {turn.ref}")
        else:
            yield row


def says_more(search: Search, turn: Turn, tellers: Sequence[str]) -> bool:
    """Whether the user said more in a turn than the tellers, thoughts in words, tell of it.

    One more word is enough if it is asked for (`Search.open_terms`); otherwise it takes a few.
    """
    reading = search.lookup.reading
    more = reading(_said, turn.query).difference(*(reading(_told, text) for text in tellers))
    return len(more) >= _SAYS_MORE or not more.isdisjoint(search.open_terms)


def _told(text: str) -> frozenset[str]:
    """The terms that a text tells, in its own words or in others."""
    return frozenset((*terms(text), *alike(text)))


def _said(text: str) -> frozenset[str]:
    """The terms that a text says; of Chinese, characters: pairs of them change with every wording."""
    return frozenset(term for term in terms(text) if term.isascii() or len(term) == 1)
