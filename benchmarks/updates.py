"""Precision by hand of the facts that the tuned model marks as outdated on the dev lives.

    python benchmarks/updates.py                              the verdicts of updates_judged.json
    python benchmarks/updates.py --list dev.jsonl replies.jsonl    the marked facts, to be judged

`dev.jsonl` and `replies.jsonl` are written by `thinkback-lab train examples dev --variants 0 --exact` and
`train generate`. An update is right if something that the sentence says no longer holds after the message; a
plan that was carried out, a dated value and what a name merely resembles are no updates.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from thinkback.think.reader_updates import MIN_LOG_PROBABILITY
from thinkback.think.update_form import mark_probabilities, parse_reply
from thinkback_lab.evaluations.updates import read_json_rows

JUDGED_FILE = Path(__file__).with_name("updates_judged.json")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", nargs=2, type=Path, metavar=("EXAMPLES", "REPLIES"), default=None)
    options = parser.parse_args()
    if options.list:
        print_updates(*options.list)
    else:
        print_judged()


def print_updates(examples: Path, replies: Path) -> None:
    """Every fact that is marked as outdated, with the message; the gold is not shown."""
    number = 0
    for row, answer in zip(read_json_rows(examples), read_json_rows(replies), strict=True):
        known, message = row["prompt"][1].split("Known:\n")[1].split("\nMessage:\nUser: ")
        sure = mark_probabilities(answer["tokens"])
        for position, mark in parse_reply(answer["reply"]):
            if mark != "keep":
                number += 1
                fact = known.splitlines()[position - 1].partition(". ")[2]
                print(f"{number} {sure.get(position, -math.inf):.2f} {mark}: {fact}\n    {message}")


def print_judged() -> None:
    """The share of right updates, of all and of those that are sure enough to be used."""
    updates = json.loads(JUDGED_FILE.read_text("utf-8"))["updates"]
    for threshold in (MIN_LOG_PROBABILITY, -9.0):
        chosen = [update for update in updates if update["log_probability"] >= threshold]
        right = sum(update["right"] for update in chosen)
        print(f"log probability >= {threshold}: {right} of {len(chosen)} right ({right / len(chosen):.3f})")


if __name__ == "__main__":
    main()
