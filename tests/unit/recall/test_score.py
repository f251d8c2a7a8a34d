"""Scoring: columns relative to the space, weights, and the recorded breakdown."""

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
from thinkback.recall.score import Scorer, adjust_odds
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
    HYBRID,
    weights=QueryTypeWeights(asks=ASKS, tells=TELLS, at_length=ASKS, thoughts=ASKS),
    midpoint=2.0,
    logistic_scale=1.5,
)
ENGLISH = Scorer(preset=PRESET, text="Where does she live?")
CHINESE = Scorer(preset=PRESET, text="她住在哪里？")

share = st.floats(0.0, 1.0)
near = st.floats(-1.0, 1.0)
spreads = st.builds(ScoreDistribution, st.integers(0, 10_000), st.floats(-0.2, 0.8), st.floats(0.0, 0.4))


# The columns of a test by short names
COLUMN_NAMES = {
    "before": "lexical_before",
    "after": "lexical_after",
    "told": "query_coverage",
    "told_before": "query_coverage_before",
    "since": "start_time",
}
DISTRIBUTIONS = ("cosine_distribution", "lexical_distribution", "question_distribution")


def parts(
    cosines: ScoreDistribution = CALM,
    lexicals: ScoreDistribution = CALM,
    /,
    *,
    asked: Sequence[float] | None = None,
    **columns: Sequence[float],
) -> CandidateColumns:
    """Candidates with these columns; columns that are not given have the mean of the space."""
    size = max(len(column) for column in ([0.0], asked or [0.0], *columns.values()))
    given = {COLUMN_NAMES.get(name, name): column for name, column in columns.items()}
    means = {
        "cosine": cosines.mean,
        "lexical": lexicals.mean,
        "cosine_before": cosines.mean,
        "cosine_after": cosines.mean,
    }
    names = [field.name for field in fields(CandidateColumns) if field.name not in DISTRIBUTIONS]
    filled: dict[str, Any] = {
        name: np.array(given.get(name, [means.get(name, 0.0)] * size), dtype=np.float64) for name in names
    }
    filled["ids"] = np.arange(1, size + 1)
    filled["question_lexical"] = None if asked is None else np.array(asked, dtype=np.float64)
    return CandidateColumns(
        cosine_distribution=cosines,
        lexical_distribution=lexicals,
        question_distribution=lexicals,
        **filled,
    )


def gap(scorer: Scorer, rows: CandidateColumns) -> float:
    """By how much the second of two rows scores more than the first."""
    first, second = scorer.score(rows).total.tolist()
    return float(second - first)


def linear(scorer: Scorer, rows: CandidateColumns) -> Any:
    return sum(part.weight * part.values for part in scorer.score(rows).columns)


@pytest.mark.parametrize(
    "part", ["cosine", "lexical", "before", "cosine_before", "after", "cosine_after", "asked"]
)
def test_higher_column_scores_higher(part: str) -> None:
    rows = parts(**{part: [0.1, 0.2, 0.3]})
    assert (np.diff(ENGLISH.score(rows).total) > 0.01).all()


@pytest.mark.parametrize("part", ["cosine", "lexical"])
def test_column_is_relative_to_the_deviation_of_the_space(part: str) -> None:
    calm, wide = (ENGLISH.score(parts(spread, spread, **{part: [0.35]})).total[0] for spread in (CALM, WIDE))
    assert calm > 2 * wide


def test_column_is_relative_to_the_mean_of_the_space() -> None:
    near_everywhere = ScoreDistribution(1000, 0.35, 0.05)
    there = ENGLISH.score(parts(near_everywhere, cosine=[0.35])).total[0]
    assert ENGLISH.score(parts(cosine=[0.35])).total[0] > 3 * there


def test_small_space_is_blended_with_typical_values() -> None:
    """Five rows of a spread say little of it; so many rows as weigh like the usual, and more, decide."""
    scores = [
        ENGLISH.score(parts(CALM, ScoreDistribution(n, 0.3, 0.3), lexical=[0.3])).total[0]
        for n in (0, 5, 50, 500, 100_000)
    ]
    assert (np.diff(scores) < 0).all()
    assert scores[0] - scores[1] < scores[0] - scores[2]
    nobody = ENGLISH.score(parts(CALM, ScoreDistribution(0, 0.9, 0.9), lexical=[0.3])).total[0]
    assert nobody == pytest.approx(scores[0])  # of no rows, no spread is known


