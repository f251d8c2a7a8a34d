"""Search hits joined with their memories, and the scoring features that only their text reveals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from thinkback.index.space_index import Hits
from thinkback.language.questions import answer_test
from thinkback.language.thesaurus import stated_terms
from thinkback.recall.outdated import OutdatedFacts
from thinkback.recall.query import PreparedQuery
from thinkback.recall.rows import MemoryRow, ThoughtRow, TurnRow
from thinkback.recall.score import adjust_odds, with_total
from thinkback.recall.search import Search
from thinkback.types import KINDS, ItemKind, Kind, Score, ScoreBreakdown, Thought, Turn

_MIN_NEW_TERMS = 2  # words that a turn must add to the recalled thoughts to be worth a slot


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Text features; memories with the same features share one object."""

    values: Mapping[str, float]  # by the names of their weights
    description: str
    odds: float  # that they multiply those of the total score by


NO_FEATURES = Features({}, "", 1.0)


def feature_extractor(
    query: PreparedQuery,
    period: tuple[float, float] | None = None,
    weigh: Callable[[Mapping[str, float]], float] = lambda values: 1.0,
) -> Callable[[MemoryRow], Features]:
    """A function that reads the features of a memory; `weigh` computes their odds.

    `kind` is the probability of the memory's kind minus that of a random kind; `answers` is 1 if the text has
    the form of an answer to the question. If the question names a past `period`, `held` is 1 for a thought
    that was true then and -1 for one that became true later.
    """
    kinds, is_answer = query.kind_probabilities, answer_test(query.text)
    known: dict[tuple[Kind | None, bool, int], Features] = {}
    period = past_period(query, period)

    def extract(row: MemoryRow) -> Features:
        key = (
            row.kind if kinds else None,
            is_answer is not None and row.has_form(is_answer),
            0 if period is None or isinstance(row, TurnRow) else held_in(row.memory, *period),
        )
        features = known.get(key)
        if features is None:
            values = _feature_values(kinds, *key)
            features = known[key] = Features(values, _describe(values), weigh(values))
        return features

    return extract


def _feature_values(
    kinds: Mapping[Kind, float], kind: Kind | None, answers: bool, held: int
) -> dict[str, float]:
    values = {}
    if kinds and kind:
        values["kind"] = kinds[kind] - 1 / len(KINDS)
    if answers:
        values["answers"] = 1.0
    if held:
        values["held"] = float(held)
    return values


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
    """A search hit with its memory. `breakdown` is set only in an explained recall."""

    row: MemoryRow
    total: float
    cosine: float
    lexical: float
    group: int
    hits: Hits
    breakdown: ScoreBreakdown | None = None

    @property
    def memory(self) -> Thought | Turn:
        return self.row.memory

    @property
    def score(self) -> Score:
        return Score(self.total, self.cosine, self.lexical, self.breakdown)

    def with_total(self, total: float, why: str) -> MemoryHit:
        """A copy with another total score."""
        if total == self.total:
            return self
        return self.with_score(self.score.adjusted(total, why))

    def with_score(self, score: Score) -> MemoryHit:
        """A copy with another score."""
        return MemoryHit(
            self.row, score.total, score.cosine, score.lexical, self.group, self.hits, score.breakdown
        )

    def sort_key(self) -> tuple[float, bool, int]:
        """Best first; among equals thoughts before turns, older before newer."""
        return -self.total, self.row.is_turn, self.row.id


def build_hits(
    hits: Hits, rows: Sequence[MemoryRow], extract: Callable[[MemoryRow], Features] = lambda row: NO_FEATURES
) -> list[MemoryHit]:
    """Join hits with their memories, and add text features to their scores.

    Rows that were erased in the meantime are skipped.
    """
    by_id = {row.id: row for row in rows}
    columns = (hits.ids, hits.score, hits.cosine, hits.lexical, hits.groups)
    built: list[MemoryHit] = []
    values = zip(*(column.tolist() for column in columns), strict=True)
    for number, (id_, found, cosine, lexical, group) in enumerate(values):
        row = by_id.get(id_)
        if row is None:
            continue
        features = extract(row)
        total = adjust_odds(found, features.odds)
        hit = MemoryHit(row, total, cosine, lexical, group, hits)
        if hits.explained:
            score = with_total(hits.explained[number], found).adjusted(total, features.description)
            hit = hit.with_score(score)
        built.append(hit)
    return built


