"""Parameters and bodies of the REST operations, with their limits.

Bodies are strict: values are not converted from other types, and unknown fields are errors, because a
misspelt field would otherwise be silently ignored.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from thinkback.errors import InvalidInput
from thinkback.language.writing_systems import clean_text
from thinkback.presets import PRESETS
from thinkback.times import to_utc
from thinkback.types import ConversationType, Kind
from thinkback.validation import MAX_NAME_CHARS, MAX_TEXT_CHARS

MAX_INTEGER = (1 << 63) - 1  # the largest integer of the store
MAX_PAGE_SIZE = 1000
MAX_RECALLED = 100
MAX_TURNS_PER_THINK = 100


def _parse_datetime(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time must be text like 2024-05-31T18:30:00Z")
    try:
        return to_utc(datetime.fromisoformat(value), "it")
    except InvalidInput as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        raise ValueError("not an ISO 8601 time like 2024-05-31T18:30:00Z") from error


def _accept_integral_float(value: Any) -> Any:
    """Accept 5.0 as 5: in JSON both are the same number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


DateTime = Annotated[AwareDatetime, BeforeValidator(_parse_datetime)]
"""An ISO 8601 time with a time zone."""

Integer = Annotated[int, BeforeValidator(_accept_integral_float)]
PositiveInteger = Annotated[Integer, Field(ge=1, le=MAX_INTEGER)]
# Only described here: `validation.checked_name` decides which names are valid (status 400).
_NAME_SCHEMA = {"minLength": 1, "maxLength": MAX_NAME_CHARS}
Name = Annotated[str, Field(json_schema_extra=_NAME_SCHEMA)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Question = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
Reason = Annotated[str, Field(min_length=1, max_length=10_000)]
RecallLimit = Annotated[Integer, Field(ge=1, le=MAX_RECALLED, description="Maximum number of memories.")]
PresetName = Annotated[str, Field(max_length=MAX_NAME_CHARS, json_schema_extra={"enum": sorted(PRESETS)})]

PathId = Annotated[int, Path(ge=1, le=MAX_INTEGER)]
After = Annotated[
    int, Query(ge=0, le=MAX_INTEGER, description="Continue after this: the `next` of the previous page.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="Maximum number of items.")]
SessionName = Annotated[str, Query(json_schema_extra=_NAME_SCHEMA, description="The session (conversation).")]
AsOf = Annotated[DateTime | None, Query(description="What was valid at this time.")]
KnownAt = Annotated[DateTime | None, Query(description="What this memory knew at this time.")]
IDEMPOTENCY_KEY = "Idempotency key: a turn with the same key is stored once."


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TurnRequest(RequestModel):
    """One user message and its response; either may be empty."""

    query: Text = ""
    response: Text = ""
    at: DateTime | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description=IDEMPOTENCY_KEY)


class MessageRequest(BaseModel):
    """A message as in chat APIs; other fields are ignored."""

    model_config = ConfigDict(extra="allow", strict=True)
    role: Literal["user", "assistant", "system", "developer", "tool", "function"]
    content: Text | list[dict[str, Any]] | None = None


class MessagesRequest(RequestModel):
    """A conversation as a list of messages, stored as turns: all of them or none."""

    messages: list[MessageRequest] = Field(min_length=1, max_length=10_000)
    at: DateTime | None = None
    session: Name = "default"
    key: Name | None = Field(default=None, description=IDEMPOTENCY_KEY)


class RecallRequest(RequestModel):
    query: Question
    k: RecallLimit = 5
    as_of: DateTime | None = Field(default=None, description="What was valid at this time.")
    known_at: DateTime | None = Field(default=None, description="What this memory knew at this time.")
    preset: PresetName | None = Field(default=None, description="Use another preset for this request.")
    budget: Integer | None = Field(
        default=None, ge=1, le=1_000_000, description="Maximum number of tokens of all memories together."
    )
    explain: bool = Field(
        default=False, description="Add the dropped candidates, all score components, and the reasons."
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
    if value is not True:  # 1 == True, but is no confirmation to erase everything
        raise ValueError("must be true")
    return value


class EraseAllRequest(RequestModel):
    all: Annotated[Literal[True], BeforeValidator(_require_true)]


class CorrectRequest(RequestModel):
    """What is true instead, as the user would say it."""

    text: Question
    reason: Reason = "the user corrected it"
    session: Name = "default"


class EditRequest(RequestModel):
    """New words, kind or validity of a thought. A time that is null is removed, one not sent is kept."""

    sentence: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    value: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    kind: Kind | None = None
    valid_from: DateTime | None = None
    valid_to: DateTime | None = None
    reason: Reason = "the user edited it"
    session: Name = "default"


class ThinkRequest(RequestModel):
    limit: Integer = Field(default=10, ge=1, le=MAX_TURNS_PER_THINK, description="Maximum number of turns.")
    retry_failed: bool = Field(default=False, description="Also retry turns that were given up before.")


class OrganiseRequest(RequestModel):
    group: Integer | None = Field(
        default=None, ge=0, le=1 << 31, description="Only this group; otherwise all, one by one."
    )


Item = Annotated[str, Field(max_length=10_000), AfterValidator(clean_text)]
Items = Annotated[list[Item], Field(max_length=MAX_PAGE_SIZE)]


class ExcludedOptionRequest(RequestModel):
    option: Item
    reason: Item = ""


class SummaryRequest(RequestModel):
    """A changed summary from `GET /summary`; its version says which one was changed."""

    session: Name = "default"
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
