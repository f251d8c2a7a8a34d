"""Learn the weights of the default preset on open data, and validate them on held-out data.

    python benchmarks/weights.py --data DIR --limit 400

Every history is stored in a memory, every question is asked, and the score components of all candidates are
recorded as `recall.score` computes them. The weights maximise the probability of the answers under a softmax
over the candidates, with equal weight for each data set: a convex problem with one solution. Folds are by
case, so no history is used both for learning and for validation. A thought and its turn count as one item.
Candidates that recall drops later (a repeated question, a secret) are kept here, so the figures differ from
those of `thinkback-lab eval`. "Shipped" and "learned" are fitted to the data they are judged on; only
"cross-validated" is not. `--without NAME` learns without one component; the difference is its contribution.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize  # type: ignore[import-untyped]

from thinkback.index.space_index import CandidateColumns
from thinkback.presets import HYBRID, ScoreWeights
from thinkback.recall import search
from thinkback.recall.features import feature_extractor
from thinkback.recall.query import PreparedQuery
from thinkback.recall.rows import MemoryRow, ThoughtRow, TurnRow
from thinkback.recall.score import ScoredColumns, Scorer
from thinkback.types import ItemKind, Ref, Thought, Turn
from thinkback_lab.cases import Case, Dataset
from thinkback_lab.datasets import perltqa
from thinkback_lab.datasets.registry import DATASETS
from thinkback_lab.errors import DatasetNotFound
from thinkback_lab.harness import Setup
from thinkback_lab.runs.runner import choose_questions
from thinkback_lab.systems.interface import Resources
from thinkback_lab.systems.resources import load_resources
from thinkback_lab.systems.thinkback import ThinkbackSystem
from thinkback_lab.worlds.files import write_world
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import Lang

MANNERS = ("asks", "tells", "at length")
OWN = (  # learned separately for each manner
    "words",
    "asked",
    "meaning",
    "meaning_han",
    "before",
    "meaning_before",
    "after",
    "meaning_after",
    "told",
    "told_before",
)
SHARED = ("length", "thought", "time", "about", "kind", "answers")
COLUMNS = [f"{name} {manner}" for manner in MANNERS for name in OWN] + list(SHARED)
SIGNS = ("kind", "answers")  # what is known of a memory once it is read
NO_VECTOR = np.zeros(0, dtype=np.float32)
FOLDS, CHARACTERS, MOST = 3, 12, 40  # by case; of a generated world; candidates of a question learned from
RIDGE = 3e-3
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Asked(NamedTuple):
    """A question: one row per candidate, the item of each row, and which items are answers."""

    case: int
    rows: Floats
    item: npt.NDArray[np.int64]
    gold: Bools

    def rank(self, weights: Floats) -> int:
        """Number of items ranked before the first answer; ties count against it."""
        best = np.full(len(self.gold), -np.inf)
        np.maximum.at(best, self.item, self.rows @ weights)
        return int((~self.gold & (best >= best[self.gold].max())).sum()) if self.gold.any() else len(best)


def row(manner: str, values: Mapping[str, Floats], count: int) -> Floats:
    """The candidates as rows, with one column per weight."""
    columns = np.zeros((count, len(COLUMNS)))
    for name, value in values.items():
        columns[:, COLUMNS.index(f"{name} {manner}" if name in OWN else name)] = value
    return columns


def questions_of(number: int, case: Case, models: Resources) -> Iterator[Asked]:
    noted: list[tuple[Scorer, CandidateColumns]] = []
    score = Scorer.score

    def noting(scorer: Scorer, parts: CandidateColumns) -> ScoredColumns:
        noted.append((scorer, parts))
        return score(scorer, parts)

    with (
        closing(ThinkbackSystem(models)) as memory,
        patch.object(Scorer, "score", noting),
        patch.object(search, "_is_too_small", lambda rows: False),
    ):
        memory.add_items(case.items)
        thoughts = memory.memory.thoughts(current=False)
        told_or_drawn: list[Thought | Turn] = [*thoughts, *memory.memory.turns()]
        every = {row.ref: row for row in map(_row, told_or_drawn)}
        turns = {thought.id: [source.turn for source in thought.sources] for thought in thoughts}
        for question in filter(lambda question: question.gold, case.questions):
            noted.clear()
            memory.recall(question.text, 5, question.at)
            kinds = memory.memory.kinds(question.text)
            asked = PreparedQuery(text=question.text, vector=NO_VECTOR, k=5, kind_probabilities=kinds)
            tell = feature_extractor(asked)
            items: dict[tuple[str, ...], int] = {}
            rows, item = [], []
            for scorer, parts in noted:
                side: ItemKind = "thought" if scorer.for_thoughts else "turn"
                refs = [Ref(side, id_) for id_ in parts.ids.tolist()]
                told_by = [tell(every[ref]).values if ref in every else {} for ref in refs]
                read = {name: np.array([each.get(name, 0.0) for each in told_by]) for name in SIGNS}
                columns = row(scorer.manner, {**scorer.column_values(parts), **read}, len(refs))
                for place, id_ in enumerate(parts.ids.tolist()):
                    told = turns.get(id_, ()) if scorer.for_thoughts else [id_]
                    if told:  # otherwise it is a "same as" thought, which answers nothing
                        rows.append(columns[place])
                        item.append(items.setdefault(memory.items_of(sorted(told)), len(items)))
                if not scorer.for_thoughts:  # thoughts, then turns; what comes after is recall looking again
                    break
            if rows:
                gold = np.array([not set(question.gold).isdisjoint(names) for names in items])
                yield Asked(number, np.stack(rows), np.array(item), gold)


def _row(memory: Thought | Turn) -> MemoryRow:
    return ThoughtRow(memory) if isinstance(memory, Thought) else TurnRow(memory)


def parts_of(folder: Path, seed: int) -> dict[str, Callable[[], Dataset]]:
    """The data sets of `thinkback-lab`, and one generated world per language."""
    found: dict[str, Callable[[], Dataset]] = {
        f"{entry.name} {entry.part_name(choices)}".strip(): partial(entry.load, folder, **choices)
        for entry in DATASETS.values()
        for choices in entry.suite_parts()
    }
    return found | {f"world {lang}": partial(world, lang, seed) for lang in get_args(Lang)}


def world(lang: Lang, seed: int) -> Dataset:
    with tempfile.TemporaryDirectory() as home:
        write_world(generate(CHARACTERS, lang, seed), Path(home))
        return perltqa.load(Path(home), lang)


def noted(name: str, folder: Path, limit: int, seed: int) -> list[Asked]:
    """The questions of one data set; empty if it is not in the folder."""
    try:
        cases = choose_questions(parts_of(folder, seed)[name](), limit, seed).cases
    except DatasetNotFound:
        print(f"{name}: not in {folder}, left out", file=sys.stderr)
        return []
    models = load_resources(Setup())
    asked = [each for at, case in enumerate(cases) for each in questions_of(at, case, models)]
    print(f"{name}: {len(asked)} questions of {len(cases)} cases", file=sys.stderr)
    return asked


@dataclass(frozen=True)
class Sheet:
    """All questions stacked in one array, so that the softmax of each takes few numpy calls."""

    rows: Floats
    starts: npt.NDArray[np.int64]
    question: npt.NDArray[np.int64]
    gold: Bools
    share: Floats  # weight of each question in the loss

    @classmethod
    def of(cls, sets: Sequence[Sequence[Asked]], start: Floats) -> Sheet:
        rows, gold, share = [], [], []
        for asked in filter(None, sets):
            for each in asked:
                answers = each.gold[each.item]
                keep = answers.copy()
                keep[np.argsort(-(each.rows @ start), kind="stable")[:MOST]] = True
                if answers.any() and not answers[keep].all():
                    rows.append(each.rows[keep])
                    gold.append(answers[keep])
                    share.append(1 / len(asked))
        sizes = np.array([len(each) for each in rows])
        return cls(
            np.concatenate(rows),
            np.cumsum(sizes) - sizes,
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate(gold),
            np.array(share) / sum(share),
        )

    def loss(self, weights: Floats, scaled: Floats) -> tuple[float, Floats]:
        """Negative log likelihood of the answers, and its gradient."""
        score = scaled @ weights
        score -= np.maximum.reduceat(score, self.starts)[self.question]
        odds = np.exp(score)
        chance = odds / np.add.reduceat(odds, self.starts)[self.question]
        right = np.maximum(np.add.reduceat(chance * self.gold, self.starts), 1e-12)
        slope = (chance - chance * self.gold / right[self.question]) * self.share[self.question]
        size = RIDGE * weights
        return float(-self.share @ np.log(right) + size @ weights / 2), scaled.T @ slope + size


def learned(sets: Sequence[Sequence[Asked]], without: Sequence[str]) -> Floats:
    sheet = Sheet.of(sets, shipped())
    spread = sheet.rows.std(axis=0)
    used = (spread > 0) & ~np.array([name.split()[0] in without for name in COLUMNS])
    scaled = sheet.rows[:, used] / spread[used]
    found = minimize(sheet.loss, np.zeros(used.sum()), args=(scaled,), jac=True, method="L-BFGS-B")
    weights = np.zeros(len(COLUMNS))
    weights[used] = found.x / spread[used]
    return weights


def shipped() -> Floats:
    manners = HYBRID.weights
    assert manners is not None
    own = {"asks": manners.asks, "tells": manners.tells, "at length": manners.at_length}
    return np.array(
        [getattr(own[m], n) for m in MANNERS for n in OWN] + [getattr(own["asks"], n) for n in SHARED]
    )


def hits(asked: Sequence[Asked], weights: Floats) -> Floats:
    ranks = np.array([each.rank(weights) for each in asked])
    return np.array([np.mean(ranks < k) for k in (1, 5)])


def crossed(sets: Mapping[str, Sequence[Asked]], without: Sequence[str]) -> dict[str, Floats]:
    """Hits of each data set with weights learned without the case in question."""
    found = {name: np.zeros(2) for name in sets}
    for fold in range(FOLDS):
        rest = [[each for each in asked if each.case % FOLDS != fold] for asked in sets.values()]
        weights = learned(rest, without)
        for name, asked in sets.items():
            if judged := [each for each in asked if each.case % FOLDS == fold]:
                found[name] += hits(judged, weights) * len(judged) / len(asked)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    home = os.environ.get("THINKBACK_DATA")
    parser.add_argument("--data", type=Path, default=home, required=not home)
    parser.add_argument("--limit", type=int, default=400, help="questions per data set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="number of data sets read in parallel")
    parser.add_argument(
        "--without", nargs="*", default=[], choices=[each.name for each in fields(ScoreWeights)]
    )
    parser.add_argument("--ablate", action="store_true", help="learn again without each component")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    note = partial(noted, folder=args.data, limit=args.limit, seed=args.seed)
    names = list(parts_of(args.data, args.seed))
    with ProcessPoolExecutor(args.jobs) as pool:
        sets = {name: asked for name, asked in zip(names, pool.map(note, names), strict=True) if asked}
    weights = learned(list(sets.values()), args.without)
    ways = {
        "shipped": {name: hits(asked, shipped()) for name, asked in sets.items()},
        "cross-validated": crossed(sets, args.without),
        "learned": {name: hits(asked, weights) for name, asked in sets.items()},
    }
    parts = [each.name for each in fields(ScoreWeights)] if args.ablate else []
    report(sets, ways, weights, {part: crossed(sets, [*args.without, part]) for part in parts}, args.json)


Ways = Mapping[str, Mapping[str, Floats]]


def shown(found: Floats) -> str:
    return " / ".join(f"{share:.3f}" for share in found)


def report(
    sets: Mapping[str, Sequence[Asked]], ways: Ways, weights: Floats, ablated: Ways, as_json: bool
) -> None:
    means = {way: np.mean(list(found.values()), axis=0) for way, found in (*ways.items(), *ablated.items())}
    named = {
        name: [round(float(a), 2), round(float(b), 2)]
        for name, a, b in zip(COLUMNS, shipped(), weights, strict=True)
    }
    if as_json:
        told: dict[str, Any] = {"hits": ways, "ablated": ablated, "means": means, "weights": named}
        print(json.dumps(told, default=lambda found: found.round(4).tolist()))
        return
    console = Console(width=110)
    table = Table("hit@1 / hit@5", "questions", *ways)
    for name, asked in sets.items():
        table.add_row(name, str(len(asked)), *(shown(found[name]) for found in ways.values()))
    table.add_row("mean", "", *(shown(means[way]) for way in ways))
    console.print(table)
    if ablated:
        less = Table("cross-validated without", "mean", *sets)
        for part, found in ablated.items():
            less.add_row(part, shown(means[part]), *(shown(found[name]) for name in sets))
        Console(width=240).print(less)
    console.print("weights, shipped and learned:", named)


if __name__ == "__main__":
    main()
