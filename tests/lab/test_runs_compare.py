"""Comparison of runs: statistics against independent calculations, pairing, and rejected input."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.finished_runs import SETTINGS, make_record, make_records, write_finished_run
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.metrics.statistics import (
    compare_paired,
    holm_correction,
    permutation_test,
    sign_test,
)
from thinkback_lab.systems.interface import RetrievedMemory

stats = pytest.importorskip("scipy.stats", reason="an independent reckoning of the tests")


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, words)], prog_name="thinkback-lab")


def compared(*words: object) -> Any:
    done = lab(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@given(st.integers(0, 300), st.integers(0, 300))
def test_exact_test_equals_binomial_test(wins: int, losses: int) -> None:
    known = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(known, rel=1e-9)


def test_permutation_test_approximates_exact_test() -> None:
    draw = random.Random(5)
    for shift in (0.0, 0.1, 0.25):
        told = [round(draw.gauss(shift, 0.4), 2) for _ in range(12)]
        known = stats.permutation_test(
            (told,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", n_resamples=10_000
        ).pvalue
        assert permutation_test(told) == pytest.approx(known, abs=0.02)


def test_equal_columns_are_not_significant() -> None:
    told = compare_paired([0.5, 0.25, 1.0], [0.5, 0.25, 1.0])
    assert (told.p, told.difference, told.interval, told.ties) == (1.0, 0.0, (0.0, 0.0), 3)


def test_binary_metrics_use_exact_test_others_permutation() -> None:
    binary = compare_paired([0, 0, 0, 0, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1, 0, 1])
    assert (binary.test, binary.wins, binary.ties, binary.losses) == ("McNemar, exact", 6, 1, 1)
    assert binary.p == pytest.approx(2 * (1 + 7) / 2**7)
    assert compare_paired([0, 0.5, 1], [0.5, 0.5, 1]).test == "permutation"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_correction_raises_and_keeps_order(ps: list[float]) -> None:
    raised = holm_correction(ps)
    assert all(p <= more <= 1 for p, more in zip(ps, raised, strict=True))
    assert min(raised) == pytest.approx(min(1.0, min(ps) * len(ps)))
    for one, two in zip(sorted(zip(ps, raised, strict=True)), sorted(raised), strict=True):
        assert one[1] == two


def test_holm_correction_textbook_example() -> None:
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_questions_are_paired_by_case_and_id(tmp_path: Path) -> None:
    made = make_records(0.5)
    base = write_finished_run(tmp_path / "base", made, scheme="raw")
    other = write_finished_run(tmp_path / "other", [*made[::-1], make_record("case-0", "new")], scheme="bm25")
    told = compared(base, other)
    assert told["n"] == len(made)
    assert [run["n"] for run in told["runs"]] == [len(made), len(made) + 1]
    for each in told["metrics"].values():
        (one,) = each["others"]
        assert (one["difference"], one["wins"], one["losses"], one["p"]) == (0.0, 0, 0, 1.0)


def test_better_run_is_found_better(tmp_path: Path) -> None:
    base = write_finished_run(tmp_path / "base", make_records(0.1), scheme="raw")
    better = write_finished_run(tmp_path / "better", make_records(0.9), scheme="thinkback")
    (told,) = compared(base, better)["metrics"]["hit@1"]["others"]
    assert told["name"] == "thinkback"
    assert told["difference"] == pytest.approx(told["mean"] - told["baseline"], abs=2e-4)
    assert told["interval"][0] > 0
    assert told["p"] < 1e-6
    assert told["wins"] + told["ties"] + told["losses"] == 48
    (back,) = compared(better, base)["metrics"]["hit@1"]["others"]
    assert (back["difference"], back["wins"]) == (-told["difference"], told["losses"])


def test_metric_is_compared_where_both_have_it(tmp_path: Path) -> None:
    made = make_records(0.5)
    unscored = [replace(each, scores={"hit@1": 1.0}) for each in made[:10]]
    base = write_finished_run(tmp_path / "base", made, scheme="raw")
    other = write_finished_run(tmp_path / "other", [*unscored, *made[10:]], scheme="bm25")
    told = compared(base, other)["metrics"]
    assert (told["hit@1"]["n"], told["mrr"]["n"]) == (48, 38)


def test_more_than_two_runs_are_corrected(tmp_path: Path) -> None:
    folders = [
        write_finished_run(tmp_path / f"{at}", make_records(luck, seed=at), scheme=f"s{at}")
        for at, luck in enumerate((0.3, 0.5, 0.4, 0.6))
    ]
    others = compared(*folders, "--metric", "hit@1")["metrics"]["hit@1"]["others"]
    assert [each["p_holm"] for each in others] == pytest.approx(
        holm_correction([each["p"] for each in others]), rel=0.01
    )
    done = lab(*folders)
    assert "p (Holm)" in done.stdout
    assert "for 3 comparisons" in done.stdout


def test_most_different_questions_are_shown(tmp_path: Path) -> None:
    hostile = "\x1b[31m红 </b>"
    good = make_record(
        id="q2", question=hostile, found=(RetrievedMemory("In Lyon.", ("t1",)),), expected="Lyon\nindeed"
    )
    bad = make_record(id="q2", question=hostile, found=(), read=0)
    base = write_finished_run(tmp_path / "base", [make_record(), bad], scheme="none")
    other = write_finished_run(tmp_path / "other", [make_record(), good], scheme="raw")
    (shown,) = compared(base, other, "--show", 5, "--metric", "hit@5")["differing"]
    assert (shown["id"], [run["score"] for run in shown["runs"]]) == ("q2", [0.0, 1.0])
    told = lab(base, other, "--show", 5, "--metric", "hit@5").stdout
    assert "none: hit@5 0.000: (nothing)" in told
    assert "raw: hit@5 1.000: In Lyon." in told
    assert "\x1b" not in told
    assert compared(base, other)["differing"] == []


def test_incomparable_runs_are_rejected(tmp_path: Path) -> None:
    one = write_finished_run(tmp_path / "one", make_records(0.5), scheme="raw")
    cases = {
        "different data sets (gvd en; kdconv en)": write_finished_run(
            tmp_path / "a", make_records(0.5), dataset="kdconv"
        ),
        "different data sets (gvd en; gvd cn)": write_finished_run(
            tmp_path / "b", make_records(0.5), settings={**SETTINGS, "lang": "cn"}
        ),
        "share no question": write_finished_run(tmp_path / "c", [make_record("another", "one")]),
        "asks something else": write_finished_run(tmp_path / "d", [make_record("case-0", "q0")]),
        "e has no question records": write_finished_run(tmp_path / "e", []),
        "is not the folder of a run": tmp_path,
    }
    for why, other in cases.items():
        done = lab(one, other)
        assert (done.exit_code, done.stdout) == (1, "")
        assert why in done.stderr
    assert "'bleu' is not in all of these runs: choose from hit@1" in lab(one, one, "--metric", "bleu").stderr
    assert "at least two runs" in lab(one).stderr


def test_runs_of_one_scheme_are_labelled_by_folder(tmp_path: Path) -> None:
    folders = [write_finished_run(tmp_path / name, make_records(0.5)) for name in ("monday", "tuesday")]
    assert [run["name"] for run in compared(*folders)["runs"]] == [
        "thinkback (monday)",
        "thinkback (tuesday)",
    ]
