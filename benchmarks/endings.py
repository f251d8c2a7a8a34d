"""Things that ended in a casual message ("quit last week"), without a model: is a memory of them misleading?

    python -m benchmarks.endings
    python -m benchmarks.endings scenarios/memories/choice/y.jsonl --preset hybrid --shown

The messages of a memory are told, then its questions are asked. A question is about something ended if a
message that it needs was made outdated by a later one. Printed are, of these questions, how many have all
needed messages among the first five recalled items, how many show the outdated one with a mark, and how many
are misleading: the outdated message is shown without a mark, and nothing that made it outdated is. Of the
other questions: how many show all that they need, and how many show it wrongly marked as outdated.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from thinkback.memory import Memory
from thinkback.types import Recollection
from thinkback_lab.datasets.memories import MemoryQuestion, ToldMemory, read_memories
from thinkback_lab.harness import IN_MEMORY, ManualClock
from thinkback_lab.progress import ProgressCallback, no_progress, progress

HELD_OUT = Path(__file__).parents[1] / "scenarios/memories/heldout/z.jsonl"
FIRST = 5
ASKED_LATER = timedelta(days=60)  # after the last message


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*", default=[HELD_OUT])
    parser.add_argument("--embedder", default="minilm+use")
    parser.add_argument("--preset", default="careful")
    parser.add_argument("--shown", action="store_true", help="print what misleading questions recall")
    options = parser.parse_args()
    memories = read_memories(options.files)
    with progress("memories") as report:
        counts = count(memories, options.embedder, options.preset, options.shown, report)
    for kind, names in (("ended", ("complete", "marked", "misleading")), ("other", ("complete", "marked"))):
        shares = ", ".join(
            f"{name} {counts[kind, name] / max(counts[kind, 'asked'], 1):.3f}" for name in names
        )
        print(f"{kind}: {shares} of {counts[kind, 'asked']} questions")


def count(
    memories: Sequence[ToldMemory],
    embedder: str,
    preset: str,
    show_misleading: bool = False,
    on_progress: ProgressCallback = no_progress,
) -> Counter[tuple[str, str]]:
    """Tell the messages of each memory, ask its questions, and count what is recalled."""
    counts: Counter[tuple[str, str]] = Counter()
    for number, told in enumerate(memories):
        on_progress(number, len(memories))
        clock = ManualClock()
        with Memory.open(
            IN_MEMORY, embedder=embedder, preset=preset, background=False, clock=clock
        ) as memory:
            turns = []
            for message in told.messages:
                clock.now = datetime.fromisoformat(f"{message.at}T10:00:00+00:00")
                turns.append(memory.remember(message.text).id)
                memory.post_think()
            clock.now += ASKED_LATER
            for question in told.questions:
                recalled = memory.recall(question.q, k=FIRST)
                counts += _count_question(told, question, turns, recalled, show_misleading)
    return counts


def _count_question(
    told: ToldMemory,
    question: MemoryQuestion,
    turns: Sequence[int],
    recalled: Recollection,
    show_misleading: bool,
) -> Counter[tuple[str, str]]:
    needed = set(question.answered_by)
    ended = {old for old, _ in told.outdated if old in needed}
    endings = {new for old, new in told.outdated if old in ended}
    shown: dict[int, bool] = {}  # whether a message is shown as outdated
    for item in recalled:
        turn = item.turn.id if item.turn is not None else item.thought.last_turn if item.thought else 0
        shown.setdefault(turns.index(turn), item.outdated is not None)
    kind = "ended" if ended else "other"
    marked = any(shown.get(number) for number in (ended or needed))
    misleading = any(shown.get(number) is False for number in ended) and endings.isdisjoint(shown)
    if misleading and show_misleading:
        print(f"{question.q} | {[(told.texts[number], is_marked) for number, is_marked in shown.items()]}")
    return Counter(
        {
            (kind, "asked"): 1,
            (kind, "complete"): int(needed <= shown.keys()),
            (kind, "marked"): int(marked),
            (kind, "misleading"): int(misleading),
        }
    )


if __name__ == "__main__":
    main()
