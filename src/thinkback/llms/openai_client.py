"""HTTP client for OpenAI-compatible servers: bounded in size and time, with retries, errors mapped to `ModelError`."""

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


T = TypeVar("T")

FIRST_RETRY_DELAY_SECONDS = 0.5
MAX_RETRY_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """What went wrong, in thinkback's words, and whether it may pass by itself; `status` is the server's."""

    error: ModelError
    transient: bool
    status: int | None = None


class RequestFailedError(Exception):
    """Carries a fault from the place that knows the wire to the place that decides to try again."""

    def __init__(self, failure: RequestFailure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


def call_with_retries(call: Callable[[], T], *, retries: int, sleep: Callable[[float], None]) -> T:
    """The result of the call; on a transient fault it is repeated, at last the fault's error is raised."""
    attempt = 0
    while True:
        try:
            return call()
        except RequestFailedError as passing:
            fault = passing.failure
        pause = _retry_delay(fault.error, attempt)
        if not fault.transient or attempt >= retries or pause > MAX_RETRY_DELAY_SECONDS:
            raise fault.error
        sleep(pause)
        attempt += 1


def _retry_delay(error: ModelError, attempt: int) -> float:
    """The server's own wish where it has one: asking earlier would only be refused again."""
    if isinstance(error, RateLimited) and error.retry_after is not None:
        return error.retry_after
    return min(FIRST_RETRY_DELAY_SECONDS * 2.0**attempt, MAX_RETRY_DELAY_SECONDS)


def classify_error(exc: Exception, model_label: str, key: str) -> RequestFailure | None:
    """The fault behind an exception, or None if it is not one of the library's."""
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
            BadReply(
                f"{model_label} answered something unusable: {detail}. Check that it speaks the OpenAI API."
            ),
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
            RateLimited(f"{model_label} asks to slow down (429). {advice} and try again.", wait), True, code
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
    """Seconds to wait, from the header's number or its date (counted from the server's own clock)."""
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
    return " ".join(text.replace(key, "[key]").split())[:300] if key else " ".join(text.split())[:300]


def _is_httpx_error(exc: Exception, base_name: str) -> bool:
    """Whether it is an error of httpx (since openai 3: httpx2): openai does not wrap those of reading."""
    return any(
        c.__name__ == base_name and c.__module__.split(".")[0] in ("httpx", "httpx2")
        for c in type(exc).__mro__
    )


MAX_RESPONSE_BYTES = 8 * 1024 * 1024
HOST_INFO_HEADERS = tuple(
    f"X-Stainless-{what}" for what in ("OS", "Arch", "Runtime", "Runtime-Version", "Lang", "Package-Version")
)
"""Headers in which the library would tell the server what machine this is; they go out empty."""
PLACEHOLDER_API_KEY = "none"  # servers on one's own machine want no key, the library insists on one


class Deadline:
    """A moment by which something must have come: a dripping server never idles long enough to time out."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        self._end = time.monotonic() + self._seconds

    @property
    def passed(self) -> bool:
        return time.monotonic() > self._end


class OpenAIClient:
    """A connection to one model of one server."""

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
        # The library's own retries are off: two layers of retrying multiply.
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
        """The JSON object a request is answered with."""
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
        """The tokens of a text, none where the server does not tell; in llama.cpp's words and in vLLM's."""
        if not self._tokenize_url:
            return []
        asked = {"content": text, "add_special": False}
        asked |= {"model": self._model, "prompt": text, "add_special_tokens": False}
        try:
            told = self.post_json("tokenize", asked).get("tokens")
        except (ModelError, RequestFailedError):
            return []
        known = isinstance(told, list) and all(isinstance(token, int) for token in told)
        return told if isinstance(told, list) and known else []

    def stream_events(self, resource: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The server-sent JSON events of a streaming request; BadReply if it stops before its end mark."""
        rest, deadline = bytearray(), Deadline(self._timeout)
        for chunk in self._read_chunks(resource, {**body, "stream": True}, deadline):
            rest += chunk
            if b"\n" not in chunk:  # splitting anew at every chunk would be quadratic in one long line
                continue
            *lines, rest = rest.split(b"\n")
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
            raise BadReply(f"{self.model_label} sent a broken piece of its answer. Try again.")
        return event

    def _read_chunks(self, resource: str, body: Mapping[str, Any], deadline: Deadline) -> Iterator[bytes]:
        read = 0
        with self._translate_errors(), self._open_response(resource, body) as response:
            for chunk in response.iter_bytes():
                read += len(chunk)
                if read > MAX_RESPONSE_BYTES:
                    raise BadReply(
                        f"{self.model_label} answered more than {MAX_RESPONSE_BYTES >> 20} MB. Lower max_tokens or check it."
                    )
                if deadline.passed:
                    late = f"{self.model_label} is not done after {self._timeout:g} s. Raise the timeout."
                    raise RequestFailedError(RequestFailure(ModelTimeout(late), True))
                yield chunk

    def _open_response(self, resource: str, body: Mapping[str, Any]) -> Any:
        client = cast(Any, self._client)
        if resource == "tokenize":  # outside the API that the library knows
            unread = {"headers": {"X-Stainless-Raw-Response": "stream"}}
            return closing(client.post(self._tokenize_url, cast_to=object, body=body, options=unread))
        part = client.embeddings if resource == "embeddings" else client.chat.completions
        return part.with_streaming_response.create(**body)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (ModelError, RequestFailedError):
            raise
        except Exception as exc:
            fault = classify_error(exc, self.model_label, self._api_key)
            if fault is None:
                raise
            # `from None`: the library's exception holds the request, and with it the key.
            raise RequestFailedError(fault) from None
