"""Language models by name, calls with retries, and replies that are requested again until they parse."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from thinkback import LLM, Memory, Message, ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.recorded.folder import MissingReply
from thinkback_lab.recorded.llm import SPEC_PREFIX, RecordedLLM

MAX_ATTEMPTS = 3
FIRST_PAUSE_SECONDS = 2.0
MAX_PAUSE_SECONDS = 60.0

# thinkback does not export these error classes; they mean that a model replied, but not usefully
_UNUSABLE_REPLY_ERRORS = frozenset(("BadReply", "ModelRefused"))

Sleep = Callable[[float], None]


def resolve_llm(spec: LLM | str | None) -> LLM | str | None:
    """The `llm` argument of `Memory.open` for a spec: a model for `recorded:FOLDER`, else the spec itself."""
    if not isinstance(spec, str) or not spec.startswith(SPEC_PREFIX):
        return spec
    if not (folder := spec.removeprefix(SPEC_PREFIX)):
        raise LabError(f"{SPEC_PREFIX} names no folder: use --llm {SPEC_PREFIX}FOLDER")
    return RecordedLLM(Path(folder))


@contextmanager
def open_llm(spec: str) -> Iterator[LLM]:
    """Open the model named by a spec and release it at the end.

    Specs are `openai:MODEL`, `local:NAME_OR_PATH` and `recorded:FOLDER`.
    """
    with Memory.open(":memory:", llm=resolve_llm(spec), embedder="hashing", background=False) as memory:
        if memory.llm is None:
            raise LabError(f"unknown language model {spec!r}")
        yield memory.llm


def is_unusable_reply(error: ThinkbackError) -> bool:
    """Whether the error means that the model replied, but not usefully."""
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
    """Call the model; if it cannot be reached, retry twice with growing pauses.

    Unusable replies, missing packages and missing recordings are raised at once: waiting does not help.
    """
    for pause in (*(FIRST_PAUSE_SECONDS * 2**attempt for attempt in range(MAX_ATTEMPTS - 1)), None):
        try:
            return llm.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature).text
        except ThinkbackError as error:
            if pause is None or is_unusable_reply(error) or isinstance(error, ImportError | MissingReply):
                raise
            sleep(min(getattr(error, "retry_after", None) or pause, MAX_PAUSE_SECONDS))
    raise AssertionError("the last attempt returns or raises")


RETRY_TEMPERATURES = (0.0, 0.4, 0.8)  # a model that fails at 0 fails again at 0
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
    """Ask until `parse` accepts the reply, with rising temperature; `parse` raises ValueError to reject it.

    Raises LabError if all attempts fail or the model cannot be reached.
    """
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
        f"{llm.name} gave no usable reply ({failure}). Completed visits are saved: "
        "run the same command again to resume"
    ) from failure
