"""Prompts of post-thinking (text files beside this module) and the types of their replies."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from thinkback.think.contract import ChangeKind
from thinkback.types import KINDS, Kind

MAX_CHANGES = 64
_MAX_TEXT = 600
_TEXT_FIELDS = ("quote", "about", "relation", "value", "sentence", "kind", "from", "to", "when")


def _to_list(value: object) -> object:
    return [value] if isinstance(value, int) else [] if value is None else value


def _to_text(value: object) -> object:
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def _to_kind(value: object) -> object:
    return value if value in KINDS else "profile"


Text = Annotated[str, BeforeValidator(_to_text), Field(max_length=_MAX_TEXT)]
Numbers = Annotated[list[int], BeforeValidator(_to_list), Field(max_length=32)]


class ChangeReply(BaseModel):
    """One change as a model writes it (see prompts/read.txt); missing fields are empty."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    op: ChangeKind
    turn: int = 1
    n: int = 0
    target: Numbers = Field(default_factory=list)
    quote: Text = ""
    about: Text = ""
    relation: Text = ""
    value: Text = ""
    sentence: Text = ""
    kind: Annotated[Kind, BeforeValidator(_to_kind)] = "profile"
    from_: Text = Field(default="", alias="from")
    to: Text = ""
    when: Text = ""


def read_schema(turn_count: int) -> dict[str, Any]:
    """The JSON schema of a reply. It is loose: every change is checked alone after parsing."""
    text = {"type": ["string", "number", "null"]}
    change = {
        "type": "object",
        "properties": {
            "op": {"type": "string"},
            "turn": {"type": "integer", "minimum": 1, "maximum": turn_count},
            "n": {"type": ["integer", "null"]},
            "target": {"type": ["array", "integer", "null"], "items": {"type": "integer"}},
            **dict.fromkeys(_TEXT_FIELDS, text),
        },
        "required": ["op"],
    }
    return {
        "title": "ReadReply",
        "type": "object",
        "properties": {"changes": {"type": "array", "items": change, "maxItems": MAX_CHANGES}},
        "required": ["changes"],
    }


class MergeProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    ids: Annotated[list[int], Field(min_length=2, max_length=64)]
    sentence: Annotated[str, Field(min_length=1, max_length=2000)]


class MergeReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    merges: Annotated[list[MergeProposal], Field(max_length=64)]


class ForgetProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    against: int | None = None
    reason: Annotated[str, Field(max_length=600)] = ""


class ForgetReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    forget: Annotated[list[ForgetProposal], Field(max_length=64)]
