"""CPU time of post-thinking per turn: the rules alone, and the whole of it.

    python benchmarks/thinking.py [--json] [--turns 2000] [FOLDER ...]

rules:      `RuleGenerator.generate`, one turn at a time.
post-think: generate, plan and apply in an in-memory store. The embedder does nothing (it is measured by
            benchmarks/embedders.py), so this is the cost of thinking itself.
reorganise: consolidation of one group of 50 thoughts by rules (25 pairs are merged), in a space of 50 and in
            one of 2,000 thoughts.
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
from functools import partial
from pathlib import Path
from statistics import fmean, quantiles
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from thinkback import Memory, Turn
from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import Source, ThoughtDraft
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


def measure_rules(exchanges: Sequence[Exchange]) -> dict[str, float]:
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
        for number, (query, response) in enumerate(exchanges, start=1)
    ]
    for turn in turns[:WARM_UP]:
        generator.generate(turn)
    return spread([timed(generator.generate, turn) for turn in turns])


def measure_post_think(exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Remember and post-think in one growing space; only post-thinking is timed."""
    times = []
    with Memory.open(":memory:", embedder=ConstantEmbedder(), think="rules", background=False) as memory:
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
    "rules": measure_rules,
    "post-think": measure_post_think,
}
GROUP_SIZE = 50


class TwoGroupEmbedder:
    """Maps texts with the word "Person" to one vector and all others to its opposite."""

    name = "groups"
    dim = 8

    def embed(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, 0] = -1.0 if "Person" in text else 1.0
        return vectors


class DatedGenerator:
    """Drafts facts with a start date, which are not merged before consolidation."""

    name = "dated"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        subject, _, liked = turn.query.rstrip(".").partition(" likes ")
        source = Source(turn.id, turn.asker, "query", 0, len(turn.query))
        draft = ThoughtDraft(
            subject=subject,
            relation="likes",
            objects=(liked,),
            sentence=turn.query,
            kind="profile",
            sources=(source,),
            valid_from=turn.at,
        )
        return [draft]


def consolidate(others: int, rounds: int) -> dict[str, float]:
    """Milliseconds to consolidate a group of 50 thoughts, which become 25."""
    times = []
    for _ in range(rounds):
        with Memory.open(
            ":memory:", embedder=TwoGroupEmbedder(), think=DatedGenerator(), background=False
        ) as memory:
            texts = [f"Other{letters(number)} likes tea." for number in range(others)]
            people = range(GROUP_SIZE // 2)
            texts += [f"Person{letters(who)} likes {what}." for what in ("tea", "jazz") for who in people]
            for number, text in enumerate(texts):
                memory.remember(text, at=START + timedelta(minutes=number))
            with patch("thinkback.think.thinker.is_consolidation_due", lambda size: False):
                memory.post_think()
            sizes = memory._indexer.group_sizes(memory.user)
            group = next(number for number, size in sizes.items() if size == GROUP_SIZE)
            times.append(timed(partial(memory.organise, group=group)))
            assert len(memory.thoughts(group=group)) == GROUP_SIZE // 2
    return spread(times)


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(3))


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
    figures |= {
        f"reorganise, {others + GROUP_SIZE}": {"turns": GROUP_SIZE, **consolidate(others, rounds)}
        for others, rounds in ((0, 20), (1950, 2))
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
