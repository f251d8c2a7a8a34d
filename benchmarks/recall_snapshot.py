"""Recall on lives: a snapshot of all results, its comparison with another one, and the CPU time of a recall.

    python benchmarks/recall_snapshot.py build lives.db              store the dev lives and think about them
    python benchmarks/recall_snapshot.py dump lives.db before.json   recall every question of them
    python benchmarks/recall_snapshot.py compare before.json after.json
    python benchmarks/recall_snapshot.py time lives.db [--profile]   CPU time of a recall without embedding

A change that only makes recall faster leaves the snapshots equal: the same items in the same order with the
same texts and reasons, scores within 1e-6. The data is read from THINKBACK_DATA.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import numpy.typing as npt

from thinkback import Memory
from thinkback.embedders.registry import create_embedder
from thinkback.protocols import Embedder
from thinkback.types import Candidate, Recollection
from thinkback_lab.datasets.lives import Life, load_lives

TOLERANCE = 1e-6


class CachingEmbedder:
    """Embeds every text only once, so that a second recall of a query costs no embedding."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.dim = embedder.dim
        self._embedder = embedder
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def read_lives(split: str, limit: int | None) -> list[Life]:
    return load_lives(None, split)[:limit]


def build(options: argparse.Namespace) -> None:
    embedder = create_embedder(options.embedder)
    with Memory.open(options.database, embedder=embedder, background=False) as memory:
        for life in read_lives(options.split, options.limit):
            user = memory.for_user(life.id)
            session = ""
            for turn in life.turns:
                if session and turn.session != session:
                    user.post_think()
                session = turn.session
                user.remember(turn.user, turn.assistant, at=turn.at, session=turn.session)
            user.post_think()
            print(life.id, user.stats().turns, user.stats().thoughts, flush=True)


def questions(memory: Memory, options: argparse.Namespace) -> Iterator[tuple[Memory, str, str]]:
    for life in read_lives(options.split, options.limit):
        user = memory.for_user(life.id)
        for question in life.questions:
            yield user, life.id, question.q


def dump(options: argparse.Namespace) -> None:
    found = []
    end = max(turn.at for life in read_lives(options.split, None) for turn in life.turns)  # now
    with Memory.open(options.database, background=False, clock=lambda: end) as memory:
        for user, life, query in questions(memory, options):
            several: tuple[dict[str, Any], ...] = (
                {"k": 5},
                {"k": 40},
                {"k": 5, "explain": True},
                {"k": 5, "budget": 100},
            )
            for settings in several:
                found.append(
                    {"life": life, "query": query, "settings": settings}
                    | describe(user.recall(query, **settings))
                )
    Path(options.file).write_text(json.dumps(found, ensure_ascii=False, default=str), encoding="utf-8")
    print(len(found), "recalls")


def describe(recollection: Recollection) -> dict[str, Any]:
    return {
        "items": [describe_item(item) for item in recollection.items],
        "dropped": [describe_item(item) for item in recollection.dropped],
        "understanding": repr(recollection.understanding),
        "confidence": getattr(recollection, "confidence", None),
    }


def describe_item(item: Candidate) -> dict[str, Any]:
    return {
        "ref": str(item.ref),
        "text": item.text,
        "reason": item.reason,
        "verdict": item.verdict,
        "group": item.group,
        "outdated": repr(item.outdated),
        "joined": [str(thought.ref) for thought in item.joined],
        "scores": [item.score.total, item.score.cosine, item.score.lexical],
    }


def compare(options: argparse.Namespace) -> None:
    before, after = (json.loads(Path(file).read_text(encoding="utf-8")) for file in options.files)
    different = [
        (one["query"], list(differences(one, other, ""))) for one, other in zip(before, after, strict=True)
    ]
    different = [(query, parts) for query, parts in different if parts]
    for query, parts in different[:10]:
        print(query, *(part[:200] for part in parts[:3]), sep="\n    ")
    print(f"{len(before) - len(different)} of {len(before)} recalls are equal")
    sys.exit(bool(different))


def differences(one: Any, other: Any, path: str) -> Iterator[str]:
    """The places where two JSON values differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for position, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{path}[{position}]")
    elif isinstance(one, float) and isinstance(other, float):
        if abs(one - other) > TOLERANCE:
            yield f"{path}: {one} / {other}"
    elif one != other:
        yield f"{path}: {one!r} / {other!r}"


def measure(options: argparse.Namespace) -> None:
    embedder = CachingEmbedder(create_embedder(options.embedder))
    with Memory.open(options.database, embedder=embedder, background=False) as memory:
        asked = [(user, query) for user, _, query in questions(memory, options)]
        for user, query in asked:
            user.embedder.embed([query])
            user.recall(f"{query} (1)")  # loads the rows of the user, and everything that is cached by row
        profile = cProfile.Profile()
        new = [cpu_ms(user, query, profile if options.profile else None) for user, query in asked]
        again = [cpu_ms(user, query, None) for user, query in asked]
    print(f"recalls {len(new)}")
    print(f"cpu_ms_new_query    mean {mean(new):6.2f}  median {median(new):6.2f}")
    print(f"cpu_ms_repeated     mean {mean(again):6.2f}  median {median(again):6.2f}")
    if options.profile:
        pstats.Stats(profile).sort_stats(options.sort).print_stats(60)


def cpu_ms(user: Memory, query: str, profile: cProfile.Profile | None) -> float:
    started = time.process_time()
    if profile is None:
        user.recall(query)
    else:
        profile.runcall(user.recall, query)
    return (time.process_time() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--split", default="dev")
    parser.add_argument("--limit", type=int, help="number of lives")
    parser.add_argument("--embedder", default="minilm+use")
    commands = parser.add_subparsers(required=True)
    for name, run in (("build", build), ("dump", dump), ("time", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("database")
        if name == "dump":
            command.add_argument("file")
        if name == "time":
            command.add_argument("--profile", action="store_true")
            command.add_argument("--sort", default="tottime")
    command = commands.add_parser("compare")
    command.set_defaults(run=compare)
    command.add_argument("files", nargs=2)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
