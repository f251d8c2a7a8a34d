"""A language model with predefined replies, for tests, examples and dry runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from threading import Lock
from typing import Any

from thinkback.errors import BadReply, ModelUnavailable
from thinkback.llms.structured_output import extract_json, to_message_dicts
from thinkback.types import Message, Reply

ScriptedReply = str | Callable[[Sequence[Message]], str] | BaseException


class ScriptedLLM:
    """Gives its replies in order or, if they are a mapping, by the first key found in the last message.

    A reply is a string, a function of the messages, or an exception to raise. When a sequence is used up,
    further calls raise ModelUnavailable; a mapping is never used up. `calls` records the messages of each
    call, `forbidden` the forbidden words of each stream.

    Example:
        llm = ScriptedLLM(["Hello!", ModelTimeout("too slow")])
        llm = ScriptedLLM({"weather": "Sunny.", "": "I do not know."})
    """

    def __init__(
        self,
        replies: Sequence[ScriptedReply] | Mapping[str, ScriptedReply],
        *,
        name: str = "scripted",
        extracts: bool = True,
        follows: bool | None = None,
        speaks: tuple[str, ...] | None = None,
        masks: bool = False,
    ) -> None:
        self._replies_by_pattern = dict(replies) if isinstance(replies, Mapping) else None
        self._replies_in_order = [] if isinstance(replies, Mapping) else list(replies)
        self._lock = Lock()
        self.name = name
        self.extracts = extracts
        self.follows = extracts if follows is None else follows
        self.speaks = speaks
        self.masks = masks
        self.forbidden: list[tuple[str, ...]] = []
        self.calls: list[tuple[Message, ...]] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        text = self._reply_text(messages)
        if schema is not None:
            text = extract_json(text, schema, drop_invalid_items=True)
        return _make_reply(messages, text)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        self.forbidden.append(tuple(forbid))
        text = self._reply_text(messages)
        yield from re.findall(r"\s*\S+\s*?|\s+", text)
        return _make_reply(messages, text)

    def _reply_text(self, messages: Sequence[Message]) -> str:
        to_message_dicts(messages)  # validates them like the other models
        with self._lock:
            self.calls.append(tuple(messages))
            reply = self._next_reply(messages)
        if isinstance(reply, BaseException):
            raise reply
        text = reply if isinstance(reply, str) else reply(messages)
        if not text.strip():
            raise BadReply(f"The script of {self.name!r} has an empty reply. Give it some text.")
        return text

    def _next_reply(self, messages: Sequence[Message]) -> ScriptedReply:
        if self._replies_by_pattern is not None:
            last = messages[-1].content
            for pattern, reply in self._replies_by_pattern.items():
                if pattern in last:
                    return reply
            raise ModelUnavailable(
                f"The script of {self.name!r} has no reply to {last[:80]!r}. Add a pattern that occurs in it."
            )
        if not self._replies_in_order:
            raise ModelUnavailable(
                f"The script of {self.name!r} is used up at call {len(self.calls)}. Give it more replies."
            )
        return self._replies_in_order.pop(0)


def _make_reply(messages: Sequence[Message], text: str) -> Reply:
    """A reply whose token counts are the numbers of words."""
    words = sum(len(message.content.split()) for message in messages)
    return Reply(text, prompt_tokens=words, completion_tokens=len(text.split()))
