"""The reply of the `integrate` prompt (TiM 000, Eq. 7): one thought, checked before it is believed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class IntegrateReply(BaseModel):
    model_config = ConfigDict(frozen=True)

    thought: Annotated[str, Field(max_length=4000)]
