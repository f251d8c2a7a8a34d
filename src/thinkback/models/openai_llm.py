"""Any language model behind an OpenAI-compatible chat API: OpenAI, vLLM, Ollama, llama.cpp, DeepSeek, ..."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from thinkback.errors import BadReply, ModelRefused
from thinkback.models.masking import bias
from thinkback.models.openai_dialect import Dialect
from thinkback.models.openai_wire import Wire
from thinkback.models.retry import Passing, patiently
from thinkback.models.structured import conform
from thinkback.types import Message, Reply

T = TypeVar("T")


class OpenAILLM:
    """Transient faults are retried `max_retries` times, an unusable JSON answer is asked for once more."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        extracts: bool = True,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = f"openai:{model}"
        self.extracts = self.follows = extracts
        self.speaks: tuple[str, ...] | None = None
        self._model = model
        self._wire = Wire(model, base_url, api_key, timeout)
        self._retries = max_retries
        self._sleep = sleep
        self._dialect = Dialect()
        self._masks: bool | None = None

    def __repr__(self) -> str:
        return f"<OpenAILLM {self.name}>"

    def close(self) -> None:
        self._wire.close()

    @property
    def masks(self) -> bool:
        """Whether the server tells its tokens (llama.cpp and vLLM do): asked once, when first needed."""
        if self._masks is None:
            self._masks = bool(self._wire.tokens("a"))
        return self._masks

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        reply = self._ask(messages, schema, max_tokens, temperature)
        if schema is None:
            return reply
        try:
            return replace(reply, text=conform(reply.text, schema))
        except BadReply as bad:
            # At temperature 0 the same question brings the same answer: say what was wrong with it.
            told = f"That cannot be used: {bad} Reply again with only the JSON."
        again = [*messages, Message("assistant", reply.text[:2000]), Message("user", told)]
        second = self._ask(again, schema, max_tokens, temperature)
        return Reply(
            conform(second.text, schema),
            reply.prompt_tokens + second.prompt_tokens,
            reply.completion_tokens + second.completion_tokens,
            calls=2,
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        masked = {"logit_bias": bias(forbid, self._wire.tokens)} if forbid and self.masks else {}

        def opened() -> tuple[Generator[str, None, Reply], str | None]:
            """Up to the first piece: until then nothing has been said and it may be tried again."""

            def begin(body: dict[str, Any]) -> tuple[Generator[str, None, Reply], str | None]:
                pieces = self._pieces({**body, **masked})
                return pieces, next(pieces, None)

            return self._learning(begin, messages, None, max_tokens, temperature, streamed=True)

        pieces, first = patiently(opened, retries=self._retries, sleep=self._sleep)
        if first is None:
            raise BadReply(f"{self._wire.where} gave an empty answer. Try again or rephrase.")
        yield first
        try:
            return (yield from pieces)
        except Passing as passing:
            raise passing.fault.error from None

    def _ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
    ) -> Reply:
        def once() -> dict[str, Any]:
            return self._learning(
                lambda body: self._wire.answer("chat", body), messages, schema, max_tokens, temperature
            )

        answer = patiently(once, retries=self._retries, sleep=self._sleep)
        choice = self._choice(answer)
        said = choice.get("message")
        text = self._content(said, choice.get("finish_reason"))
        if not text.strip():
            raise BadReply(f"{self._wire.where} gave an empty answer. Try again or rephrase.")
        if schema is not None and choice.get("finish_reason") == "length":
            raise BadReply(
                f"{self._wire.where} was cut off at {max_tokens} tokens. Raise max_tokens or ask for less."
            )
        return _reply(text, answer.get("usage"))

    def _learning(
        self,
        send: Callable[[dict[str, Any]], T],
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
        *,
        streamed: bool = False,
    ) -> T:
        """Send; where the server rejects the form of the request, in the next form it may understand.

        A form is remembered only when it worked: a request that is too long is rejected in every form.
        """
        dialect = self._dialect
        while True:
            try:
                result = send(dialect.body(self._model, messages, schema, max_tokens, temperature, streamed))
            except Passing as passing:
                lesson = dialect.after(passing.fault, schema is not None, streamed)
                if lesson is None:
                    raise
                dialect = lesson
            else:
                self._dialect = dialect
                return result

    def _pieces(self, body: dict[str, Any]) -> Generator[str, None, Reply]:
        """The words of a streamed answer; it must say why it ended, or it was cut off."""
        finished, usage = None, None
        said: list[str] = []
        for event in self._wire.events("chat", body):
            usage = event.get("usage") or usage  # some servers report it at the end, some all the way
            if not event.get("choices"):
                continue
            choice = self._choice(event)
            finished = choice.get("finish_reason") or finished
            if text := self._content(choice.get("delta"), finished):
                said.append(text)
                yield text
        if finished is None:
            raise BadReply(f"{self._wire.where} stopped in the middle of its answer. Try again.")
        return _reply("".join(said), usage)

    def _choice(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        match answer.get("choices"):
            case [dict() as choice, *_]:
                return choice
        raise BadReply(f"{self._wire.where} answered without a choice. Check that it speaks the OpenAI API.")

    def _content(self, said: object, finish: object) -> str:
        if not isinstance(said, dict):
            raise BadReply(
                f"{self._wire.where} answered without a message. Check that it speaks the OpenAI API."
            )
        if finish == "content_filter" or said.get("refusal"):
            raise ModelRefused(f"{self._wire.where} would not answer. Rephrase the request.")
        content = said.get("content")
        if content is not None and not isinstance(content, str):
            raise BadReply(f"{self._wire.where} answered with something that is no text. Check the model.")
        return content or ""


def _reply(text: str, usage: object) -> Reply:
    return Reply(text, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: object, field: str) -> int:
    number = usage.get(field) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and number > 0 else 0
