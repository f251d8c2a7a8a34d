"""One request to an OpenAI-compatible server and its bytes, bounded in size and time.

The openai library brings connection, proxy and key; the answer's bytes are read here, because a server
that drips, floods or stops half-way must become a named error, never a hang, a full memory or a short answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

from thinkback.errors import BadReply, MissingExtra, ModelError, ModelTimeout, ModelUnavailable
from thinkback.models.openai_faults import fault_of
from thinkback.models.retry import Fault, Passing

MAX_BYTES = 8 * 1024 * 1024
ABOUT_THE_HOST = tuple(
    f"X-Stainless-{what}" for what in ("OS", "Arch", "Runtime", "Runtime-Version", "Lang", "Package-Version")
)
"""Headers in which the library would tell the server what machine this is; they go out empty."""
PLACEHOLDER = "none"  # servers on one's own machine want no key, the library insists on one


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


class Wire:
    """A connection to one model of one server."""

    def __init__(self, model: str, base_url: str | None, api_key: str | None, timeout: float) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra(f"The model 'openai:{model}'", "openai") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        host = urlsplit(url).hostname or url
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        if not self._key and host == "api.openai.com":
            raise ModelUnavailable(
                f"The model 'openai:{model}' needs a key. Set OPENAI_API_KEY, or give another base_url."
            )
        self.where = f"The model {model!r} at {host}"
        self._timeout = timeout
        self._model = model
        self._tokenizer = (
            "" if host == "api.openai.com" else f"{url.rstrip('/').removesuffix('/v1')}/tokenize"
        )
        # The library's own retries are off: two layers of retrying multiply.
        self._client = openai.OpenAI(
            base_url=url,
            api_key=self._key or PLACEHOLDER,
            timeout=timeout,
            max_retries=0,
            default_headers=dict.fromkeys(ABOUT_THE_HOST, ""),
        )

    def close(self) -> None:
        self._client.close()

    def answer(self, resource: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object a request is answered with."""
        raw = b"".join(self._chunks(resource, body, Deadline(self._timeout)))
        try:
            parsed = json.loads(raw)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise BadReply(
                f"{self.where} answered {len(raw)} bytes that are no JSON object. "
                "Check that base_url is an OpenAI-compatible API and try again."
            )
        return parsed

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, none where the server does not tell; in llama.cpp's words and in vLLM's."""
        if not self._tokenizer:
            return []
        asked = {"content": text, "add_special": False}
        asked |= {"model": self._model, "prompt": text, "add_special_tokens": False}
        try:
            told = self.answer("tokenize", asked).get("tokens")
        except (ModelError, Passing):
            return []
        known = isinstance(told, list) and all(isinstance(token, int) for token in told)
        return told if isinstance(told, list) and known else []

    def events(self, resource: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The server-sent JSON events of a streaming request; BadReply if it stops before its end mark."""
        rest, deadline = bytearray(), Deadline(self._timeout)
        for chunk in self._chunks(resource, {**body, "stream": True}, deadline):
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
                yield self._event(data)
                deadline.renew()
        raise BadReply(f"{self.where} stopped in the middle of its answer. Try again.")

    def _event(self, data: bytes | bytearray) -> dict[str, Any]:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or "error" in event:
            raise BadReply(f"{self.where} sent a broken piece of its answer. Try again.")
        return event

    def _chunks(self, resource: str, body: Mapping[str, Any], deadline: Deadline) -> Iterator[bytes]:
        read = 0
        with self._faults(), self._request(resource, body) as response:
            for chunk in response.iter_bytes():
                read += len(chunk)
                if read > MAX_BYTES:
                    raise BadReply(
                        f"{self.where} answered more than {MAX_BYTES >> 20} MB. Lower max_tokens or check it."
                    )
                if deadline.passed:
                    late = f"{self.where} is not done after {self._timeout:g} s. Raise the timeout."
                    raise Passing(Fault(ModelTimeout(late), True))
                yield chunk

    def _request(self, resource: str, body: Mapping[str, Any]) -> Any:
        client = cast(Any, self._client)
        if resource == "tokenize":  # outside the API that the library knows
            unread = {"headers": {"X-Stainless-Raw-Response": "stream"}}
            return closing(client.post(self._tokenizer, cast_to=object, body=body, options=unread))
        part = client.embeddings if resource == "embeddings" else client.chat.completions
        return part.with_streaming_response.create(**body)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (ModelError, Passing):
            raise
        except Exception as exc:
            fault = fault_of(exc, self.where, self._key)
            if fault is None:
                raise
            # `from None`: the library's exception holds the request, and with it the key.
            raise Passing(fault) from None