def build_hits_with_features(
    search: Search, kind: ItemKind, hits: Hits, rows: Sequence[MemoryRow]
) -> list[MemoryHit]:
    """The same with the text features that the preset weighs."""
    weigh = search.scorer_for(kind).feature_odds
    return build_hits(hits, rows, feature_extractor(search.query, search.scorer.period, weigh))


def rank_hits(
    search: Search, thoughts: Sequence[MemoryHit], turns: Sequence[MemoryHit], outdated: OutdatedFacts
) -> list[MemoryHit]:
    """All hits, best first. A thought that says everything its turn says gets the score of the turn.

    Not if the turn is `outdated`: it matches because of what was retired, which the thought does not say.

    A sentence kept as said stands for its turn if it is relevant. Otherwise the turn stays in the list: below
    the threshold only turns may fill leftover slots.
    """
    hit_of_turn = {hit.row.id: hit for hit in turns}
    merged = _merge_with_turns(_spoken_by_turn(thoughts), hit_of_turn)
    covered = {turn for turn, hit in merged.items() if search.is_relevant(hit.total)}
    stated = [hit for hit in thoughts if not hit.row.is_spoken]
    ranked = (
        *_promote_thoughts(search, stated, hit_of_turn, outdated),
        *merged.values(),
        *(hit for hit in turns if hit.row.id not in covered),
    )
    return sorted(ranked, key=MemoryHit.sort_key)


def _spoken_by_turn(thoughts: Sequence[MemoryHit]) -> dict[int, MemoryHit]:
    """The best hit among the sentences that were kept from each turn, a retired one only without others."""
    best: dict[int, MemoryHit] = {}
    retired: dict[int, MemoryHit] = {}
    for hit in sorted((hit for hit in thoughts if hit.row.is_spoken), key=MemoryHit.sort_key):
        if isinstance(hit.row, ThoughtRow):
            (best if hit.row.memory.current else retired).setdefault(hit.row.last_turn, hit)
    return retired | best


def _merge_with_turns(
    spoken: Mapping[int, MemoryHit], hit_of_turn: Mapping[int, MemoryHit]
) -> dict[int, MemoryHit]:
    """Sentences kept as said, by turn, with the better one of their own score and that of the turn."""
    return {
        turn: hit.with_total(hit_of_turn[turn].total, f"as turn:{turn}")
        if turn in hit_of_turn and hit_of_turn[turn].total > hit.total
        else hit
        for turn, hit in spoken.items()
    }


def _promote_thoughts(
    search: Search,
    thoughts: Sequence[MemoryHit],
    hit_of_turn: Mapping[int, MemoryHit],
    outdated: OutdatedFacts,
) -> Iterator[MemoryHit]:
    for hit in thoughts:
        row, total = hit.row, hit.total
        source = hit_of_turn.get(row.last_turn) if isinstance(row, ThoughtRow) else None
        if (
            source is not None
            and source.total > total > 0
            and isinstance(row, ThoughtRow)
            and isinstance(source.row, TurnRow)
            and len(row.source_turns) == 1
            and not adds_information(search, source.row, [row.text])
            and (not (facts := outdated.of(source.row.id)) or row.memory in facts)
        ):
            yield hit.with_total(source.total, f"stands for {source.row.ref}")
        else:
            yield hit


def adds_information(search: Search, turn: TurnRow, texts: Sequence[str]) -> bool:
    """Whether the user said more in a turn than these texts say.

    One more word is enough if the query contains it (`Search.open_terms`); otherwise it takes two, which do
    not count where most turns were thought about: there, thoughts leave out only what does not matter.
    """
    memoise = search.loader.memoise
    new = turn.terms.difference(*(memoise(stated_terms, text) for text in texts))
    says_more = len(new) >= _MIN_NEW_TERMS and not search.thoughts_stand_for_turns
    return says_more or not new.isdisjoint(search.open_terms)
