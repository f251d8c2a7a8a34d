"""Retrieval timing: the searches find what they should, and results have the common form."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from thinkback import Memory
from thinkback_lab.cli import app
from thinkback_lab.evaluations.timing import (
    RECALL_K,
    group_search,
    make_questions,
    make_sentences,
    measure_retrieval,
    pairwise_search,
    python_loop_search,
)


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "timing", *map(str, words)], prog_name="thinkback-lab")


def unit(rows: int, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    made = np.random.default_rng(seed).standard_normal((rows, 24), dtype=np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def test_sentences_are_distinct_and_depend_on_seed() -> None:
    assert len(set(make_sentences(500, 1))) == 500
    assert make_sentences(500, 1)[:140] == make_sentences(140, 1)
    assert make_sentences(20, 1) != make_sentences(20, 2)
    assert len(set(make_questions(100, 1))) == 100


def test_loop_and_product_find_the_same() -> None:
    memory, asked = unit(80, 1), unit(6, 2)
    for number in range(6):
        (slow_ms, slow), (fast_ms, fast) = (
            python_loop_search(memory, asked).search(number),
            pairwise_search(memory, asked).search(number),
        )
        assert slow == fast == set(np.argsort(memory @ asked[number])[-RECALL_K:].tolist())
        assert min(slow_ms, fast_ms) > 0


def test_group_contains_same_hashes_and_finds_memory_itself() -> None:
    memory = unit(300, 3)
    way = group_search(memory, memory, seed=1)
    for number in range(0, 300, 17):
        _, found = way.search(number)
        assert number in found
        assert len(found) <= RECALL_K
    opposite = group_search(memory, -memory, seed=1)  # H(-x) is the other half's group: never x's own
    assert all(number not in opposite.search(number)[1] for number in range(0, 300, 17))


def test_result_has_common_form_and_consistent_ratios() -> None:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        told = measure_retrieval(memory.embedder, (40, 90), queries=4)
    assert {"dataset", "scheme", "settings", "n", "metrics", "by_category", "ms_per_query"} <= told.keys()
    assert list(told["by_category"]) == ["n=40", "n=90"]
    for each in told["by_category"].values():
        for way in ("python", "group", "tim", "hybrid"):
            assert each[f"{way}_ratio"] == pytest.approx(each[f"{way}_ms"] / each["pairwise_ms"], rel=0.02)
        assert each["python_ratio"] > 1
        assert 0 <= each["group_agreement"] <= 1
        assert each["hybrid_agreement"] > 0.2
    assert told["metrics"]["pairwise_ms"] == told["by_category"]["n=40"]["pairwise_ms"]


def test_command_prints_saves_and_feeds_table(tmp_path: Path) -> None:
    words = ("--n", 30, "--n", 60, "--queries", 2, "--embedder", "hashing")
    done = lab(*words, "--out", tmp_path / "t", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told == json.loads((tmp_path / "t" / "results.json").read_text())
    assert told["command"].startswith("thinkback-lab eval timing --n 30 --n 60 --embedder hashing")
    shown = CliRunner().invoke(app, ["tables", str(tmp_path / "t")]).stdout
    assert "thinkback, preset hybrid" in shown
    people = lab(*words)
    assert [line.split()[0] for line in people.stdout.splitlines()[1:6]] == [
        "python", "pairwise", "group", "tim", "hybrid",
    ]  # fmt: skip


def test_invalid_sizes_are_rejected() -> None:
    assert lab("--n", 2).exit_code == 2
    done = lab("--embedder", "nothing")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing" in done.stderr
