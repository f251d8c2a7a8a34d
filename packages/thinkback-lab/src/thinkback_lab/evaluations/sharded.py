"""Tasks given in shards, one per turn: what the last context still holds, and how a model answers."""

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
_ANSWER_MARK = "####"  # what stands before the answer proper in sets of sums
_COMPLETE_SHARE = 0.8  # of the shards in the question: it is the whole task


class Shard(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    shard: NonEmptyStr


class ShardedTask(BaseModel):
    """One task; `id` is its place in the file where the file gives none."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(default="", validation_alias=AliasChoices("task_id", "id"))
    shards: Annotated[tuple[Shard, ...], Field(min_length=2)]
    question: NonEmptyStr
    answer: str = ""

    @field_validator("answer", "id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """A number is an answer as well; a list of accepted ones counts by its first."""
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
        """Whether the question tells the whole task by itself."""
        return sum(
            is_retained(shard, [self.question]) for shard in self.shard_texts
        ) >= _COMPLETE_SHARE * len(self.shard_texts)

    @property
    def messages(self) -> tuple[str, ...]:
        """What the user says, turn by turn; the last one is answered."""
        return self.shard_texts if self.is_complete_question else (*self.shard_texts, self.question)

    @property
    def single_message(self) -> str:
        """The same in one message."""
        return self.question if self.is_complete_question else "\n".join(self.messages)


def read_tasks(path: Path | None) -> list[ShardedTask]:
    """The tasks of a file; those we ship where none is named."""
    text = read_text(path) if path else files(__package__).joinpath("tasks.json").read_text("utf-8")
    where = path or "tasks.json"
    try:
        tasks = TypeAdapter(list[ShardedTask]).validate_python(json.loads(text))
    except ValidationError as error:
        raise LabError(f"{where}: {format_validation_error(error)}") from error
    except ValueError as error:
        raise LabError(f"{where}: not JSON ({error}): a list of tasks is wanted") from error
    if not tasks:
        raise LabError(f"{where}: no task in it")
    return [
        task if task.id else task.model_copy(update={"id": str(n)}) for n, task in enumerate(tasks, start=1)
    ]


START_AT = datetime(2024, 5, 1, 9, tzinfo=UTC)
TURN_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTask:
    """One task, played to its end."""

    task: ShardedTask
    lost: tuple[str, ...]  # shards told before the last message that its context does not hold
    counted: int  # shards told before the last message
    tokens: tuple[int, ...]  # of the context, by turn
    multi_turn: bool | None = None  # answered right; None without a model
    one_shot: bool | None = None


def run_sharded(
    tasks: Sequence[ShardedTask], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[PlayedTask]:
    """Every task in a memory of its own."""
    stage = Harness(setup)
    played: list[PlayedTask] = []
    for task in tasks:
        played.append(play_task(stage, task))
        on_progress(len(played), len(tasks))
    return played


def play_task(stage: Harness, task: ShardedTask) -> PlayedTask:
    clock = ManualClock(START_AT)
    tokens: list[int] = []
    right: bool | None = None
    with stage.open(clock) as memory:
        *before, last = task.messages
        for message in before:
            tokens.append(memory.context(message).tokens)
            _send_message(memory, message)
            clock.now += TURN_INTERVAL
        context = memory.context(last)
        tokens.append(context.tokens)
        if memory.llm is not None:
            right = contains_anchor(memory.chat(last).text, task.expected)
            at_once = contains_anchor(
                memory.for_user("at once").chat(task.single_message).text, task.expected
            )
    lines = [line for message in context.messages[:-1] for line in message.content.split("\n")]
    told = task.shard_texts[: len(before)]
    return PlayedTask(
        task=task,
        lost=tuple(shard for shard in told if not is_retained(shard, lines)),
        counted=len(told),
        tokens=tuple(tokens),
        multi_turn=right,
        one_shot=None if right is None else at_once,
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
    """Languages, then all."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("tasks")
    for title in ("n", "shards", "kept", "tokens at the last turn", "multi-turn", "one-shot", "drop"):
        grid.add_column(title, justify="right")
    for name, figures in (*summary["by_language"].items(), ("all", summary["metrics"])):
        rates = (figures[each] for each in ("multi_turn", "one_shot", "drop"))
        cells = ("-" if rate is None else f"{rate:.1%}" for rate in rates)
        kept = f"{figures['shards_kept']:.1%}"
        grid.add_row(
            name, str(figures["n"]), str(figures["shards"]), kept, str(figures["tokens_last"]), *cells
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
    known = [outcome for outcome in outcomes if outcome is not None]
    return fmean(known) if known else None


def _mean_tokens_by_turn(played: Sequence[PlayedTask]) -> list[float]:
    """The mean cost of a context at each turn, over the tasks that get so far."""
    turns = max(len(each.tokens) for each in played)
    return [
        round(fmean(each.tokens[turn] for each in played if len(each.tokens) > turn), 1)
        for turn in range(turns)
    ]
