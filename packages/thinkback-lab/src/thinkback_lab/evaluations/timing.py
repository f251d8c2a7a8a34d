"""Retrieval time against pairwise similarity (TiM, table 4, with 140 memories), in one process.

  python    a Python loop over the memory, for small memories only
  pairwise  one numpy product over the whole memory, then the best k: the paper's baseline
  group     TiM's equation in plain numpy: hash the query, compare within its group
  tim       thinkback with the preset `tim`
  hybrid    thinkback with its default preset

Each figure is the median over the same queries; the time of a query is the best of three rounds, with all
searches interleaved, so that load on the machine affects all alike. Embedding is not counted. `agreement` is
the share of the k most similar memories that a search returned (`hybrid` also ranks by words and need not
agree).
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
MAX_LOOP_SIZE = 2000  # the Python loop is too slow for more
LEGEND = "median milliseconds; in brackets the share of the five most similar memories that came back"
_GROUP_SIZE = 50  # approximate number of thoughts per group
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
    """A search to be timed: called with a query number, it returns milliseconds and the memories found."""

    name: str
    search: Callable[[int], tuple[float, set[int]]]


class PrecomputedEmbedder:
    """An embedder that looks up vectors computed before the timing starts."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        self.name, self.dim = embedder.name, embedder.dim
        self._rows = dict(zip(texts, embedder.embed(texts), strict=True))

    def embed(self, texts: Sequence[str]) -> Rows:
        import numpy as np

        return np.stack([self._rows[text] for text in texts])


def make_sentences(count: int, seed: int) -> list[str]:
    """Make distinct sentences about a group of friends; the same seed gives the same sentences."""
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
    candidates = (f"What did {a} do with {t} in {p}?" for a in _NAMES for t in _THINGS for p in _PLACES)
    return draw.sample(list(candidates), count)


def measure_retrieval(
    embedder: Embedder,
    sizes: Sequence[int] = DEFAULT_SIZES,
    *,
    queries: int = DEFAULT_QUERIES,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> dict[str, Any]:
    """Results in the common form; `metrics` are those of the first size, `by_category` has all sizes."""
    if not sizes or min(sizes) < RECALL_K:
        raise LabError(f"sizes must be one or more numbers of at least {RECALL_K}, not {list(sizes)}")
    texts, questions = make_sentences(max(sizes), seed), make_questions(queries, seed)
    embeddings = PrecomputedEmbedder(embedder, [*texts, *questions])
    by_size = {}
    for number, size in enumerate(sizes, start=1):
        by_size[f"n={size}"] = {"n": size, **_measure_size(texts[:size], questions, embeddings, seed)}
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
    texts: Sequence[str], questions: Sequence[str], embeddings: PrecomputedEmbedder, seed: int
) -> dict[str, float]:
    memory, queries = embeddings.embed(texts), embeddings.embed(questions)
    with ExitStack() as stack:
        searches = [
            *([python_loop_search(memory, queries)] if len(texts) <= MAX_LOOP_SIZE else []),
            pairwise_search(memory, queries),
            group_search(memory, queries, seed),
            *(
                stack.enter_context(_ThinkbackSearch(preset, texts, questions, embeddings)).search
                for preset in ("tim", "hybrid")
            ),
        ]
        return _timing_figures(searches, len(questions))


def _timing_figures(searches: Sequence[TimedSearch], count: int) -> dict[str, float]:
    for search in searches:
        search.search(0)  # load lazily initialised parts before timing
    times = {search.name: [inf] * count for search in searches}
    found: dict[str, list[set[int]]] = {search.name: [set()] * count for search in searches}
    for _ in range(TIMING_ROUNDS):
        for number in range(count):
            for search in searches:
                ms, found[search.name][number] = search.search(number)
                times[search.name][number] = min(ms, times[search.name][number])
    medians = {name: median(each) for name, each in times.items()}
    figures = {f"{name}_ms": round(value, 5) for name, value in medians.items()}
    figures |= {
        f"{name}_ratio": round(value / medians["pairwise"], 3)
        for name, value in medians.items()
        if name != "pairwise"
    }
    for name in ("group", "tim", "hybrid"):
        shares = [
            len(returned & exact) / RECALL_K
            for returned, exact in zip(found[name], found["pairwise"], strict=True)
        ]
        figures[f"{name}_agreement"] = round(fmean(shares), 4)
    return figures


def python_loop_search(memory: Rows, queries: Rows) -> TimedSearch:
    rows, query_rows = memory.tolist(), queries.tolist()

    def ask(number: int) -> tuple[float, set[int]]:
        query = query_rows[number]
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
    """H(x) = argmax([xR; -xR]) with a random R; searches only the query's own group (TiM (arXiv), Eq. 1)."""
    import numpy as np

    columns = max(1, round(len(memory) / _GROUP_SIZE / 2))
    matrix = np.random.default_rng(seed).standard_normal((memory.shape[1], columns), dtype=np.float32)

    def hashed(x: Rows) -> npt.NDArray[np.intp]:
        projected = x @ matrix
        return np.asarray(np.concatenate([projected, -projected], axis=-1).argmax(axis=-1))

    keys = hashed(memory)
    members = {int(key): np.flatnonzero(keys == key) for key in np.unique(keys)}
    vectors_by_group = {key: memory[positions] for key, positions in members.items()}

    def ask(number: int) -> tuple[float, set[int]]:
        query = queries[number]
        started = perf_counter()
        key = int(hashed(query))
        best = members[key][_top_k(vectors_by_group[key] @ query)].tolist() if key in members else []
        return _elapsed_ms(started), set(best)

    return TimedSearch("group", ask)


class _ThinkbackSearch:
    """thinkback over the same sentences, stored as turns without post-think: n memories are n rows."""

    def __init__(
        self, preset: str, texts: Sequence[str], questions: Sequence[str], embedder: PrecomputedEmbedder
    ) -> None:
        self._memory = Memory.open(IN_MEMORY, embedder=embedder, preset=preset, background=False)
        self._asked = questions
        numbers = {self._memory.remember(text).id: number for number, text in enumerate(texts)}

        def ask(number: int) -> tuple[float, set[int]]:
            found = self._memory.recall(self._asked[number], RECALL_K)
            ms = sum(value for stage, value in found.usage.ms.items() if stage != "embed")
            return ms, {numbers[item.turn.id] for item in found if item.turn is not None}

        self.search = TimedSearch(preset, ask)

    def __enter__(self) -> _ThinkbackSearch:
        return self

    def __exit__(self, *exc: object) -> None:
        self._memory.close()


def _top_k(scores: Rows) -> list[int]:
    import numpy as np

    k = min(RECALL_K, len(scores))
    positions: list[int] = np.argpartition(scores, len(scores) - k)[-k:].tolist()
    return positions


def _elapsed_ms(started: float) -> float:
    return (perf_counter() - started) * 1000


def timing_table(summary: Mapping[str, Any]) -> Table:
    """One row per search: milliseconds and agreement at every size."""
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


def _timing_cell(figures: Mapping[str, float], name: str) -> str:
    if f"{name}_ms" not in figures:
        return "-"
    share = figures.get(f"{name}_agreement")
    return f"{figures[f'{name}_ms']:.4f}" + ("       " if share is None else f" ({share:.2f})")
