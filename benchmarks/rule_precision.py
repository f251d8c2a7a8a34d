"""Prints every fact that the rule reader states on natural conversations, for judging by hand.

    python benchmarks/rule_precision.py                        the dev lives of $THINKBACK_DATA
    python benchmarks/rule_precision.py --split train --relation "lives in"
    python benchmarks/rule_precision.py --gvd                  the GVD users, English and Chinese

With `--wrong FILE` (one wrong fact a line, as printed) it prints the precision of every relation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from thinkback.language.statements import find_statements


def read_lives(folder: Path, split: str) -> Iterator[tuple[str, str]]:
    """(id of the turn, user message) of the lives of a split."""
    with gzip.open(folder / "lives" / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            life = json.loads(line)
            for turn in life["turns"]:
                yield f"{life['id']}:{turn['n']}", turn["user"]


def read_gvd(folder: Path) -> Iterator[tuple[str, str]]:
    """(user and day, user message) of the GVD users."""
    for language in ("en", "cn"):
        with gzip.open(folder / "gvd" / f"memory_bank_{language}.json.gz", "rt", encoding="utf-8") as file:
            users = json.load(file)
        for user, bank in users.items():
            for day, exchanges in bank["history"].items():
                for exchange in exchanges:
                    yield f"{user}:{day}", exchange["query"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("THINKBACK_DATA", "../shared/data")))
    parser.add_argument("--split", default="dev", choices=("dev", "train"))
    parser.add_argument("--gvd", action="store_true")
    parser.add_argument("--relation", default="")
    parser.add_argument("--wrong", type=Path)
    options = parser.parse_args()
    wrong = set(options.wrong.read_text("utf-8").splitlines()) if options.wrong else set()
    turns = read_gvd(options.data) if options.gvd else read_lives(options.data, options.split)
    total: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for turn, message in turns:
        for each in find_statements(message):
            if options.relation and each.relation != options.relation:
                continue
            sign = {"statement": "", "negation": "not ", "denial": "no longer "}[each.form]
            line = f"{turn} | {each.about} | {sign}{each.relation} | {each.value}"
            total[each.relation] += 1
            errors[each.relation] += line in wrong
            if not options.wrong:
                print(f"{line} | {message[each.start : each.end]}")
    if options.wrong:
        for relation, count in total.most_common():
            print(f"{relation:24} {count - errors[relation]:4} of {count:4} right")
    count, bad = sum(total.values()), sum(errors.values())
    print(f"{count} facts" + (f", {count - bad} right: {(count - bad) / max(count, 1):.3f}" if wrong else ""))


if __name__ == "__main__":
    main()
