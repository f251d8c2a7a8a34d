"""Does packing help? Share of the answers' anchors in the context, at equal token budgets.

    python benchmarks/packing.py --data DIR --limit 200

Every history is stored in a memory, and every question with anchors is asked. The recalled memories are put
into each budget in two ways: `prefix` (whole memories, best first, until one does not fit; fragments cut at
600 characters, as before `recall.pack`) and `pack`. For comparison, `synthesise` answers by rules in at most
50 words from the first five memories. No language model is used. The constants of `recall.pack` were chosen
by a coarse grid on GVD and the worlds of seed 0; other seeds are unseen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, get_args

from rich.console import Console
from rich.table import Table

from thinkback.language.tokens import count_tokens
from thinkback.recall.pack import pack, to_pack_item
from thinkback.recall.synthesis import synthesise_by_rules
from thinkback.types import Candidate, Recollection
from thinkback_lab.cases import Dataset
from thinkback_lab.datasets import gvd, perltqa
from thinkback_lab.harness import Setup
from thinkback_lab.metrics.answers import anchor_share
from thinkback_lab.runs.runner import choose_questions
from thinkback_lab.systems.interface import Resources
from thinkback_lab.systems.resources import load_resources
from thinkback_lab.systems.thinkback import ThinkbackSystem
from thinkback_lab.worlds.files import write_world
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import Lang

BUDGETS = (50, 100, 200, 400)
WORDS, RECALLED = 50, 5  # of a synthesis
FRAGMENT = 600  # characters of a raw turn that the previous method kept
CHARACTERS = 5  # of a generated world


class Asked(NamedTuple):
    """A question, the memories recalled for it, and its anchors."""

    found: Recollection
    anchors: tuple[str, ...]


def prefix(found: Recollection, budget: int) -> str:
    """The previous method: whole memories, best first, up to the first that does not fit."""
    kept: list[str] = []
    for item in found:
        budget -= count_tokens(text := _told(item))
        if budget < 0:
            break
        kept.append(text)
    return "\n".join(kept)


def packed(found: Recollection, budget: int) -> str:
    pieces = [to_pack_item(item, attributed=True) for item in found]
    return "\n".join(each.text for each in pack(found.query, pieces, budget))


def synthesised(found: Recollection) -> str:
    return synthesise_by_rules(found.query, replace(found, items=found.items[:RECALLED]), WORDS).text


def _told(item: Candidate) -> str:
    turn = item.turn
    if turn is None:
        return item.text
    sides = ((turn.asker, turn.query), (turn.answerer, turn.response))
    said = " / ".join(f"{speaker}: {words}" for speaker, words in sides if words)
    return f"on {turn.at:%Y-%m-%d} {said[:FRAGMENT]}"


def datasets(folder: Path, seed: int) -> Iterator[tuple[str, Dataset]]:
    """GVD in both languages, and a generated world in each."""
    for lang in gvd.LANGS:
        yield f"gvd {lang}", gvd.load(folder, lang)
    for world in get_args(Lang):
        with tempfile.TemporaryDirectory() as home:
            write_world(generate(CHARACTERS, world, seed), Path(home))
            yield f"world {world}", perltqa.load(Path(home), world)


def questions(dataset: Dataset, models: Resources, k: int) -> Iterator[Asked]:
    for case in dataset.cases:
        with closing(ThinkbackSystem(models)) as memory:
            memory.add_items(case.items)
            for question in filter(lambda question: question.anchors, case.questions):
                memory.recall(question.text, k, question.at)  # sets its clock
                yield Asked(memory.memory.recall(question.text, k=k), question.anchors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    home = os.environ.get("THINKBACK_DATA")
    parser.add_argument("--data", type=Path, default=home, required=not home)
    parser.add_argument("--limit", type=int, default=200, help="questions per data set")
    parser.add_argument("--k", type=int, default=10, help="memories recalled per question")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    models, rows = load_resources(Setup()), dict[str, dict[int, tuple[float, float]]]()
    counts: dict[str, int] = {}
    short: dict[str, float] = {}
    for name, dataset in datasets(Path(args.data), args.seed):
        asked = list(questions(choose_questions(dataset, args.limit, args.seed), models, args.k))
        print(f"{name}: {len(asked)} questions", file=sys.stderr)
        counts[name] = len(asked)
        short[name] = fmean(anchor_share(synthesised(each.found), each.anchors) for each in asked)
        rows[name] = {
            budget: (
                fmean(anchor_share(prefix(each.found, budget), each.anchors) for each in asked),
                fmean(anchor_share(packed(each.found, budget), each.anchors) for each in asked),
            )
            for budget in BUDGETS
        }
    if args.json:
        print(json.dumps({"questions": counts, "prefix, pack": rows, "synthesis": short}))
        return
    table = Table(
        "anchors in the context", "questions", *(f"{budget} tokens" for budget in BUDGETS), "synthesis"
    )
    for name, by_budget in rows.items():
        cells = [f"{old:.3f} -> {new:.3f}" for old, new in by_budget.values()]
        table.add_row(name, str(counts[name]), *cells, f"{short[name]:.3f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
