"""What post-thinking costs a turn, in processor time: the rules alone, and the whole of it.

    python benchmarks/thinking.py [--json] [--turns 2000] [FOLDER ...]

rules:      `RuleGenerator.generate`, one turn at a time.
post-think: generate, organise and apply in a store in memory; the embedder costs nothing (it is counted by
            benchmarks/embedders.py), so this is what thinking itself adds.
reorganise: one group of 50 thoughts put in order by rules (25 pairs of them become one each), in a space of
            50 and in one of 2,000 thoughts.
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
"""What is measured on each set of turns."""

GROUP = 50


class Groups:
    """An embedder of two meanings, told apart by a word: so one group is large and the space larger."""

    name = "groups"
    dim = 8

    def embed(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, 0] = -1.0 if "Person" in text else 1.0
        return vectors


class Dated:
    """A generator whose facts name their beginning: they stand apart until a group is put in order."""

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


def reorganising(others: int, rounds: int) -> dict[str, float]:
    """Milliseconds to put a group of 50 in order, 25 pairs of which become one each."""
    times = []
    for _ in range(rounds):
        with Memory.open(":memory:", embedder=Groups(), think=Dated(), background=False) as memory:
            said = [f"Other{letters(number)} likes tea." for number in range(others)]
            people = range(GROUP // 2)
            said += [f"Person{letters(who)} likes {what}." for what in ("tea", "jazz") for who in people]
            for number, words in enumerate(said):
                memory.remember(words, at=START + timedelta(minutes=number))
            with patch(
                "thinkback.think.thinker.is_consolidation_due", lambda size: False
            ):  # not before we look
                memory.post_think()
            group = memory.recall("Personaaa likes tea", k=1)[0].group
            before = len(memory.thoughts(group=group))
            times.append(timed(partial(memory.organise, group=group)))
            assert (before, len(memory.thoughts(group=group))) == (GROUP, GROUP // 2)
    return spread(times)


def letters(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(3))


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
    figures |= {
        f"reorganise, {others + GROUP}": {"turns": GROUP, **reorganising(others, rounds)}
        for others, rounds in ((0, 20), (1950, 2))
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
