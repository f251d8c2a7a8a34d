"""Finished runs compared with the first of them, question by question, with paired tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from thinkback_lab.errors import LabError
from thinkback_lab.metrics.statistics import compare_paired, holm_correction
from thinkback_lab.runs.finished_runs import FinishedRun, scheme_labels
from thinkback_lab.runs.records import Record
from thinkback_lab.text import printable_text

if TYPE_CHECKING:
    from rich.table import Table


_DECIMALS = 4
_MAX_SHOWN_CHARACTERS = 200


def compare_runs(runs: Sequence[FinishedRun], metrics: Sequence[str] = (), show: int = 0) -> dict[str, Any]:
    """Each run against the first; without `metrics` in every figure that all of them have."""
    _check_comparable(runs)
    names = _run_names(runs)
    asked = [{record.key: record for record in run.records} for run in runs]
    shared = [key for key in asked[0] if all(key in each for each in asked)]
    _check_same_questions(asked, shared, names)
    chosen = _shared_metrics(asked, shared, metrics)
    return {
        "dataset": runs[0].dataset_label,
        "baseline": names[0],
        "runs": [
            {
                "name": name,
                "folder": run.name,
                "scheme": run.scheme,
                "settings": dict(run.settings),
                "n": len(each),
            }
            for name, run, each in zip(names, runs, asked, strict=True)
        ],
        "n": len(shared),
        "metrics": {metric: _compare_metric(asked, shared, metric, names) for metric in chosen},
        "differing": _most_different(asked, shared, chosen[0], names)[:show],
    }


def _check_comparable(runs: Sequence[FinishedRun]) -> None:
    if len(runs) < 2:
        raise LabError("a comparison needs at least two runs: the baseline, then the others")
    if without := [run.name for run in runs if not run.records]:
        raise LabError(f"{without[0]} keeps no questions: only runs of a data set can be compared")
    others = sorted({run.dataset_label for run in runs} - {runs[0].dataset_label})
    if others:
        raise LabError(
            f"these runs are of different data sets ({runs[0].dataset_label}; {'; '.join(others)}): "
            "compare runs of one data set, with the same language, domain and split"
        )


def _run_names(runs: Sequence[FinishedRun]) -> list[str]:
    """What each is called: by its memory system, or by its folder where two are alike."""
    labels = scheme_labels(runs)
    return [
        label if labels.count(label) == 1 else f"{label} ({run.name})"
        for label, run in zip(labels, runs, strict=True)
    ]


def _check_same_questions(
    asked: Sequence[Mapping[tuple[str, str], Record]], shared: Sequence[tuple[str, str]], names: Sequence[str]
) -> None:
    if not shared:
        raise LabError(
            "these runs share no question: were they limited to different samples? Run with one --seed"
        )
    for name, each in zip(names, asked, strict=True):
        for key in shared:
            if each[key].question != asked[0][key].question:
                case, id_ = key
                raise LabError(
                    f"case {case}, question {id_} asks something else in {name} than in {names[0]}: "
                    "the data has changed between the runs, run both again"
                )


def _shared_metrics(
    asked: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    wanted: Sequence[str],
) -> list[str]:
    there = [
        name
        for name in dict.fromkeys(name for key in shared for name in asked[0][key].scores)
        if any(all(name in each[key].scores for each in asked) for key in shared)
    ]
    if unknown := [name for name in wanted if name not in there]:
        raise LabError(f"no figure {unknown[0]!r} in all of these runs: they have {', '.join(there)}")
    if not there:
        raise LabError("these runs have no figure in common")
    return list(wanted) or there


def _compare_metric(
    asked: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    metric: str,
    names: Sequence[str],
) -> dict[str, Any]:
    keys = [key for key in shared if all(metric in each[key].scores for each in asked)]
    columns = [[each[key].scores[metric] for key in keys] for each in asked]
    told = [compare_paired(columns[0], column) for column in columns[1:]]
    raised = holm_correction([each.p for each in told])
    return {
        "n": len(keys),
        "baseline": round(sum(columns[0]) / len(keys), _DECIMALS),
        "others": [
            {
                "name": name,
                **{key: _round_value(value) for key, value in asdict(each).items() if key != "n"},
                "p": _round_p_value(each.p),
                "p_holm": _round_p_value(more),
            }
            for name, each, more in zip(names[1:], told, raised, strict=True)
        ],
    }


def _most_different(
    asked: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    metric: str,
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """The questions by how far the runs are apart on them, farthest first."""
    apart = []
    for key in shared:
        records = [each[key] for each in asked]
        if all(metric in record.scores for record in records):
            values = [record.scores[metric] for record in records]
            apart.append((max(values) - min(values), records))
    apart.sort(key=lambda each: -each[0])
    return [
        {
            "case": records[0].case,
            "id": records[0].id,
            "question": records[0].question,
            "expected": records[0].expected,
            "metric": metric,
            "runs": [
                {
                    "name": name,
                    "score": round(record.scores[metric], _DECIMALS),
                    "first": record.found[0].text[:_MAX_SHOWN_CHARACTERS] if record.found else None,
                    "answer": record.answer[:_MAX_SHOWN_CHARACTERS] if record.answer is not None else None,
                }
                for name, record in zip(names, records, strict=True)
            ],
        }
        for distance, records in apart
        if distance > 0
    ]


def _round_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_round_value(each) for each in value]
    return round(value, _DECIMALS) if isinstance(value, float) else value


def _round_p_value(p: float) -> float:
    return float(f"{p:.3g}")


SIGNIFICANCE_LEVEL = 0.05


def comparison_table(told: Mapping[str, Any], metrics: Sequence[str]) -> Table:
    """For each figure the baseline's mean, and under it the other runs against it.

    Where not all questions have the figure, `n` tells how many.
    """
    from rich.table import Table
    from rich.text import Text

    several = len(told["runs"]) > 2
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("figure")
    grid.add_column("run")
    for name in ("mean", "difference", "95% interval", "won", "lost", "p (Holm)" if several else "p"):
        grid.add_column(name, justify="right", no_wrap=True)
    for metric in metrics:
        each = told["metrics"][metric]
        counted = f"n={each['n']}" if each["n"] != told["n"] else ""
        grid.add_row(Text(metric), Text(told["baseline"]), format_number(each["baseline"]), counted)
        for other in each["others"]:
            grid.add_row("", Text(other["name"]), *_comparison_cells(other, "p_holm" if several else "p"))
    return grid


def _comparison_cells(other: Mapping[str, Any], p: str) -> Iterator[str]:
    low, high = other["interval"]
    yield format_number(other["mean"])
    yield f"{other['difference']:+.3f}"
    yield f"{low:+.3f} {high:+.3f}"
    yield str(other["wins"])
    yield str(other["losses"])
    yield f"{other[p]:.2g}{' *' if other[p] < SIGNIFICANCE_LEVEL else '  '}"


def format_number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"


def footer_lines(told: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[str]:
    """What the table counts, how its p is got, and what it leaves out."""
    tests = sorted({other["test"] for metric in metrics for other in told["metrics"][metric]["others"]})
    others = len(told["runs"]) - 1
    corrected = f"; p corrected (Holm) for {others} comparisons" if others > 1 else ""
    yield f"{told['dataset']}: {told['n']} questions asked in all runs; differences are to {told['baseline']}"
    yield f"* p < {SIGNIFICANCE_LEVEL}, two-sided, paired ({' or '.join(tests)}){corrected}"
    if rest := [name for name in told["metrics"] if name not in metrics]:
        yield f"--metric also takes {', '.join(rest)}"


def differing_question_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """The questions on which the runs differ most, in lines."""
    for each in told["differing"]:
        yield ""
        yield printable_text(f"{' '.join(each['question'].split())}  ({each['case']}, {each['id']})")
        if each["expected"]:
            yield printable_text(f"  expected: {' '.join(each['expected'].split())}")
        for run in each["runs"]:
            said = run["answer"] if run["answer"] is not None else run["first"]
            text = " ".join(said.split()) if said is not None else "(nothing)"
            yield printable_text(f"  {run['name']}: {each['metric']} {format_number(run['score'])}: {text}")
