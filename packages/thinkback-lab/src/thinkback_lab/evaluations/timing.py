"""Retrieval time against pairwise similarity (TiM table 4, which has 140 memories), within one process.

    python    a loop over the memory, one product at a time: what a prototype does; small memories only
    pairwise  one numpy product over the whole memory, then the best k: the paper's baseline, well done
    group     TiM's equation alone in numpy: hash the query, compare within its group
    tim       thinkback with the preset `tim`: the same, with all that a memory does besides
    hybrid    thinkback as it is by default

Each is the median over the same queries, a query's time being the best of three, all asked in turns, so that
a busy moment is everyone's and nobody's. Embedding is not counted. Speed alone flatters a search that finds
little, so `agreement` tells what share of the k most similar memories each returned (`hybrid` ranks by words
as well and need not agree).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from statistics import fmean, median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from thinkback import Embedder, Memory
from thinkback_lab.errors import LabError
from thinkback_lab.harness import IN_MEMORY
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.table import Table

    Rows = npt.NDArray[np.float32]

DEFAULT_SIZES = (140, 1000)
DEFAULT_QUERIES = 100
TIMING_ROUNDS = 3
RECALL_K = 5
MAX_LOOP_SIZE = 2000  # beyond it the Python loop is not waited for
LEGEND = "median milliseconds; in brackets the share of the five most similar memories that came back"
_GROUP_SIZE = 50  # thoughts a group holds about
_NAMES = ("Anna", "Ben", "Chen", "Dana", "Emil", "Fatima", "Goro", "Hana", "Ivan", "Julia", "Karim", "Mei")
_PLACES = ("Paris", "Lyon", "Berlin", "Kyoto", "Oslo", "Lima", "Cairo", "Porto", "Austin", "Quito", "Hanoi")
_THINGS = (
    "tea",
    "chess",
    "jazz",
    "hiking",
    "pottery",
    "sailing",
    "poetry",
    "cooking",
    "bees",
    "trains",
    "yoga",
)
_SENTENCE_TEMPLATES = (
    "{a} moved to {p} in week {n} and took up {t}.",
    "On day {n} {a} told {b} all about {t}.",
    "{a} met {b} in {p}; it was trip number {n}.",
    "{b} gave {a} a book on {t}, page {n} is marked.",
    "{a} pays {n} euros for {t} lessons in {p}.",
)


@dataclass(frozen=True, slots=True)
class TimedSearch:
    """One way to retrieve: asked by number, it returns the milliseconds it took and the memories found."""

    name: str
    search: Callable[[int], tuple[float, set[int]]]


class PrecomputedEmbedder:
    """An embedder that only looks up: what it looks up was embedded before anything is timed."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self.name, self.dim = embedder.name, embedder.dim
        self._rows = dict(zip(texts, embedder.embed(texts), strict=True))

    def embed(self, texts: Sequence[str]) -> Rows:
        import numpy as np

        return np.stack([self._rows[text] for text in texts])


def make_sentences(count: int, seed: int) -> list[str]:
    """Different sentences about a circle of friends; the same for the same seed."""
    draw = random.Random(seed)  # noqa: S311 - made-up sentences, no secret
    return [
        draw.choice(_SENTENCE_TEMPLATES).format(
            a=draw.choice(_NAMES),
            b=draw.choice(_NAMES),
            p=draw.choice(_PLACES),
            t=draw.choice(_THINGS),
            n=number,
        )
        for number in range(1, count + 1)
    ]


def make_questions(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)  # noqa: S311
    asked = (f"What did {a} do with {t} in {p}?" for a in _NAMES for t in _THINGS for p in _PLACES)
    return draw.sample(list(asked), count)


