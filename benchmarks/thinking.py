"""What post-thinking costs a turn, in processor time: the rules alone, and the whole of it.

    python benchmarks/thinking.py [--json] [--turns 2000] [FOLDER ...]

rules:      `RuleGenerator.generate`, one turn at a time.
post-think: generate, organise and apply in a store in memory; the embedder costs nothing (it is counted by
            benchmarks/embedders.py), so this is what thinking itself adds.
Turns come from the scenarios, and from MemoryBank's dialogues (gvd) where THINKBACK_DATA holds them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

import numpy as np

from thinkback import Memory, Turn
from thinkback.think.rules import RuleGenerator
from thinkback_lab.scenarios.format import read_scenarios

if TYPE_CHECKING:
    from thinkback.types import Vector

SCENARIOS = Path(__file__).parents[1] / "scenarios"
GVD = ("gvd/memory_bank_en.json.gz", "gvd/memory_bank_cn.json.gz")
START = datetime(2024, 1, 1, 9, tzinfo=UTC)
WARM_UP = 20
Said = tuple[str, str]


class Nothing:
    """An embedder that costs nothing: every text is the same vector."""

    name = "nothing"
    dim = 8

    def embed(self, texts: Sequence[str]) -> Vector:
        return np.full((len(texts), self.dim), self.dim**-0.5, dtype=np.float32)


def scenario_turns(folders: Sequence[Path]) -> list[Said]:
    return [(turn.user, turn.assistant) for each in read_scenarios(folders) for turn in each.turns]


def gvd_turns() -> list[Said]:
    """Every turn of MemoryBank's virtual users; none where the data is absent."""
    home = os.environ.get("THINKBACK_DATA")
    return [said for name in GVD for said in _bank(Path(home, name))] if home else []


def _bank(path: Path) -> Iterator[Said]:
    for user in json.loads(gzip.decompress(path.read_bytes())).values():
        for day in user["history"].values():
            for turn in day:
                yield turn["query"], turn["response"]


def rules_alone(said: Sequence[Said]) -> dict[str, float]:
    generator = RuleGenerator()
    turns = [
        Turn(
            id=number,
            query=query,
            response=response,
            at=START + timedelta(minutes=number),
            recorded_at=START,
            session="default",
        )
        for number, (query, response) in enumerate(said, start=1)
    ]
    for turn in turns[:WARM_UP]:
        generator.generate(turn)
    return spread([timed(generator.generate, turn) for turn in turns])


def whole(said: Sequence[Said]) -> dict[str, float]:
    """Remember and post-think in one growing space; only the second is timed."""
    times = []
    with Memory.open(":memory:", embedder=Nothing(), think="rules", background=False) as memory:
        for number, (query, response) in enumerate(said):
            memory.remember(query, response, at=START + timedelta(minutes=number))
            times.append(timed(memory.post_think))
    return spread(times[WARM_UP:] or times)


def timed(call: Callable[..., object], *args: object) -> float:
    started = time.process_time()
    call(*args)
    return (time.process_time() - started) * 1000


def spread(values: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(values, n=100, method="inclusive")
    return {"mean": fmean(values), "p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(values)}


QUESTIONS: dict[str, Callable[[Sequence[Said]], dict[str, float]]] = {
    "rules": rules_alone,
    "post-think": whole,
}
"""What is measured on each set of turns; reorganising a group of 50 joins them with `Memory.reorganise`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path, default=[SCENARIOS])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=2000, help="at most so many of each set")
    args = parser.parse_args()
    sets = {"scenarios": scenario_turns(args.folders), "gvd": gvd_turns()}
    figures = {
        f"{name}, {question}": {"turns": len(said[: args.turns]), **ask(said[: args.turns])}
        for name, said in sets.items()
        if said
        for question, ask in QUESTIONS.items()
    }
    if args.json:
        print(json.dumps(figures))
        return
    print(
        f"{'ms a turn':24}{'turns':>7}"
        + "".join(f"{each:>9}" for each in ("mean", "p50", "p95", "p99", "max"))
    )
    for name, row in figures.items():
        cells = "".join(f"{row[each]:9.3f}" for each in ("mean", "p50", "p95", "p99", "max"))
        print(f"{name:24}{row['turns']:7}{cells}")


if __name__ == "__main__":
    main()
