"""TiM's tables 2 (three data sets), 3 (consultation) and 4 (retrieval time)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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

_MEMORY_NAMES = {"none": "X", "memorybank": "Silicon", "thinkback": "Ours"}  # names used in the paper
_COMPARED_SCHEMES = {
    "GVD": ("memorybank", "thinkback"),
    "Kdconv": ("none", "thinkback"),
    "RMD": ("none", "thinkback"),
}
_EVAL_ARGUMENTS = {
    ("GVD", "Open-EN"): "gvd --lang en",
    ("GVD", "Open-CN"): "gvd --lang cn",
    ("Kdconv", "Film-CN"): "kdconv",
    ("Kdconv", "Music-CN"): "kdconv",
    ("Kdconv", "Travel-CN"): "kdconv",
    ("RMD", "Medical-CN"): "medical --corpus cmtmedqa",
}
TablePlace = tuple[str, str]  # (data set, topic) of table 2
MetricValues = Mapping[str, float]


def tim_2(runs: Sequence[FinishedRun]) -> PaperTable:
    """Retrieval accuracy is hit@5, because the paper recalls five thoughts."""
    runs_by_place: dict[TablePlace, list[tuple[FinishedRun, MetricValues]]] = {}
    for run in runs:
        for place, figures in _places(run):
            runs_by_place.setdefault(place, []).append((run, figures))
    rows: list[TableRow] = []
    missing: dict[tuple[str, str, str], list[str]] = {}  # command -> topics it fills
    for place, printed in published.TIM_2.items():
        dataset, topic = place
        if dataset != "RMD":  # private data: none of our runs uses it
            rows += [TableRow((dataset, llm, topic, *rest), FROM_PAPER) for llm, *rest in printed]
        placed = sorted(
            runs_by_place.get(place, []), key=lambda each: (llm_name(each[0]), _scheme_order(each[0].scheme))
        )
        rows += [_run_row(dataset, topic, run, figures) for run, figures in placed]
        for scheme in _COMPARED_SCHEMES[dataset]:
            if scheme not in {run.scheme for run, _ in placed}:
                rows.append(
                    TableRow(
                        (
                            _dataset_name(dataset),
                            EMPTY_CELL,
                            topic,
                            _memory_name(scheme),
                            EMPTY_CELL,
                            EMPTY_CELL,
                            EMPTY_CELL,
                        ),
                        FROM_RUN,
                    )
                )
                command = f"thinkback-lab eval {_EVAL_ARGUMENTS[place]} --scheme {scheme} --llm SPEC"
                missing.setdefault((command, dataset, _memory_name(scheme)), []).append(topic)
    used = [run for each in runs_by_place.values() for run, _ in each]
    notes = table_notes(
        rows,
        used,
        "the paper's labels are by people, on its own sample of questions; RMD is private and replaced by a "
        "public corpus, so the paper's figures for RMD are omitted",
    )
    return PaperTable(
        name="tim-2",
        title="TiM table 2: comparison on three data sets, five thoughts recalled",
        columns=("Dataset", "LLM", "Topic", "Memory", "Retrieval", "Correctness", "Coherence"),
        rows=tuple(rows),
        notes=notes,
        missing=(
            *(
                f"{dataset} {', '.join(topics)}, {memory}: {command}"
                for (command, dataset, memory), topics in missing.items()
            ),
            *missing_judge_lines([run for run in used if run.scheme in _MEMORY_NAMES]),
        ),
        text_columns=4,
    )


def _places(run: FinishedRun) -> Iterator[tuple[TablePlace, MetricValues]]:
    """The places of a run in the table; a run over several domains of KdConv has several."""
    if run.dataset == "gvd":
        yield ("GVD", "Open-EN" if run.settings.get("lang", "en") == "en" else "Open-CN"), run.metrics
    elif run.dataset == "kdconv":
        by_domain = run.results.get("by_category", {})
        for domain in ("film", "music", "travel"):
            if domain in by_domain:  # with one domain, the run's own metrics include the judge's
                figures = run.metrics if len(by_domain) == 1 else by_domain[domain]
                yield ("Kdconv", f"{domain.capitalize()}-CN"), figures
    elif run.dataset == "medical" and run.settings.get("corpus", "cmtmedqa") == "cmtmedqa":
        yield ("RMD", "Medical-CN"), run.metrics


def _run_row(dataset: str, topic: str, run: FinishedRun, figures: MetricValues) -> TableRow:
    retrieval = EMPTY_CELL if run.scheme == "none" else metric_cell(figures, "hit@5")
    cells = (retrieval, correctness_cell(figures), metric_cell(figures, "judge_coherence"))
    return TableRow(
        (_dataset_name(dataset), llm_name(run), topic, _memory_name(run.scheme), *cells), FROM_RUN
    )


def _dataset_name(dataset: str) -> str:
    return "cmtmedqa (for RMD)" if dataset == "RMD" else dataset


def _memory_name(scheme: str) -> str:
    return f"{_MEMORY_NAMES[scheme]} ({scheme})" if scheme in _MEMORY_NAMES else scheme


def _scheme_order(scheme: str) -> tuple[int, str]:
    """The paper's order: no memory, SiliconFriend, others, ours."""
    order = {"none": 0, "memorybank": 1, "thinkback": 3}
    return order.get(scheme, 2), scheme


