"""The evaluation of contradictions in free prose, without a model and with the recorded one."""

from __future__ import annotations

from pathlib import Path

import pytest

from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.contradictions import (
    read_answer_sets,
    run_contradictions,
    summarise_contradictions,
)
from thinkback_lab.recorded.llm import RecordedLLM, require_all_replies

ROOT = Path(__file__).parents[2]
SETS = ROOT / "scenarios" / "consistency"
RECORDING = ROOT / "packages" / "thinkback-lab" / "recordings" / "consistency"


def test_set_has_as_many_contradicting_as_consistent_answers() -> None:
    for name in ("dev", "held"):
        sets = read_answer_sets([SETS / f"{name}.jsonl"])
        assert sum(len(each.contradicting) for each in sets) == 60
        assert sum(len(each.consistent) for each in sets) == 60
        assert all(
            1 <= n <= len(each.thoughts) for each in sets for bad in each.contradicting for n in bad.thoughts
        )


def test_without_a_model() -> None:
    metrics = summarise_contradictions(run_contradictions(read_answer_sets([SETS])), {})["metrics"]
    assert metrics["caught_share"] >= 0.7
    assert metrics["false_alarm_share"] <= 0.03


def test_with_the_recorded_model(tmp_path: Path) -> None:
    (tmp_path / "replies").symlink_to(RECORDING / "replies")
    with require_all_replies():
        outcomes = run_contradictions(read_answer_sets([SETS]), RecordedLLM(tmp_path))
    metrics = summarise_contradictions(outcomes, {})["metrics"]
    assert metrics["caught_share"] >= 0.8
    assert metrics["false_alarm_share"] <= 0.03


def test_duplicate_ids_are_refused(tmp_path: Path) -> None:
    line = (SETS / "dev.jsonl").read_text("utf-8").splitlines()[0]
    (tmp_path / "twice.jsonl").write_text(f"{line}\n{line}\n", "utf-8")
    with pytest.raises(LabError, match="duplicate id"):
        read_answer_sets([tmp_path / "twice.jsonl"])
