"""Finished runs compared with the first one, question by question, with paired tests."""

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
    """Compare each run with the first; without `metrics`, on every metric that all runs have."""
    _check_comparable(runs)
    names = _run_names(runs)
    records_by_run = [{record.key: record for record in run.records} for run in runs]
    shared = [key for key in records_by_run[0] if all(key in each for each in records_by_run)]
    _check_same_questions(records_by_run, shared, names)
    names_of_metrics = _shared_metrics(records_by_run, shared, metrics)
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
            for name, run, each in zip(names, runs, records_by_run, strict=True)
        ],
        "n": len(shared),
        "metrics": {
            metric: _compare_metric(records_by_run, shared, metric, names) for metric in names_of_metrics
        },
        "differing": _most_different(records_by_run, shared, names_of_metrics[0], names)[:show],
    }


def _check_comparable(runs: Sequence[FinishedRun]) -> None:
    if len(runs) < 2:
        raise LabError("a comparison needs at least two runs: the baseline, then the others")
    if without := [run.name for run in runs if not run.records]:
        raise LabError(f"{without[0]} has no question records: only runs of a data set can be compared")
    others = sorted({run.dataset_label for run in runs} - {runs[0].dataset_label})
    if others:
        raise LabError(
            f"these runs are of different data sets ({runs[0].dataset_label}; {'; '.join(others)}): "
            "compare runs of one data set, with the same language, domain and split"
        )


def _run_names(runs: Sequence[FinishedRun]) -> list[str]:
    """Labels of the runs: the memory system, plus the folder if two have the same."""
    labels = scheme_labels(runs)
    return [
        label if labels.count(label) == 1 else f"{label} ({run.name})"
        for label, run in zip(labels, runs, strict=True)
    ]


def _check_same_questions(
    records_by_run: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    names: Sequence[str],
) -> None:
    if not shared:
        raise LabError(
            "these runs share no question: were they limited to different samples? Use the same --seed"
        )
    for name, each in zip(names, records_by_run, strict=True):
        for key in shared:
            if each[key].question != records_by_run[0][key].question:
                case, id_ = key
                raise LabError(
                    f"case {case}, question {id_} asks something else in {name} than in {names[0]}: "
                    "the data has changed between the runs, run both again"
                )


def _shared_metrics(
    records_by_run: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    requested: Sequence[str],
) -> list[str]:
    available = [
        name
        for name in dict.fromkeys(name for key in shared for name in records_by_run[0][key].scores)
        if any(all(name in each[key].scores for each in records_by_run) for key in shared)
    ]
    if unknown := [name for name in requested if name not in available]:
        raise LabError(
            f"metric {unknown[0]!r} is not in all of these runs: choose from {', '.join(available)}"
        )
    if not available:
        raise LabError("these runs have no metric in common")
    return list(requested) or available


def _compare_metric(
    records_by_run: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    metric: str,
    names: Sequence[str],
) -> dict[str, Any]:
    keys = [key for key in shared if all(metric in each[key].scores for each in records_by_run)]
    columns = [[each[key].scores[metric] for key in keys] for each in records_by_run]
    comparisons = [compare_paired(columns[0], column) for column in columns[1:]]
    adjusted = holm_correction([each.p for each in comparisons])
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
            for name, each, more in zip(names[1:], comparisons, adjusted, strict=True)
        ],
    }


def _most_different(
    records_by_run: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    metric: str,
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """The questions by the difference of their scores, largest first."""
    differences = []
    for key in shared:
        records = [each[key] for each in records_by_run]
        if all(metric in record.scores for record in records):
            values = [record.scores[metric] for record in records]
            differences.append((max(values) - min(values), records))
    differences.sort(key=lambda each: -each[0])
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
        for distance, records in differences
        if distance > 0
    ]


def _round_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_round_value(each) for each in value]
    return round(value, _DECIMALS) if isinstance(value, float) else value


def _round_p_value(p: float) -> float:
    return float(f"{p:.3g}")


SIGNIFICANCE_LEVEL = 0.05


def comparison_table(comparison: Mapping[str, Any], metrics: Sequence[str]) -> Table:
    """For each metric the mean of the baseline, and below it the other runs.

    `n` is shown if not all questions have the metric.
    """
    from rich.table import Table
    from rich.text import Text

    several = len(comparison["runs"]) > 2
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("figure")
    grid.add_column("run")
    for name in ("mean", "difference", "95% interval", "won", "lost", "p (Holm)" if several else "p"):
        grid.add_column(name, justify="right", no_wrap=True)
    for metric in metrics:
        each = comparison["metrics"][metric]
        counted = f"n={each['n']}" if each["n"] != comparison["n"] else ""
        grid.add_row(Text(metric), Text(comparison["baseline"]), format_number(each["baseline"]), counted)
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


def footer_lines(comparison: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[str]:
    """The number of questions, the tests used, and the metrics not shown."""
    tests = sorted({other["test"] for metric in metrics for other in comparison["metrics"][metric]["others"]})
    others = len(comparison["runs"]) - 1
    corrected = f"; p corrected (Holm) for {others} comparisons" if others > 1 else ""
    yield (
        f"{comparison['dataset']}: {comparison['n']} questions asked in all runs; "
        f"differences are to {comparison['baseline']}"
    )
    yield f"* p < {SIGNIFICANCE_LEVEL}, two-sided, paired ({' or '.join(tests)}){corrected}"
    if rest := [name for name in comparison["metrics"] if name not in metrics]:
        yield f"--metric also takes {', '.join(rest)}"


def differing_question_lines(comparison: Mapping[str, Any]) -> Iterator[str]:
    """The questions on which the runs differ most, as text lines."""
    for each in comparison["differing"]:
        yield ""
        yield printable_text(f"{' '.join(each['question'].split())}  ({each['case']}, {each['id']})")
        if each["expected"]:
            yield printable_text(f"  expected: {' '.join(each['expected'].split())}")
        for run in each["runs"]:
            shown_text = run["answer"] if run["answer"] is not None else run["first"]
            text = " ".join(shown_text.split()) if shown_text is not None else "(nothing)"
            yield printable_text(f"  {run['name']}: {each['metric']} {format_number(run['score'])}: {text}")
