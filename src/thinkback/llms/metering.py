"""Wrapper that records the usage of a language model for `thinkback.usage.count_usage`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from thinkback.language.tokens import count_tokens
from thinkback.protocols import LLM
from thinkback.types import Message, Reply
from thinkback.usage import record_usage


class MeteredLLM:
    """Passes all calls to a model and records their usage; unreported token counts are estimated."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def extracts(self) -> bool:
        return self._llm.extracts

    @property
    def follows(self) -> bool:
        return self._llm.follows

    @property
    def speaks(self) -> tuple[str, ...] | None:
        return self._llm.speaks

    @property
    def masks(self) -> bool:
        return self._llm.masks

    @property
    def finds_updates(self) -> bool:
        """Whether the model is tuned to mark which known facts still hold."""
        return bool(getattr(self._llm, "finds_updates", False))

    def complete_with_grammar(
        self,
        messages: Sequence[Message],
        *,
        grammar: str,
        max_tokens: int,
        on_token: Callable[[str, float], None] = lambda text, log_probability: None,
    ) -> Reply:
        """Only for models that find updates."""
        complete: Callable[..., Reply] = self._llm.complete_with_grammar  # type: ignore[attr-defined]
        return _metered(
            messages,
            lambda: complete(messages, grammar=grammar, max_tokens=max_tokens, on_token=on_token),
        )

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        return _metered(
            messages,
            lambda: self._llm.complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            ),
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        received: list[str] = []
        reply = Reply("")
        try:
            chunks = self._llm.stream(messages, max_tokens=max_tokens, temperature=temperature, forbid=forbid)
            reply = yield from _collect_chunks(chunks, received)
        finally:  # a stream that is closed early has used the tokens received so far
            _record_usage(messages, reply if reply.text else Reply("".join(received)))
        return reply


def _collect_chunks(chunks: Generator[str, None, Reply], collected: list[str]) -> Generator[str, None, Reply]:
    """Yield the chunks and append each to `collected` before the caller sees it."""
    try:
        while True:
            collected.append(chunk := next(chunks))
            yield chunk
    except StopIteration as end:
        return end.value if isinstance(end.value, Reply) else Reply("".join(collected))
    finally:
        chunks.close()


def _metered(messages: Sequence[Message], complete: Callable[[], Reply]) -> Reply:
    """Call the model and record the usage, also of a call that fails or is interrupted."""
    reply: Reply | None = None
    try:
        reply = complete()
    finally:
        if reply is None:
            record_usage(1)  # the token count is unknown
        else:
            _record_usage(messages, reply)
    return reply


def _record_usage(messages: Sequence[Message], reply: Reply) -> None:
    prompt = reply.prompt_tokens or sum(count_tokens(message.content) for message in messages)
    record_usage(reply.calls, prompt, reply.completion_tokens or count_tokens(reply.text))
