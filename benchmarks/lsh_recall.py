"""How much of the true top 10 does hashing find, and how fast is it compared with an exact scan?

    python benchmarks/lsh_recall.py [--sizes 1000 10000] [--synthetic | --text FILE...] [--json]

The vectors are sentences of real dialogue if data is available (`--text`, THINKBACK_DATA or ../shared/data).
Otherwise they are a synthetic mixture similar to embeddings: a common direction, and clusters of clusters.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table

from thinkback.index import lsh
from thinkback.index.lexical import QueryTerms
from thinkback.index.space_index import IndexQuery, SpaceIndex
from thinkback.types import Hashing, IndexDelta, IndexEntry, VersionStamp

Matrix = npt.NDArray[np.float32]
QUERIES, K = 200, 10
ROOT = Path(__file__).resolve().parents[1]
NO_TERMS = np.zeros(0, dtype=np.uint32)
NO_VARIANTS = (QueryTerms(NO_TERMS),)


@dataclass
class Line:
    vectors: int
    method: str
    recall: float
    ms: float
    of_exact: float
    groups: int
    probes: int
    mean_group: float
    largest_group: int
    build_s: float


def synthetic(n: int, dim: int = 512, seed: int = 0) -> tuple[Matrix, Matrix]:
    """n vectors, and queries near some of them (half for calibration, half for the measurement)."""
    random = np.random.default_rng(seed)

    def around(centres: npt.NDArray[np.float32], count: int, spread: float) -> npt.NDArray[np.float32]:
        noise = random.standard_normal((count, dim), dtype=np.float32) * np.float32(spread)
        return centres[random.integers(0, len(centres), count)] + noise

    topics = around(random.standard_normal((1, dim), dtype=np.float32), max(8, n // 1000), 1.0)
    vectors = around(around(topics, max(16, n // 25), 0.8), n, 1.2)
    return unit(vectors), unit(around(vectors, 2 * QUERIES, 0.9))


def unit(rows: Matrix) -> Matrix:
    lengths: Matrix = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def sentences(files: list[Path]) -> list[str]:
    """The distinct sentences in (gzipped) text, CSV or JSON files: text between quotes and full stops."""
    found: dict[str, None] = {}
    for file in files:
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for piece in re.split(r'[\n"]|\\n|(?<=[.?!])\s+|(?<=[。？！；])', text.decode("utf-8")):
            if len(piece.strip()) > 8:
                found[piece.strip()] = None
    return list(found)


def dialogue(files: list[Path], spec: str, console: Console) -> tuple[Matrix, Matrix]:
    """Embedded sentences in a fixed random order; the first ones are held out as queries."""
    from thinkback.embedders.registry import create_embedder  # noqa: PLC0415 - the synthetic run needs no model

    texts, model = sentences(files), create_embedder(spec)
    texts = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]
    batches = [texts[i : i + 512] for i in range(0, len(texts), 512)]
    rows = np.concatenate([model.embed(batch) for batch in track(batches, "embedding", console=console)])
    return rows[2 * QUERIES :], rows[: 2 * QUERIES]


def methods(x: Matrix, sample: Matrix) -> Iterator[tuple[str, Callable[[], Hashing | None]]]:
    width = lsh.choose_group_count(len(x))

    def learned() -> Hashing:
        hashing = lsh.learned_hashing(x, width, seed=0)
        return lsh.calibrate_probes(hashing, sample, x, lsh.assign_groups(hashing, x))

    yield "sketches, then exact", lambda: None
    yield "random R, 1 probe (the paper)", lambda: lsh.random_hashing(x.shape[1], width, 0)
    yield "random R, 16 probes", lambda: replace(lsh.random_hashing(x.shape[1], width, 0), probes=16)
    yield "learned R, calibrated to .95", learned


def blas_ms(x: Matrix, queries: Matrix) -> float:
    """The simplest exact search: a matrix product on all cores and its maximum, without filters."""
    took = []
    for query in queries:
        start = time.perf_counter()
        np.argpartition(x @ query, len(x) - K)
        took.append(time.perf_counter() - start)
    return 1000 * float(np.median(took))


def measure(x: Matrix, queries: Matrix) -> Iterator[Line]:
    asked = queries[:QUERIES]
    truth = [set(np.argsort(-(x @ query))[:K].tolist()) for query in asked]
    exact_ms = blas_ms(x, asked)
    for name, build in methods(x, queries[QUERIES:]):
        start = time.perf_counter()
        hashing = build()
        groups = np.zeros(len(x), dtype=np.int64) if hashing is None else lsh.assign_groups(hashing, x)
        built = time.perf_counter() - start
        shelf = SpaceIndex()
        rows = [IndexEntry("thought", i, x[i], NO_TERMS, int(groups[i])) for i in range(len(x))]
        shelf.apply(IndexDelta(VersionStamp(0, 0), tuple(rows)))
        took, found = [], 0
        for query, true in zip(asked, truth, strict=True):
            start = time.perf_counter()
            hits = shelf.search(
                "thought",
                IndexQuery(vector=query, variants=NO_VARIANTS, limit=K, hashing=hashing, scan_below=0),
            )
            took.append(time.perf_counter() - start)
            found += len(true.intersection(hits.ids.tolist()))
        ms = 1000 * float(np.median(took))
        if hashing is None:
            yield Line(len(x), "exact scan, BLAS", 1.0, exact_ms, 1.0, 1, 1, len(x), len(x), 0.0)
        sizes = shelf.group_sizes("thought")
        yield Line(
            vectors=len(x),
            method=name,
            recall=found / (K * len(asked)),
            ms=ms,
            of_exact=ms / exact_ms,
            groups=hashing.groups if hashing else 1,
            probes=hashing.probes if hashing else 1,
            mean_group=float(sizes[sizes > 0].mean()),
            largest_group=int(sizes.max()),
            build_s=built,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--synthetic", action="store_true", help="use synthetic vectors even if real data is available"
    )
    parser.add_argument("--text", type=Path, nargs="+", default=[], help="files with sentences, .gz or plain")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    console = Console(stderr=args.json)
    folder = Path(os.environ.get("THINKBACK_DATA", ROOT.parent / "shared" / "data"))
    files = [] if args.synthetic else args.text or sorted(folder.glob("*/*.gz"))
    real = dialogue(files, args.embedder, console) if files else None
    lines: list[Line] = []
    for size in args.sizes:
        x, queries = (real[0][:size], real[1]) if real else synthetic(size)
        if not lines or len(x) > lines[-1].vectors:
            lines += measure(x, queries)
    if args.json:
        print(json.dumps([asdict(line) for line in lines], indent=1))
        return
    table = Table(
        title=f"recall@{K}, {args.embedder + ' on dialogue' if real else 'synthetic'}, {x.shape[1]}-d"
    )
    for column in (
        "vectors",
        "method",
        "recall",
        "ms",
        "of exact",
        "b",
        "probes",
        "mean/max group",
        "build s",
    ):
        table.add_column(column, justify="left" if column == "method" else "right")
    for line in lines:
        group = f"{line.mean_group:.0f}/{line.largest_group}"
        figures = (f"{line.recall:.3f}", f"{line.ms:.3f}", f"{line.of_exact:.2f}", str(line.groups))
        table.add_row(
            f"{line.vectors:,}", line.method, *figures, str(line.probes), group, f"{line.build_s:.2f}"
        )
    console.print(table)


if __name__ == "__main__":
    main()
