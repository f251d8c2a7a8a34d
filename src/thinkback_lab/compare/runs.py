"""Finished runs against the first of them, on the questions that all of them were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from thinkback_lab.compare.paired import holm, paired
from thinkback_lab.errors import LabError
from thinkback_lab.runs.finished import Finished, scheme_labels
from thinkback_lab.runs.record import Record

_PLACES = 4
_CUT = 200


def compare(runs: Sequence[Finished], metrics: Sequence[str] = (), show: int = 0) -> dict[str, Any]:
    """Each run against the first; without `metrics` in every figure that all of them have."""
    _check(runs)
    names = _names(runs)
    asked = [{record.key: record for record in run.records} for run in runs]
    shared = [key for key in asked[0] if all(key in each for each in asked)]
    _check_same_questions(asked, shared, names)
    chosen = _metrics(asked, shared, metrics)
    return {
        "dataset": runs[0].data,
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
        "metrics": {metric: _compared(asked, shared, metric, names) for metric in chosen},
        "differing": _differing(asked, shared, chosen[0], names)[:show],
    }


def _check(runs: Sequence[Finished]) -> None:
    if len(runs) < 2:
        raise LabError("a comparison needs at least two runs: the baseline, then the others")
    if without := [run.name for run in runs if not run.records]:
        raise LabError(f"{without[0]} keeps no questions: only runs of a data set can be compared")
    others = sorted({run.data for run in runs} - {runs[0].data})
    if others:
        raise LabError(
            f"these runs are of different data sets ({runs[0].data}; {'; '.join(others)}): "
            "compare runs of one data set, with the same language, domain and split"
        )


def _names(runs: Sequence[Finished]) -> list[str]:
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


def _metrics(
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


def _compared(
    asked: Sequence[Mapping[tuple[str, str], Record]],
    shared: Sequence[tuple[str, str]],
    metric: str,
    names: Sequence[str],
) -> dict[str, Any]:
    keys = [key for key in shared if all(metric in each[key].scores for each in asked)]
    columns = [[each[key].scores[metric] for key in keys] for each in asked]
    told = [paired(columns[0], column) for column in columns[1:]]
    raised = holm([each.p for each in told])
    return {
        "n": len(keys),
        "baseline": round(sum(columns[0]) / len(keys), _PLACES),
        "others": [
            {
                "name": name,
                **{key: _rounded(value) for key, value in asdict(each).items() if key != "n"},
                "p": _significant(each.p),
                "p_holm": _significant(more),
            }
            for name, each, more in zip(names[1:], told, raised, strict=True)
        ],
    }


def _differing(
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
                    "score": round(record.scores[metric], _PLACES),
                    "first": record.found[0].text[:_CUT] if record.found else None,
                    "answer": record.answer[:_CUT] if record.answer is not None else None,
                }
                for name, record in zip(names, records, strict=True)
            ],
        }
        for distance, records in apart
        if distance > 0
    ]


def _rounded(value: object) -> object:
    if isinstance(value, tuple):
        return [_rounded(each) for each in value]
    return round(value, _PLACES) if isinstance(value, float) else value


def _significant(p: float) -> float:
    return float(f"{p:.3g}")
