"""`thinkback-lab consult`: JSON and table output, interactive roles, and its main result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app


def lab(*words: object, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["consult", *map(str, words)], prog_name="thinkback-lab", input=said)


FEW = ("--only", "p02", "--embedder", "hashing")


def test_json_contains_schemes_and_second_call_is_equal(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = (*FEW, "--scheme", "none", "--scheme", "thinkback", "--out", out, "--json")
    done = lab(*words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert list(told["schemes"]) == ["none", "thinkback"]
    assert told["n"] == 6
    assert (out / "report.html").is_file()
    assert (out / "transcripts" / "thinkback" / "p02.zh.md").is_file()
    again = json.loads(lab(*words).stdout)
    assert again["schemes"] == told["schemes"]
    assert lab(*FEW, "--scheme", "none", "--budget", 60, "--out", out).exit_code == 1
    fresh = lab(*FEW, "--scheme", "none", "--budget", 60, "--out", out, "--fresh")
    assert fresh.exit_code == 0, fresh.output


def test_table_output(tmp_path: Path) -> None:
    done = lab(*FEW, "--lang", "en", "--scheme", "full", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines() if line.strip()] == ["scheme", "full", "3"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "nobody"), "unknown patient 'nobody'"),
        (("--scheme", "x"), "unknown scheme 'x'"),
        (("--patients", "nowhere"), "nowhere is not a folder"),
        (("--as", "doctor", "--scheme", "raw", "--scheme", "full"), "one memory system"),
        (("--as", "doctor", "--only", "p02.en"), "the input ended"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = lab(*words, "--embedder", "hashing", "--out", tmp_path / "run", said="")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert told in done.stderr.splitlines()[-1]


def test_person_plays_doctor(tmp_path: Path) -> None:
    visit = "What is your HbA1c?\n\n/end\nThe HbA1c is 9.1%.\ntype 2 diabetes\nmetformin\n"
    done = lab(
        "--as", "doctor", *FEW, "--scheme", "full", "--out", tmp_path / "run", "--json", said=visit * 3
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["schemes"]["full"]
    assert "Patient: My HbA1c is 9.1%." in done.stderr
    assert "remembered: [2024-03-04] Patient: I am drinking" in done.stderr
    assert told["metrics"]["diagnosis"] == pytest.approx(2 / 3, abs=1e-3)
    assert told["totals"]["contradicted"] == 1  # at the second visit it is 7.4%


def test_person_plays_patient(tmp_path: Path) -> None:
    done = lab(
        "--as", "patient", *FEW, "--lang", "en", "--scheme", "none", "--out", tmp_path / "run", "--json",
        said="I would rather not say.\n" * 60,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "your record: HbA1c: 9.1%" in done.stderr
    assert "Doctor: Are you allergic to any medicine?" in done.stderr
    assert json.loads(done.stdout)["schemes"]["none"]["metrics"]["diagnosis"] == 0


@pytest.mark.slow
def test_thinkback_repeats_far_less_than_no_memory_and_raw_text(tmp_path: Path) -> None:
    """The aim is half of raw text and no contradiction: docs/consult.md tells how near."""
    done = lab(
        "--limit", "12", "--scheme", "none", "--scheme", "raw", "--scheme", "thinkback",
        "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    schemes = json.loads(done.stdout)["schemes"]
    none, raw, ours = (schemes[name]["totals"] for name in ("none", "raw", "thinkback"))
    assert ours["repeated"] <= none["repeated"] / 5
    assert ours["repeated"] <= raw["repeated"] * 0.6
    assert ours["contradicted"] <= raw["contradicted"]
