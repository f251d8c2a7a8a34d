"""Search hits joined with their memories, and the scoring features that only their text reveals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from thinkback.index.space_index import Hits
from thinkback.language.kind_features import guess_kind
from thinkback.language.questions import AnswerTest, answer_test
from thinkback.language.thesaurus import stated_terms
from thinkback.language.tokens import said_terms
from thinkback.recall.outdated import OutdatedFacts
from thinkback.recall.query import PreparedQuery, RowMemoiser
from thinkback.recall.score import with_total
from thinkback.recall.search import Search
from thinkback.types import KINDS, SAID, ItemKind, Kind, Score, Thought, Turn

_MIN_NEW_TERMS = 2  # words that a turn must add to the recalled thoughts to be worth a slot


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Text features; memories with the same features share one object."""

    values: Mapping[str, float]  # by the names of their weights
    description: str


def feature_extractor(
    query: PreparedQuery, memoise_row: RowMemoiser, period: tuple[float, float] | None = None
) -> Callable[[Thought | Turn], Features]:
    """A function that reads the features of a memory.

    `kind` is the probability of the memory's kind minus that of a random kind; `answers` is 1 if the text has
    the form of an answer to the question. If the question names a past `period`, `held` is 1 for a thought
    that was true then and -1 for one that became true later.
    """
    kinds, is_answer = query.kind_probabilities, answer_test(query.text)
    answers_by_form = None if is_answer is None else _row_test(is_answer)
    known: dict[tuple[Kind | None, bool, int], Features] = {}
    period = past_period(query, period)

    def extract(memory: Thought | Turn) -> Features:
        kind: Kind | None = None
        held = 0
        if isinstance(memory, Thought):
            kind = memory.kind
            held = 0 if period is None else held_in(memory, *period)
        elif kinds and not memory.response:
            kind = memoise_row(_guess_turn_kind, memory)
        key = kind, answers_by_form is not None and memoise_row(answers_by_form, memory), held
        features = known.get(key)
        if features is None:
            features = known[key] = _build_features(kinds, *key)
        return features

    return extract


def _build_features(kinds: Mapping[Kind, float], kind: Kind | None, answers: bool, held: int) -> Features:
    values = {}
    if kinds and kind:
        values["kind"] = kinds[kind] - 1 / len(KINDS)
    if answers:
        values["answers"] = 1.0
    if held:
        values["held"] = float(held)
    return Features(values, _describe(values))


def _guess_turn_kind(turn: Turn) -> Kind | None:
    return guess_kind(turn.query)


@cache
def _row_test(test: AnswerTest) -> Callable[[Thought | Turn], bool]:
    """The test of a text as one of a memory: always the same function, so that its results can be cached."""
    return lambda memory: test(memory.text if isinstance(memory, Turn) else memory.sentence)


def past_period(query: PreparedQuery, period: tuple[float, float] | None) -> tuple[float, float] | None:
    """The period that a query names, if it is over."""
    is_over = period is not None and query.now is not None and period[1] <= query.now.timestamp()
    return period if is_over else None


def held_in(thought: Thought, start: float, end: float) -> int:
    """1 if the thought was true in the period, -1 if it became true later, else 0."""
    began = (thought.valid_from or thought.recorded_at).timestamp()
    if began >= end:
        return -1
    return 1 if thought.valid_to is None or thought.valid_to.timestamp() > start else 0


def _describe(values: Mapping[str, float]) -> str:
    parts = []
    if "kind" in values:
        parts.append("of the kind asked for" if values["kind"] > 0 else "of another kind than asked for")
    if "answers" in values:
        parts.append("has the form of an answer")
    if "held" in values:
        parts.append("true at that time" if values["held"] > 0 else "true only later")
    return ", ".join(parts)


class MemoryHit(NamedTuple):
    """A search hit with its memory."""

    memory: Thought | Turn
    score: Score
    group: int
    hits: Hits

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    def with_total(self, total: float, why: str) -> MemoryHit:
        """A copy with another total score."""
        score = self.score.adjusted(total, why)
        return self if score is self.score else MemoryHit(self.memory, score, self.group, self.hits)

    def sort_key(self) -> tuple[float, bool, int]:
        """Best first; among equals thoughts before turns, older before newer."""
        return -self.score.total, isinstance(self.memory, Turn), self.memory.id


def build_hits(hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]) -> list[MemoryHit]:
    """Join hits with their memories; rows that were erased in the meantime are skipped."""
    return [
        MemoryHit(memories[id_], score, group, hits)
        for id_, score, group in zip(hits.ids.tolist(), _scores(hits), hits.groups.tolist(), strict=True)
        if id_ in memories
    ]


