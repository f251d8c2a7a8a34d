"""Replay and selection of scenarios: times, isolation, and reproducible samples."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.scenario_format import ExpectedTriple, Probe, Scenario, ScenarioTurn
from thinkback_lab.evaluations.scenarios import choose_scenarios, play_scenario, run_scenarios
from thinkback_lab.harness import Harness, Setup

SETUP = Setup(embedder="hashing")


def told(id_: str, *said: str, category: str = "update", lang: str = "en") -> Scenario:
    turns = tuple(
        ScenarioTurn(at=datetime(2024, month, 3, tzinfo=UTC), user=text) for month, text in enumerate(said, 1)
    )
    probe = Probe(question="Where do I live?", now=datetime(2024, 9, 1, tzinfo=UTC), expect=(("Lyon",),))
    return Scenario(id=id_, lang=lang, category=category, turns=turns, probes=(probe,))


def test_clock_follows_the_turns() -> None:
    played = play_scenario(Harness(SETUP), told("a", "I live in Paris.", "I live in Lyon.", "Thanks!"))
    (thought,) = played.thoughts or ()
    assert (thought.objects, thought.recorded_at) == (("Lyon",), datetime(2024, 2, 3, tzinfo=UTC))
    assert (len(played.turn_ms), len(played.probe_ms), played.unprocessed_turns) == (3, 1, 0)


def test_every_scenario_starts_with_empty_space() -> None:
    first, second = run_scenarios([told("a", "I live in Lyon."), told("b", "Hello there.")], SETUP)
    assert first.verdicts[0].passed
    assert not second.verdicts[0].passed
    assert second.played.thoughts == ()


def test_thoughts_can_be_expected_without_probes() -> None:
    bare = told("a", "I live in Lyon.").model_copy(
        update={"probes": (), "expect_thoughts": (ExpectedTriple(s="user", r="lives in", o="Lyon"),)}
    )
    (result,) = run_scenarios([bare], SETUP)
    assert result.verdicts == ()
    assert result.matched is not None
    assert len(result.matched.right) == 1


def test_run_is_reproducible_and_reports_progress() -> None:
    cases = [told("a", "I live in Paris.", "I moved to Lyon."), told("b", "我住在里昂。", lang="zh")]
    seen: list[tuple[int, int]] = []
    first = run_scenarios(cases, SETUP, lambda done, total: seen.append((done, total)))
    again = run_scenarios(cases, SETUP)
    assert [each.verdicts for each in first] == [each.verdicts for each in again]
    assert [each.played.thoughts for each in first] == [each.played.thoughts for each in again]
    assert seen == [(1, 2), (2, 2)]


CASES = [
    told(f"{lang}-{n}", "Hi.", category="ab"[n % 2], lang=lang) for lang in ("en", "zh") for n in range(9)
]


def test_scenarios_are_chosen_by_category_language_and_limit() -> None:
    assert {each.category for each in choose_scenarios(CASES, categories=["a"])} == {"a"}
    assert [each.id for each in choose_scenarios(CASES, langs=["zh"], limit=2)] == ["zh-0", "zh-1"]
    assert choose_scenarios(CASES, limit=99) == CASES


def test_seed_gives_same_sample() -> None:
    sample = choose_scenarios(CASES, limit=6, seed=1)
    assert sample == choose_scenarios(CASES, limit=6, seed=1) != choose_scenarios(CASES, limit=6, seed=2)
    assert sample == sorted(sample, key=CASES.index)


def test_unknown_category_lists_known_ones() -> None:
    with pytest.raises(LabError, match="category 'c': choose from a, b"):
        choose_scenarios(CASES, categories=["c"])
    with pytest.raises(LabError, match="language 'fr'"):
        choose_scenarios(CASES, langs=["fr"])
    apart = [told("x", "Hi.", category="a", lang="en"), told("y", "Hi.", category="b", lang="zh")]
    with pytest.raises(LabError, match="has such a category and language"):
        choose_scenarios(apart, categories=["a"], langs=["zh"])
