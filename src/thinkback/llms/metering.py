"""A language model with a meter: what it costs goes on the tally of whoever asks (`receipts.counting`)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from thinkback.language.tokens import count_tokens
from thinkback.protocols import LLM
from thinkback.types import Message, Reply
from thinkback.usage import record_usage


class MeteredLLM:
    """The model itself in every respect; tokens that it does not report are estimated from the text."""

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

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        try:
            reply = self._llm.complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            )
        except Exception:
            record_usage(1)  # what a failed call cost is not told
            raise
        _record_usage(messages, reply)
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        heard: list[str] = []
        reply = Reply("")
        try:
            pieces = self._llm.stream(messages, max_tokens=max_tokens, temperature=temperature, forbid=forbid)
            reply = yield from _collect_chunks(pieces, heard)
        finally:  # an answer that is left early has cost what was heard of it
            _record_usage(messages, reply if reply.text else Reply("".join(heard)))
        return reply


def _collect_chunks(chunks: Generator[str, None, Reply], collected: list[str]) -> Generator[str, None, Reply]:
    try:
        while True:
            collected.append(piece := next(chunks))
            yield piece
    except StopIteration as end:
        return end.value if isinstance(end.value, Reply) else Reply("".join(collected))
    finally:
        chunks.close()


def _record_usage(messages: Sequence[Message], reply: Reply) -> None:
    prompt = reply.prompt_tokens or sum(count_tokens(message.content) for message in messages)
    record_usage(reply.calls, prompt, reply.completion_tokens or count_tokens(reply.text))
