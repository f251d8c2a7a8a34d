"""PerLTQA's tables 3, 6 and 7 (answers in several settings), 4 (classification) and 5 (retrieval)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from thinkback_lab.metrics.retrieval import ranked
from thinkback_lab.runs.finished import Finished
from thinkback_lab.tables import paper
from thinkback_lab.tables.sheet import (
    NONE,
    OURS,
    PAPER,
    Row,
    Sheet,
    correctness,
    figure,
    llm_of,
    notes_for,
    unjudged,
)

_OTHER_DATA = "a generated world is another data set than the paper's: there, compare columns, not rows"
_NO_RETRIEVAL = ("none", "oracle", "wrong", "full", "semantic", "episodic")
_RECALLS = (1, 2, 3, 5)
Settings = Mapping[str, str]  # the paper's word for a setting -> the scheme that is it


def perltqa_3(runs: Sequence[Finished]) -> Sheet:
    settings = {"W-MC+R": "perltqa", "W/o-MC+W-R": "perltqa:plain", "W/o-MC+R": "none"}
    return _synthesis(
        runs,
        name="perltqa-3",
        title="PerLTQA table 3: answers with and without memory classification and retrieval",
        settings=settings,
        figures=("MAP", "Corr.", "Coh."),
        printed=paper.PERLTQA_3,
    )


def perltqa_6(runs: Sequence[Finished]) -> Sheet:
    return _synthesis(
        runs,
        name="perltqa-6",
        title="PerLTQA table 6: answers with no, incorrect and correct retrieval",
        settings={"NR": "none", "IR": "wrong", "CR": "oracle"},
        figures=("MAP", "Corr."),
        printed=paper.PERLTQA_6,
    )


def perltqa_7(runs: Sequence[Finished]) -> Sheet:
    return _synthesis(
        runs,
        name="perltqa-7",
        title="PerLTQA table 7: answers from one kind of memory alone",
        settings={"Semantic": "semantic", "Episodic": "episodic"},
        figures=("MAP", "Corr.", "Coh."),
        printed=paper.PERLTQA_7,
    )


def perltqa_4(runs: Sequence[Finished]) -> Sheet:
    classified = [run for run in runs if run.dataset == "classification"]
    rows = [Row((name, *cells), PAPER) for name, cells in paper.PERLTQA_4.items()]
    rows += [
        Row((run.scheme, *(figure(run, name) for name in ("precision", "recall", "f1", "accuracy"))), OURS)
        for run in classified
    ]
    return Sheet(
        name="perltqa-4",
        title="PerLTQA table 4: memory classification (F: few-shot, I: instruction-based training)",
        columns=("Metrics", "P", "R", "F1", "Acc"),
        rows=tuple(rows),
        notes=(_OTHER_DATA,) if classified else (),
        missing=() if classified else ("ours: thinkback-lab eval classification --out DIR",),
    )


def perltqa_5(runs: Sequence[Finished]) -> Sheet:
    """R@k for every k of the paper, from what each question found, whatever k the run was scored at."""
    ours: dict[str, Finished] = {}
    for run, label in _labelled(runs, lambda run: run.scheme):
        if run.scheme not in _NO_RETRIEVAL and run.records:
            ours.setdefault(label, run)
    rows = [Row((name, *cells), PAPER) for name, cells in paper.PERLTQA_5.items()]
    rows += [Row((label, *_recalls(run), _seconds(run)), OURS) for label, run in ours.items()]
    schemes = {run.scheme for run in ours.values()}
    missing = [
        f"{scheme}: thinkback-lab eval perltqa --scheme {scheme}"
        for scheme in ("bm25", "dense", "thinkback")
        if scheme not in schemes
    ]
    return Sheet(
        name="perltqa-5",
        title="PerLTQA table 5: Recall@K and seconds of a retrieval",
        columns=("RM", *(f"R@{k}" for k in _RECALLS), "T(s)"),
        rows=tuple(rows),
        notes=("T is the retrieval alone, the embedding of the question not counted", _OTHER_DATA)
        if ours
        else (),
        missing=tuple(missing),
    )


def _recalls(run: Finished) -> list[str]:
    asked = [record for record in run.records if record.gold]
    if not asked:
        return [NONE] * len(_RECALLS)
    told = [ranked(record.gold, [each.sources for each in record.found], _RECALLS) for record in asked]
    return [f"{sum(each[f'recall@{k}'] for each in told) / len(told):.3f}" for k in _RECALLS]


def _seconds(run: Finished) -> str:
    ms = run.results.get("ms_per_query")
    return f"{ms / 1000:.4f}" if isinstance(ms, int | float) else NONE


def _synthesis(
    runs: Sequence[Finished],
    *,
    name: str,
    title: str,
    settings: Settings,
    figures: Sequence[str],
    printed: Mapping[str, tuple[str, ...]],
) -> Sheet:
    """A row for every model, a block of columns for every setting."""
    used = [(run, label) for run, label in _labelled(runs, llm_of) if run.scheme in settings.values()]
    models = sorted({label for _, label in used})
    by_place = {(label, run.scheme): run for run, label in used}
    rows = [Row((model, *cells), PAPER) for model, cells in printed.items()]
    for model in models or [NONE]:
        blocks = [_block(by_place.get((model, scheme)), figures) for scheme in settings.values()]
        rows.append(Row((model, *(cell for block in blocks for cell in block)), OURS))
    missing = [
        f"{setting}{'' if model == NONE else f', {model}'}: thinkback-lab eval perltqa --scheme {scheme} "
        f"--llm {'SPEC' if model == NONE else model.split(' ')[0]}"
        for model in models or [NONE]
        for setting, scheme in settings.items()
        if (model, scheme) not in by_place
    ]
    ours = [run for run, _ in used]
    return Sheet(
        name=name,
        title=title,
        columns=("LLM", *(f"{setting} {each}" for setting in settings for each in figures)),
        rows=tuple(rows),
        notes=notes_for(rows, ours, *((_OTHER_DATA,) if ours else ())),
        missing=(*missing, *(unjudged(ours) if "Coh." in figures else ())),
    )


def _block(run: Finished | None, figures: Sequence[str]) -> list[str]:
    cells = {
        "MAP": figure(run, "anchor_map"),
        "Corr.": correctness(run),
        "Coh.": figure(run, "judge_coherence"),
    }
    return [cells[name] for name in figures]


def _labelled(runs: Sequence[Finished], label: Callable[[Finished], str]) -> list[tuple[Finished, str]]:
    """PerLTQA's runs with a label, and their language where these runs are in more than one."""
    ours = [run for run in runs if run.dataset == "perltqa"]
    languages = {str(run.settings.get("lang", "en")) for run in ours}
    return [
        (run, f"{label(run)} ({run.settings.get('lang', 'en')})" if len(languages) > 1 else label(run))
        for run in ours
    ]
