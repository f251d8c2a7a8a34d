"""Language models by name, calls with retries, and replies that are requested again until they parse."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from thinkback import LLM, Memory, Message, ThinkbackError
from thinkback_lab.errors import LabError

MAX_ATTEMPTS = 3
FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 60.0

# thinkback does not export its kinds of errors; these tell that a model is there, but of no use this time
_UNUSABLE_REPLY_ERRORS = frozenset(("BadReply", "ModelRefused"))

Sleep = Callable[[float], None]


@contextmanager
def open_llm(spec: str) -> Iterator[LLM]:
    """The model that a spec names (`openai:MODEL`, `local:NAME_OR_PATH`), released at the end."""
    with Memory.open(":memory:", llm=spec, embedder="hashing", background=False) as memory:
        if memory.llm is None:
            raise LabError(f"no language model is called {spec!r}")
        yield memory.llm


def is_unusable_reply(error: ThinkbackError) -> bool:
    """Whether the model did answer, only not what was asked for."""
    return any(kind.__name__ in _UNUSABLE_REPLY_ERRORS for kind in type(error).__mro__)


def complete_with_retry(
    llm: LLM,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    schema: Mapping[str, Any] | None = None,
    temperature: float = 0.0,
    sleep: Sleep = time.sleep,
) -> str:
    """What the model says; where it cannot be had, twice more after a pause, and then its error.

    A reply that is of no use is raised at once: asking for the same again is not for here to decide. So is an
    extra that is not installed, which will not come by waiting.
    """
    for pause in (*(FIRST_PAUSE_SECONDS * 2**attempt for attempt in range(MAX_ATTEMPTS - 1)), None):
        try:
            return llm.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature).text
        except ThinkbackError as error:
            if pause is None or is_unusable_reply(error) or isinstance(error, ImportError):
                raise
            sleep(min(getattr(error, "retry_after", None) or pause, MAX_PAUSE_SECONDS))
    raise AssertionError("the last attempt returns or raises")


RETRY_TEMPERATURES = (0.0, 0.4, 0.8)  # temperatures: a model that fails at 0 fails again at 0
ParsedT = TypeVar("ParsedT")


def ask_until_valid(
    llm: LLM,
    prompt: str,
    parse: Callable[[str], ParsedT],
    *,
    max_tokens: int,
    schema: Mapping[str, Any] | None = None,
    temperatures: Sequence[float] = RETRY_TEMPERATURES,
    sleep: Sleep = time.sleep,
) -> ParsedT:
    """The reply as `read` understands it; a ValueError of `read` tells that it is of no use."""
    messages = [Message("user", prompt)]
    failure: Exception | None = None
    for temperature in temperatures:
        try:
            return parse(
                complete_with_retry(
                    llm, messages, max_tokens=max_tokens, schema=schema, temperature=temperature, sleep=sleep
                )
            )
        except ValueError as error:
            failure = error
        except ThinkbackError as error:
            failure = error
            if not is_unusable_reply(error):
                break
    raise LabError(
        f"{llm.name} cannot play its part ({failure}). What was played is kept: "
        "run the same command again to go on"
    ) from failure
