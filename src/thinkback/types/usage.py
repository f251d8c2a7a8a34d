"""Messages to a language model, its reply, and the usage (cost) of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# --- models ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model answered, and what it cost."""

    text: str
    prompt_tokens: int = 0  # 0 where the server does not say
    completion_tokens: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: Mapping[str, float] = field(default_factory=dict)
