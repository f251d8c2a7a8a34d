"""Search hits joined with their memories, with the features that only the text reveals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from thinkback.index.space_index import Hits
from thinkback.language.kinds import guess_kind
from thinkback.language.questions import answer_test
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms
from thinkback.recall.query import Memoiser, PreparedQuery
from thinkback.recall.score import score_explainer
from thinkback.recall.search import Search
from thinkback.types import KINDS, ItemKind, Kind, Score, Thought, Turn


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What is told of many memories alike: one object for all of them, so that it is weighed once."""

    values: Mapping[str, float]  # by the names of their weights
    description: str


def feature_extractor(question: PreparedQuery, memoise: Memoiser) -> Callable[[Thought | Turn], Features]:
    """How much likelier than by chance a memory's kind is asked for, and 1 if it may hold the answer."""
    kinds, holds = question.kind_probabilities, answer_test(question.text)
    known: dict[tuple[Kind | None, bool], Features] = {}

    def made(kind: Kind | None, answering: bool) -> Features:
        if (kind, answering) in known:
            return known[kind, answering]
        found = {}
        if kinds and kind:
            found["kind"] = kinds[kind] - 1 / len(KINDS)
        if answering:
            found["answers"] = 1.0
        known[kind, answering] = Features(found, _describe(found))
        return known[kind, answering]

    def told(memory: Thought | Turn) -> Features:
        if isinstance(memory, Thought):
            return made(memory.kind, holds is not None and memoise(holds, memory.sentence))
        kind = memoise(guess_kind, memory.query) if kinds and not memory.response else None
        return made(kind, holds is not None and memoise(holds, memory.text))

    return told


def _describe(found: Mapping[str, float]) -> str:
    told = []
    if "kind" in found:
        told.append("of the kind asked for" if found["kind"] > 0 else "of another kind than asked for")
    if "answers" in found:
        told.append("has the form of an answer")
    return ", ".join(told)


_MIN_NEW_TERMS = 2  # words of a turn that no recalled thought tells, for which it is worth a place


class MemoryHit(NamedTuple):
    """One hit with its memory."""

    memory: Thought | Turn
    score: Score
    group: int
    hits: Hits

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    def with_total(self, total: float, why: str) -> MemoryHit:
        """The same with another total."""
        score = self.score.adjusted(total, why)
        return self if score is self.score else MemoryHit(self.memory, score, self.group, self.hits)

    def sort_key(self) -> tuple[float, bool, int]:
        """Best first; of equals the thought, then the older."""
        return -self.score.total, isinstance(self.memory, Turn), self.memory.id


def build_hits(
    search: Search, kind: ItemKind, hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]
) -> list[MemoryHit]:
    """Hits as rows; what was erased by another process since the shelf was read is passed over."""
    rows = [
        MemoryHit(memories[id_], Score(total, cosine, lexical), group, hits)
        for id_, total, cosine, lexical, group in _iter_columns(hits)
        if id_ in memories
    ]
    if not search.query.explain:
        return rows
    explained = score_explainer(hits, search.scorer_for(kind))
    return [row._replace(score=explained(row.memory.id, row.score)) for row in rows]


def build_hits_with_features(
    search: Search, kind: ItemKind, hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]
) -> list[MemoryHit]:
    """The same with what only their words tell counted in."""
    tell = feature_extractor(search.query, search.loader.memoise)
    liftings: dict[Features, Callable[[float], float]] = {}

    def lifted(memory: Thought | Turn, total: float) -> tuple[float, str]:
        told = tell(memory)
        if told not in liftings:
            liftings[told] = search.scorer.feature_adjuster(told.values)
        return liftings[told](total), told.description

    if search.query.explain:
        rows = build_hits(search, kind, hits, memories)
        return [row.with_total(*lifted(row.memory, row.score.total)) for row in rows]
    return [  # of a score that is not explained only the last state counts
        MemoryHit(memory, Score(lifted(memory, total)[0], cosine, lexical), group, hits)
        for id_, total, cosine, lexical, group in _iter_columns(hits)
        if (memory := memories.get(id_)) is not None
    ]


def _iter_columns(hits: Hits) -> Iterator[tuple[int, float, float, float, int]]:
    columns = (hits.ids, hits.score, hits.cosine, hits.lexical, hits.groups)
    return zip(*(each.tolist() for each in columns), strict=True)


def rank_hits(search: Search, thoughts: Sequence[MemoryHit], turns: Sequence[MemoryHit]) -> list[MemoryHit]:
    """All rows, best first, where a thought that tells all of its turn stands for it: it scores as high."""
    return sorted((*_promote_thoughts(search, thoughts, turns), *turns), key=MemoryHit.sort_key)


def _promote_thoughts(
    search: Search, thoughts: Sequence[MemoryHit], turns: Sequence[MemoryHit]
) -> Iterator[MemoryHit]:
    turn_of = {row.memory.id: row for row in turns}
    for row in thoughts:
        memory, total = row.memory, row.score.total
        sources = {source.turn for source in memory.sources} if isinstance(memory, Thought) else ()
        said = turn_of.get(next(iter(sources))) if len(sources) == 1 else None
        turn = said.memory if said is not None and said.score.total > total > 0 else None
        if isinstance(turn, Turn) and said is not None and not adds_information(search, turn, [row.text]):
            yield row.with_total(said.score.total, f"stands for {turn.ref}")
        else:
            yield row


def adds_information(search: Search, turn: Turn, tellers: Sequence[str]) -> bool:
    """Whether the user said more in a turn than the tellers, thoughts in words, tell of it.

    One more word is enough if it is asked for (`Search.open_terms`); otherwise it takes a few.
    """
    reading = search.loader.memoise
    more = reading(_said_terms, turn.query).difference(*(reading(_stated_terms, text) for text in tellers))
    return len(more) >= _MIN_NEW_TERMS or not more.isdisjoint(search.open_terms)


def _stated_terms(text: str) -> frozenset[str]:
    """The terms that a text tells, in its own words or in others."""
    return frozenset((*extract_terms(text), *related_terms(text)))


def _said_terms(text: str) -> frozenset[str]:
    """The terms that a text says; of Chinese, characters: pairs of them change with every wording."""
    return frozenset(term for term in extract_terms(text) if term.isascii() or len(term) == 1)
