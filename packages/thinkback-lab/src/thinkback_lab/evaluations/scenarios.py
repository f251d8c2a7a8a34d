"""Scenarios, the unit tests of memory: choose, replay, judge and summarise them.

The turns are replayed into an empty memory at the times given, with post-think after each; then the probes
are recalled. Other memory systems than thinkback get the same turns; everything they recall counts as raw
turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from thinkback import Thought
from thinkback_lab.cases import HistoryItem, take_sample
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.scenario_format import Probe, Scenario
from thinkback_lab.evaluations.scenario_scoring import (
    ProbeMemory,
    ProbeVerdict,
    TripleKey,
    TripleMatch,
    current_memories,
    judge_probe,
    match_triples,
    score_triples,
)
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.systems.interface import MemorySystem, Resources, SystemFactory, open_system
from thinkback_lab.systems.resources import load_resources

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedScenario:
    """The recalled memories of each probe, the final thoughts, and timings."""

    recalled: tuple[tuple[ProbeMemory, ...], ...]
    thoughts: tuple[Thought, ...] | None  # None: the system has no thoughts
    turn_ms: tuple[float, ...]
    probe_ms: tuple[float, ...]
    unprocessed_turns: int  # post-think failed for these turns


def play_scenario(stage: Harness, scenario: Scenario) -> PlayedScenario:
    clock = ManualClock()
    turn_ms: list[float] = []
    probe_ms: list[float] = []
    recalled: list[tuple[ProbeMemory, ...]] = []
    with stage.open(clock) as memory:
        for turn in scenario.turns:
            clock.now = turn.at
            started = perf_counter()
            memory.remember(turn.user, turn.assistant, at=turn.at)
            if stage.think_after == "turn":
                memory.post_think()
            turn_ms.append(_elapsed_ms(started))
        for probe in scenario.probes:
            clock.now = probe.now or scenario.turns[-1].at
            memory.post_think()  # the whole scenario, or turns whose post-think failed
            started = perf_counter()
            recollection = memory.recall(probe.question, k=probe.k)
            probe_ms.append(_elapsed_ms(started))
            recalled.append(current_memories(recollection))
        stats = memory.stats()
        return PlayedScenario(
            recalled=tuple(recalled),
            thoughts=tuple(memory.thoughts()),
            turn_ms=tuple(turn_ms),
            probe_ms=tuple(probe_ms),
            unprocessed_turns=stats.pending + stats.failed,
        )


def play_with_system(memory: MemorySystem, scenario: Scenario) -> PlayedScenario:
    """Like `play_scenario`, with another memory system."""
    turn_ms: list[float] = []
    probe_ms: list[float] = []
    recalled: list[tuple[ProbeMemory, ...]] = []
    for number, turn in enumerate(scenario.turns, start=1):
        started = perf_counter()
        memory.add_items(
            [HistoryItem(id=f"turn:{number}", query=turn.user, response=turn.assistant, at=turn.at)]
        )
        turn_ms.append(_elapsed_ms(started))
    for probe in scenario.probes:
        started = perf_counter()
        memories = memory.recall(probe.question, probe.k, probe.now or scenario.turns[-1].at)
        probe_ms.append(_elapsed_ms(started))
        recalled.append(tuple(ProbeMemory(", ".join(each.sources), each.text, False) for each in memories))
    return PlayedScenario(
        recalled=tuple(recalled),
        thoughts=None,
        turn_ms=tuple(turn_ms),
        probe_ms=tuple(probe_ms),
        unprocessed_turns=0,
    )


def _elapsed_ms(started: float) -> float:
    return (perf_counter() - started) * 1000


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """A scenario with a verdict per probe, and the triple comparison if triples are expected."""

    scenario: Scenario
    played: PlayedScenario
    verdicts: tuple[ProbeVerdict, ...]
    matched: TripleMatch | None


def choose_scenarios(
    scenarios: Sequence[Scenario],
    *,
    categories: Collection[str] = (),
    langs: Collection[str] = (),
    limit: int | None = None,
    seed: int | None = None,
) -> list[Scenario]:
    """Filter by category and language, then take the first `limit` or, with a seed, a random sample."""
    _check_known(categories, {each.category for each in scenarios}, "category")
    _check_known(langs, {each.lang for each in scenarios}, "language")
    selected = [
        each
        for each in scenarios
        if (not categories or each.category in categories) and (not langs or each.lang in langs)
    ]
    if not selected:
        raise LabError("no scenario has such a category and language")
    return take_sample(selected, limit, seed)


def run_scenarios(
    scenarios: Sequence[Scenario],
    setup: Setup,
    on_progress: ProgressCallback = no_progress,
    scheme: SystemFactory | None = None,
) -> list[ScenarioResult]:
    """Run all scenarios with thinkback or another memory system."""
    player = (
        partial(play_scenario, Harness(setup))
        if scheme is None
        else partial(_play_in_system, scheme, load_resources(setup))
    )
    results: list[ScenarioResult] = []
    for scenario in scenarios:
        results.append(_judge_scenario(scenario, player(scenario)))
        on_progress(len(results), len(scenarios))
    return results


def _play_in_system(scheme: SystemFactory, resources: Resources, scenario: Scenario) -> PlayedScenario:
    with open_system(scheme, resources) as memory:
        if hasattr(memory, "recall_with_gold"):
            raise LabError("a system that needs the gold cannot run scenarios")
        return play_with_system(memory, scenario)


def _judge_scenario(scenario: Scenario, played: PlayedScenario) -> ScenarioResult:
    pairs = zip(scenario.probes, played.recalled, strict=True)
    expected, thoughts = scenario.expect_thoughts, played.thoughts
    return ScenarioResult(
        scenario,
        played,
        tuple(judge_probe(probe, recalled) for probe, recalled in pairs),
        None if expected is None or thoughts is None else match_triples(expected, thoughts),
    )


def _check_known(values: Collection[str], available: Collection[str], what: str) -> None:
    if unknown := sorted(set(values) - set(available)):
        raise LabError(f"no scenario of {what} {unknown[0]!r}: choose from {', '.join(sorted(available))}")


def summarise_scenarios(
    results: Sequence[ScenarioResult], settings: Mapping[str, object], scheme: str = "thinkback"
) -> dict[str, Any]:
    """Results in the common form. `n` and all rates count probes; `rejected` counts reject strings in current
    thoughts.

    `leaked` counts reject strings in raw turns. They do not affect the verdict, but must not be secrets.
    """
    judged = list(
        chain.from_iterable(zip(_scenario_per_verdict(each), each.verdicts, strict=True) for each in results)
    )
    compared = [(each.scenario.id, each.matched) for each in results if each.matched is not None]
    triples = score_triples(matched for _, matched in compared)
    counted = _count_verdicts([verdict for _, verdict in judged])
    return {
        "dataset": "scenarios",
        "scheme": scheme,
        "settings": dict(settings),
        "scenarios": len(results),
        **counted,
        "metrics": {name: counted[name] for name in ("pass_rate", "rejected", "leaked")}
        | {"triple_f1": triples.f1},
        "by_category": _group_verdicts(judged, lambda scenario: scenario.category),
        "by_language": _group_verdicts(judged, lambda scenario: scenario.lang),
        "triple_f1": triples.f1,
        "triples": {**asdict(triples), "scenarios": len(compared)},
        "ms_per_turn": _rounded_mean([ms for each in results for ms in each.played.turn_ms]),
        "ms_per_query": _rounded_mean([ms for each in results for ms in each.played.probe_ms]),
        "unthought": sum(each.played.unprocessed_turns for each in results),
        "failures": [
            _describe_failure(each.scenario, probe, verdict)
            for each in results
            for probe, verdict in zip(each.scenario.probes, each.verdicts, strict=True)
            if not verdict.passed
        ],
        "triple_failures": [
            {
                "id": id_,
                "missing": _triples_as_dicts(matched.missing),
                "extra": _triples_as_dicts(matched.extra),
            }
            for id_, matched in compared
            if matched.missing or matched.extra
        ],
    }


def scenarios_table(summary: Mapping[str, Any]) -> Table:
    """Rows by category, then by language, then all."""
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


def _scenario_per_verdict(result: ScenarioResult) -> list[Scenario]:
    return [result.scenario] * len(result.verdicts)


def _group_verdicts(
    judged: Sequence[tuple[Scenario, ProbeVerdict]], key: Callable[[Scenario], str]
) -> dict[str, Any]:
    groups: dict[str, list[ProbeVerdict]] = {}
    for scenario, verdict in judged:
        groups.setdefault(key(scenario), []).append(verdict)
    return {name: _count_verdicts(groups[name]) for name in sorted(groups)}


def _count_verdicts(verdicts: Sequence[ProbeVerdict]) -> dict[str, Any]:
    passed = sum(each.passed for each in verdicts)
    return {
        "n": len(verdicts),
        "passed": passed,
        "pass_rate": passed / len(verdicts) if verdicts else None,
        "rejected": sum(len(each.rejected) for each in verdicts),
        "leaked": sum(len(each.leaked) for each in verdicts),
    }


def _describe_failure(scenario: Scenario, probe: Probe, verdict: ProbeVerdict) -> dict[str, Any]:
    return {
        "id": scenario.id,
        "category": scenario.category,
        "lang": scenario.lang,
        "probe": probe.question,
        "recalled": [{"ref": each.ref, "text": each.text} for each in verdict.recalled],
        "why": verdict.reasons,
    }


def _triples_as_dicts(keys: frozenset[TripleKey]) -> list[dict[str, str]]:
    return [dict(zip("sro", key, strict=True)) for key in sorted(keys)]


def _rounded_mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 3) if values else None
