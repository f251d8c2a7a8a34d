"""Language models by name, and patience with them: what a run needs besides thinkback's own memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from thinkback import LLM, Memory, Message, ThinkbackError
from thinkback_lab.errors import LabError

ATTEMPTS = 3
PAUSE_S = 2.0
LONGEST_PAUSE_S = 60.0

# thinkback does not export its kinds of errors; these tell that a model is there, but of no use this time
_USELESS = frozenset(("BadReply", "ModelRefused"))

Sleep = Callable[[float], None]


@contextmanager
def opened(spec: str) -> Iterator[LLM]:
    """The model that a spec names (`openai:MODEL`, `local:NAME_OR_PATH`), released at the end."""
    with Memory.open(":memory:", llm=spec, embedder="hashing", background=False) as memory:
        if memory.llm is None:
            raise LabError(f"no language model is called {spec!r}")
        yield memory.llm


def replied(error: ThinkbackError) -> bool:
    """Whether the model did answer, only not what was asked for."""
    return any(kind.__name__ in _USELESS for kind in type(error).__mro__)


def patiently(
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
    for pause in (*(PAUSE_S * 2**attempt for attempt in range(ATTEMPTS - 1)), None):
        try:
            return llm.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature).text
        except ThinkbackError as error:
            if pause is None or replied(error) or isinstance(error, ImportError):
                raise
            sleep(min(getattr(error, "retry_after", None) or pause, LONGEST_PAUSE_S))
    raise AssertionError("the last attempt returns or raises")
