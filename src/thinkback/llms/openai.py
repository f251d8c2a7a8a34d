"""Any language model behind an OpenAI-compatible chat API: OpenAI, vLLM, Ollama, llama.cpp, DeepSeek, ..."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from thinkback.errors import BadReply, ModelRefused
from thinkback.llms.openai_client import OpenAIClient, RequestFailedError, RequestFailure, call_with_retries
from thinkback.llms.payload import build_logit_bias, to_message_dicts
from thinkback.llms.structured_output import add_schema_instruction, extract_json, is_strict_schema
from thinkback.types import Message, Reply

OutputMode = Literal["schema", "json", "prompt"]
NEXT_OUTPUT_MODE: dict[OutputMode, OutputMode] = {"schema": "json", "json": "prompt"}


@dataclass(frozen=True, slots=True)
class RequestFormat:
    output_mode: OutputMode = "schema"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    sends_temperature: bool = True
    requests_usage: bool = True  # whether a stream may be asked what it costs

    def next_after(
        self, failure: RequestFailure, structured: bool, streamed: bool = False
    ) -> RequestFormat | None:
        """The next form to try after a request was rejected for its form, None when nothing is left."""
        if failure.status not in (400, 422):
            return None
        said = str(failure.error).lower()
        if self.token_limit_field == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, token_limit_field="max_completion_tokens")
        if self.sends_temperature and "temperature" in said:
            return replace(self, sends_temperature=False)
        if streamed and self.requests_usage:
            return replace(self, requests_usage=False)
        if structured and self.output_mode in NEXT_OUTPUT_MODE:
            return replace(self, output_mode=NEXT_OUTPUT_MODE[self.output_mode])
        return None

    def build_body(
        self,
        model: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
        streamed: bool = False,
    ) -> dict[str, Any]:
        """The request in this dialect."""
        body: dict[str, Any] = {
            "model": model,
            "messages": to_message_dicts(
                add_schema_instruction(messages, schema)
                if schema is not None and self.output_mode != "schema"
                else messages
            ),
            self.token_limit_field: max_tokens,
        }
        if self.sends_temperature:
            body["temperature"] = temperature
        if streamed and self.requests_usage:
            body["stream_options"] = {"include_usage": True}
        if schema is not None and self.output_mode == "schema":
            form = {"name": "reply", "schema": dict(schema), "strict": is_strict_schema(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema is not None and self.output_mode == "json":
            body["response_format"] = {"type": "json_object"}
        return body


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
        self._client = OpenAIClient(model, base_url, api_key, timeout)
        self._max_retries = max_retries
        self._sleep = sleep
        self._request_format = RequestFormat()
        self._masks: bool | None = None

    def __repr__(self) -> str:
        return f"<OpenAILLM {self.name}>"

    def close(self) -> None:
        self._client.close()

    @property
    def masks(self) -> bool:
        """Whether the server tells its tokens (llama.cpp and vLLM do): asked once, when first needed."""
        if self._masks is None:
            self._masks = bool(self._client.tokenize("a"))
        return self._masks

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        reply = self._request_reply(messages, schema, max_tokens, temperature)
        if schema is None:
            return reply
        try:
            return replace(reply, text=extract_json(reply.text, schema))
        except BadReply as bad:
            # At temperature 0 the same question brings the same answer: say what was wrong with it.
            told = f"That cannot be used: {bad} Reply again with only the JSON."
        again = [*messages, Message("assistant", reply.text[:2000]), Message("user", told)]
        second = self._request_reply(again, schema, max_tokens, temperature)
        return Reply(
            extract_json(second.text, schema),
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
        masked = (
            {"logit_bias": build_logit_bias(forbid, self._client.tokenize)} if forbid and self.masks else {}
        )

        def opened() -> tuple[Generator[str, None, Reply], str | None]:
            """Up to the first piece: until then nothing has been said and it may be tried again."""

            def begin(body: dict[str, Any]) -> tuple[Generator[str, None, Reply], str | None]:
                pieces = self._stream_text({**body, **masked})
                return pieces, next(pieces, None)

            return self._send_adapting(begin, messages, None, max_tokens, temperature, streamed=True)

        pieces, first = call_with_retries(opened, retries=self._max_retries, sleep=self._sleep)
        if first is None:
            raise BadReply(f"{self._client.model_label} gave an empty answer. Try again or rephrase.")
        yield first
        try:
            return (yield from pieces)
        except RequestFailedError as passing:
            raise passing.failure.error from None

    def _request_reply(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
    ) -> Reply:
        def once() -> dict[str, Any]:
            return self._send_adapting(
                lambda body: self._client.post_json("chat", body), messages, schema, max_tokens, temperature
            )

        answer = call_with_retries(once, retries=self._max_retries, sleep=self._sleep)
        choice = self._first_choice(answer)
        said = choice.get("message")
        text = self._text_content(said, choice.get("finish_reason"))
        if not text.strip():
            raise BadReply(f"{self._client.model_label} gave an empty answer. Try again or rephrase.")
        if schema is not None and choice.get("finish_reason") == "length":
            raise BadReply(
                f"{self._client.model_label} was cut off at {max_tokens} tokens. Raise max_tokens or ask for less."
            )
        return _make_reply(text, answer.get("usage"))

    def _send_adapting(
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
        dialect = self._request_format
        while True:
            try:
                result = send(
                    dialect.build_body(self._model, messages, schema, max_tokens, temperature, streamed)
                )
            except RequestFailedError as passing:
                lesson = dialect.next_after(passing.failure, schema is not None, streamed)
                if lesson is None:
                    raise
                dialect = lesson
            else:
                self._request_format = dialect
                return result

    def _stream_text(self, body: dict[str, Any]) -> Generator[str, None, Reply]:
        """The words of a streamed answer; it must say why it ended, or it was cut off."""
        finished, usage = None, None
        said: list[str] = []
        for event in self._client.stream_events("chat", body):
            usage = event.get("usage") or usage  # some servers report it at the end, some all the way
            if not event.get("choices"):
                continue
            choice = self._first_choice(event)
            finished = choice.get("finish_reason") or finished
            if text := self._text_content(choice.get("delta"), finished):
                said.append(text)
                yield text
        if finished is None:
            raise BadReply(f"{self._client.model_label} stopped in the middle of its answer. Try again.")
        return _make_reply("".join(said), usage)

    def _first_choice(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        match answer.get("choices"):
            case [dict() as choice, *_]:
                return choice
        raise BadReply(
            f"{self._client.model_label} answered without a choice. Check that it speaks the OpenAI API."
        )

    def _text_content(self, message: object, finish_reason: object) -> str:
        if not isinstance(message, dict):
            raise BadReply(
                f"{self._client.model_label} answered without a message. Check that it speaks the OpenAI API."
            )
        if finish_reason == "content_filter" or message.get("refusal"):
            raise ModelRefused(f"{self._client.model_label} would not answer. Rephrase the request.")
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise BadReply(
                f"{self._client.model_label} answered with something that is no text. Check the model."
            )
        return content or ""


def _make_reply(text: str, usage: object) -> Reply:
    return Reply(text, _token_count(usage, "prompt_tokens"), _token_count(usage, "completion_tokens"))


def _token_count(usage: object, field: str) -> int:
    number = usage.get(field) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and number > 0 else 0
