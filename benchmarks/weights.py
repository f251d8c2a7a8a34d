"""Where the default preset's weights come from: the ones that find the most on open data, cross-validated.

    python benchmarks/weights.py --data DIR --limit 300 --steps 1500

Every history is told to a memory, every question is asked, and the parts of all candidates are noted as
`recall.scoring` gets them. What other weights would rank first can then be computed without asking again, and
a random local search moves them (that of shared words stays 1: only proportions matter) to where the mean
over the data sets of (hit@1 + hit@5) / 2 is highest. Folds are by case: no history is both learned from and
judged. A thought and its turn stand for one item and take one place. What recall leaves out afterwards (a
question asked before, a secret) is not left out here, so these are not the figures of `thinkback-lab eval`.
"Before" and "after" are fitted to the data they are judged on; only "cross-validated" is not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from thinkback.index.shelf import Parts
from thinkback.presets import HYBRID
from thinkback.recall.scoring import Scorer
from thinkback_lab.cases import Case, Dataset
from thinkback_lab.datasets import perltqa
from thinkback_lab.datasets.registry import DATASETS
from thinkback_lab.errors import DataAbsent
from thinkback_lab.runs.start import choose
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.ours import Thinkback
from thinkback_lab.schemes.scheme import Kit
from thinkback_lab.stage import Setup
from thinkback_lab.worlds.files import write
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import Lang

NAMES = ("lexical", "cosine", "cosine_han", "before", "cosine_before", "thought", "time", "about", "told")
LEAST, MOST = np.array([[1.0, 0, 0, 0, 0, -1, 0, 0, 0], [1, 4, 4, 4, 4, 1, 6, 6, 6]])
STEP = np.array([0, 0.15, 0.15, 0.15, 0.15, 0.5, 0.5, 0.5, 0.5])  # how far one move goes
START = np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 0])  # not the preset: it was learned from such data
BEFORE = np.array([getattr(HYBRID, name) for name in NAMES])
ALONE: list[Any] = [replace(HYBRID, **dict(zip(NAMES, row, strict=True))) for row in np.eye(len(NAMES))]
FOLDS, CHARACTERS = 3, 5  # by case; of a generated world
Floats = npt.NDArray[np.float64]
Cases = list[tuple[int, "Asked"]]  # questions, each with the number of its case


class Asked(NamedTuple):
    """Questions: a row a weight, a column a candidate; those of one item lie side by side."""

    columns: Floats
    sizes: npt.NDArray[np.int64]  # candidates of each item
    gold: npt.NDArray[np.bool_]  # whether the item answers
    items: npt.NDArray[np.int64]  # of each question

    def hits(self, weights: Floats) -> Floats:
        """The share of questions with an answer first, and among the first five; a tie counts against it."""
        best = np.maximum.reduceat(weights @ self.columns, np.cumsum(self.sizes) - self.sizes)
        questions = np.cumsum(self.items) - self.items
        answer = np.maximum.reduceat(np.where(self.gold, best, -np.inf), questions)
        before = np.add.reduceat(~self.gold & (best >= np.repeat(answer, self.items)), questions, dtype=int)
        return np.array([np.mean(np.isfinite(answer) & (before < k)) for k in (1, 5)])


def joined(cases: Cases) -> Asked:
    """Many questions in one matrix: a try is then a handful of numpy calls."""
    columns = zip(*(asked for _, asked in cases), strict=True)
    return Asked(*(np.concatenate(column, axis=-1) for column in columns))


def questions_of(case: Case, models: Kit) -> Iterator[Asked]:
    """The questions of one case; one put to so few rows that they are scored plainly is passed over."""
    noted: list[tuple[Scorer, Parts]] = []
    score = Scorer.__call__

    def noting(scorer: Scorer, parts: Parts) -> Floats:
        noted.append((scorer, parts))
        return score(scorer, parts)

    with closing(Thinkback(models)) as memory, patch.object(Scorer, "__call__", noting):
        memory.tell(case.items)
        thoughts = memory.memory.thoughts(current=False)
        turns = {thought.id: [source.turn for source in thought.sources] for thought in thoughts}
        for question in filter(lambda question: question.gold, case.questions):
            noted.clear()
            memory.recall(question.text, 5, question.at)
            found: dict[tuple[str, ...], list[Floats]] = {}
            for scorer, parts in noted:
                # linear in its weights: what each is a weight of is the score by it alone
                columns = np.stack([replace(scorer, preset=alone).linear(parts) for alone in ALONE])
                for place, id_ in enumerate(parts.ids.tolist()):
                    told = turns.get(id_, ()) if scorer.thoughts else [id_]
                    if told:  # else it says who is who, and answers nothing
                        found.setdefault(memory.items_of(sorted(told)), []).append(columns[:, place])
                if not scorer.thoughts:  # thoughts, then turns; what comes after is recall looking again
                    break
            if found:
                gold = [not set(question.gold).isdisjoint(items) for items in found]
                sizes = np.array([len(each) for each in found.values()])
                columns = np.stack([column for each in found.values() for column in each], axis=1)
                yield Asked(columns, sizes, np.array(gold), np.array([len(found)]))


def datasets(folder: Path, seed: int) -> Iterator[tuple[str, Dataset]]:
    """Those of `thinkback-lab` that lie in the folder, and a generated world in each language."""
    for entry in DATASETS.values():
        for choices in entry.parts():
            name = f"{entry.name} {entry.part(choices)}".strip()
            try:
                yield name, entry.load(folder, **choices)
            except DataAbsent:
                print(f"{name}: not in {folder}, left out", file=sys.stderr)
    for lang in get_args(Lang):
        with tempfile.TemporaryDirectory() as home:
            write(generate(CHARACTERS, lang, seed), Path(home))
            yield f"world {lang}", perltqa.load(Path(home), lang)


def fitted(sets: Sequence[Cases], steps: int, seed: int) -> Floats:
    """From words and meaning alone, small random moves of one or two weights, kept unless they find less."""
    random, sheets = np.random.default_rng(seed), [joined(cases) for cases in sets if cases]

    def aim(weights: Floats) -> float:
        return float(np.mean([sheet.hits(weights) for sheet in sheets]))

    weights, best = START, aim(START)
    for _ in range(steps):
        moved = random.choice(np.flatnonzero(STEP), random.integers(1, 3), replace=False)
        tried = weights.copy()
        tried[moved] += STEP[moved] * random.standard_normal(len(moved))
        np.clip(tried, LEAST, MOST, out=tried)
        if (reached := aim(tried)) >= best:  # hits are a landscape of steps: what is as good is a way on
            weights, best = tried, reached
    return weights


def crossed(sets: Mapping[str, Cases], steps: int, seed: int) -> dict[str, Floats]:
    """Each data set's hits by weights that were found without the case asked about."""
    hits = {name: np.zeros(2) for name in sets}
    for fold in range(FOLDS):
        learned = [[each for each in cases if each[0] % FOLDS != fold] for cases in sets.values()]
        weights = fitted(learned, steps, seed + fold)
        for name, cases in sets.items():
            if judged := [each for each in cases if each[0] % FOLDS == fold]:
                hits[name] += joined(judged).hits(weights) * len(judged) / len(cases)
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    home = os.environ.get("THINKBACK_DATA")
    parser.add_argument("--data", type=Path, default=home, required=not home)
    parser.add_argument("--limit", type=int, default=300, help="questions of a data set")
    parser.add_argument("--steps", type=int, default=1500, help="moves that a search tries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    models, sets = kit(Setup()), dict[str, Cases]()
    for name, dataset in datasets(args.data, args.seed):
        cases = choose(dataset, args.limit, args.seed).cases
        print(f"{name}: {len(cases)} cases", file=sys.stderr)
        if asked := [(at, each) for at, case in enumerate(cases) for each in questions_of(case, models)]:
            sets[name] = asked
    after = fitted(list(sets.values()), args.steps, args.seed)
    report(sets, after, crossed(sets, args.steps, args.seed), as_json=args.json)


def report(sets: Mapping[str, Cases], after: Floats, cross: Mapping[str, Floats], *, as_json: bool) -> None:
    old, new = ({name: joined(each).hits(way) for name, each in sets.items()} for way in (BEFORE, after))
    ways = {"before": old, "cross-validated": cross, "after": new}
    means = {way: round(float(np.mean(list(hits.values()))), 4) for way, hits in ways.items()}
    weights = {name: [float(BEFORE[at]), round(float(after[at]), 2)] for at, name in enumerate(NAMES)}
    if as_json:
        told = {"hits": ways, "means": means, "weights": weights}
        print(json.dumps(told, default=lambda hits: hits.round(4).tolist()))
        return
    table = Table("hit@1 / hit@5", "questions", *ways)
    for name, cases in sets.items():
        shares = [" / ".join(f"{share:.3f}" for share in hits[name]) for hits in ways.values()]
        table.add_row(name, str(len(cases)), *shares)
    table.add_row("mean", "", *map(str, means.values()))
    Console(width=100).print(table)
    print("weights:", ", ".join(f"{name} {was:g} -> {now:g}" for name, (was, now) in weights.items()))


if __name__ == "__main__":
    main()
