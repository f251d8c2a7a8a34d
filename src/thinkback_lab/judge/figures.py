"""From judgements to figures: a question's mean over judges, a run's mean with its interval, agreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from thinkback_lab.judge.marked import Judgement
from thinkback_lab.judge.verdict import Verdict
from thinkback_lab.metrics.agreement import exact, kappa
from thinkback_lab.metrics.bootstrap import interval
from thinkback_lab.runs.record import Record

ASPECTS = ("correctness", "coherence", "score")
Key = tuple[str, str]
Answer = tuple[int, str, str]  # the number of the run, and the question's key


def by_question(judgements: Sequence[Judgement]) -> dict[Key, dict[str, float]]:
    """`judge_correctness`, `judge_coherence` and `judge_score` of every judged question."""
    said: defaultdict[Key, list[Judgement]] = defaultdict(list)
    for each in judgements:
        if each.verdict is not None:
            said[each.key].append(each)
    return {
        key: {f"judge_{aspect}": fmean(getattr(each.verdict, aspect) for each in made) for aspect in ASPECTS}
        for key, made in said.items()
    }


def with_judgements(
    results: Mapping[str, Any], records: Sequence[Record], judgements: Sequence[Judgement]
) -> dict[str, Any]:
    """A run's results and what the judges said, in place of what any judge said of it before."""
    marks = by_question(judgements)
    judged = [each for each in records if each.key in marks]
    names = [f"judge_{aspect}" for aspect in ASPECTS] if judged else []
    values = {name: [marks[each.key][name] for each in judged] for name in names}
    told = _without_judges(results)
    told["metrics"] |= {name: _mean(values[name]) for name in names}
    told["intervals"] |= {name: [round(bound, 4) for bound in interval(values[name])] for name in names}
    told["counts"] |= {name: len(judged) for name in names}
    for category, figures in told["by_category"].items():
        chosen = [marks[each.key] for each in judged if each.category == category]
        if chosen:
            figures |= {name: _mean([mark[name] for mark in chosen]) for name in names}
    told["judges"] = {
        "names": sorted({each.judge for each in judgements}),
        "prompt": judgements[0].prompt if judgements else None,
        "failed": sum(each.verdict is None for each in judgements),
        "agreement": agreement([judgements]),
    }
    return told


def agreement(runs: Sequence[Sequence[Judgement]]) -> list[dict[str, Any]]:
    """For every two judges, over all answers that both have judged."""
    said: defaultdict[str, dict[Answer, Verdict]] = defaultdict(dict)
    for number, judgements in enumerate(runs):
        for each in judgements:
            if each.verdict is not None:
                said[each.judge][number, *each.key] = each.verdict
    return [_agreement(one, said[one], other, said[other]) for one, other in combinations(sorted(said), 2)]


def _agreement(
    one: str, ours: Mapping[Answer, Verdict], other: str, theirs: Mapping[Answer, Verdict]
) -> dict[str, Any]:
    both = sorted(ours.keys() & theirs.keys())
    told: dict[str, Any] = {"judges": [one, other], "n": len(both)}
    for aspect in ASPECTS if both else ():
        first = [getattr(ours[key], aspect) for key in both]
        second = [getattr(theirs[key], aspect) for key in both]
        told[aspect] = {"exact": round(exact(first, second), 4)}
        if aspect == "score":
            apart = [abs(a - b) for a, b in zip(first, second, strict=True)]
            told[aspect]["mean_difference"] = round(fmean(apart), 4)
        else:
            chance_free = kappa(first, second)
            told[aspect]["kappa"] = None if chance_free is None else round(chance_free, 4)
    return told


def _without_judges(results: Mapping[str, Any]) -> dict[str, Any]:
    def unjudged(figures: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in figures.items() if not name.startswith("judge_")}

    told = {name: value for name, value in results.items() if name != "judges"}
    for part in ("metrics", "intervals", "counts"):
        told[part] = unjudged(results.get(part, {}))
    told["by_category"] = {name: unjudged(row) for name, row in results.get("by_category", {}).items()}
    return told


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4)
