"""The papers' tables from finished runs: placement of runs, and commands for gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.lab.finished_runs import SETTINGS, make_record, make_records, write_finished_run
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.datasets.registry import DATASETS
from thinkback_lab.tables import published
from thinkback_lab.tables.registry import TABLES

EVALUATIONS = {*DATASETS, "timing", "classification"}
MODEL = {**SETTINGS, "llm": "local:tiny"}


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["tables", *map(str, words)], prog_name="thinkback-lab")


def made(*words: object) -> Any:
    done = lab(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def ours(sheet: Any) -> list[list[str | None]]:
    return [row["cells"] for row in sheet["rows"] if row["source"] == "ours"]


def run(path: Path, dataset: str, scheme: str, metrics: dict[str, float], **over: Any) -> Path:
    settings = over.pop("settings", MODEL)
    return write_finished_run(
        path, [make_record()], dataset=dataset, scheme=scheme, settings=settings, metrics=metrics, **over
    )


@pytest.mark.parametrize("name", TABLES)
def test_table_without_runs_has_published_figures_and_commands(name: str) -> None:
    (sheet,) = made("--table", name).values()
    assert any(row["source"] == "paper" for row in sheet["rows"])
    assert all(len(row["cells"]) == len(sheet["columns"]) for row in sheet["rows"])
    assert sheet["missing"]
    commands = [line.partition("thinkback-lab ")[2].split() for line in sheet["missing"]]
    if name != "tim-3":  # there are no consultations to run
        assert all(words[0] == "eval" and words[1] in EVALUATIONS for words in commands)
    told = lab("--table", name).stdout
    assert f"[{name}]" in told
    assert "paper" in told


@pytest.mark.parametrize(
    "figures",
    [
        published.PERLTQA_3,
        published.PERLTQA_4,
        published.PERLTQA_5,
        published.PERLTQA_6,
        published.PERLTQA_7,
        published.TIM_3,
    ],
)
def test_published_figures_are_shares_and_rows_complete(figures: dict[Any, tuple[str, ...]]) -> None:
    assert len({len(row) for row in figures.values()}) == 1
    most = 100 if figures is published.TIM_3 else 3
    assert all(0 <= float(cell) <= most for row in figures.values() for cell in row)


def test_tim_2_places_every_run(tmp_path: Path) -> None:
    judged = {"hit@5": 0.9, "correctness": 0.1, "judge_correctness": 0.6, "judge_coherence": 0.8}
    folders = [
        run(tmp_path / "a", "gvd", "thinkback", judged),
        run(tmp_path / "b", "gvd", "memorybank", {"hit@5": 0.7, "correctness": 0.25}),
        run(tmp_path / "c", "gvd", "bm25", {"hit@5": 0.8}, settings={**SETTINGS, "lang": "cn"}),
        run(
            tmp_path / "d", "kdconv", "none", {"hit@5": 0.0},
            by_category={"film": {"n": 1, "hit@5": 0.0, "judge_correctness": 0.5}, "music": {"n": 1}},
        ),
    ]  # fmt: skip
    sheet = made(*folders, "--table", "tim-2")["tim-2"]
    rows = ours(sheet)
    assert rows[0] == ["GVD", "local:tiny", "Open-EN", "Silicon (memorybank)", "0.700", "0.250†", None]
    assert rows[1] == ["GVD", "local:tiny", "Open-EN", "Ours (thinkback)", "0.900", "0.600", "0.800"]
    assert ["GVD", "none", "Open-CN", "bm25", "0.800", None, None] in rows
    assert [
        "Kdconv",
        "local:tiny",
        "Film-CN",
        "X (none)",
        None,
        "0.500",
        None,
    ] in rows  # it retrieves nothing
    assert any("† by anchors" in note for note in sheet["notes"])
    assert any("gvd --lang cn --scheme thinkback" in line for line in sheet["missing"])
    assert not any("gvd --lang en" in line for line in sheet["missing"])
    assert any(line.startswith("coherence: thinkback-lab judge b d") for line in sheet["missing"])


def test_published_rmd_is_not_beside_substitute(tmp_path: Path) -> None:
    folder = run(
        tmp_path / "a", "medical", "thinkback", {"hit@5": 0.5}, settings={**MODEL, "corpus": "cmtmedqa"}
    )
    sheet = made(folder, "--table", "tim-2")["tim-2"]
    assert not [row for row in sheet["rows"] if row["source"] == "paper" and row["cells"][0] == "RMD"]
    assert [row[0] for row in ours(sheet) if row[4] == "0.500"] == ["cmtmedqa (for RMD)"]
    assert any("private" in note for note in sheet["notes"])


def test_tim_3_has_our_models_beside_published_ones(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / "a", "consult", "raw", {"diagnosis": 0.25, "treatment": 0.125}),
        run(tmp_path / "b", "consult", "thinkback", {"diagnosis": 0.5}),
    ]
    sheet = made(*folders)["tim-3"]
    assert sheet["columns"][-1] == "local:tiny (ours)"
    told = {tuple(row["cells"][:2]): row["cells"][-1] for row in sheet["rows"]}
    assert told["Diagnosis", "Raw"] == "25.00"
    assert told["Treatment", "Raw"] == "12.50"
    assert told["Diagnosis", "thinkback"] == "50.00"
    assert told["Diagnosis", "No"] is None
    assert sheet["missing"] == []


def test_tim_4_compares_within_run(tmp_path: Path) -> None:
    sizes = {"n=140": {"n": 140, "pairwise_ms": 0.5, "tim_ms": 1.0, "tim_ratio": 2.0}}
    path = tmp_path / "timing.json"
    path.write_text(
        json.dumps({"dataset": "timing", "scheme": "x", "settings": {}, "metrics": {}, "by_category": sizes})
    )
    sheet = made(path)["tim-4"]
    assert ours(sheet) == [
        ["Baseline (numpy)", "140", "0.5000", "1.000"],
        ["thinkback, preset tim", "140", "1.0000", "2.000"],
    ]
    assert sheet["rows"][1]["cells"] == ["Ours (TiM)", "140", "0.5305", "0.844"]


def test_perltqa_3_has_block_per_setting(tmp_path: Path) -> None:
    folders = [
        run(
            tmp_path / "a",
            "perltqa",
            "perltqa",
            {"anchor_map": 0.7, "judge_correctness": 0.5, "judge_coherence": 1},
        ),
        run(tmp_path / "b", "perltqa", "perltqa:plain", {"anchor_map": 0.6, "correctness": 0.5}),
        run(tmp_path / "c", "perltqa", "bm25", {"anchor_map": 0.1}),
    ]
    sheet = made(*folders, "--table", "perltqa-3")["perltqa-3"]
    assert sheet["columns"][1:4] == ["W-MC+R MAP", "W-MC+R Corr.", "W-MC+R Coh."]
    assert ours(sheet) == [
        ["local:tiny", "0.700", "0.500", "1.000", "0.600", "0.500†", None, None, None, None]
    ]
    assert (
        "W/o-MC+R, local:tiny: thinkback-lab eval perltqa --scheme none --llm local:tiny" in sheet["missing"]
    )


def test_perltqa_tables_distinguish_languages(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / lang, "perltqa", "none", {"anchor_map": share}, settings={**MODEL, "lang": lang})
        for lang, share in (("en", 0.1), ("zh", 0.2))
    ]
    rows = ours(made(*folders, "--table", "perltqa-6")["perltqa-6"])
    assert [row[:2] for row in rows] == [["local:tiny (en)", "0.100"], ["local:tiny (zh)", "0.200"]]


def test_perltqa_4_uses_classification_results(tmp_path: Path) -> None:
    metrics = {"precision": 0.9, "recall": 0.8, "f1": 0.85, "accuracy": 0.8}
    sheet = made(run(tmp_path / "a", "classification", "words", metrics))["perltqa-4"]
    assert ours(sheet) == [["words", "0.900", "0.800", "0.850", "0.800"]]


def test_perltqa_5_computes_every_k_from_records(tmp_path: Path) -> None:
    answered = [
        make_record(id="q1"),
        make_record(id="q2", gold=("t1", "t9")),
    ]  # the answer is second, and first and second
    folder = write_finished_run(tmp_path / "a", answered, dataset="perltqa", scheme="bm25", ms_per_query=1.5)
    sheet = made(folder)["perltqa-5"]
    assert ours(sheet) == [["bm25", "0.250", "1.000", "1.000", "1.000", "0.0015"]]
    assert any("--scheme dense" in line for line in sheet["missing"])


def test_perltqa_6_and_7_use_their_schemes(tmp_path: Path) -> None:
    schemes = ("none", "wrong", "oracle", "semantic", "episodic")
    folders = [
        run(tmp_path / scheme, "perltqa", scheme, {"anchor_map": at / 10, "judge_correctness": at / 20})
        for at, scheme in enumerate(schemes)
    ]
    told = made(*folders)
    assert ours(told["perltqa-6"]) == [["local:tiny", "0.000", "0.000", "0.100", "0.050", "0.200", "0.100"]]
    assert ours(told["perltqa-7"]) == [["local:tiny", "0.300", "0.150", None, "0.400", "0.200", None]]


def test_only_filled_tables_are_printed(tmp_path: Path) -> None:
    folder = write_finished_run(tmp_path / "a", make_records(0.5))
    assert list(made(folder)) == ["tim-2"]
    assert list(made()) == list(TABLES)


def test_row_is_one_line_however_wide(tmp_path: Path) -> None:
    folder = write_finished_run(
        tmp_path / "a",
        [make_record()],
        dataset="perltqa",
        scheme="none",
        settings={**MODEL, "llm": "openai:" + "m" * 90},
    )
    told = lab(folder, "--table", "perltqa-3").stdout
    assert any(
        line.startswith("openai:" + "m" * 90) and line.rstrip().endswith("ours") for line in told.splitlines()
    )


def test_unknown_table_or_run_is_reported(tmp_path: Path) -> None:
    assert "unknown table 'tim-9': choose from tim-2" in lab("--table", "tim-9").stderr
    assert "is not the folder of a run" in lab(tmp_path).stderr
    (tmp_path / "x.json").write_text("{}")
    assert "'dataset' is missing" in lab(tmp_path / "x.json").stderr
    (tmp_path / "x.json").write_text('{"dataset": "gvd", "scheme": "x", "metrics": 3, "settings": {}}')
    assert "'metrics' is missing" in lab(tmp_path / "x.json").stderr
