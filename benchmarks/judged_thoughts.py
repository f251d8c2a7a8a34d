"""Precision by hand of the thoughts that a model drew from dev lives.

    thinkback-lab eval lives ... --json > result.json
    python benchmarks/judged_thoughts.py sample result.json      200 thoughts with the messages they came from
    python benchmarks/judged_thoughts.py judged                  the figure, from judged_thoughts.json

The sample shows no gold. `judged_thoughts.json` holds the size and the seed of the sample, the numbers of the
thoughts that are not right, by class, and the digest of the recorded replies that gave them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path

from thinkback_lab.training.sentence_classifier import read_lives

JUDGED_FILE = Path(__file__).with_name("judged_thoughts.json")
REPLIES = Path(__file__).parents[1] / "packages/thinkback-lab/recordings/lives_dev/replies/replies.jsonl"
TURNS_BEFORE = 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    sample = commands.add_parser("sample", help="print thoughts to be judged")
    sample.add_argument("result", type=Path, help="output of `thinkback-lab eval lives --json`")
    sample.add_argument("--size", type=int, default=200)
    sample.add_argument("--seed", type=int, default=0)
    sample.add_argument("--data", type=Path, default=None, help="data folder; default: $THINKBACK_DATA")
    sample.set_defaults(run=print_sample)
    commands.add_parser("judged", help="print the figure").set_defaults(run=print_judged)
    options = parser.parse_args()
    options.run(options)


def print_sample(options: argparse.Namespace) -> None:
    lives = {life.id: life for life in read_lives(["dev"], options.data)}
    thoughts = json.loads(options.result.read_text("utf-8"))["thoughts"]
    chosen = random.Random(options.seed).sample(thoughts, min(options.size, len(thoughts)))
    for number, thought in enumerate(chosen, start=1):
        last = max(thought["turns"])
        print(f"## {number}: {thought['sentence']}")
        for turn in lives[thought["life"]].turns[max(0, last - 1 - TURNS_BEFORE) : last]:
            print(f"[{turn.at:%Y-%m-%d %a}] User: {turn.user}\n    Assistant: {turn.assistant[:300]}")
        print()


def print_judged(_: argparse.Namespace) -> None:
    """The share of judged thoughts that are right, and the classes of the others."""
    judged = json.loads(JUDGED_FILE.read_text("utf-8"))
    if hashlib.sha256(REPLIES.read_bytes()).hexdigest() != judged["replies_sha256"]:
        print("the recorded replies have changed since: judge a new sample")
    wrong = {name: len(numbers) for name, numbers in judged["wrong"].items()}
    print(f"precision by hand {1 - sum(wrong.values()) / judged['sample']:.3f} of {judged['sample']}")
    for name, count in wrong.items():
        print(f"{count:4} {name}")


if __name__ == "__main__":
    main()
