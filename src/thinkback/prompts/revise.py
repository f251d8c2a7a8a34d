"""The replies of the `revise` and `confirm` prompts: closed questions, which a small model answers better."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ReviseReply(BaseModel):
    """Which fact a message changes (0: none), and to what."""

    model_config = _CLOSED

    fact: int
    new: Annotated[str, Field(max_length=120)]


class ConfirmReply(BaseModel):
    model_config = _CLOSED

    answer: Literal["yes", "no"]


def schema(facts: int) -> dict[str, Any]:
    """The JSON schema of a ReviseReply about so many facts."""
    whole = ReviseReply.model_json_schema()
    whole["properties"]["fact"]["enum"] = list(range(facts + 1))
    return whole