def test_space_without_deviation_is_scored() -> None:
    scores = ENGLISH.score(parts(CALM, ScoreDistribution(1_000_000, 0.0, 0.0), lexical=[0.0, 0.5])).total
    assert np.isfinite(scores).all()
    assert scores[1] > scores[0]


@given(
    st.lists(st.tuples(near, share, share, near, share), min_size=1, max_size=6),
    spreads,
    spreads,
    st.sampled_from(["asks", "tells", "at length"]),
)
def test_score_is_between_0_and_1(
    rows: list[tuple[float, ...]],
    cosines: ScoreDistribution,
    lexicals: ScoreDistribution,
    manner: QueryManner,
) -> None:
    columns = dict(
        zip(("cosine", "lexical", "before", "cosine_before", "told"), zip(*rows, strict=True), strict=True)
    )
    with np.errstate(over="ignore"):  # an exponential beyond all numbers is a score of 0
        scores = replace(ENGLISH, manner=manner).score(parts(cosines, lexicals, **columns)).total
    assert ((scores >= 0) & (scores <= 1)).all()


@given(near, near, share, share, spreads, spreads, st.sampled_from([ENGLISH, CHINESE]))
def test_score_is_monotonic_in_meaning_and_words(
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
        plain, nearer, worded = scorer.score(rows).total
    assert nearer >= plain
    assert worded >= plain


def test_candidate_without_connection_scores_zero() -> None:
    rows = parts(cosine=[0.0, 0.01], lexical=[0.0, 0.0], before=[0.9, 0.9])
    nothing, something = ENGLISH.score(rows).total
    assert nothing == 0 < something


def test_cosine_has_a_separate_weight_for_chinese() -> None:
    rows = parts(cosine=[0.1, 0.2])
    english, chinese = (np.diff(linear(scorer, rows))[0] for scorer in (ENGLISH, CHINESE))
    assert english > 2 * chinese > 0
    alike = replace(ASKS, meaning_han=ASKS.meaning)
    as_english = Scorer(
        preset=replace(
            PRESET, weights=QueryTypeWeights(asks=alike, tells=alike, at_length=alike, thoughts=alike)
        ),
        text="她住哪？",
    )
    assert np.diff(linear(as_english, rows))[0] == pytest.approx(english, rel=0.05)


def test_row_in_the_period_scores_higher() -> None:
    rows = parts(since=[50.0, 100.0, 199.0, 200.0])
    before, first, last, after = replace(ENGLISH, period=(100.0, 200.0)).score(rows).total
    assert first == last > 2 * before
    assert before == after == ENGLISH.score(rows).total[0]  # nothing is taken off what began at another time


def test_row_in_the_period_is_never_noise() -> None:
    scorer = replace(ENGLISH, period=(100.0, 200.0))
    then, other = scorer.score(parts(lexical=[0, 0], cosine=[-0.1, -0.1], since=[150, 250])).total
    assert then > 0
    assert other == 0


@pytest.mark.parametrize("preset", [PRESET, plain_variant(PRESET)])
def test_whole_period_query_makes_all_its_rows_relevant(preset: Preset) -> None:
    scorer = Scorer(preset=preset, text="What was said then?", period=(100.0, 200.0), whole_period=True)
    scores = scorer.score(
        parts(lexical=[0, 0, 0, 0.9], cosine=[-0.1, 0.9, 0, 0.9], since=[150, 250, 150, 250])
    ).total
    assert scores[0] == preset.threshold
    assert scores[1] == 0
    assert scores[2] < preset.threshold  # without a vector: not meant to be found
    assert scores[3] > preset.threshold  # it says what the time is called


def test_period_bonus_alone_is_not_relevant() -> None:
    scorer = Scorer(preset=plain_variant(PRESET), text="What did she paint then?", period=(100.0, 200.0))
    then, other, nothing = scorer.score(
        parts(lexical=[0.2, 0.2, 0], cosine=[0, 0, 0], since=[150, 250, 150])
    ).total
    assert then > other > 0
    assert nothing < scorer.preset.threshold


def test_repetition_of_the_statement_scores_lower() -> None:
    rows = parts(told=[0.0, 1.0])
    asked, told = gap(ENGLISH, rows), gap(replace(ENGLISH, manner="tells"), rows)
    assert told < asked < 0
    assert gap(ENGLISH, parts(told=[0.0, 0.1])) == 0  # any query on the matter shares a few words


def test_row_after_the_statement_scores_higher() -> None:
    assert gap(ENGLISH, parts(told_before=[0.0, 1.0])) > 0.1
    assert gap(ENGLISH, parts(told_before=[0.0, 0.1])) == 0


def test_longer_text_scores_higher() -> None:
    assert gap(ENGLISH, parts(length=[5.0, 50.0])) > 0.05


def test_asking_clause_counts_only_in_questions() -> None:
    rows = parts(asked=[0.1, 0.3])
    assert gap(ENGLISH, rows) > 0.05
    assert gap(replace(ENGLISH, manner="tells"), rows) == 0


def test_columns_have_values_and_weights() -> None:
    rows = parts(cosine=[0.2], length=[9.0])
    values = ENGLISH.column_values(rows)
    assert values["length"] == pytest.approx([np.log(10)])
    assert values["meaning"] == pytest.approx([(0.2 - 0.1) / 0.05], rel=0.1)
    named = {part.name: part for part in ENGLISH.score(rows).columns}
    assert named["length"].weight == 0.3
    assert values.keys() == named.keys()
    plain = Scorer(preset=TIM, text="q").score(rows).columns
    assert [(column.name, column.weight) for column in plain] == [("words", 0.0), ("meaning", 1.0)]


def test_features_adjust_the_total() -> None:
    weights = replace(ASKS, kind=3.0, answers=0.5)
    scorer = Scorer(
        preset=replace(
            PRESET, weights=QueryTypeWeights(asks=weights, tells=weights, at_length=weights, thoughts=weights)
        ),
        text="q",
    )

    def adjusted(total: float, **features: float) -> float:
        return adjust_odds(total, scorer.feature_odds(features))

    assert adjusted(0.5, kind=0.7) == pytest.approx(1 / (1 + np.exp(-3.0 * 0.7 / 1.5)))
    assert adjusted(0.5, kind=-0.2) < 0.5 < adjusted(0.5, answers=1.0)
    assert adjusted(0.5, kind=-0.2, answers=1.0) == pytest.approx(1 / (1 + np.exp(0.1 / 1.5)))
    assert adjusted(0.5) == 0.5
    assert [adjusted(total, kind=0.7) for total in (0.0, 1.0)] == [0, 1]
    assert Scorer(preset=TIM, text="q").feature_odds({"kind": 0.7}) == 1.0


def test_thought_about_a_mentioned_entity_scores_higher() -> None:
    rows = parts(lexical=[0.2, 0.2])
    assert gap(replace(ENGLISH, about_ids=(2, 77)), rows) > 0.05
    assert gap(replace(ENGLISH, about_ids=(77,)), rows) == 0


def test_thought_and_turn_differ_only_by_their_weight() -> None:
    rows = parts(lexical=[0.3])
    turn, thought = ENGLISH.score(rows).total[0], replace(ENGLISH, for_thoughts=True).score(rows).total[0]
    assert thought < turn
    alike = replace(ASKS, thought=0.0)
    even = replace(PRESET, weights=QueryTypeWeights(asks=alike, tells=alike, at_length=alike, thoughts=alike))
    assert (
        Scorer(preset=even, text=ENGLISH.text).score(rows).total
        == Scorer(preset=even, text=ENGLISH.text, for_thoughts=True).score(rows).total
    )


def test_very_near_row_is_relevant_in_a_crowd() -> None:
    crowd = ScoreDistribution(1000, 0.8, 0.05)
    rows = parts(crowd, crowd, cosine=[0.75, 0.3], lexical=[0.75, 0.3])
    same, other = ENGLISH.score(rows).total
    assert same >= HYBRID.threshold > other
    assert linear(ENGLISH, rows)[0] < -1  # it does not stand out, on the contrary


@pytest.mark.parametrize(
    "part", ["words", "meaning", "before", "meaning_before", "told", "length", "thought", "about", "time"]
)
def test_column_contributes_weight_times_value(part: str) -> None:
    rows = parts(
        cosine=[0.3, 0.2],
        lexical=[0.2, 0.4],
        before=[0.1, 0.0],
        cosine_before=[0.4, 0.1],
        told=[0.5, 1.0],
        length=[3.0, 9.0],
        since=[5.0, 15.0],
    )
    whole = Scorer(
        preset=PRESET,
        text="I live here.",
        manner="tells",
        period=(10.0, 20.0),
        for_thoughts=True,
        about_ids=(2,),
    )
    off: dict[str, Any] = {part: 0.0}
    less = replace(ASKS, **off)
    without = replace(
        whole,
        preset=replace(
            PRESET, weights=QueryTypeWeights(asks=ASKS, tells=TELLS, at_length=ASKS, thoughts=less)
        ),
    )
    (weighed,) = (each for each in whole.score(rows).columns if each.name == part)
    missing = linear(whole, rows) - linear(without, rows)
    assert missing == pytest.approx(weighed.weight * np.broadcast_to(weighed.values, 2), abs=1e-6)
    assert np.abs(missing).max() > 0.01


def test_plain_preset_adds_cosine_and_words() -> None:
    rows = parts(WIDE, cosine=[0.2, -0.4], lexical=[0.9, 0.9])
    assert Scorer(preset=TIM, text="q").score(rows).total.tolist() == [0.2, -0.4]


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
def test_breakdown_adds_up(talked: Memory, asked: str) -> None:
    found = talked.recall(asked, explain=True)
    assert len(every(found)) > 10
    for item in every(found):
        check(item, HYBRID, found)


def test_breakdown_adds_up_in_a_small_space(memory: Memory, clock: FakeClock) -> None:
    found = tell(memory, clock, ("I live in Lyon.", "I like jazz.")).recall("Where do I live?", explain=True)
    assert every(found)
    for item in every(found):
        check(item, HYBRID, found)


def test_breakdown_adds_up_with_tim_preset(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=TIM), clock, TOLD)
    found = memory.recall("I live in Lyon.", explain=True)
    assert every(found)
    for item in every(found):
        check(item, TIM, found)


