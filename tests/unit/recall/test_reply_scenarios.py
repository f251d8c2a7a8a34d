"""Replies of the chat without a model to everyday messages: `scenarios/replies`.

    {"kind": "fact", "message": "gave my bike to my brother", "contains": ["your bike"], "lacks": ["my bike"]}

A string of `contains` may list alternatives: "Hello|Hi". Case is ignored. `before` are messages sent first.
`python -m tests.unit.recall.test_reply_scenarios FILE` prints the replies that are not as they should be.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import FakeClock

from thinkback.memory import Memory

FOLDER = Path(__file__).parents[3] / "scenarios" / "replies"
NOW = datetime(2026, 11, 16, 10, tzinfo=UTC)


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def find_failures(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The messages of a file whose replies are not as they should be, with the replies."""
    for row in read_rows(path):
        clock = FakeClock()
        clock.now = NOW
        with Memory.open(":memory:", embedder="hashing", background=False, clock=clock) as memory:
            for message in (*row.get("before", ()), row["message"]):
                clock.advance(60)
                reply = memory.chat(message).text
        folded = reply.casefold()
        has_all = all(
            any(each.casefold() in folded for each in words.split("|")) for words in row["contains"]
        )
        if not has_all or any(words.casefold() in folded for words in row["lacks"]):
            yield row, reply


@pytest.mark.parametrize(("name", "allowed"), [("blind.jsonl", 1), ("heldout.jsonl", 5)])
def test_replies_are_as_they_should_be(name: str, allowed: int) -> None:
    failures = [f"{row['id']} {row['message']} -> {reply}" for row, reply in find_failures(FOLDER / name)]
    assert len(failures) <= allowed, "\n".join(failures)


if __name__ == "__main__":
    failed = list(find_failures(Path(sys.argv[1])))
    for row, reply in failed:
        print(f"{row['id']} {row['kind']}: {row['message']}\n    {reply}")
    total = Counter(row["kind"] for row in read_rows(Path(sys.argv[1])))
    wrong = Counter(row["kind"] for row, _ in failed)
    print(", ".join(f"{kind} {count - wrong[kind]}/{count}" for kind, count in total.items()))
    print(f"{sum(total.values()) - len(failed)} of {sum(total.values())}")
