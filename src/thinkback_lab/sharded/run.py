"""Play a task told in shards: what its last context keeps, what each context costs, and how it is answered.

Without a model nobody answers: each shard is remembered, and the contexts are what a model would be given.
With one it chats through the shards and answers the last message; it is then told everything at once by a
user it has never met. The difference is what multi-turn conversation costs (39% in the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from thinkback import Memory
from thinkback_lab.metrics.answers import says
from thinkback_lab.metrics.shards import kept
from thinkback_lab.progress import Report, silent
from thinkback_lab.sharded.format import Task
from thinkback_lab.stage import Clock, Setup, Stage

BEGIN = datetime(2024, 5, 1, 9, tzinfo=UTC)
PAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One task, played to its end."""

    task: Task
    lost: tuple[str, ...]  # shards told before the last message that its context does not hold
    counted: int  # shards told before the last message
    tokens: tuple[int, ...]  # of the context, by turn
    multi_turn: bool | None = None  # answered right; None without a model
    one_shot: bool | None = None


def run(tasks: Sequence[Task], setup: Setup, report: Report = silent) -> list[Played]:
    """Every task in a memory of its own."""
    stage = Stage(setup)
    played: list[Played] = []
    for task in tasks:
        played.append(play(stage, task))
        report(len(played), len(tasks))
    return played


def play(stage: Stage, task: Task) -> Played:
    clock = Clock(BEGIN)
    tokens: list[int] = []
    right: bool | None = None
    with stage.open(clock) as memory:
        *before, last = task.messages
        for message in before:
            tokens.append(memory.context(message).tokens)
            _say(memory, message)
            clock.now += PAUSE
        context = memory.context(last)
        tokens.append(context.tokens)
        if memory.llm is not None:
            right = says(memory.chat(last).text, task.expected)
            at_once = says(memory.for_user("at once").chat(task.at_once).text, task.expected)
    lines = [line for message in context.messages[:-1] for line in message.content.split("\n")]
    told = task.told[: len(before)]
    return Played(
        task=task,
        lost=tuple(shard for shard in told if not kept(shard, lines)),
        counted=len(told),
        tokens=tuple(tokens),
        multi_turn=right,
        one_shot=None if right is None else at_once,
    )


def _say(memory: Memory, message: str) -> None:
    if memory.llm is None:
        memory.remember(message)
    else:
        memory.chat(message)
    memory.post_think()