def test_breakdown_adds_up_with_retention(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=FADING), clock, TOLD)
    clock.advance(20 * 86_400)
    found = memory.recall("Do I like jazz?", explain=True)
    for item in every(found):
        check(item, FADING, found)
    steps = [
        step.why for item in every(found) if item.score.breakdown for step in item.score.breakdown.adjustments
    ]
    assert "faded" in steps


def test_breakdown_names_only_contributing_columns(talked: Memory) -> None:
    assert HYBRID.weights is not None

    def counting(asked: str, words: str) -> dict[str, float]:
        item = next(each for each in every(talked.recall(asked, explain=True)) if words in each.text)
        assert item.score.breakdown is not None
        return {part.name: part.contribution for part in item.score.breakdown.components if part.contribution}

    assert (
        counting("Where does my sister live?", "lives in Bergen.")["about"] == HYBRID.weights.thoughts.about
    )
    assert "about" not in counting("Where does my sister live?", "The user lives in Lyon.")
    assert (
        counting("Where does my sister live?", "The user lives in Lyon.")["thought"]
        == HYBRID.weights.thoughts.thought
    )
    assert (
        counting("Who did I have lunch with on 2 May 2024?", "I had lunch")["time"]
        == HYBRID.weights.asks.time
    )
    both = "I live in Lyon. Where does my sister Anna live?"
    assert counting(both, "The user lives in Lyon.")["told"] < 0
    assert "told" not in counting("Do I live in Lyon?", "The user lives in Lyon.")


def test_thought_scores_higher_with_a_relevant_turn(talked: Memory) -> None:
    found = talked.recall("So do I live in Lyon or do I not?", explain=True)
    thought = next(item for item in found if item.text.startswith("The user lives in Lyon. ("))
    assert thought.score.breakdown is not None
    source = next(part for part in thought.score.breakdown.components if part.name == "source")
    assert source.contribution > 0


def test_breakdown_is_absent_without_explain(talked: Memory) -> None:
    plain, explained = (talked.recall(ASKED[0], explain=explain) for explain in (False, True))
    assert all(item.score.breakdown is None for item in plain)
    assert plain.understanding is None
    assert plain.dropped == ()
    assert [(item.ref, item.text) for item in plain] == [(item.ref, item.text) for item in explained]
    scores = [[item.score.total for item in found] for found in (plain, explained)]
    assert scores[0] == pytest.approx(scores[1])


def test_dropped_candidates_are_sorted_by_score(talked: Memory) -> None:
    scores = [item.score.total for item in talked.recall(ASKED[0], k=1, explain=True).dropped]
    assert len(scores) > 5
    assert scores == sorted(scores, reverse=True)
