"""The reply of the `forget` prompt (TiM 002, Figure 4): proposals, to be guarded before they are believed.

We deviate from the figure, which drops both of two contradicting thoughts: a proposal names the thought that
speaks against the forgotten one, so that the guard can check it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ForgetProposal(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    against: int | None = None
    reason: Annotated[str, Field(max_length=600)] = ""


class ForgetReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    forget: Annotated[list[ForgetProposal], Field(max_length=64)]
