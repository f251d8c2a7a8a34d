"""PerLTQA's tables 3, 6 and 7 (answers in several settings), 4 (classification) and 5 (retrieval)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from thinkback_lab.metrics.retrieval import ranking_scores
from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.tables import published
from thinkback_lab.tables.paper_table import (
    EMPTY_CELL,
    FROM_PAPER,
    FROM_RUN,
    PaperTable,
    TableRow,
    correctness_cell,
    llm_name,
    metric_cell,
    missing_judge_lines,
    table_notes,
)

_OTHER_DATA_NOTE = "a generated world differs from the paper's data: compare columns, not rows"
_SCHEMES_WITHOUT_RETRIEVAL = ("none", "oracle", "wrong", "full", "semantic", "episodic")
_RECALL_RANKS = (1, 2, 3, 5)
SchemeBySetting = Mapping[str, str]  # setting in the paper -> our scheme


def perltqa_3(runs: Sequence[FinishedRun]) -> PaperTable:
    settings = {"W-MC+R": "perltqa", "W/o-MC+W-R": "perltqa:plain", "W/o-MC+R": "none"}
    return _answer_table(
        runs,
        name="perltqa-3",
        title="PerLTQA table 3: answers with and without memory classification and retrieval",
        settings=settings,
        figures=("MAP", "Corr.", "Coh."),
        printed=published.PERLTQA_3,
    )


def perltqa_6(runs: Sequence[FinishedRun]) -> PaperTable:
    return _answer_table(
        runs,
        name="perltqa-6",
        title="PerLTQA table 6: answers with no, incorrect and correct retrieval",
        settings={"NR": "none", "IR": "wrong", "CR": "oracle"},
        figures=("MAP", "Corr."),
        printed=published.PERLTQA_6,
    )


def perltqa_7(runs: Sequence[FinishedRun]) -> PaperTable:
    return _answer_table(
        runs,
        name="perltqa-7",
        title="PerLTQA table 7: answers from one kind of memory alone",
        settings={"Semantic": "semantic", "Episodic": "episodic"},
        figures=("MAP", "Corr.", "Coh."),
        printed=published.PERLTQA_7,
    )


def perltqa_4(runs: Sequence[FinishedRun]) -> PaperTable:
    classified = [run for run in runs if run.dataset == "classification"]
    rows = [TableRow((name, *cells), FROM_PAPER) for name, cells in published.PERLTQA_4.items()]
    rows += [
        TableRow(
            (run.scheme, *(metric_cell(run, name) for name in ("precision", "recall", "f1", "accuracy"))),
            FROM_RUN,
        )
        for run in classified
    ]
    return PaperTable(
        name="perltqa-4",
        title="PerLTQA table 4: memory classification (F: few-shot, I: instruction-based training)",
        columns=("Metrics", "P", "R", "F1", "Acc"),
        rows=tuple(rows),
        notes=(_OTHER_DATA_NOTE,) if classified else (),
        missing=() if classified else ("ours: thinkback-lab eval classification --out DIR",),
    )


def perltqa_5(runs: Sequence[FinishedRun]) -> PaperTable:
    """R@k for every k of the paper, computed from the records, whatever k the run was scored at."""
    runs_by_label: dict[str, FinishedRun] = {}
    for run, label in _labelled_runs(runs, lambda run: run.scheme):
        if run.scheme not in _SCHEMES_WITHOUT_RETRIEVAL and run.records:
            runs_by_label.setdefault(label, run)
    rows = [TableRow((name, *cells), FROM_PAPER) for name, cells in published.PERLTQA_5.items()]
    rows += [
        TableRow((label, *_recall_cells(run), _seconds_cell(run)), FROM_RUN)
        for label, run in runs_by_label.items()
    ]
    schemes = {run.scheme for run in runs_by_label.values()}
    missing = [
        f"{scheme}: thinkback-lab eval perltqa --scheme {scheme}"
        for scheme in ("bm25", "dense", "thinkback")
        if scheme not in schemes
    ]
    return PaperTable(
        name="perltqa-5",
        title="PerLTQA table 5: Recall@K and seconds of a retrieval",
        columns=("RM", *(f"R@{k}" for k in _RECALL_RANKS), "T(s)"),
        rows=tuple(rows),
        notes=("T is the time of retrieval without embedding of the question", _OTHER_DATA_NOTE)
        if runs_by_label
        else (),
        missing=tuple(missing),
    )


def _recall_cells(run: FinishedRun) -> list[str]:
    answered = [record for record in run.records if record.gold]
    if not answered:
        return [EMPTY_CELL] * len(_RECALL_RANKS)
    scores = [
        ranking_scores(record.gold, [each.sources for each in record.found], _RECALL_RANKS)
        for record in answered
    ]
    return [f"{sum(each[f'recall@{k}'] for each in scores) / len(scores):.3f}" for k in _RECALL_RANKS]


def _seconds_cell(run: FinishedRun) -> str:
    ms = run.results.get("ms_per_query")
    return f"{ms / 1000:.4f}" if isinstance(ms, int | float) else EMPTY_CELL


def _answer_table(
    runs: Sequence[FinishedRun],
    *,
    name: str,
    title: str,
    settings: SchemeBySetting,
    figures: Sequence[str],
    printed: Mapping[str, tuple[str, ...]],
) -> PaperTable:
    """One row per model, one block of columns per setting."""
    used = [(run, label) for run, label in _labelled_runs(runs, llm_name) if run.scheme in settings.values()]
    models = sorted({label for _, label in used})
    by_place = {(label, run.scheme): run for run, label in used}
    rows = [TableRow((model, *cells), FROM_PAPER) for model, cells in printed.items()]
    for model in models or [EMPTY_CELL]:
        blocks = [_setting_cells(by_place.get((model, scheme)), figures) for scheme in settings.values()]
        rows.append(TableRow((model, *(cell for block in blocks for cell in block)), FROM_RUN))
    missing = [
        f"{setting}{'' if model == EMPTY_CELL else f', {model}'}: "
        f"thinkback-lab eval perltqa --scheme {scheme} "
        f"--llm {'SPEC' if model == EMPTY_CELL else model.split(' ')[0]}"
        for model in models or [EMPTY_CELL]
        for setting, scheme in settings.items()
        if (model, scheme) not in by_place
    ]
    used_runs = [run for run, _ in used]
    return PaperTable(
        name=name,
        title=title,
        columns=("LLM", *(f"{setting} {each}" for setting in settings for each in figures)),
        rows=tuple(rows),
        notes=table_notes(rows, used_runs, *((_OTHER_DATA_NOTE,) if used_runs else ())),
        missing=(*missing, *(missing_judge_lines(used_runs) if "Coh." in figures else ())),
    )


def _setting_cells(run: FinishedRun | None, figures: Sequence[str]) -> list[str]:
    cells = {
        "MAP": metric_cell(run, "anchor_map"),
        "Corr.": correctness_cell(run),
        "Coh.": metric_cell(run, "judge_coherence"),
    }
    return [cells[name] for name in figures]


def _labelled_runs(
    runs: Sequence[FinishedRun], label: Callable[[FinishedRun], str]
) -> list[tuple[FinishedRun, str]]:
    """Runs of PerLTQA with labels; the language is added if the runs have several."""
    perltqa_runs = [run for run in runs if run.dataset == "perltqa"]
    languages = {str(run.settings.get("lang", "en")) for run in perltqa_runs}
    return [
        (run, f"{label(run)} ({run.settings.get('lang', 'en')})" if len(languages) > 1 else label(run))
        for run in perltqa_runs
    ]
