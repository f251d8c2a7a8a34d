"""The file of sharded tasks: a JSON list, plain or gzipped, checked at this border.

    [{"shards": [{"shard": "..."}, ...], "question": "...", "answer": "..."}, ...]

Other fields are left alone: the files of "LLMs get lost in multi-turn conversation" have many. Their question
is the whole task in one; ours is what is asked when all shards are told. `whole` tells which it is.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

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

from thinkback_lab.errors import LabError
from thinkback_lab.files import complaint, read_text
from thinkback_lab.metrics.shards import kept
from thinkback_lab.text import has_han

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_MARK = "####"  # what stands before the answer proper in sets of sums
_WHOLE = 0.8  # of the shards in the question: it is the whole task


class Shard(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    shard: Text


class Task(BaseModel):
    """One task; `id` is its place in the file where the file gives none."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = Field(default="", validation_alias=AliasChoices("task_id", "id"))
    shards: Annotated[tuple[Shard, ...], Field(min_length=2)]
    question: Text
    answer: str = ""

    @field_validator("answer", "id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """A number is an answer as well; a list of accepted ones counts by its first."""
        if isinstance(value, list) and value:
            value = value[0]
        return str(value) if isinstance(value, (int, float)) else value

    @property
    def told(self) -> tuple[str, ...]:
        return tuple(each.shard for each in self.shards)

    @property
    def expected(self) -> str:
        return self.answer.rpartition(_MARK)[2].strip()

    @property
    def lang(self) -> str:
        return "zh" if has_han(self.question) else "en"

    @property
    def whole(self) -> bool:
        """Whether the question tells the whole task by itself."""
        return sum(kept(shard, [self.question]) for shard in self.told) >= _WHOLE * len(self.told)

    @property
    def messages(self) -> tuple[str, ...]:
        """What the user says, turn by turn; the last one is answered."""
        return self.told if self.whole else (*self.told, self.question)

    @property
    def at_once(self) -> str:
        """The same in one message."""
        return self.question if self.whole else "\n".join(self.messages)


def read_tasks(path: Path | None) -> list[Task]:
    """The tasks of a file; those we ship where none is named."""
    text = read_text(path) if path else files(__package__).joinpath("tasks.json").read_text("utf-8")
    where = path or "tasks.json"
    try:
        tasks = TypeAdapter(list[Task]).validate_python(json.loads(text))
    except ValidationError as error:
        raise LabError(f"{where}: {complaint(error)}") from error
    except ValueError as error:
        raise LabError(f"{where}: not JSON ({error}): a list of tasks is wanted") from error
    if not tasks:
        raise LabError(f"{where}: no task in it")
    return [
        task if task.id else task.model_copy(update={"id": str(n)}) for n, task in enumerate(tasks, start=1)
    ]
