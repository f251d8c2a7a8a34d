"""What can be asked: the parameters and bodies of every operation, with their bounds.

Bodies are strict: nothing is guessed from another type, and a field nobody knows is an error, for a misspelt
one would be a silent loss.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from thinkback.errors import InvalidInput
from thinkback.language.scripts import clean_text
from thinkback.presets import PRESETS
from thinkback.times import to_utc
from thinkback.types import ConversationType
from thinkback.validation import MAX_NAME_CHARS, MAX_TEXT_CHARS, checked_name

MAX_INTEGER = (1 << 63) - 1  # the largest number a store can hold
MAX_PAGE_SIZE = 1000  # of a page
MAX_RECALLED = 100
MAX_TURNS_PER_THINK = 100  # turns that one request thinks over


def _parse_datetime(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time is text: 2024-05-31T18:30:00Z")
    try:
        return to_utc(datetime.fromisoformat(value), "it")
    except InvalidInput as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        raise ValueError("not a time in ISO 8601: 2024-05-31T18:30:00Z") from error


def _accept_integral_float(value: Any) -> Any:
    """To JSON 5.0 is a whole number; Python's strictness must not tell it from 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


DateTime = Annotated[AwareDatetime, BeforeValidator(_parse_datetime)]
"""A time with its zone, in ISO 8601."""

Integer = Annotated[int, BeforeValidator(_accept_integral_float)]
PositiveInteger = Annotated[Integer, Field(ge=1, le=MAX_INTEGER)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Question = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
Reason = Annotated[str, Field(min_length=1, max_length=10_000)]
RecallLimit = Annotated[Integer, Field(ge=1, le=MAX_RECALLED, description="At most so many memories.")]
PresetName = Annotated[str, Field(max_length=MAX_NAME_CHARS, json_schema_extra={"enum": sorted(PRESETS)})]

PathId = Annotated[int, Path(ge=1, le=MAX_INTEGER)]
After = Annotated[
    int, Query(ge=0, le=MAX_INTEGER, description="Go on after this one: the `next` of the page before.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="At most so many.")]
SessionName = Annotated[
    str, Query(min_length=1, max_length=MAX_NAME_CHARS, description="Which conversation.")
]
AsOf = Annotated[DateTime | None, Query(description="What held at this time.")]
KnownAt = Annotated[DateTime | None, Query(description="What this memory knew at this time.")]


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TurnRequest(RequestModel):
    """One question and its response; one of them may be empty."""

    query: Text = ""
    response: Text = ""
    at: DateTime | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description="Told twice under one key, kept once.")


class MessageRequest(BaseModel):
    """A message as chat APIs have it; what else it carries is passed over."""

    model_config = ConfigDict(extra="allow", strict=True)
    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: Text | list[dict[str, Any]] | None = None


class MessagesRequest(RequestModel):
    """A conversation as a list of messages: kept as turns, all or none of them."""

    messages: list[MessageRequest] = Field(min_length=1, max_length=10_000)
    at: DateTime | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description="Told twice under one key, kept once.")


class RecallRequest(RequestModel):
    query: Question
    k: RecallLimit = 5
    as_of: DateTime | None = Field(default=None, description="What held at this time.")
    known_at: DateTime | None = Field(default=None, description="What this memory knew at this time.")
    preset: PresetName | None = Field(default=None, description="Search in another way, this once.")
    budget: Integer | None = Field(
        default=None, ge=1, le=1_000_000, description="At most so many tokens of text in all."
    )
    explain: bool = Field(
        default=False, description="Add what was dropped, every part of every score, and why."
    )


class AskRequest(RequestModel):
    question: Question
    k: RecallLimit = 5
    max_words: Integer = Field(default=50, ge=1, le=1000)


class ContextRequest(RequestModel):
    message: Question
    session: Name = "default"
    k: RecallLimit = 5


class KindsRequest(RequestModel):
    query: Question


class EraseTurnRequest(RequestModel):
    turn: PositiveInteger


class EraseSessionRequest(RequestModel):
    session: Name


def _require_true(value: Any) -> Any:
    if value is not True:  # 1 is equal to it, and no reason to erase everything
        raise ValueError("say true")
    return value


class EraseAllRequest(RequestModel):
    all: Annotated[Literal[True], BeforeValidator(_require_true)]


class ThinkRequest(RequestModel):
    limit: Integer = Field(default=10, ge=1, le=MAX_TURNS_PER_THINK, description="At most so many turns.")
    retry_failed: bool = Field(default=False, description="Try again what was given up before.")


class OrganiseRequest(RequestModel):
    group: Integer | None = Field(
        default=None, ge=0, le=1 << 31, description="Only this group; else all, one by one."
    )


Item = Annotated[str, Field(max_length=10_000), AfterValidator(clean_text)]
Items = Annotated[list[Item], Field(max_length=MAX_PAGE_SIZE)]


class ExcludedOptionRequest(RequestModel):
    option: Item
    reason: Item = ""


class SummaryRequest(RequestModel):
    """A summary as `GET /summary` gives it, changed; its version says which one was changed."""

    session: Annotated[Name, AfterValidator(lambda name: checked_name(name, "session"))] = "default"
    version: Integer = Field(ge=0, le=MAX_INTEGER)
    turn: Integer = Field(default=0, ge=0, le=MAX_INTEGER)
    talk: ConversationType = "small talk"
    topic: Item = ""
    conclusion: Item = ""
    needs: Items = []
    constraints: Items = []
    excluded: Annotated[list[ExcludedOptionRequest], Field(max_length=MAX_PAGE_SIZE)] = []
    facts: Items = []
    to_clarify: Items = []
    discussed: Items = []


class ReviseSummaryRequest(RequestModel):
    summary: SummaryRequest
    reason: Reason
