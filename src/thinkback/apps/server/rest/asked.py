"""What can be asked: the parameters and bodies of every operation, with their bounds.

Bodies are strict: nothing is guessed from another type, and a field nobody knows is an error, for a misspelt
one would be a silent loss.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from thinkback.checks import MAX_NAME, MAX_TEXT, checked_name
from thinkback.errors import InvalidInput
from thinkback.presets import PRESETS
from thinkback.text.clean import clean
from thinkback.times import aware
from thinkback.types import Talk

LARGEST = (1 << 63) - 1  # the largest number a store can hold
MOST = 1000  # of a page
MOST_RECALLED = 100
MOST_THOUGHT_OVER = 100  # turns that one request thinks over


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time is text: 2024-05-31T18:30:00Z")
    try:
        return aware(datetime.fromisoformat(value), "it")
    except InvalidInput as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        raise ValueError("not a time in ISO 8601: 2024-05-31T18:30:00Z") from error


def _whole(value: Any) -> Any:
    """To JSON 5.0 is a whole number; Python's strictness must not tell it from 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]
"""A time with its zone, in ISO 8601."""

Whole = Annotated[int, BeforeValidator(_whole)]
Number = Annotated[Whole, Field(ge=1, le=LARGEST)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Question = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Reason = Annotated[str, Field(min_length=1, max_length=10_000)]
Recalled = Annotated[Whole, Field(ge=1, le=MOST_RECALLED, description="At most so many memories.")]
PresetName = Annotated[str, Field(max_length=MAX_NAME, json_schema_extra={"enum": sorted(PRESETS)})]

Id = Annotated[int, Path(ge=1, le=LARGEST)]
After = Annotated[
    int, Query(ge=0, le=LARGEST, description="Go on after this one: the `next` of the page before.")
]
Limit = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
SessionName = Annotated[str, Query(min_length=1, max_length=MAX_NAME, description="Which conversation.")]
AsOf = Annotated[Moment | None, Query(description="What held at this time.")]
KnownAt = Annotated[Moment | None, Query(description="What this memory knew at this time.")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TurnSaid(Body):
    """One question and its response; one of them may be empty."""

    query: Text = ""
    response: Text = ""
    at: Moment | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description="Told twice under one key, kept once.")


class MessageSaid(BaseModel):
    """A message as chat APIs have it; what else it carries is passed over."""

    model_config = ConfigDict(extra="allow", strict=True)
    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: Text | list[dict[str, Any]] | None = None


class MessagesSaid(Body):
    """A conversation as a list of messages: kept as turns, all or none of them."""

    messages: list[MessageSaid] = Field(min_length=1, max_length=10_000)
    at: Moment | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description="Told twice under one key, kept once.")


class RecallAsked(Body):
    query: Question
    k: Recalled = 5
    as_of: Moment | None = Field(default=None, description="What held at this time.")
    known_at: Moment | None = Field(default=None, description="What this memory knew at this time.")
    preset: PresetName | None = Field(default=None, description="Search in another way, this once.")
    budget: Whole | None = Field(
        default=None, ge=1, le=1_000_000, description="At most so many tokens of text in all."
    )
    explain: bool = Field(
        default=False, description="Add what was dropped, every part of every score, and why."
    )


class QuestionAsked(Body):
    question: Question
    k: Recalled = 5
    max_words: Whole = Field(default=50, ge=1, le=1000)


class ContextAsked(Body):
    message: Question
    session: Name = "default"
    k: Recalled = 5


class KindsAsked(Body):
    query: Question


class EraseTurn(Body):
    turn: Number


class EraseSession(Body):
    session: Name


def _true(value: Any) -> Any:
    if value is not True:  # 1 is equal to it, and no reason to erase everything
        raise ValueError("say true")
    return value


class EraseAll(Body):
    all: Annotated[Literal[True], BeforeValidator(_true)]


class ThinkAsked(Body):
    limit: Whole = Field(default=10, ge=1, le=MOST_THOUGHT_OVER, description="At most so many turns.")
    retry_failed: bool = Field(default=False, description="Try again what was given up before.")


class OrganiseAsked(Body):
    group: Whole | None = Field(
        default=None, ge=0, le=1 << 31, description="Only this group; else all, one by one."
    )


Item = Annotated[str, Field(max_length=10_000), AfterValidator(clean)]
Items = Annotated[list[Item], Field(max_length=MOST)]


class ExcludedGiven(Body):
    option: Item
    reason: Item = ""


class SummaryGiven(Body):
    """A summary as `GET /summary` gives it, changed; its version says which one was changed."""

    session: Annotated[Name, AfterValidator(lambda name: checked_name(name, "session"))] = "default"
    version: Whole = Field(ge=0, le=LARGEST)
    turn: Whole = Field(default=0, ge=0, le=LARGEST)
    talk: Talk = "small talk"
    topic: Item = ""
    conclusion: Item = ""
    needs: Items = []
    constraints: Items = []
    excluded: Annotated[list[ExcludedGiven], Field(max_length=MOST)] = []
    facts: Items = []
    to_clarify: Items = []
    discussed: Items = []


class SummaryRevised(Body):
    summary: SummaryGiven
    reason: Reason
