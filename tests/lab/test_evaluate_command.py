"""`thinkback-lab eval DATASET` and `suite` on fixtures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.lab.dataset_fixtures import FIXTURES
from tests.ray_cluster import requires_ray
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app, expand_k_options
from thinkback_lab.datasets.registry import DATASETS
from thinkback_lab.runs.folder import read_records


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, expand_k_options([*map(str, words)]), prog_name="thinkback-lab")


def evaluated(*words: object) -> Any:
    done = lab("eval", *words, "--data", FIXTURES, "--embedder", "hashing", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("scheme", ["bm25", "thinkback", "none"])
def test_json_has_documented_form(tmp_path: Path, scheme: str) -> None:
    told = evaluated("gvd", "--lang", "en", "--scheme", scheme, "--out", tmp_path / "run")
    assert list(told)[:5] == ["dataset", "scheme", "settings", "n", "metrics"]
    assert (told["dataset"], told["scheme"], told["settings"]["lang"]) == ("gvd", scheme, "en")
    assert {f"{name}@{k}" for name in ("hit", "recall") for k in (1, 3, 5, 10)} <= set(told["metrics"])
    assert told["metrics"]["mrr"] == 0 or scheme != "none"
    assert told["ms_per_query"] >= 0
    for name, mean in told["metrics"].items():
        low, high = told["intervals"][name]
        assert low <= mean + 1e-4
        assert mean <= high + 1e-4
        assert 0 < told["counts"][name] <= told["n"]


def test_run_writes_its_folder(tmp_path: Path) -> None:
    told = evaluated("gvd", "--scheme", "bm25", "--out", tmp_path / "run")
    names = {each.name for each in (tmp_path / "run").iterdir()}
    assert names == {"run.json", "questions.jsonl", "results.json", "report.html"}
    records = list(read_records(tmp_path / "run"))
    assert len(records) == told["n"]
    assert all(found.sources for record in records for found in record.found)
    assert "thinkback-lab eval gvd" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_ranks_can_be_chosen(tmp_path: Path) -> None:
    told = evaluated("gvd", "--scheme", "bm25", "--k", "2", "4", "--limit", "1", "--out", tmp_path / "run")
    assert [name for name in told["metrics"] if name.startswith("hit@")] == ["hit@2", "hit@4"]
    assert told["n"] == 1


@pytest.mark.parametrize(
    ("words", "spread_out"),
    [
        (["--k", "1", "3", "--json"], ["--k", "1", "--k", "3", "--json"]),
        (["--limit", "3", "--k", "5"], ["--limit", "3", "--k", "5"]),
        (["--k", "1", "--limit", "3"], ["--k", "1", "--limit", "3"]),
        (["--k", "--json"], ["--json"]),
    ],
)
def test_several_ranks_after_one_option(words: list[str], spread_out: list[str]) -> None:
    assert expand_k_options(words) == spread_out


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_data_set_has_command_with_help(name: str, tmp_path: Path) -> None:
    taught = lab("eval", name, "--help")
    assert taught.exit_code == 0
    assert f"thinkback-lab eval {name} --data DIR" in taught.output
    which = {"longmemeval": ["--size", "oracle"], "kdconv": ["--domain", "film", "--domain", "travel"]}
    told = evaluated(name, "--scheme", "bm25", *which.get(name, ()), "--out", tmp_path / "run")
    assert told["dataset"] == name
    assert told["n"] > 0
    assert told["metrics"]["recall@10"] > 0


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_missing_files_name_their_origin(name: str, tmp_path: Path) -> None:
    done = lab("eval", name, "--data", tmp_path, "--embedder", "hashing")
    assert done.exit_code == 1
    assert DATASETS[name].origin.split(":")[0].split(",")[0] in done.stderr
    assert done.stderr.count("\n") == 1


def test_finished_run_is_shown_and_other_run_rejected(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = evaluated("gvd", "--scheme", "bm25", "--out", out)
    assert evaluated("gvd", "--scheme", "bm25", "--out", out) == first
    other = lab("eval", "gvd", "--data", FIXTURES, "--embedder", "hashing", "--scheme", "none", "--out", out)
    assert other.exit_code == 1
    assert "different scheme" in other.stderr
    fresh = evaluated("gvd", "--scheme", "none", "--out", out, "--fresh")
    assert fresh["scheme"] == "none"


def test_runs_without_folder_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        evaluated("gvd", "--scheme", "bm25")
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_unknown_scheme_or_domain_lists_known_ones(tmp_path: Path) -> None:
    unknown = lab("eval", "gvd", "--data", FIXTURES, "--scheme", "psychic", "--out", tmp_path / "run")
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (1, 1)
    assert "bm25" in unknown.stderr
    domain = lab("eval", "kdconv", "--data", FIXTURES, "--domain", "cooking", "--embedder", "hashing")
    assert domain.exit_code == 1
    assert "film, music, travel" in domain.stderr


def test_suite_runs_available_data_reports_missing_and_resumes(tmp_path: Path) -> None:
    words = ["suite", "--data", FIXTURES, "--out", tmp_path / "all", "--embedder", "hashing", "--json"]
    words += ["--scheme", "bm25", "--scheme", "none", "--dataset", "gvd", "--dataset", "kdconv"]
    done = lab(*words)
    assert done.exit_code == 0, done.output
    runs = json.loads(done.stdout)["runs"]
    labels = {(each["dataset"], each["scheme"]) for each in runs}
    assert labels == {(name, scheme) for name in ("gvd", "kdconv") for scheme in ("bm25", "none")}
    assert "skipped: kdconv music" in done.stderr
    page = (tmp_path / "all" / "results.md").read_text("utf-8")
    assert "### hit@1" in page
    assert "| gvd en |" in page
    assert len(list((tmp_path / "all").rglob("report.html"))) == 1 + len(runs)
    assert json.loads(lab(*words).stdout)["runs"] == runs


@requires_ray
def test_suite_on_a_cluster_gives_the_same_results(tmp_path: Path) -> None:
    words = ["suite", "--data", FIXTURES.resolve(), "--embedder", "hashing", "--json", "--scheme", "bm25"]
    words += ["--scheme", "none", "--dataset", "gvd:en", "--dataset", "kdconv"]
    here, spread = lab(*words, "--out", tmp_path / "here"), lab(*words, "--out", tmp_path / "ray", "--ray")
    assert spread.exit_code == 0, spread.output
    assert spread.stderr == here.stderr
    compared = ("dataset", "scheme", "settings", "n", "metrics", "intervals", "counts")
    expected, found = (
        [{name: run[name] for name in compared} for run in json.loads(done.stdout)["runs"]]
        for done in (here, spread)
    )
    assert len(found) == 6
    assert found == expected
    assert len(list((tmp_path / "ray").rglob("report.html"))) == 1 + len(found)
    again = lab(*words, "--out", tmp_path / "ray", "--ray")  # finished runs are only read
    assert json.loads(again.stdout)["runs"] == json.loads(spread.stdout)["runs"]


def test_suite_rejects_unknown_name_before_running(tmp_path: Path) -> None:
    words = ["suite", "--data", FIXTURES, "--out", tmp_path / "all", "--embedder", "hashing"]
    for unknown in (["--scheme", "bm25", "--scheme", "psychic"], ["--dataset", "gvd", "--dataset", "diary"]):
        done = lab(*words, *unknown)
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert not (tmp_path / "all").exists()


def test_zero_is_not_the_default() -> None:
    done = lab("eval", "medical", "--files", "0", "--data", FIXTURES, "--embedder", "hashing")
    assert done.exit_code == 1
    assert "must be at least 1" in done.stderr


def test_scenarios_run_with_any_memory_system() -> None:
    done = lab("eval", "scenarios", "scenarios/english.jsonl", "--limit", "5", "--scheme", "bm25", "--json")
    told = json.loads(done.stdout)
    assert (told["scheme"], told["triple_f1"]) == ("bm25", None)
    assert told["metrics"]["pass_rate"] > 0
