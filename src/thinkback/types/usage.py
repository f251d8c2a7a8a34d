"""Messages to a language model, its reply, and the usage (cost) of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a language model and its token counts (0 if the server does not report them)."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost: LLM calls, tokens, and milliseconds per stage."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: Mapping[str, float] = field(default_factory=dict)


NO_USAGE = Usage()