def measure_retrieval(
    embedder: Embedder,
    sizes: Sequence[int] = DEFAULT_SIZES,
    *,
    queries: int = DEFAULT_QUERIES,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> dict[str, Any]:
    """The result in the common shape; `metrics` are those of the first size, `by_category` has every size."""
    if not sizes or min(sizes) < RECALL_K:
        raise LabError(f"sizes {list(sizes)}: name one or more memories of at least {RECALL_K}")
    told, asked = make_sentences(max(sizes), seed), make_questions(queries, seed)
    ready = PrecomputedEmbedder(embedder, [*told, *asked])
    by_size = {}
    for number, size in enumerate(sizes, start=1):
        by_size[f"n={size}"] = {"n": size, **_measure_size(told[:size], asked, ready, seed)}
        on_progress(number, len(sizes))
    first = by_size[f"n={sizes[0]}"]
    return {
        "dataset": "timing",
        "scheme": "thinkback",
        "settings": {
            "embedder": embedder.name,
            "sizes": list(sizes),
            "queries": queries,
            "k": RECALL_K,
            "seed": seed,
        },
        "n": queries,
        "metrics": {name: value for name, value in first.items() if name != "n"},
        "by_category": by_size,
        "ms_per_query": first["hybrid_ms"],
    }


def _measure_size(
    told: Sequence[str], asked: Sequence[str], ready: PrecomputedEmbedder, seed: int
) -> dict[str, float]:
    memory, queries = ready.embed(told), ready.embed(asked)
    with ExitStack() as stack:
        ways = [
            *([python_loop_search(memory, queries)] if len(told) <= MAX_LOOP_SIZE else []),
            pairwise_search(memory, queries),
            group_search(memory, queries, seed),
            *(
                stack.enter_context(_ThinkbackSearch(preset, told, asked, ready)).search
                for preset in ("tim", "hybrid")
            ),
        ]
        return _timing_figures(ways, len(asked))


def _timing_figures(ways: Sequence[TimedSearch], count: int) -> dict[str, float]:
    for way in ways:
        way.search(0)  # what is loaded at first use is nobody's query
    times = {way.name: [inf] * count for way in ways}
    found: dict[str, list[set[int]]] = {way.name: [set()] * count for way in ways}
    for _ in range(TIMING_ROUNDS):
        for number in range(count):
            for way in ways:
                ms, found[way.name][number] = way.search(number)
                times[way.name][number] = min(ms, times[way.name][number])
    middle = {name: median(each) for name, each in times.items()}
    told = {f"{name}_ms": round(value, 5) for name, value in middle.items()}
    told |= {
        f"{name}_ratio": round(value / middle["pairwise"], 3)
        for name, value in middle.items()
        if name != "pairwise"
    }
    for name in ("group", "tim", "hybrid"):
        shares = [
            len(ours & exact) / RECALL_K for ours, exact in zip(found[name], found["pairwise"], strict=True)
        ]
        told[f"{name}_agreement"] = round(fmean(shares), 4)
    return told


def python_loop_search(memory: Rows, queries: Rows) -> TimedSearch:
    rows, asked = memory.tolist(), queries.tolist()

    def ask(number: int) -> tuple[float, set[int]]:
        query = asked[number]
        started = perf_counter()
        scores = [sum(a * b for a, b in zip(row, query, strict=True)) for row in rows]
        best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:RECALL_K]
        return _elapsed_ms(started), set(best)

    return TimedSearch("python", ask)


def pairwise_search(memory: Rows, queries: Rows) -> TimedSearch:
    def ask(number: int) -> tuple[float, set[int]]:
        query = queries[number]
        started = perf_counter()
        best = _top_k(memory @ query)
        return _elapsed_ms(started), set(best)

    return TimedSearch("pairwise", ask)


def group_search(memory: Rows, queries: Rows, seed: int) -> TimedSearch:
    """H(x) = argmax([xR; -xR]) with a random R, and the query's own group only (TiM 002, Eq. 1)."""
    import numpy as np

    columns = max(1, round(len(memory) / _GROUP_SIZE / 2))
    matrix = np.random.default_rng(seed).standard_normal((memory.shape[1], columns), dtype=np.float32)

    def hashed(x: Rows) -> npt.NDArray[np.intp]:
        projected = x @ matrix
        return np.asarray(np.concatenate([projected, -projected], axis=-1).argmax(axis=-1))

    keys = hashed(memory)
    members = {int(key): np.flatnonzero(keys == key) for key in np.unique(keys)}
    held = {key: memory[places] for key, places in members.items()}

    def ask(number: int) -> tuple[float, set[int]]:
        query = queries[number]
        started = perf_counter()
        key = int(hashed(query))
        best = members[key][_top_k(held[key] @ query)].tolist() if key in members else []
        return _elapsed_ms(started), set(best)

    return TimedSearch("group", ask)


class _ThinkbackSearch:
    """thinkback over the same sentences, told as turns and not thought over: n memories are n rows."""

    def __init__(
        self, preset: str, told: Sequence[str], asked: Sequence[str], ready: PrecomputedEmbedder
    ) -> None:
        self._memory = Memory.open(IN_MEMORY, embedder=ready, preset=preset, background=False)
        self._asked = asked
        places = {self._memory.remember(text).id: number for number, text in enumerate(told)}

        def ask(number: int) -> tuple[float, set[int]]:
            found = self._memory.recall(self._asked[number], RECALL_K)
            ms = sum(value for stage, value in found.usage.ms.items() if stage != "embed")
            return ms, {places[item.turn.id] for item in found if item.turn is not None}

        self.search = TimedSearch(preset, ask)

    def __enter__(self) -> _ThinkbackSearch:
        return self

    def __exit__(self, *exc: object) -> None:
        self._memory.close()


def _top_k(scores: Rows) -> list[int]:
    import numpy as np

    k = min(RECALL_K, len(scores))
    found: list[int] = np.argpartition(scores, len(scores) - k)[-k:].tolist()
    return found


def _elapsed_ms(started: float) -> float:
    return (perf_counter() - started) * 1000


def timing_table(summary: Mapping[str, Any]) -> Table:
    """A row for every way of retrieval, its milliseconds and its agreement at every size."""
    from rich.table import Table

    sizes: Mapping[str, Mapping[str, float]] = summary["by_category"]
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("ms a retrieval")
    for size in sizes:
        grid.add_column(size, justify="right")
    names = dict.fromkeys(
        key.removesuffix("_ms") for each in sizes.values() for key in each if key.endswith("_ms")
    )
    for name in names:
        grid.add_row(name, *(_timing_cell(each, name) for each in sizes.values()))
    return grid


def _timing_cell(told: Mapping[str, float], name: str) -> str:
    if f"{name}_ms" not in told:
        return "-"
    share = told.get(f"{name}_agreement")
    return f"{told[f'{name}_ms']:.4f}" + ("       " if share is None else f" ({share:.2f})")
