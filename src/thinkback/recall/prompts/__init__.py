"""Prompts of recall (text files beside this module) and the types of their replies."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class IntegrateReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    thought: Annotated[str, Field(max_length=4000)]


class SynthesiseReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    known: bool
    answer: Annotated[str, Field(max_length=4000)]
    used: Annotated[list[int], Field(max_length=64)]


class Contradiction(BaseModel):
    """One contradiction between a draft and a numbered fact. `quote` is copied from the draft."""

    model_config = ConfigDict(frozen=True)

    fact: int
    quote: Annotated[str, Field(max_length=2000)]
    reason: Annotated[str, Field(max_length=400)] = ""


class ContradictionsReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    contradictions: Annotated[list[Contradiction], Field(max_length=32)]
