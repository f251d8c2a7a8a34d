"""Client for OpenAI-compatible servers: bounded in size and time, with retries and named errors.

The openai library provides connection, proxy and authentication. Response bytes are read here, so that a
server that is slow, sends too much or stops half-way causes a `ModelError` instead of a hang, exhausted
memory or a truncated answer. Error messages never contain the API key.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from thinkback.errors import (
    BadReply,
    MissingExtra,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
)

if TYPE_CHECKING:
    import openai
    from tenacity import RetryCallState


T = TypeVar("T")

FIRST_RETRY_DELAY_SECONDS = 0.5
MAX_RETRY_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """Why a request failed: the error for the caller, whether a retry may help, and the HTTP status."""

    error: ModelError
    transient: bool
    status: int | None = None


class RequestFailedError(Exception):
    """A failed request; internal, `call_with_retries` turns it into the failure's `ModelError`."""

    def __init__(self, failure: RequestFailure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


def call_with_retries(call: Callable[[], T], *, retries: int, sleep: Callable[[float], None]) -> T:
    """Call a function that raises `RequestFailedError`, and repeat it at most `retries` times.

    Only transient failures are retried: after the server's Retry-After, else after 0.5, 1, 2, ... seconds. A
    server that asks for more than `MAX_RETRY_DELAY_SECONDS` is not waited for.

    Raises:
        ModelError: The error of the last failure.
    """
    from tenacity import Retrying, retry_if_exception  # part of the extra `openai`

    retrying = Retrying(
        retry=retry_if_exception(lambda error: _failure_of(error) is not None),
        wait=_retry_delay,
        stop=lambda state: state.attempt_number > retries or state.upcoming_sleep > MAX_RETRY_DELAY_SECONDS,
        sleep=sleep,
        reraise=True,
    )
    try:
        return retrying(call)
    except RequestFailedError as failed:
        error = failed.failure.error
    # Raised outside the except block: as a context the library's exception would expose the key.
    raise error


def _failure_of(error: BaseException | None) -> RequestFailure | None:
    """The transient failure behind an exception, None if a retry cannot help."""
    failure = error.failure if isinstance(error, RequestFailedError) else None
    return failure if failure is not None and failure.transient else None


def _retry_delay(state: RetryCallState) -> float:
    failure = _failure_of(state.outcome.exception() if state.outcome else None)
    if failure and isinstance(failure.error, RateLimited) and failure.error.retry_after is not None:
        return failure.error.retry_after
    return min(FIRST_RETRY_DELAY_SECONDS * 2.0 ** (state.attempt_number - 1), MAX_RETRY_DELAY_SECONDS)


def classify_error(exc: Exception, model_label: str, key: str) -> RequestFailure | None:
    """The failure that an exception of the openai library stands for; None for other exceptions."""
    import openai

    if isinstance(exc, openai.APIStatusError):
        return _classify_status_error(exc, model_label, key)
    if isinstance(exc, openai.APITimeoutError) or _is_httpx_error(exc, "TimeoutException"):
        return RequestFailure(
            ModelTimeout(
                f"{model_label} did not answer in time. Try again, raise the timeout, or use a smaller model."
            ),
            True,
        )
    if isinstance(exc, openai.APIConnectionError):
        cause = type(exc.__cause__ or exc).__name__
        text = f"{model_label} could not be reached ({cause}). Check base_url and that it runs."
        return RequestFailure(ModelUnavailable(text), True)
    if _is_httpx_error(exc, "HTTPError"):
        cause = type(exc).__name__
        return RequestFailure(
            BadReply(f"{model_label} broke off in the middle of its answer ({cause}). Try again."), True
        )
    if isinstance(exc, openai.OpenAIError):
        detail = redact_key(str(exc), key)
        return RequestFailure(
            BadReply(f"{model_label} sent an unusable answer: {detail}. Check that it is OpenAI-compatible."),
            False,
        )
    return None


def _classify_status_error(exc: openai.APIStatusError, model_label: str, key: str) -> RequestFailure:
    code, detail = exc.status_code, redact_key(exc.message, key)
    error: ModelError
    if code == 429:
        wait = parse_retry_after(exc.response.headers)
        advice = f"Wait {wait:g} s" if wait is not None else "Wait a while"
        return RequestFailure(
            RateLimited(f"{model_label} limits the request rate (429). {advice} and try again.", wait),
            True,
            code,
        )
    if code in (401, 403):
        error = ModelUnavailable(
            f"{model_label} does not accept the API key ({code}). Check OPENAI_API_KEY or api_key."
        )
    elif code == 404:
        error = ModelUnavailable(
            f"{model_label} was not found (404): {detail}. Check the model's name and the base_url."
        )
    elif code == 408 or code >= 500:
        return RequestFailure(
            ModelUnavailable(f"{model_label} failed ({code}): {detail}. Try again later."), True, code
        )
    else:
        error = ModelRefused(f"{model_label} rejected the request ({code}): {detail}. Shorten or change it.")
    return RequestFailure(error, False, code)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait according to Retry-After: a number, or a date relative to the Date header."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(
            0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers["date"])).total_seconds()
        )
    except (KeyError, ValueError, TypeError):
        return None


def redact_key(text: str, key: str) -> str:
    """The text on one line, cut to 300 characters, with the API key replaced by `[key]`."""
    return " ".join((text.replace(key, "[key]") if key else text).split())[:300]


