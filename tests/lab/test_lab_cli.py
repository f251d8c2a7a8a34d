"""`thinkback-lab eval scenarios`: plain and gzipped files, JSON and table output, errors."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app

TURNS = [
    {"at": "2024-01-01T09:00:00Z", "user": "I live in Paris.", "assistant": "Noted."},
    {"at": "2024-02-01T09:00:00Z", "user": "I moved to Lyon.", "assistant": "Enjoy!"},
]
PROBE = {"question": "Where do I live?", "now": "2024-03-01", "expect": [["Lyon"]], "reject": ["Paris"]}
LINES = [
    {"id": "a", "lang": "en", "category": "update", "turns": TURNS, "probes": [PROBE],
     "expect_thoughts": [{"s": "user", "r": "lives in", "o": "Lyon"}]},
    {"id": "b", "lang": "en", "category": "hopeless", "turns": TURNS,
     "probes": [{**PROBE, "expect": [["Oslo"]], "reject": ["Lyon"], "k": 1}]},
    {"id": "c", "lang": "zh", "category": "update",
     "turns": [{"at": "2024-01-01", "user": "我住在里昂。"}],
     "expect_thoughts": [{"s": "user", "r": "lives in", "o": "巴黎"}]},
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in LINES), encoding="utf-8")
    return path


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, words)], prog_name="thinkback-lab")


def figures(*words: object) -> Any:
    done = lab("scenarios", *words, "--embedder", "hashing", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_json_contains_rates_triples_and_failures(file: Path) -> None:
    told = figures(file)
    assert (told["dataset"], told["scenarios"], told["n"], told["pass_rate"]) == ("scenarios", 3, 2, 0.5)
    assert {name: each["pass_rate"] for name, each in told["by_category"].items()} == {
        "hopeless": 0.0,
        "update": 1.0,
    }
    assert told["by_language"]["en"] == {"n": 2, "passed": 1, "pass_rate": 0.5, "rejected": 1, "leaked": 0}
    assert told["triple_f1"] == 0.5
    assert told["triples"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "scenarios": 2}
    (failure,) = told["failures"]
    assert (failure["id"], failure["probe"]) == ("b", "Where do I live?")
    assert [each["text"] for each in failure["recalled"]] == ["The user lives in Lyon. (said 2024-02-01)"]
    assert [why.split()[0] for why in failure["why"]] == ["nothing", "rejected"]
    (triple,) = told["triple_failures"]
    assert (triple["id"], triple["missing"][0]["o"], triple["extra"][0]["o"]) == ("c", "巴黎", "里昂")
    assert told["ms_per_turn"] > 0 < told["ms_per_query"]


def test_gzipped_file_gives_same_results(file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "tiny.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    plain, unpacked = figures(file), figures(packed)
    for told in (plain, unpacked):
        del told["ms_per_turn"], told["ms_per_query"]
    assert plain == unpacked


def test_options_filter_scenarios(file: Path) -> None:
    assert figures(file, "--category", "update", "--lang", "en")["scenarios"] == 1
    assert figures(file, "--limit", 2)["scenarios"] == 2
    assert figures(file, "--limit", 1, "--seed", 3, "--preset", "tim", "--think", "extractive")[
        "settings"
    ] == {
        "llm": "none",
        "embedder": "hashing",
        "preset": "tim",
        "think": "extractive",
        "think_after": "turn",
        "limit": 1,
        "seed": 3,
    }
    assert figures(file, "--lang", "zh")["pass_rate"] is None  # only thoughts are asked for


def test_table_output(file: Path) -> None:
    done = lab("scenarios", file, "--embedder", "hashing")
    assert done.exit_code == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}
    assert rows["hopeless"] == ["1", "0", "0.0%", "1", "0"]
    assert rows["all"] == ["2", "1", "50.0%", "1", "0"]
    assert "triple F1 0.500" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["scenarios", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
        (["scenarios", "FILE", "--category", "x"], "choose from hopeless, update"),
        (["scenarios", "FILE", "--preset", "x"], "no preset 'x'"),
        (["scenarios", "FILE", "--embedder", "x"], "x"),
        (["scenarios", "FILE", "--think", "llm"], "needs a language model"),
    ],
)
def test_errors_are_one_line(file: Path, words: list[str], told: str) -> None:
    done = lab(*(file if word == "FILE" else word for word in words))
    assert done.exit_code == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert told in line


@pytest.mark.parametrize(
    ("words", "told"), [(["nothing"], "No such command 'nothing'"), (["scenarios"], "Missing argument 'FILE")]
)
def test_wrong_usage_is_reported(words: list[str], told: str) -> None:
    done = lab(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


def test_help_has_examples() -> None:
    done = lab("scenarios", "--help")
    assert done.exit_code == 0
    assert "thinkback-lab eval scenarios scenarios/" in done.stdout
    assert "passes if" in done.stdout


def test_process_prints_only_json_to_stdout(file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "thinkback_lab", "eval", "scenarios", file, "--embedder", "hashing", "--json"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["n"] == 2
    assert done.stderr == b""
