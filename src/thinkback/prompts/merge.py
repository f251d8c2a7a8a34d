"""The reply of the `merge` prompt (TiM 002, Figure 5): proposals, to be guarded before they are believed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class MergeProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    ids: Annotated[list[int], Field(min_length=2, max_length=64)]
    sentence: Annotated[str, Field(min_length=1, max_length=2000)]


class MergeReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    merges: Annotated[list[MergeProposal], Field(max_length=64)]
