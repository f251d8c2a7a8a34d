"""The reply of the `synthesise` prompt (PerLTQA, Eq. 4 and figure 6), checked before it is believed.

Beyond the figure we ask for citations, and for a plain "not known" rather than a guess.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class SynthesiseReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    known: bool
    answer: Annotated[str, Field(max_length=4000)]
    used: Annotated[list[int], Field(max_length=64)]
