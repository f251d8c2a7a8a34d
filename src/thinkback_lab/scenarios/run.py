"""One run over scenarios: choose, replay, judge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from thinkback_lab.errors import LabError
from thinkback_lab.progress import Report, silent
from thinkback_lab.sample import sample
from thinkback_lab.scenarios.format import Scenario
from thinkback_lab.scenarios.judge import Verdict, judge
from thinkback_lab.scenarios.replay import Played, play, play_elsewhere
from thinkback_lab.scenarios.triples import Matched, match
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.scheme import Kit, Scheme, opened
from thinkback_lab.stage import Setup, Stage


@dataclass(frozen=True, slots=True)
class Result:
    """One scenario, judged: a verdict for each probe, and the triples where they are given."""

    scenario: Scenario
    played: Played
    verdicts: tuple[Verdict, ...]
    matched: Matched | None


def choose(
    scenarios: Sequence[Scenario],
    *,
    categories: Collection[str] = (),
    langs: Collection[str] = (),
    limit: int | None = None,
    seed: int | None = None,
) -> list[Scenario]:
    """Those of some categories and languages; of these the first `limit`, or with a seed a random sample."""
    _known(categories, {each.category for each in scenarios}, "category")
    _known(langs, {each.lang for each in scenarios}, "language")
    chosen = [
        each
        for each in scenarios
        if (not categories or each.category in categories) and (not langs or each.lang in langs)
    ]
    if not chosen:
        raise LabError("no scenario is of such a category and of such a language")
    return sample(chosen, limit, seed)


def run(
    scenarios: Sequence[Scenario], setup: Setup, report: Report = silent, scheme: Scheme | None = None
) -> list[Result]:
    """Every scenario in turn, with thinkback or another memory system; `report` is told how far it is."""
    player = partial(play, Stage(setup)) if scheme is None else partial(_elsewhere, scheme, kit(setup))
    results: list[Result] = []
    for scenario in scenarios:
        results.append(_judged(scenario, player(scenario)))
        report(len(results), len(scenarios))
    return results


def _elsewhere(scheme: Scheme, parts: Kit, scenario: Scenario) -> Played:
    with opened(scheme, parts) as memory:
        if hasattr(memory, "recall_knowing"):
            raise LabError("a scheme that is told the answers cannot be put to scenarios")
        return play_elsewhere(memory, scenario)


def _judged(scenario: Scenario, played: Played) -> Result:
    pairs = zip(scenario.probes, played.recalled, strict=True)
    expected, held = scenario.expect_thoughts, played.thoughts
    return Result(
        scenario,
        played,
        tuple(judge(probe, recalled) for probe, recalled in pairs),
        None if expected is None or held is None else match(expected, held),
    )


def _known(wanted: Collection[str], there: Collection[str], what: str) -> None:
    if unknown := sorted(set(wanted) - set(there)):
        raise LabError(f"no scenario of {what} {unknown[0]!r}: these files have {', '.join(sorted(there))}")
