"""Any language model behind an OpenAI-compatible chat API: OpenAI, vLLM, Ollama, llama.cpp, DeepSeek, ..."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from thinkback.errors import BadReply, ModelRefused
from thinkback.llms.openai_client import (
    OpenAIClient,
    RequestFailedError,
    RequestFailure,
    call_with_retries,
)
from thinkback.llms.structured_output import (
    add_schema_instruction,
    build_logit_bias,
    extract_json,
    is_strict_schema,
    to_message_dicts,
)
from thinkback.types import Message, Reply

T = TypeVar("T")

OutputMode = Literal["schema", "json", "prompt"]
"""How JSON is requested: a schema enforced by the server, JSON mode with the schema in the prompt, or the
prompt alone."""
NEXT_OUTPUT_MODE: dict[OutputMode, OutputMode] = {"schema": "json", "json": "prompt"}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The arguments of one `complete` or `stream` call."""

    messages: Sequence[Message]
    max_tokens: int
    temperature: float
    schema: Mapping[str, Any] | None = None
    streamed: bool = False


@dataclass(frozen=True, slots=True)
class RequestFormat:
    """The request fields that a server accepts. Servers differ; we learn from the requests they reject."""

    output_mode: OutputMode = "schema"
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    sends_temperature: bool = True
    requests_usage: bool = True  # whether streams may ask for token counts

    def next_after(self, failure: RequestFailure, request: ChatRequest) -> RequestFormat | None:
        """The format to try next after a request was rejected for its format; None if none is left."""
        if failure.status not in (400, 422):
            return None
        message = str(failure.error).lower()
        if self.limit_field == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, limit_field="max_completion_tokens")
        if self.sends_temperature and "temperature" in message:
            return replace(self, sends_temperature=False)
        if request.streamed and self.requests_usage:
            return replace(self, requests_usage=False)
        if request.schema is not None and self.output_mode in NEXT_OUTPUT_MODE:
            return replace(self, output_mode=NEXT_OUTPUT_MODE[self.output_mode])
        return None

    def build_body(self, model: str, request: ChatRequest) -> dict[str, Any]:
        """The JSON body of the request."""
        schema, messages = request.schema, request.messages
        if schema is not None and self.output_mode != "schema":
            messages = add_schema_instruction(messages, schema)
        body: dict[str, Any] = {
            "model": model,
            "messages": to_message_dicts(messages),
            self.limit_field: request.max_tokens,
        }
        if self.sends_temperature:
            body["temperature"] = request.temperature
        if request.streamed and self.requests_usage:
            body["stream_options"] = {"include_usage": True}
        if schema is not None and self.output_mode == "schema":
            json_schema = {"name": "reply", "schema": dict(schema), "strict": is_strict_schema(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        elif schema is not None and self.output_mode == "json":
            body["response_format"] = {"type": "json_object"}
        return body


class OpenAILLM:
    """A model of an OpenAI-compatible server.

    Transient failures are retried `max_retries` times. If a reply does not contain valid JSON for the
    requested schema, the model is asked once more, with the reason.
    """

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
        """Whether words can be forbidden: the server has `/tokenize` (llama.cpp, vLLM). Asked only once."""
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
        request = ChatRequest(messages, max_tokens, temperature, schema)
        reply = self._request_reply(request)
        if schema is None:
            return reply
        try:
            return replace(reply, text=extract_json(reply.text, schema))
        except BadReply as error:
            # At temperature 0 the same prompt gives the same reply, so the retry names the error.
            correction = f"That cannot be used: {error} Reply again with only the JSON."
        retry_messages = [*messages, Message("assistant", reply.text[:2000]), Message("user", correction)]
        second = self._request_reply(replace(request, messages=retry_messages))
        return Reply(
            extract_json(second.text, schema, drop_invalid_items=True),
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
        request = ChatRequest(messages, max_tokens, temperature, streamed=True)
        bias = (
            {"logit_bias": build_logit_bias(forbid, self._client.tokenize)} if forbid and self.masks else {}
        )

        def open_stream(body: dict[str, Any]) -> tuple[Generator[str, None, Reply], str | None]:
            """Read up to the first chunk: until then nothing was yielded and a retry is possible."""
            chunks = self._stream_text({**body, **bias})
            return chunks, next(chunks, None)

        chunks, first = self._send(open_stream, request)
        if first is None:
            raise BadReply(f"{self._client.model_label} gave an empty answer. Try again or rephrase.")
        yield first
        try:
            return (yield from chunks)
        except RequestFailedError as failed:
            raise failed.failure.error from None

    def _request_reply(self, request: ChatRequest) -> Reply:
        response = self._send(lambda body: self._client.post_json("chat", body), request)
        choice = self._first_choice(response)
        text = self._text_content(choice.get("message"), choice.get("finish_reason"))
        if not text.strip():
            raise BadReply(f"{self._client.model_label} gave an empty answer. Try again or rephrase.")
        if request.schema is not None and choice.get("finish_reason") == "length":
            raise BadReply(
                f"{self._client.model_label} was cut off at {request.max_tokens} tokens. "
                "Raise max_tokens or ask for less."
            )
        return _make_reply(text, response.get("usage"))

    def _send(self, send: Callable[[dict[str, Any]], T], request: ChatRequest) -> T:
        """Send a request with retries, in a format that the server accepts."""
        return call_with_retries(
            lambda: self._send_adapting(send, request), retries=self._max_retries, sleep=self._sleep
        )

    def _send_adapting(self, send: Callable[[dict[str, Any]], T], request: ChatRequest) -> T:
        """Send a request; if the server rejects its format, try the next one.

        A format is remembered only if it worked, because too long a request is rejected in every format.
        """
        request_format = self._request_format
        while True:
            try:
                result = send(request_format.build_body(self._model, request))
            except RequestFailedError as failed:
                next_format = request_format.next_after(failed.failure, request)
                if next_format is None:
                    raise
                request_format = next_format
            else:
                self._request_format = request_format
                return result

    def _stream_text(self, body: dict[str, Any]) -> Generator[str, None, Reply]:
        """Yield the text of a streamed answer. A stream without a finish reason was cut off: BadReply."""
        finish_reason, usage = None, None
        chunks: list[str] = []
        for event in self._client.stream_events("chat", body):
            usage = event.get("usage") or usage  # some servers send it once at the end, some in every event
            if not event.get("choices"):
                continue
            choice = self._first_choice(event)
            finish_reason = choice.get("finish_reason") or finish_reason
            if text := self._text_content(choice.get("delta"), finish_reason):
                chunks.append(text)
                yield text
        if finish_reason is None:
            raise BadReply(f"{self._client.model_label} stopped in the middle of its answer. Try again.")
        return _make_reply("".join(chunks), usage)

    def _first_choice(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        match answer.get("choices"):
            case [dict() as choice, *_]:
                return choice
        raise BadReply(
            f"{self._client.model_label} answered without a choice. Check that it is OpenAI-compatible."
        )

    def _text_content(self, message: object, finish_reason: object) -> str:
        if not isinstance(message, dict):
            raise BadReply(
                f"{self._client.model_label} answered without a message. Check that it is OpenAI-compatible."
            )
        if finish_reason == "content_filter" or message.get("refusal"):
            raise ModelRefused(f"{self._client.model_label} refused to answer. Rephrase the request.")
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise BadReply(
                f"{self._client.model_label} answered with content that is not text. Check the model."
            )
        return content or ""


def _make_reply(text: str, usage: object) -> Reply:
    return Reply(text, _token_count(usage, "prompt_tokens"), _token_count(usage, "completion_tokens"))


def _token_count(usage: object, field: str) -> int:
    number = usage.get(field) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and number > 0 else 0
