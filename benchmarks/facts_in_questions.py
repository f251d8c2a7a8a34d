"""Facts told beside a question, without a model: are they kept, and are they found when they are asked for?

    python -m benchmarks.facts_in_questions
    python -m benchmarks.facts_in_questions scenarios/facts_in_questions/english.jsonl --missed
    python -m benchmarks.facts_in_questions scenarios/restrictions/heldout    # allergies, diets and the like

Messages are told to memories of twenty each. A fact is covered if a thought has half of its quote; a message
without facts is silent if nothing was kept of it; a later question finds its fact if one of the first five
recalled items comes from its message. In `scenarios/restrictions` only restrictions are marked as facts, and
none is asked for: there only the coverage says something.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from thinkback.memory import Memory
from thinkback.types import Recollection
from thinkback_lab.datasets.loading import read_json_lines
from thinkback_lab.harness import IN_MEMORY
from thinkback_lab.progress import ProgressCallback, no_progress, progress

HELD_OUT = Path(__file__).parents[1] / "scenarios/facts_in_questions/heldout"
MESSAGES_PER_MEMORY = 20
MIN_QUOTE_SHARE = 0.5


class Fact(BaseModel):
    """A lasting fact in a message, and a later question that it answers; the question may be empty."""

    quote: str
    question: str = ""
    answer: str = ""


class Message(BaseModel):
    """A message as typed, with the facts that it states."""

    id: str
    text: str
    facts: list[Fact]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*", default=[HELD_OUT])
    parser.add_argument("--embedder", default="minilm+use")
    parser.add_argument("--preset", default="hybrid")
    parser.add_argument("--missed", action="store_true", help="print what was missed or kept by mistake")
    options = parser.parse_args()
    messages = read_messages(options.files)
    with progress("messages") as report:
        counts = count(messages, options.embedder, options.preset, options.missed, report)
    print(f"coverage {counts['covered'] / counts['facts']:.3f} of {counts['facts']} facts")
    print(f"silence {counts['silent'] / counts['empty']:.3f} of {counts['empty']} messages without facts")
    print(f"precision {counts['right'] / counts['kept']:.3f} of {counts['kept']} kept sentences")
    if counts["asked"]:
        print(f"found {counts['found'] / counts['asked']:.3f} of {counts['asked']} later questions")


def read_messages(paths: Sequence[Path]) -> list[Message]:
    """The messages of JSON lines files, and of the files of folders."""
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    form = TypeAdapter(Message)
    return [message for file in files for _, message in read_json_lines(file, form, "a message")]


def count(
    messages: Sequence[Message],
    embedder: str,
    preset: str,
    show_missed: bool = False,
    on_progress: ProgressCallback = no_progress,
) -> Counter[str]:
    """Tell the messages, ask for their facts, and count what happened."""
    counts: Counter[str] = Counter()
    for start in range(0, len(messages), MESSAGES_PER_MEMORY):
        on_progress(start, len(messages))
        told = messages[start : start + MESSAGES_PER_MEMORY]
        with Memory.open(IN_MEMORY, embedder=embedder, preset=preset, background=False) as memory:
            turns = [memory.remember(message.text) for message in told]
            memory.post_think()
            for turn, message in zip(turns, told, strict=True):
                counts += _count_message(memory, turn.id, message, show_missed)
    return counts


def _count_message(memory: Memory, turn: int, message: Message, show_missed: bool) -> Counter[str]:
    kept = [
        (source.start, source.end)
        for thought in memory.thoughts(current=False)
        for source in thought.sources
        if source.turn == turn
    ]
    covered = [_covers(kept, fact.quote, message.text) for fact in message.facts]
    found = [
        _comes_from(memory.recall(fact.question, k=5), turn) if fact.question else None
        for fact in message.facts
    ]
    if show_missed:
        for fact, is_covered, is_found in zip(message.facts, covered, found, strict=True):
            if not is_covered or is_found is False:
                print(f"covered: {is_covered}, found: {is_found}: {message.text} | {fact.question}")
        if not message.facts and kept:
            print(f"kept by mistake: {message.text} | {[message.text[start:end] for start, end in kept]}")
    right = [any(_overlap(span, fact.quote, message.text) for fact in message.facts) for span in kept]
    return Counter(
        facts=len(covered),
        covered=sum(covered),
        asked=len(found) - found.count(None),
        found=found.count(True),
        kept=len(kept),
        right=sum(right),
        empty=not message.facts,
        silent=not (message.facts or kept),
    )


def _covers(kept: Sequence[tuple[int, int]], fact: str, text: str) -> bool:
    return any(_overlap(span, fact, text) >= MIN_QUOTE_SHARE * len(fact) for span in kept)


def _overlap(kept: tuple[int, int], fact: str, text: str) -> int:
    """The number of characters of the message that a kept passage and a fact share."""
    start = text.index(fact)
    return max(0, min(kept[1], start + len(fact)) - max(kept[0], start))


def _comes_from(recollection: Recollection, turn: int) -> bool:
    return any(
        (item.turn is not None and item.turn.id == turn)
        or (item.thought is not None and any(source.turn == turn for source in item.thought.sources))
        for item in recollection
    )


if __name__ == "__main__":
    main()
