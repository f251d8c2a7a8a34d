"""The results of a run in numbers: as JSON for machines and as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.scenarios.format import Probe, Scenario
from thinkback_lab.scenarios.judge import Verdict
from thinkback_lab.scenarios.run import Result
from thinkback_lab.scenarios.triples import Key, score

if TYPE_CHECKING:
    from rich.table import Table


def summarise(
    results: Sequence[Result], settings: Mapping[str, object], scheme: str = "thinkback"
) -> dict[str, Any]:
    """`n` and every rate count probes; `rejected` counts reject strings found in recalled current thoughts.

    `leaked` counts those in raw fragments: they do not decide, but a secret must not be among them.
    """
    judged = list(chain.from_iterable(zip(_owners(each), each.verdicts, strict=True) for each in results))
    compared = [(each.scenario.id, each.matched) for each in results if each.matched is not None]
    triples = score(matched for _, matched in compared)
    counted = _counted([verdict for _, verdict in judged])
    return {
        "dataset": "scenarios",
        "scheme": scheme,
        "settings": dict(settings),
        "scenarios": len(results),
        **counted,
        "metrics": {name: counted[name] for name in ("pass_rate", "rejected", "leaked")}
        | {"triple_f1": triples.f1},
        "by_category": _by(judged, lambda scenario: scenario.category),
        "by_language": _by(judged, lambda scenario: scenario.lang),
        "triple_f1": triples.f1,
        "triples": {**asdict(triples), "scenarios": len(compared)},
        "ms_per_turn": _mean([ms for each in results for ms in each.played.turn_ms]),
        "ms_per_query": _mean([ms for each in results for ms in each.played.probe_ms]),
        "unthought": sum(each.played.unthought for each in results),
        "failures": [
            _failure(each.scenario, probe, verdict)
            for each in results
            for probe, verdict in zip(each.scenario.probes, each.verdicts, strict=True)
            if not verdict.passed
        ],
        "triple_failures": [
            {"id": id_, "missing": _shown(matched.missing), "extra": _shown(matched.extra)}
            for id_, matched in compared
            if matched.missing or matched.extra
        ],
    }


def table(summary: Mapping[str, Any]) -> Table:
    """Categories, then languages, then all."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("scenarios")
    for column in ("probes", "passed", "rate", "rejected", "leaked"):
        grid.add_column(column, justify="right")
    groups = (*summary["by_category"].items(), *summary["by_language"].items(), ("all", summary))
    for name, counts in groups:
        rate = "-" if counts["pass_rate"] is None else f"{counts['pass_rate']:.1%}"
        cells = (str(counts[each]) for each in ("n", "passed"))
        grid.add_row(Text(name), *cells, rate, str(counts["rejected"]), str(counts["leaked"]))
    return grid


def _owners(result: Result) -> list[Scenario]:
    return [result.scenario] * len(result.verdicts)


def _by(judged: Sequence[tuple[Scenario, Verdict]], key: Callable[[Scenario], str]) -> dict[str, Any]:
    groups: dict[str, list[Verdict]] = {}
    for scenario, verdict in judged:
        groups.setdefault(key(scenario), []).append(verdict)
    return {name: _counted(groups[name]) for name in sorted(groups)}


def _counted(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    passed = sum(each.passed for each in verdicts)
    return {
        "n": len(verdicts),
        "passed": passed,
        "pass_rate": passed / len(verdicts) if verdicts else None,
        "rejected": sum(len(each.rejected) for each in verdicts),
        "leaked": sum(len(each.leaked) for each in verdicts),
    }


def _failure(scenario: Scenario, probe: Probe, verdict: Verdict) -> dict[str, Any]:
    return {
        "id": scenario.id,
        "category": scenario.category,
        "lang": scenario.lang,
        "probe": probe.question,
        "recalled": [{"ref": each.ref, "text": each.text} for each in verdict.recalled],
        "why": verdict.why,
    }


def _shown(keys: frozenset[Key]) -> list[dict[str, str]]:
    return [dict(zip("sro", key, strict=True)) for key in sorted(keys)]


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 3) if values else None
