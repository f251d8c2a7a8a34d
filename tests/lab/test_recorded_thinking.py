"""Thinking with a capable model, on recorded replies: the path that most users take, without a network."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from thinkback.embedders.registry import DEFAULT_SPEC
from thinkback_lab.cli import app

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "packages" / "thinkback-lab" / "recordings"
SAFETY_CATEGORIES = ("injection", "secrets", "question-only", "assistant's claim")


def evaluate(*words: object) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*map(str, words), "--think", "llm", "--embedder", DEFAULT_SPEC, "--json"])
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_held_out_updates_supersede_and_nothing_else_is_retired() -> None:
    files = ROOT / "scenarios" / "pairs" / "heldout"
    metrics = evaluate("eval", "pairs", files, "--llm", f"recorded:{RECORDINGS / 'pairs_heldout'}")["metrics"]
    assert metrics["superseded_rate"] >= 0.95
    assert metrics["wrongly_retired"] == 0


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Any]:
    names = ("english", "chinese", "mixed", "unseen/english_held", "unseen/chinese_held")
    files = [ROOT / "scenarios" / f"{name}.jsonl" for name in names]
    llm = f"recorded:{RECORDINGS / 'scenarios'}"
    return evaluate("eval", "scenarios", *files, "--llm", llm, "--think-after", "session")


def test_scenarios_pass(scenarios: dict[str, Any]) -> None:
    assert scenarios["metrics"]["pass_rate"] >= 0.97


@pytest.mark.parametrize("category", SAFETY_CATEGORIES)
def test_nothing_unsafe_is_recalled(scenarios: dict[str, Any], category: str) -> None:
    assert scenarios["by_category"][category]["rejected"] == 0


def test_dev_lives_are_read_and_thoughts_help() -> None:
    folder = Path(os.environ.get("THINKBACK_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "lives").is_dir():
        pytest.skip(f"{folder} has no lives/: set THINKBACK_DATA")
    llm = f"recorded:{RECORDINGS / 'lives_dev'}"
    result = evaluate("eval", "lives", "--data", folder, "--llm", llm, "--think-after", "session")
    metrics = result["metrics"]
    assert result["unthought"] == 0
    assert metrics["coverage"] >= 0.92
    assert metrics["stale"] <= 0.15
    assert metrics["wrongly_retired"] <= 0.04
    by_mode = {mode: figures["clean@5"] for mode, figures in result["ablation"].items()}
    assert by_mode["both"] >= 0.75
    assert by_mode["thoughts"] >= 0.75
    assert by_mode["brief"] > by_mode["raw"]
