"""Tasks given in shards, one per turn: what the last context still contains, and how a model answers.

The file is a JSON list of {"shards": [{"shard": "..."}, ...], "question": "...", "answer": "..."}; other
fields are ignored, so that the files of "LLMs get lost in multi-turn conversation" can be read. In those the
question is the whole task; in ours it is asked after all shards (`is_complete_question` tells which).

Without a model, shards are only remembered. With one, it chats through the shards and answers the last
message; then a new user gives it everything at once. The difference is the cost of multi-turn conversation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from thinkback import Memory
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, read_text
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.metrics.answers import contains_anchor, is_retained
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.text import contains_chinese

if TYPE_CHECKING:
    from rich.table import Table


NonEmptyStr = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_ANSWER_MARK = "####"  # precedes the final answer in arithmetic data sets
_COMPLETE_SHARE = 0.8  # share of the shards that makes a question the whole task


class Shard(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    shard: NonEmptyStr


class ShardedTask(BaseModel):
    """One task; `id` defaults to its position in the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(default="", validation_alias=AliasChoices("task_id", "id"))
    shards: Annotated[tuple[Shard, ...], Field(min_length=2)]
    question: NonEmptyStr
    answer: str = ""

    @field_validator("answer", "id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Convert numbers to text; of a list of accepted answers take the first."""
        if isinstance(value, list) and value:
            value = value[0]
        return str(value) if isinstance(value, (int, float)) else value

    @property
    def shard_texts(self) -> tuple[str, ...]:
        return tuple(each.shard for each in self.shards)

    @property
    def expected(self) -> str:
        return self.answer.rpartition(_ANSWER_MARK)[2].strip()

    @property
    def lang(self) -> str:
        return "zh" if contains_chinese(self.question) else "en"

    @property
    def is_complete_question(self) -> bool:
        """Whether the question itself contains the whole task."""
        return sum(
            is_retained(shard, [self.question]) for shard in self.shard_texts
        ) >= _COMPLETE_SHARE * len(self.shard_texts)

    @property
    def messages(self) -> tuple[str, ...]:
        """The user's messages, turn by turn; the last one is answered."""
        return self.shard_texts if self.is_complete_question else (*self.shard_texts, self.question)

    @property
    def single_message(self) -> str:
        """All messages as one."""
        return self.question if self.is_complete_question else "\n".join(self.messages)


def read_tasks(path: Path | None) -> list[ShardedTask]:
    """Read the tasks of a file; without a path, those of this package."""
    text = read_text(path) if path else files(__package__).joinpath("tasks.json").read_text("utf-8")
    where = path or "tasks.json"
    try:
        tasks = TypeAdapter(list[ShardedTask]).validate_python(json.loads(text))
    except ValidationError as error:
        raise LabError(f"{where}: {format_validation_error(error)}") from error
    except ValueError as error:
        raise LabError(f"{where}: not JSON ({error}): expected a list of tasks") from error
    if not tasks:
        raise LabError(f"{where} contains no task")
    return [
        task if task.id else task.model_copy(update={"id": str(n)}) for n, task in enumerate(tasks, start=1)
    ]


START_AT = datetime(2024, 5, 1, 9, tzinfo=UTC)
TURN_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTask:
    """A completed task."""

    task: ShardedTask
    lost: tuple[str, ...]  # shards before the last message that its context does not contain
    counted: int  # shards before the last message
    tokens: tuple[int, ...]  # of the context, by turn
    multi_turn: bool | None = None  # answered correctly; None without a model
    one_shot: bool | None = None


def run_sharded(
    tasks: Sequence[ShardedTask], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[PlayedTask]:
    """Play every task in its own memory."""
    stage = Harness(setup)
    played: list[PlayedTask] = []
    for task in tasks:
        played.append(play_task(stage, task))
        on_progress(len(played), len(tasks))
    return played


def play_task(stage: Harness, task: ShardedTask) -> PlayedTask:
    clock = ManualClock(START_AT)
    tokens: list[int] = []
    correct: bool | None = None
    with stage.open(clock) as memory:
        *before, last = task.messages
        for message in before:
            tokens.append(memory.context(message).tokens)
            _send_message(memory, message)
            clock.now += TURN_INTERVAL
        context = memory.context(last)
        tokens.append(context.tokens)
        if memory.llm is not None:
            correct = contains_anchor(memory.chat(last).text, task.expected)
            at_once = contains_anchor(
                memory.for_user("at once").chat(task.single_message).text, task.expected
            )
    lines = [line for message in context.messages[:-1] for line in message.content.split("\n")]
    shards = task.shard_texts[: len(before)]
    return PlayedTask(
        task=task,
        lost=tuple(shard for shard in shards if not is_retained(shard, lines)),
        counted=len(shards),
        tokens=tuple(tokens),
        multi_turn=correct,
        one_shot=None if correct is None else at_once,
    )


def _send_message(memory: Memory, message: str) -> None:
    if memory.llm is None:
        memory.remember(message)
    else:
        memory.chat(message)
    memory.post_think()


def summarise_sharded(played: Sequence[PlayedTask], settings: Mapping[str, object]) -> dict[str, Any]:
    languages = sorted({each.task.lang for each in played})
    return {
        "dataset": "sharded",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": len(played),
        "metrics": _count_tasks(played),
        "by_language": {lang: _count_tasks([e for e in played if e.task.lang == lang]) for lang in languages},
        "tokens_by_turn": _mean_tokens_by_turn(played),
        "failures": [{"id": each.task.id, "lost": list(each.lost)} for each in played if each.lost],
    }


def sharded_table(summary: Mapping[str, Any]) -> Table:
    """Rows by language, then all."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("tasks")
    for title in ("n", "shards", "kept", "tokens at the last turn", "multi-turn", "one-shot", "drop"):
        grid.add_column(title, justify="right")
    for name, figures in (*summary["by_language"].items(), ("all", summary["metrics"])):
        rates = (figures[each] for each in ("multi_turn", "one_shot", "drop"))
        cells = ("-" if rate is None else f"{rate:.1%}" for rate in rates)
        retained = f"{figures['shards_kept']:.1%}"
        grid.add_row(
            name, str(figures["n"]), str(figures["shards"]), retained, str(figures["tokens_last"]), *cells
        )
    return grid


def _count_tasks(played: Sequence[PlayedTask]) -> dict[str, Any]:
    counted = sum(each.counted for each in played)
    multi, once = (
        _mean_rate([each.multi_turn for each in played]),
        _mean_rate([each.one_shot for each in played]),
    )
    return {
        "n": len(played),
        "shards": counted,
        "shards_kept": 1 - sum(len(each.lost) for each in played) / counted,
        "tokens_last": round(fmean(each.tokens[-1] for each in played), 1),
        "multi_turn": multi,
        "one_shot": once,
        "drop": None if multi is None or not once else 1 - multi / once,
    }


def _mean_rate(outcomes: Sequence[bool | None]) -> float | None:
    measured = [outcome for outcome in outcomes if outcome is not None]
    return fmean(measured) if measured else None


def _mean_tokens_by_turn(played: Sequence[PlayedTask]) -> list[float]:
    """Mean tokens of the context at each turn, over the tasks that reach it."""
    turns = max(len(each.tokens) for each in played)
    return [
        round(fmean(each.tokens[turn] for each in played if len(each.tokens) > turn), 1)
        for turn in range(turns)
    ]