def _is_httpx_error(exc: Exception, base_name: str) -> bool:
    """Whether an exception is an httpx error (httpx2 since openai 3); openai does not wrap read errors."""
    return any(
        base.__name__ == base_name and base.__module__.split(".")[0] in ("httpx", "httpx2")
        for base in type(exc).__mro__
    )


MAX_RESPONSE_BYTES = 8 * 1024 * 1024
HOST_INFO_HEADERS = tuple(
    f"X-Stainless-{name}" for name in ("OS", "Arch", "Runtime", "Runtime-Version", "Lang", "Package-Version")
)
"""Headers in which the library describes this machine; they are sent empty."""
PLACEHOLDER_API_KEY = "none"  # local servers need no key, but the library requires one


class Deadline:
    """A total time limit. A read timeout is not enough: a server that sends one byte at a time resets it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        self._end = time.monotonic() + self._seconds

    @property
    def passed(self) -> bool:
        return time.monotonic() > self._end


class OpenAIClient:
    """Requests to one model of one server. `model_label` is the subject of its error messages."""

    def __init__(self, model: str, base_url: str | None, api_key: str | None, timeout: float) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra(f"The model 'openai:{model}'", "openai") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        host = urlsplit(url).hostname or url
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        if not self._api_key and host == "api.openai.com":
            raise ModelUnavailable(
                f"The model 'openai:{model}' needs a key. Set OPENAI_API_KEY, or give another base_url."
            )
        self.model_label = f"The model {model!r} at {host}"
        self._timeout = timeout
        self._model = model
        self._tokenize_url = (
            "" if host == "api.openai.com" else f"{url.rstrip('/').removesuffix('/v1')}/tokenize"
        )
        # The library's own retries are off: two layers of retries would multiply.
        self._client = openai.OpenAI(
            base_url=url,
            api_key=self._api_key or PLACEHOLDER_API_KEY,
            timeout=timeout,
            max_retries=0,
            default_headers=dict.fromkeys(HOST_INFO_HEADERS, ""),
        )

    def close(self) -> None:
        self._client.close()

    def post_json(self, resource: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to `chat`, `embeddings` or `tokenize` and return the JSON object it answers."""
        raw = b"".join(self._read_chunks(resource, body, Deadline(self._timeout)))
        try:
            parsed = json.loads(raw)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise BadReply(
                f"{self.model_label} answered {len(raw)} bytes that are no JSON object. "
                "Check that base_url is an OpenAI-compatible API and try again."
            )
        return parsed

    def tokenize(self, text: str) -> list[int]:
        """The token ids of a text; empty if the server has no `/tokenize` endpoint.

        The request has the fields of both llama.cpp and vLLM.
        """
        if not self._tokenize_url:
            return []
        body = {"content": text, "add_special": False}
        body |= {"model": self._model, "prompt": text, "add_special_tokens": False}
        try:
            tokens = self.post_json("tokenize", body).get("tokens")
        except (ModelError, RequestFailedError):
            return []
        is_valid = isinstance(tokens, list) and all(isinstance(token, int) for token in tokens)
        return tokens if isinstance(tokens, list) and is_valid else []

    def stream_events(self, resource: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the server-sent JSON events of a streaming request.

        Raises:
            BadReply: The stream ended without `[DONE]`.
        """
        buffer, deadline = bytearray(), Deadline(self._timeout)
        for chunk in self._read_chunks(resource, {**body, "stream": True}, deadline):
            buffer += chunk
            if b"\n" not in chunk:  # splitting at every chunk would be quadratic for one long line
                continue
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                field, _, data = line.strip().partition(b":")
                if field != b"data":
                    continue
                if data.strip() == b"[DONE]":
                    return
                yield self._parse_event(data)
                deadline.renew()
        raise BadReply(f"{self.model_label} stopped in the middle of its answer. Try again.")

    def _parse_event(self, data: bytes | bytearray) -> dict[str, Any]:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or "error" in event:
            raise BadReply(f"{self.model_label} sent an invalid event in its stream. Try again.")
        return event

    def _read_chunks(self, resource: str, body: Mapping[str, Any], deadline: Deadline) -> Iterator[bytes]:
        size = 0
        with self._translate_errors(), self._open_response(resource, body) as response:
            for chunk in response.iter_bytes():
                size += len(chunk)
                if size > MAX_RESPONSE_BYTES:
                    limit = f"{MAX_RESPONSE_BYTES >> 20} MB"
                    raise BadReply(f"{self.model_label} answered more than {limit}. Lower max_tokens.")
                if deadline.passed:
                    message = f"{self.model_label} did not finish in {self._timeout:g} s. Raise the timeout."
                    raise RequestFailedError(RequestFailure(ModelTimeout(message), True))
                yield chunk

    def _open_response(self, resource: str, body: Mapping[str, Any]) -> Any:
        client = cast(Any, self._client)
        if resource == "tokenize":  # not part of OpenAI's API
            streamed = {"headers": {"X-Stainless-Raw-Response": "stream"}}
            return closing(client.post(self._tokenize_url, cast_to=object, body=body, options=streamed))
        endpoint = client.embeddings if resource == "embeddings" else client.chat.completions
        return endpoint.with_streaming_response.create(**body)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (ModelError, RequestFailedError):
            raise
        except Exception as exc:
            failure = classify_error(exc, self.model_label, self._api_key)
            if failure is None:
                raise
            # `from None`: the library's exception contains the request with the API key.
            raise RequestFailedError(failure) from None
