"""CPU time of thinking without a model, per turn: the reader alone, and the whole of it.

    python benchmarks/thinking.py [--json] [--turns 2000] [FOLDER ...]

reader:     the reader of `think="extractive"` (rules and the sentence classifier), one turn at a time, of an
            empty memory.
post-think: read, judge, plan and apply in an in-memory store, one growing space.
The embedder does nothing (it is measured by benchmarks/embedders.py), so this is the cost of thinking itself.
The turns come from the scenarios and, if THINKBACK_DATA contains it, from MemoryBank's dialogues (gvd).
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
from thinkback.think.contract import ReadRequest
from thinkback.think.readers import create_reader
from thinkback_lab.evaluations.scenario_format import read_scenarios

if TYPE_CHECKING:
    from thinkback.types import Vector

SCENARIOS = Path(__file__).parents[1] / "scenarios"
GVD = ("gvd/memory_bank_en.json.gz", "gvd/memory_bank_cn.json.gz")
START = datetime(2024, 1, 1, 9, tzinfo=UTC)
WARM_UP = 20
Exchange = tuple[str, str]  # query, response


class ConstantEmbedder:
    """Gives every text the same vector, at no cost."""

    name = "constant"
    dim = 8

    def embed(self, texts: Sequence[str]) -> Vector:
        return np.full((len(texts), self.dim), self.dim**-0.5, dtype=np.float32)


def scenario_turns(folders: Sequence[Path]) -> list[Exchange]:
    return [(turn.user, turn.assistant) for each in read_scenarios(folders) for turn in each.turns]


def gvd_turns() -> list[Exchange]:
    """All turns of MemoryBank's virtual users; empty without the data."""
    home = os.environ.get("THINKBACK_DATA")
    return [turn for name in GVD for turn in _read_gvd(Path(home, name))] if home else []


def _read_gvd(path: Path) -> Iterator[Exchange]:
    for user in json.loads(gzip.decompress(path.read_bytes())).values():
        for day in user["history"].values():
            for turn in day:
                yield turn["query"], turn["response"]


def measure_reader(exchanges: Sequence[Exchange]) -> dict[str, float]:
    reader = create_reader("extractive", None, ConstantEmbedder())
    requests = [
        ReadRequest(
            turns=(
                Turn(
                    id=number,
                    query=query,
                    response=response,
                    at=START + timedelta(minutes=number),
                    recorded_at=START,
                    session="default",
                ),
            )
        )
        for number, (query, response) in enumerate(exchanges, start=1)
    ]
    for request in requests[:WARM_UP]:
        reader.read(request)
    return spread([timed(reader.read, request) for request in requests])


def measure_post_think(exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Remember and post-think in one growing space; only post-thinking is timed."""
    times = []
    with Memory.open(":memory:", embedder=ConstantEmbedder(), think="extractive", background=False) as memory:
        for number, (query, response) in enumerate(exchanges):
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


MEASUREMENTS: dict[str, Callable[[Sequence[Exchange]], dict[str, float]]] = {
    "reader": measure_reader,
    "post-think": measure_post_think,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", type=Path, default=[SCENARIOS])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=2000, help="maximum number of turns of each set")
    args = parser.parse_args()
    sets = {"scenarios": scenario_turns(args.folders), "gvd": gvd_turns()}
    figures = {
        f"{name}, {label}": {"turns": len(turns[: args.turns]), **measure(turns[: args.turns])}
        for name, turns in sets.items()
        if turns
        for label, measure in MEASUREMENTS.items()
    }
    if args.json:
        print(json.dumps(figures))
        return
    print(
        f"{'ms per turn':24}{'turns':>7}"
        + "".join(f"{each:>9}" for each in ("mean", "p50", "p95", "p99", "max"))
    )
    for name, row in figures.items():
        cells = "".join(f"{row[each]:9.3f}" for each in ("mean", "p50", "p95", "p99", "max"))
        print(f"{name:24}{row['turns']:7}{cells}")


if __name__ == "__main__":
    main()
