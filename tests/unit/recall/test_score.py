"""How parts become a score: by how far they stand out of their own space, and each in its own direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import FakeClock, OpenMemory

from thinkback.index.space_index import CandidateColumns, ScoreDistribution
from thinkback.language.questions import QueryManner
from thinkback.memory import Memory
from thinkback.presets import FADING, HYBRID, TIM, Preset, QueryTypeWeights, ScoreWeights, plain_variant
from thinkback.recall.score import Scorer
from thinkback.types import Candidate, Recollection

CALM = ScoreDistribution(1000, 0.1, 0.05)
WIDE = ScoreDistribution(1000, 0.1, 0.25)
# Of each part so much that a test can see it: what the shipped weights are is learned, and may change.
ASKS = ScoreWeights(
    words=1.0,
    asked=0.5,
    meaning=0.8,
    meaning_han=0.2,
    before=0.5,
    meaning_before=0.5,
    after=0.3,
    meaning_after=0.3,
    told=-1.0,
    told_before=2.0,
    length=0.3,
    thought=-0.7,
    time=2.5,
    about=1.0,
)
TELLS = replace(ASKS, told=-4.0)
PRESET = replace(
    HYBRID, weights=QueryTypeWeights(asks=ASKS, tells=TELLS, at_length=ASKS), midpoint=2.0, logistic_scale=1.5
)
ENGLISH = Scorer(PRESET, "Where does she live?")
CHINESE = Scorer(PRESET, "她住在哪里？")

share = st.floats(0.0, 1.0)
near = st.floats(-1.0, 1.0)
spreads = st.builds(ScoreDistribution, st.integers(0, 10_000), st.floats(-0.2, 0.8), st.floats(0.0, 0.4))


NO_COLUMNS = ("ids", "asked", "cosines", "lexicals", "askeds")


def parts(
    cosines: ScoreDistribution = CALM,
    lexicals: ScoreDistribution = CALM,
    /,
    *,
    asked: Sequence[float] | None = None,
    **columns: Sequence[float],
) -> CandidateColumns:
    """Rows that have these columns; what is not given is the same for all, and as usual."""
    size = max(len(column) for column in ([0.0], asked or [0.0], *columns.values()))
    usual = {
        "cosine": cosines.mean,
        "lexical": lexicals.mean,
        "cosine_before": cosines.mean,
        "cosine_after": cosines.mean,
    }
    names = [field.name for field in fields(CandidateColumns) if field.name not in NO_COLUMNS]
    filled: dict[str, Any] = {
        name: np.array(columns.get(name, [usual.get(name, 0.0)] * size), dtype=np.float64) for name in names
    }
    filled["asked"] = None if asked is None else np.array(asked, dtype=np.float64)
    ids = np.arange(1, size + 1)
    return CandidateColumns(
        ids=ids,
        cosine_distribution=cosines,
        lexical_distribution=lexicals,
        question_distribution=lexicals,
        **filled,
    )


def gap(scorer: Scorer, rows: CandidateColumns) -> float:
    """By how much the second of two rows scores more than the first."""
    first, second = scorer(rows).tolist()
    return float(second - first)


def linear(scorer: Scorer, rows: CandidateColumns) -> Any:
    return sum(part.weight * part.values for part in scorer.weighted_columns(rows))


@pytest.mark.parametrize(
    "part", ["cosine", "lexical", "before", "cosine_before", "after", "cosine_after", "asked"]
)
def test_what_stands_out_more_scores_more(part: str) -> None:
    rows = parts(**{part: [0.1, 0.2, 0.3]})
    assert (np.diff(ENGLISH(rows)) > 0.01).all()


@pytest.mark.parametrize("part", ["cosine", "lexical"])
def test_the_spread_of_the_space_decides_what_a_part_is_worth(part: str) -> None:
    calm, wide = (ENGLISH(parts(spread, spread, **{part: [0.35]}))[0] for spread in (CALM, WIDE))
    assert calm > 2 * wide


def test_where_all_rows_are_as_near_none_stands_out() -> None:
    near_everywhere = ScoreDistribution(1000, 0.35, 0.05)
    there = ENGLISH(parts(near_everywhere, cosine=[0.35]))[0]
    assert ENGLISH(parts(cosine=[0.35]))[0] > 3 * there


def test_a_small_space_leans_on_what_is_usual() -> None:
    """Five rows of a spread say little of it; so many rows as weigh like the usual, and more, decide."""
    scores = [
        ENGLISH(parts(CALM, ScoreDistribution(n, 0.3, 0.3), lexical=[0.3]))[0]
        for n in (0, 5, 50, 500, 100_000)
    ]
    assert (np.diff(scores) < 0).all()
    assert scores[0] - scores[1] < scores[0] - scores[2]
    nobody = ENGLISH(parts(CALM, ScoreDistribution(0, 0.9, 0.9), lexical=[0.3]))[0]
    assert nobody == pytest.approx(scores[0])  # of no rows, no spread is known


def test_a_space_in_which_all_is_alike_is_no_error() -> None:
    scores = ENGLISH(parts(CALM, ScoreDistribution(1_000_000, 0.0, 0.0), lexical=[0.0, 0.5]))
    assert np.isfinite(scores).all()
    assert scores[1] > scores[0]


@given(
    st.lists(st.tuples(near, share, share, near, share), min_size=1, max_size=6),
    spreads,
    spreads,
    st.sampled_from(["asks", "tells", "at length"]),
)
def test_a_score_is_from_0_to_1(
    rows: list[tuple[float, ...]],
    cosines: ScoreDistribution,
    lexicals: ScoreDistribution,
    manner: QueryManner,
) -> None:
    columns = dict(
        zip(("cosine", "lexical", "before", "cosine_before", "told"), zip(*rows, strict=True), strict=True)
    )
    with np.errstate(over="ignore"):  # an exponential beyond all numbers is a score of 0
        scores = replace(ENGLISH, manner=manner)(parts(cosines, lexicals, **columns))
    assert ((scores >= 0) & (scores <= 1)).all()


@given(near, near, share, share, spreads, spreads, st.sampled_from([ENGLISH, CHINESE]))
def test_nearer_in_meaning_or_words_never_scores_less(
    one: float,
    other: float,
    less: float,
    more: float,
    cosines: ScoreDistribution,
    lexicals: ScoreDistribution,
    scorer: Scorer,
) -> None:
    low, high = sorted((one, other))
    few, many = sorted((less, more))
    rows = parts(cosines, lexicals, cosine=[low, high, low], lexical=[few, few, many])
    with np.errstate(over="ignore"):
        plain, nearer, worded = scorer(rows)
    assert nearer >= plain
    assert worded >= plain


def test_what_has_no_words_to_search_by_scores_nothing() -> None:
    rows = parts(cosine=[0.0, 0.01], lexical=[0.0, 0.0], before=[0.9, 0.9])
    nothing, something = ENGLISH(rows)
    assert nothing == 0 < something


def test_chinese_has_its_own_weight_of_a_cosine() -> None:
    rows = parts(cosine=[0.1, 0.2])
    english, chinese = (np.diff(linear(scorer, rows))[0] for scorer in (ENGLISH, CHINESE))
    assert english > 2 * chinese > 0
    alike = replace(ASKS, meaning_han=ASKS.meaning)
    as_english = Scorer(
        replace(PRESET, weights=QueryTypeWeights(asks=alike, tells=alike, at_length=alike)), "她住哪？"
    )
    assert np.diff(linear(as_english, rows))[0] == pytest.approx(english, rel=0.05)


def test_what_began_in_the_time_asked_for_scores_more() -> None:
    rows = parts(since=[50.0, 100.0, 199.0, 200.0])
    before, first, last, after = replace(ENGLISH, period=(100.0, 200.0))(rows)
    assert first == last > 2 * before
    assert before == after == ENGLISH(rows)[0]  # nothing is taken off what began at another time


def test_what_was_said_in_the_time_asked_for_is_no_chance_however_far() -> None:
    scorer = replace(ENGLISH, period=(100.0, 200.0))
    then, other = scorer(parts(lexical=[0, 0], cosine=[-0.1, -0.1], since=[150, 250]))
    assert then > 0
    assert other == 0


@pytest.mark.parametrize("preset", [PRESET, plain_variant(PRESET)])
def test_who_asks_for_all_of_a_time_gets_it(preset: Preset) -> None:
    scorer = Scorer(preset, "What was said then?", period=(100.0, 200.0), whole_period=True)
    scores = scorer(parts(lexical=[0, 0, 0, 0.9], cosine=[-0.1, 0.9, 0, 0.9], since=[150, 250, 150, 250]))
    assert scores[0] == preset.threshold
    assert scores[1] == 0
    assert scores[2] < preset.threshold  # without a vector: not meant to be found
    assert scores[3] > preset.threshold  # it says what the time is called


def test_on_the_plain_scale_time_counts_but_does_not_suffice() -> None:
    scorer = Scorer(plain_variant(PRESET), "What did she paint then?", period=(100.0, 200.0))
    then, other, nothing = scorer(parts(lexical=[0.2, 0.2, 0], cosine=[0, 0, 0], since=[150, 250, 150]))
    assert then > other > 0
    assert nothing < scorer.preset.threshold


def test_a_statement_is_not_answered_by_what_it_says() -> None:
    rows = parts(told=[0.0, 1.0])
    asked, told = gap(ENGLISH, rows), gap(replace(ENGLISH, manner="tells"), rows)
    assert told < asked < 0
    assert gap(ENGLISH, parts(told=[0.0, 0.1])) == 0  # any query on the matter shares a few words


def test_what_follows_the_told_is_wanted() -> None:
    assert gap(ENGLISH, parts(told_before=[0.0, 1.0])) > 0.1
    assert gap(ENGLISH, parts(told_before=[0.0, 0.1])) == 0


def test_a_longer_text_says_more() -> None:
    assert gap(ENGLISH, parts(length=[5.0, 50.0])) > 0.05


def test_only_a_question_has_a_clause_that_asks() -> None:
    rows = parts(asked=[0.1, 0.3])
    assert gap(ENGLISH, rows) > 0.05
    assert gap(replace(ENGLISH, manner="tells"), rows) == 0


def test_contributions_are_a_weight_times_a_value() -> None:
    rows = parts(cosine=[0.2], length=[9.0])
    values = ENGLISH.column_values(rows)
    assert values["length"] == pytest.approx([np.log(10)])
    assert values["meaning"] == pytest.approx([(0.2 - 0.1) / 0.05], rel=0.1)
    named = {part.name: part for part in ENGLISH.weighted_columns(rows)}
    assert named["length"].weight == 0.3
    assert values.keys() == named.keys()
    assert list(Scorer(TIM, "q").weighted_columns(rows)) == []


def test_what_is_known_once_it_is_read_moves_the_sum_behind_a_total() -> None:
    weights = replace(ASKS, kind=3.0, answers=0.5)
    scorer = Scorer(
        replace(PRESET, weights=QueryTypeWeights(asks=weights, tells=weights, at_length=weights)), "q"
    )
    assert scorer.adjust_for_features(0.5, {"kind": 0.7}) == pytest.approx(1 / (1 + np.exp(-3.0 * 0.7 / 1.5)))
    assert (
        scorer.adjust_for_features(0.5, {"kind": -0.2})
        < 0.5
        < scorer.adjust_for_features(0.5, {"answers": 1.0})
    )
    assert scorer.adjust_for_features(0.5, {"kind": -0.2, "answers": 1.0}) == pytest.approx(
        1 / (1 + np.exp(0.1 / 1.5))
    )
    assert scorer.adjust_for_features(0.5, {}) == 0.5
    assert [scorer.adjust_for_features(total, {"kind": 0.7}) for total in (0.0, 1.0)] == [0, 1]
    assert Scorer(TIM, "q").adjust_for_features(0.5, {"kind": 0.7}) == 0.5


def test_a_thought_about_the_one_asked_after_scores_more() -> None:
    rows = parts(lexical=[0.2, 0.2])
    assert gap(replace(ENGLISH, about_ids=(2, 77)), rows) > 0.05
    assert gap(replace(ENGLISH, about_ids=(77,)), rows) == 0


def test_a_thought_and_a_turn_differ_by_the_preset_alone() -> None:
    rows = parts(lexical=[0.3])
    turn, thought = ENGLISH(rows)[0], replace(ENGLISH, for_thoughts=True)(rows)[0]
    assert thought < turn
    alike = replace(ASKS, thought=0.0)
    even = replace(PRESET, weights=QueryTypeWeights(asks=alike, tells=alike, at_length=alike))
    assert Scorer(even, ENGLISH.text)(rows) == Scorer(even, ENGLISH.text, for_thoughts=True)(rows)


def test_what_is_near_by_any_measure_stays_a_find_among_many_as_near() -> None:
    crowd = ScoreDistribution(1000, 0.8, 0.05)
    rows = parts(crowd, crowd, cosine=[0.75, 0.3], lexical=[0.75, 0.3])
    same, other = ENGLISH(rows)
    assert same >= HYBRID.threshold > other
    assert linear(ENGLISH, rows)[0] < -1  # it does not stand out, on the contrary


@pytest.mark.parametrize(
    "part", ["words", "meaning", "before", "meaning_before", "told", "length", "thought", "about", "time"]
)
def test_without_its_weight_a_part_is_what_is_missing(part: str) -> None:
    rows = parts(
        cosine=[0.3, 0.2],
        lexical=[0.2, 0.4],
        before=[0.1, 0.0],
        cosine_before=[0.4, 0.1],
        told=[0.5, 1.0],
        length=[3.0, 9.0],
        since=[5.0, 15.0],
    )
    whole = Scorer(PRESET, "I live here.", "tells", period=(10.0, 20.0), for_thoughts=True, about_ids=(2,))
    off: dict[str, Any] = {part: 0.0}
    less = replace(TELLS, **off)
    without = replace(
        whole, preset=replace(PRESET, weights=QueryTypeWeights(asks=ASKS, tells=less, at_length=ASKS))
    )
    (weighed,) = (each for each in whole.weighted_columns(rows) if each.name == part)
    missing = linear(whole, rows) - linear(without, rows)
    assert missing == pytest.approx(weighed.weight * np.broadcast_to(weighed.values, 2), abs=1e-6)
    assert np.abs(missing).max() > 0.01


def test_a_plain_preset_adds_its_parts_as_they_are() -> None:
    rows = parts(WIDE, cosine=[0.2, -0.4], lexical=[0.9, 0.9])
    assert Scorer(TIM, "q")(rows).tolist() == [0.2, -0.4]


TOLD = (
    *(f"Bus number {n} was late again." for n in range(11, 41)),
    "My sister is Anna.",
    "Anna lives in Bergen, by the harbour.",
    "I live in Lyon.",
    "I had lunch with Tom at the harbour.",
    "I like jazz.",
)
ASKED = (
    "Where does my sister live?",
    "Who did I have lunch with last week?",
    "I live in Lyon, you know.",
    "我住在哪里？",
    "Bus number 17 was late again.",
)


@pytest.fixture
def talked(memory: Memory, clock: FakeClock) -> Memory:
    return tell(memory, clock, TOLD)


def tell(memory: Memory, clock: FakeClock, sayings: tuple[str, ...]) -> Memory:
    for saying in sayings:
        memory.remember(saying)
        clock.advance(3600)
    memory.post_think()
    return memory


def every(found: Recollection) -> list[Candidate]:
    return [*found.items, *found.dropped]


def check(item: Candidate, preset: Preset, found: Recollection) -> None:
    assert found.understanding is not None
    middle = found.understanding.middle
    made = item.score.breakdown
    assert made is not None
    assert made.linear == pytest.approx(math.fsum(part.weight * part.value for part in made.components))
    bent = (
        made.linear if middle is None else 1 / (1 + math.exp((middle - made.linear) / preset.logistic_scale))
    )
    assert made.initial == pytest.approx(bent)
    reached = made.initial
    for step in made.adjustments:
        assert step.before == pytest.approx(reached)
        assert step.after != step.before
        reached = step.after
    assert item.score.total == pytest.approx(reached, abs=1e-6)


@pytest.mark.parametrize("asked", ASKED)
def test_the_sums_add_up(talked: Memory, asked: str) -> None:
    found = talked.recall(asked, explain=True)
    assert len(every(found)) > 10
    for item in every(found):
        check(item, HYBRID, found)


def test_so_they_do_where_a_few_rows_are_measured_plainly(memory: Memory, clock: FakeClock) -> None:
    found = tell(memory, clock, ("I live in Lyon.", "I like jazz.")).recall("Where do I live?", explain=True)
    assert every(found)
    for item in every(found):
        check(item, HYBRID, found)


def test_so_they_do_in_the_papers_way(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=TIM), clock, TOLD)
    found = memory.recall("I live in Lyon.", explain=True)
    assert every(found)
    for item in every(found):
        check(item, TIM, found)


def test_so_they_do_where_memories_fade(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=FADING), clock, TOLD)
    clock.advance(20 * 86_400)
    found = memory.recall("Do I like jazz?", explain=True)
    for item in every(found):
        check(item, FADING, found)
    steps = [
        step.why for item in every(found) if item.score.breakdown for step in item.score.breakdown.adjustments
    ]
    assert "faded" in steps


def test_a_part_is_named_where_it_counts_and_only_there(talked: Memory) -> None:
    assert HYBRID.weights is not None

    def counting(asked: str, words: str) -> dict[str, float]:
        item = next(each for each in every(talked.recall(asked, explain=True)) if words in each.text)
        assert item.score.breakdown is not None
        return {part.name: part.contribution for part in item.score.breakdown.components if part.contribution}

    assert counting("Where does my sister live?", "lives in Bergen.")["about"] == HYBRID.weights.asks.about
    assert "about" not in counting("Where does my sister live?", "The user lives in Lyon.")
    assert (
        counting("Where does my sister live?", "The user lives in Lyon.")["thought"]
        == HYBRID.weights.asks.thought
    )
    assert (
        counting("Who did I have lunch with on 2 May 2024?", "I had lunch")["time"]
        == HYBRID.weights.asks.time
    )
    both = "I live in Lyon. Where does my sister Anna live?"
    assert counting(both, "The user lives in Lyon.")["told"] < 0
    assert "told" not in counting("Do I live in Lyon?", "The user lives in Lyon.")


def test_a_thought_that_stands_for_its_turn_says_so(talked: Memory) -> None:
    found = talked.recall("So do I live in Lyon or do I not?", explain=True)
    thought = next(item for item in found if item.text == "The user lives in Lyon.")
    assert thought.score.breakdown is not None
    assert thought.score.breakdown.adjustments[-1].why == "stands for turn:33"


def test_without_explaining_nothing_of_it_is_made(talked: Memory) -> None:
    plain, explained = (talked.recall(ASKED[0], explain=explain) for explain in (False, True))
    assert all(item.score.breakdown is None for item in plain)
    assert plain.understanding is None
    assert plain.dropped == ()
    assert [(item.ref, item.text) for item in plain] == [(item.ref, item.text) for item in explained]
    scores = [[item.score.total for item in found] for found in (plain, explained)]
    assert scores[0] == pytest.approx(scores[1])


def test_what_was_dropped_is_told_the_most_promising_first(talked: Memory) -> None:
    scores = [item.score.total for item in talked.recall(ASKED[0], k=1, explain=True).dropped]
    assert len(scores) > 5
    assert scores == sorted(scores, reverse=True)
