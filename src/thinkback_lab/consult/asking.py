"""One part played by a model: patience with its faults, and a reply of no use is asked for again, warmer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from thinkback import LLM, Message, ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.models import Sleep, patiently, replied

WARMER = (0.0, 0.4, 0.8)  # temperatures: a model that fails at 0 fails again at 0
Value = TypeVar("Value")


def ask(
    llm: LLM,
    prompt: str,
    read: Callable[[str], Value],
    *,
    max_tokens: int,
    schema: Mapping[str, Any] | None = None,
    warmer: Sequence[float] = WARMER,
    sleep: Sleep = time.sleep,
) -> Value:
    """The reply as `read` understands it; a ValueError of `read` tells that it is of no use."""
    messages = [Message("user", prompt)]
    failure: Exception | None = None
    for temperature in warmer:
        try:
            return read(
                patiently(
                    llm, messages, max_tokens=max_tokens, schema=schema, temperature=temperature, sleep=sleep
                )
            )
        except ValueError as error:
            failure = error
        except ThinkbackError as error:
            failure = error
            if not replied(error):
                break
    raise LabError(
        f"{llm.name} cannot play its part ({failure}). What was played is kept: "
        "run the same command again to go on"
    ) from failure