def build_hits_with_features(
    search: Search, kind: ItemKind, hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]
) -> list[MemoryHit]:
    """Join hits with their memories and add the text features to the scores."""
    extract = feature_extractor(search.query, search.loader.memoise_row, search.scorer.period)
    scorer = search.scorer_for(kind)
    adjusters: dict[Features, Callable[[float], float]] = {}

    def adjuster(features: Features) -> Callable[[float], float]:
        adjust = adjusters.get(features)
        if adjust is None:
            adjust = adjusters[features] = scorer.feature_adjuster(features.values)
        return adjust

    if hits.explained:
        explained = []
        for hit in build_hits(hits, memories):
            features = extract(hit.memory)
            explained.append(hit.with_total(adjuster(features)(hit.score.total), features.description))
        return explained
    columns = (hits.ids, hits.score, hits.cosine, hits.lexical, hits.groups)
    scored = []  # without an explanation only the final score is needed
    for id_, total, cosine, lexical, group in zip(*(column.tolist() for column in columns), strict=True):
        memory = memories.get(id_)
        if memory is not None:
            features = extract(memory)
            adjust = adjusters.get(features) or adjuster(features)
            scored.append(MemoryHit(memory, Score(adjust(total), cosine, lexical), group, hits))
    return scored


def _scores(hits: Hits) -> Iterator[Score]:
    if hits.explained:
        yield from map(with_total, hits.explained, hits.score.tolist())
    else:
        columns = (hits.score, hits.cosine, hits.lexical)
        yield from map(Score, *(column.tolist() for column in columns))


def rank_hits(
    search: Search, thoughts: Sequence[MemoryHit], turns: Sequence[MemoryHit], outdated: OutdatedFacts
) -> list[MemoryHit]:
    """All hits, best first. A thought that says everything its turn says gets the score of the turn.

    Not if the turn is `outdated`: it matches because of what was retired, which the thought does not say.

    A sentence kept as said stands for its turn if it is relevant. Otherwise the turn stays in the list: below
    the threshold only turns may fill leftover slots.
    """
    merged = _merge_with_turns(_spoken_by_turn(thoughts), turns)
    covered = {turn for turn, hit in merged.items() if search.is_relevant(hit.score.total)}
    stated = [hit for hit in thoughts if not _is_spoken(hit.memory)]
    ranked = (
        *_promote_thoughts(search, stated, turns, outdated),
        *merged.values(),
        *(hit for hit in turns if hit.memory.id not in covered),
    )
    return sorted(ranked, key=MemoryHit.sort_key)


def _is_spoken(memory: Thought | Turn) -> bool:
    return isinstance(memory, Thought) and memory.relation == SAID


def _spoken_by_turn(thoughts: Sequence[MemoryHit]) -> dict[int, MemoryHit]:
    """The best hit among the sentences that were kept from each turn, a retired one only without others."""
    best: dict[int, MemoryHit] = {}
    retired: dict[int, MemoryHit] = {}
    for hit in sorted((hit for hit in thoughts if _is_spoken(hit.memory)), key=MemoryHit.sort_key):
        if isinstance(hit.memory, Thought):
            (best if hit.memory.current else retired).setdefault(hit.memory.last_turn, hit)
    return retired | best


def _merge_with_turns(spoken: Mapping[int, MemoryHit], turns: Sequence[MemoryHit]) -> dict[int, MemoryHit]:
    """Sentences kept as said, by turn, with the better one of their own score and that of the turn."""
    totals = {hit.memory.id: hit.score.total for hit in turns}
    return {
        turn: hit.with_total(totals[turn], f"as turn:{turn}")
        if totals.get(turn, hit.score.total) > hit.score.total
        else hit
        for turn, hit in spoken.items()
    }


def _promote_thoughts(
    search: Search, thoughts: Sequence[MemoryHit], turns: Sequence[MemoryHit], outdated: OutdatedFacts
) -> Iterator[MemoryHit]:
    hit_of_turn = {hit.memory.id: hit for hit in turns}
    for hit in thoughts:
        memory, total = hit.memory, hit.score.total
        sources = {source.turn for source in memory.sources} if isinstance(memory, Thought) else ()
        source = hit_of_turn.get(next(iter(sources))) if len(sources) == 1 else None
        turn = source.memory if source is not None and source.score.total > total > 0 else None
        if turn is not None and turn.id in outdated and memory not in outdated[turn.id]:
            turn = None
        if isinstance(turn, Turn) and source is not None and not adds_information(search, turn, [hit.text]):
            yield hit.with_total(source.score.total, f"stands for {turn.ref}")
        else:
            yield hit


def adds_information(search: Search, turn: Turn, texts: Sequence[str]) -> bool:
    """Whether the user said more in a turn than these texts say.

    One more word is enough if the query contains it (`Search.open_terms`); otherwise it takes two, which do
    not count where most turns were thought about: there, thoughts leave out only what does not matter.
    """
    memoise = search.loader.memoise
    new = memoise(said_terms, turn.query).difference(*(memoise(stated_terms, text) for text in texts))
    says_more = len(new) >= _MIN_NEW_TERMS and not search.thoughts_stand_for_turns
    return says_more or not new.isdisjoint(search.open_terms)
