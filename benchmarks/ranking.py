"""Recall of evidence on several data sets at once, for the shipped weights of the ranking or for others.

    python benchmarks/ranking.py                                    the shipped weights
    python benchmarks/ranking.py --set asks.words=.4 --set thoughts.source=1

Sets: three dialogues of two friends (`scenarios/dialogues`), gvd and madial in both languages, train lives
alone, and dev lives whose turns are mixed with those of six other lives. Without a model. Memories are built
once in `--folder`; then a run takes about 15 seconds. Figures: hit@1, recall@5 and recall@10 of the turns
that hold the answer.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from thinkback import Memory
from thinkback.presets import HYBRID, Preset
from thinkback_lab.cases import Case, HistoryItem, Question
from thinkback_lab.datasets import gvd, locomo, madial
from thinkback_lab.datasets.lives import Life, load_lives
from thinkback_lab.harness import ManualClock, Setup
from thinkback_lab.systems.resources import load_resources

DIALOGUES = Path(__file__).parents[1] / "scenarios" / "dialogues"
EMBEDDER = "minilm+use"
OTHER_LIVES = 6  # whose turns are mixed with those of a dev life
TRAIN_LIVES = 14
RANKS = (1, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=None, help="data folder; default: $THINKBACK_DATA")
    parser.add_argument("--folder", type=Path, default=Path("runs/ranking"), help="where memories are built")
    parser.add_argument("--set", action="append", default=[], metavar="TYPE.WEIGHT=VALUE")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    resources = load_resources(Setup(embedder=EMBEDDER))
    preset = change_weights(HYBRID, options.set)
    figures: dict[str, list[list[float]]] = defaultdict(list)
    clock = ManualClock()
    for name, case in all_cases(options.data):
        path = options.folder / f"{name}-{case.id}.db".replace("/", "_")
        is_new = not path.exists()
        with Memory(path, embedder=resources.embedder, background=False, clock=clock) as memory:
            if is_new:
                remember(memory, clock, case.items)
            items = {turn.id: turn.key for turn in memory.turns(hidden=True)}
            for question in case.questions:
                if question.gold:
                    clock.now = question.at
                    figures[name].append(list(recall_figures(memory, preset, question, items)))
    for name, rows in figures.items():
        print(f"{name:12} {len(rows):4}  hit@1 %.3f  recall@5 %.3f  recall@10 %.3f" % tuple(np.mean(rows, 0)))


def change_weights(preset: Preset, changes: Sequence[str]) -> Preset:
    """The preset with changed weights, such as `asks.words=.4`."""
    weights = preset.weights
    assert weights is not None
    for change in changes:
        target, _, value = change.partition("=")
        query_type, _, weight = target.partition(".")
        changed = replace(getattr(weights, query_type), **{weight: float(value)})
        weights = replace(weights, **{query_type: changed})
    return replace(preset, name="changed", weights=weights)


def all_cases(data: Path | None) -> Iterator[tuple[str, Case]]:
    for name, cases in (
        ("dialogues", locomo.load(DIALOGUES).cases),
        ("gvd en", gvd.load(data, "en").cases),
        ("gvd cn", gvd.load(data, "cn").cases),
        ("madial en", madial.load(data, "en").cases),
        ("madial zh", madial.load(data, "zh").cases),
    ):
        for case in cases:
            yield name, case
    train = load_lives(data, "train")
    for life in [life for life in train if life.lang != "mix"][:TRAIN_LIVES]:
        yield "lives", mixed_case(life, [])
    chooser = random.Random(1)
    for life in load_lives(data, "dev"):
        others = [other for other in train if life.lang in (other.lang, "mix")]
        yield f"mixed {life.lang}", mixed_case(life, chooser.sample(others, OTHER_LIVES))


def mixed_case(life: Life, others: Sequence[Life]) -> Case:
    """The questions of one life about the turns of several, in order of time."""
    items = sorted(
        (
            HistoryItem(
                id=f"{each.id}:{turn.n}",
                query=turn.user,
                response=turn.assistant,
                at=turn.at,
                session=f"{each.id} {turn.session}",
            )
            for each in (life, *others)
            for turn in each.turns
        ),
        key=lambda item: (item.at, item.id),
    )
    end = items[-1].at + timedelta(days=1)
    questions = tuple(
        Question(
            id=f"{life.id}-{number}",
            text=question.q,
            at=end,
            gold=tuple(f"{life.id}:{turn}" for turn in question.evidence),
        )
        for number, question in enumerate(life.questions)
        if question.answerable
    )
    return Case(id=life.id, items=tuple(items), questions=questions)


def remember(memory: Memory, clock: ManualClock, items: Sequence[HistoryItem]) -> None:
    for item in items:
        clock.now = item.at
        memory.remember(item.query, item.response, at=item.at, session=item.session, key=item.id)
    memory.post_think()


def recall_figures(
    memory: Memory, preset: Preset, question: Question, items: dict[int, str | None]
) -> Iterator[float]:
    found = [
        {
            items[turn]
            for turn in [source.turn for thought in item.thoughts for source in thought.sources]
            or [item.ref.id]
        }
        for item in memory.recall(question.text, k=max(RANKS), preset=preset)
    ]
    gold = set(question.gold)
    for rank in RANKS:
        hits = gold & set().union(*found[:rank])
        yield float(bool(hits)) if rank == 1 else len(hits) / len(gold)


if __name__ == "__main__":
    main()
