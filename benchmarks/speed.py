"""Speed as ratios within one run: remember, recall, import of turns, import of the package.

    python benchmarks/speed.py [--json] [--embedder minilm] [--thoughts 10000] [--appends 4000]

remember: p99 of `Memory.remember` divided by p99 of a bare durable SQLite insert of the same bytes, measured
          alternately.
recall:   p50 of `Memory.recall` with 10,000 thoughts and as many turns (half of them without thoughts),
          divided by p50 of embedding the query, measured alternately.
turns:    speed of importing 1,000 turns as a share of the embedder's own speed on the same texts.
package:  CPU seconds of `import thinkback` beyond a bare interpreter.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import Any

import numpy as np

from thinkback import Memory
from thinkback.embedders.registry import create_embedder
from thinkback.index.lexical import QueryTerms
from thinkback.index.space_index import IndexQuery
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest

NO_THOUGHTS_SUFFIX = "…"
NAMES = ("Anna", "Ben", "Chen", "Dana", "Emil", "Fatima", "Goro", "Hana", "Ivan", "Julia", "Karim", "Lena")
PLACES = ("Paris", "Lyon", "Berlin", "Kyoto", "Oslo", "Lima", "Cairo", "Porto", "Austin", "Quito", "Delhi")
THINGS = ("tea", "chess", "jazz", "hiking", "pottery", "sailing", "poetry", "football", "cooking", "maps")
SAYINGS = (
    ("{a} moved to {p} with {b}.", "{a} works in {p} and plays {t}."),
    ("{a} likes {t} and {u}.", "{a} taught {b} all about {t}."),
    ("{a} met {b} in {p}.", "{b} has lived in {p} for years."),
    ("{b} gave {a} a book on {t}.", "{a} reads about {t} every night."),
)


def generate_texts(count: int, seed: int) -> list[str]:
    """Texts of two related sentences each, numbered so that all are different."""
    draw = random.Random(seed)
    said = []
    for number in range(count):
        words = {"a": draw.choice(NAMES), "b": draw.choice(NAMES), "p": draw.choice(PLACES)}
        words |= {"t": draw.choice(THINGS), "u": draw.choice(THINGS)}
        said.append("\n".join(f"{line.format(**words)} ({number})" for line in draw.choice(SAYINGS)))
    return said


class VerbatimReader:
    """Makes each line of a turn a thought, so that only the store and the index are measured.

    Turns that end in an ellipsis get no thoughts.
    """

    name = "benchmark"
    max_turns = 8
    needs_related = False

    def prepare(self) -> None:
        pass

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        return [
            ProposedChange(
                action="add",
                turn=turn.id,
                quote=line,
                fact=ProposedFact(
                    about=f"s{turn.id}-{number}", relation="said", value=line, sentence=line, kind="event"
                ),
            )
            for turn in request.turns
            if not turn.query.endswith(NO_THOUGHTS_SUFFIX)
            for number, line in enumerate(turn.query.splitlines())
        ]


def timed(call: Callable[..., Any], *args: Any) -> float:
    started = time.perf_counter()
    call(*args)
    return (time.perf_counter() - started) * 1000


def percentile(values: list[float], percent: int) -> float:
    return quantiles(values, n=100)[percent - 1]


def remember(folder: Path, embedder: str, appends: int) -> dict[str, float]:
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, query TEXT, response TEXT)")
    ours: list[float] = []
    theirs: list[float] = []
    with Memory.open(str(folder / "append.db"), embedder=embedder, background=False) as memory:
        for text in generate_texts(appends, seed=1):
            answer = f"I see: {text}"
            theirs.append(timed(bare.execute, "INSERT INTO log VALUES (NULL, ?, ?)", (text, answer)))
            ours.append(timed(memory.remember, text, answer))
    bare.close()
    return {
        "remember_p50_ms": percentile(ours, 50),
        "remember_p99_ms": percentile(ours, 99),
        "bare_p50_ms": percentile(theirs, 50),
        "bare_p99_ms": percentile(theirs, 99),
        "remember_p99_ratio": percentile(ours, 99) / percentile(theirs, 99),
    }


def recall(folder: Path, embedder: str, thoughts: int) -> dict[str, float]:
    with Memory.open(
        str(folder / "recall.db"), embedder=embedder, think=VerbatimReader(), background=False
    ) as memory:
        for number, text in enumerate(generate_texts(thoughts, seed=2)):
            memory.remember(text + NO_THOUGHTS_SUFFIX if number % 2 else text)
        memory.post_think()
        asked = [f"Who likes {thing} in {place}?" for thing in THINGS for place in PLACES][:200]
        for query in asked[:5]:
            memory.recall(query)
        alone = []
        whole = []
        for query in asked:
            alone.append(timed(memory.embedder.embed, [query]))
            whole.append(timed(memory.recall, query))
        held, kept_turns = memory.stats().thoughts, memory.stats().turns
        kept = recall_at_10(memory, asked)
    return {
        "recall_thoughts": held,
        "recall_turns": kept_turns,
        "recall_at_10": kept,
        "recall_p50_ms": percentile(whole, 50),
        "embed_p50_ms": percentile(alone, 50),
        "recall_p50_ratio": percentile(whole, 50) / percentile(alone, 50),
    }


def recall_at_10(memory: Memory, asked: list[str]) -> float:
    """Share of the ten nearest thoughts (by exact search) that are in the probed groups."""
    view = memory._indexer.view(memory.user)
    found = 0
    for query in asked:
        vector, _ = memory._indexer.embed(query)
        no_terms = QueryTerms(np.zeros(0, dtype=np.uint32))
        exact, probed = (
            view.index.search(
                "thought", IndexQuery(vector=vector, variants=[no_terms], limit=10, hashing=hashing)
            ).ids.tolist()
            for hashing in (None, view.hashing)
        )
        found += len(set(exact) & set(probed))
    return found / (10 * len(asked))


def turns(folder: Path, embedder: str, count: int = 1000) -> dict[str, float]:
    model = create_embedder(embedder)
    model.embed(["warm up"])
    said = generate_texts(count, seed=3)
    texts = [f"{text}\nI see." for text in said]
    before = timed(model.embed, texts)
    lines = [json.dumps({"query": text, "response": "I see."}) for text in said]
    with Memory.open(str(folder / "import.db"), embedder=model, background=False) as memory:
        whole = timed(lambda: memory.import_(lines, progress=lambda done, total: None))
    after = timed(model.embed, texts)
    alone = (before + after) / 2
    return {
        "import_turns_per_s": count / whole * 1000,
        "embedder_turns_per_s": count / alone * 1000,
        "import_share": alone / whole,
    }


def package() -> dict[str, float]:
    def cpu(code: str) -> float:
        best = float("inf")
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best

    bare = cpu("pass")
    return {
        "import_cpu_s": cpu("import thinkback") - bare,
        "import_memory_cpu_s": cpu("from thinkback import Memory") - bare,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--thoughts", type=int, default=10_000)
    parser.add_argument("--appends", type=int, default=4000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {
            **package(),
            **remember(folder, args.embedder, args.appends),
            **turns(folder, args.embedder),
            **recall(folder, args.embedder, args.thoughts),
        }
    if args.json:
        print(json.dumps(figures))
        return
    wanted = {
        "remember_p99_ratio": "at most 2",
        "recall_p50_ratio": "at most 2",
        "import_share": "at least 0.60",
        "import_cpu_s": "below 0.2",
    }
    for key, value in figures.items():
        print(f"{key:24} {value:10.3f}  {wanted.get(key, '')}".rstrip())


if __name__ == "__main__":
    main()
