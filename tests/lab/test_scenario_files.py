"""The shipped scenarios: valid, distinct, and complete in both languages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from thinkback_lab.evaluations.scenario_format import Scenario, read_scenarios

FOLDER = Path(__file__).parents[2] / "scenarios"
CATEGORIES = {
    "update", "correction", "negation", "multi-valued", "temporal", "third party", "same name",
    "preference change", "numeric", "medical", "episodic", "question-only", "small talk",
    "assistant's claim", "injection", "secrets", "long gap", "coreference", "request to forget",
}  # fmt: skip
PREFIX = {"en": "en-", "zh": "zh-", "mixed": "mix-"}


@pytest.fixture(scope="module")
def shipped() -> list[Scenario]:
    return read_scenarios([FOLDER])  # an id that stands twice is an error


def test_there_are_enough_and_ids_contain_language(shipped: list[Scenario]) -> None:
    assert len(shipped) >= 130
    for scenario in shipped:
        assert scenario.id.startswith(PREFIX[scenario.lang]), scenario.id


def test_every_category_has_three_cases_in_both_languages(shipped: list[Scenario]) -> None:
    assert {scenario.category for scenario in shipped} == CATEGORIES
    counts = Counter((scenario.lang, scenario.category) for scenario in shipped)
    for lang in ("en", "zh"):
        for category in CATEGORIES:
            assert counts[lang, category] >= 3, (lang, category)


def test_no_two_scenarios_begin_with_same_words(shipped: list[Scenario]) -> None:
    first = Counter(scenario.turns[0].user for scenario in shipped)
    assert [text for text, count in first.items() if count > 1] == []


def test_scenario_turns_are_in_order_and_probes_exist(shipped: list[Scenario]) -> None:
    for scenario in shipped:
        times = [turn.at for turn in scenario.turns]
        assert times == sorted(times), scenario.id
        assert 1 <= len(scenario.probes) <= 3, scenario.id
        for probe in scenario.probes:
            assert probe.now is not None, scenario.id
            assert probe.now > times[-1], scenario.id
            assert probe.expect or probe.reject, scenario.id


def test_expectations_come_from_dialogue_or_are_dates(shipped: list[Scenario]) -> None:
    """Expectations come from the dialogue: some alternative of each list shares a part with the turns."""
    for scenario in shipped:
        if scenario.category in ("temporal", "negation"):
            continue  # a date is worked out, a denial is put in other words
        told = "\n".join(f"{turn.user}\n{turn.assistant}" for turn in scenario.turns).casefold()
        for probe in scenario.probes:
            for alternatives in probe.expect:
                assert any(word.casefold() in told for word in alternatives), (scenario.id, alternatives)


def test_scenarios_without_learning_expect_nothing(shipped: list[Scenario]) -> None:
    for scenario in shipped:
        if scenario.category in ("question-only", "small talk"):
            assert scenario.expect_thoughts == (), scenario.id
            assert all(not probe.expect and probe.reject for probe in scenario.probes), scenario.id