def tim_3(runs: Sequence[FinishedRun]) -> PaperTable:
    """Models are columns: the paper's six, then ours."""
    consulted = [run for run in runs if run.dataset == "consult"]
    models = list(dict.fromkeys(map(llm_name, consulted)))
    by_place = {(_consult_memory_name(run.scheme), llm_name(run)): run for run in consulted}
    others = sorted({memory for memory, _ in by_place} - {"No", "Raw", "TiM"})
    rows = []
    for task in ("Diagnosis", "Treatment"):
        for memory in ("No", "Raw", "TiM", *others):
            printed = published.TIM_3.get((task, memory), (EMPTY_CELL,) * len(published.TIM_3_MODELS))
            own_cells = [
                metric_cell(by_place.get((memory, model)), task.lower(), percent=True) for model in models
            ]
            rows.append(
                TableRow(
                    (task, memory, *printed, *own_cells),
                    f"{FROM_PAPER}, {FROM_RUN}" if models else FROM_PAPER,
                )
            )
    return PaperTable(
        name="tim-3",
        title="TiM table 3: simulated medical consultation, accuracy in percent",
        columns=(
            "Accuracy",
            "Memory",
            *published.TIM_3_MODELS,
            *(f"{model} ({FROM_RUN})" for model in models),
        ),
        rows=tuple(rows),
        notes=("the paper's patients are private, so compare rows, not columns",) if models else (),
        missing=()
        if consulted
        else ("ours: runs of `thinkback-lab consult` are not included here, see their own report",),
        text_columns=2,
    )


def _consult_memory_name(scheme: str) -> str:
    return {"none": "No", "raw": "Raw"}.get(scheme, "TiM" if scheme.startswith("tim") else scheme)


_SEARCH_NAMES = {
    "python": "Baseline (Python loop)",
    "pairwise": "Baseline (numpy)",
    "group": "TiM's group alone (numpy)",
    "tim": "thinkback, preset tim",
    "hybrid": "thinkback, preset hybrid",
}


def tim_4(runs: Sequence[FinishedRun]) -> PaperTable:
    """Milliseconds depend on the machine; compare the ratio to the baseline of the same run."""
    timings = [run for run in runs if run.dataset == "timing"]
    base = float(published.TIM_4[0][1])
    memories = str(published.TIM_4_MEMORIES)
    rows = [
        TableRow((name, memories, ms, f"{float(ms) / base:.3f}"), FROM_PAPER) for name, ms in published.TIM_4
    ]
    for run in timings:
        for each in run.results.get("by_category", {}).values():
            rows += [
                TableRow(
                    (
                        _SEARCH_NAMES[search],
                        f"{each['n']}",
                        f"{each[f'{search}_ms']:.4f}",
                        f"{each.get(f'{search}_ratio', 1):.3f}",
                    ),
                    FROM_RUN,
                )
                for search in _SEARCH_NAMES
                if f"{search}_ms" in each
            ]
    return PaperTable(
        name="tim-4",
        title="TiM table 4: time of one retrieval against pairwise similarity",
        columns=("Method", "Memories", "Retrieval Time (ms)", "to baseline"),
        rows=tuple(rows),
        notes=("machines differ: compare within a run, by the ratio to its own baseline",),
        missing=() if timings else ("ours: thinkback-lab eval timing --n 140 --n 1000 --out DIR",),
    )
