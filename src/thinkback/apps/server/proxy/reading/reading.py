"""An answer read on the side while its bytes pass: what the first choice says, and how the answer ended.

Reading is bounded and never fails: what cannot be understood is passed on all the same, and says so in its
`outcome`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from thinkback.apps.server.proxy.asked import text_of
from thinkback.apps.server.proxy.reading.events import Events
from thinkback.apps.server.proxy.reading.partial import partial_text

TEXT = 1 << 16  # characters of an answer that are kept at most: to index them takes 0.14 s
RAW = 1 << 20  # bytes that are read for them: each character may be escaped, and other things be told before

Outcome = Literal[
    "answered",  # in full
    "cut",  # in part: the upstream, or the client, went away, or it is longer than what is read
    "tools",  # it calls tools, and speaks when it has their results
    "refused",
    "empty",
    "malformed",  # no answer that we can read
    "error",  # the upstream says that it failed
    "unreached",  # the upstream did not answer at all
]


@dataclass(frozen=True, slots=True)
class Heard:
    text: str
    outcome: Outcome


class Reading(Protocol):
    def feed(self, chunk: bytes) -> bool:
        """Take a chunk; True if with it the client sees the end of the answer."""
        ...

    def heard(self, whole: bool) -> Heard:
        """What was said; `whole` tells whether the upstream came to the end of its body."""
        ...


class Whole:
    """An answer that is one JSON object."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._over = False

    def feed(self, chunk: bytes) -> bool:
        room = RAW - len(self._raw)
        self._over = self._over or len(chunk) > room
        self._raw += chunk[:room] if self._over else chunk
        return False

    def heard(self, whole: bool) -> Heard:
        said = Said()
        try:
            if whole and not self._over:
                said.hear(json.loads(self._raw), "message")
                return said.heard(done=True)
        except (ValueError, RecursionError):
            pass
        text = partial_text(self._raw.decode(errors="replace").removesuffix("\ufffd"))
        return Heard(text[:TEXT], "cut" if text.strip() else "malformed")


class Streamed:
    """An answer that comes as server-sent events."""

    def __init__(self) -> None:
        self._events = Events()
        self._said = Said()
        self._done = False

    def feed(self, chunk: bytes) -> bool:
        for data in self._events.feed(chunk):
            self._hear(data)
        ends = self._events.done and not self._done
        self._done = self._events.done
        return ends

    def heard(self, whole: bool) -> Heard:
        for data in self._events.rest():
            self._hear(data)
        return self._said.heard(done=whole and (self._done or self._said.finished))

    def _hear(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            self._said.malformed = True
            return
        self._said.hear(event, "delta")


class Failed:
    """An answer that says it failed: its words are not the assistant's."""

    def feed(self, chunk: bytes) -> bool:
        return False

    def heard(self, whole: bool) -> Heard:
        return Heard("", "error")


class Inflated:
    """A compressed answer, read from a copy that is decompressed."""

    def __init__(self, inner: Reading) -> None:
        self._inner = inner
        self._inflate = zlib.decompressobj(wbits=47)  # gzip or zlib, as the header says
        self._left = RAW
        self._broken = False

    def feed(self, chunk: bytes) -> bool:
        if self._broken or self._left <= 0:
            return False
        try:
            data = self._inflate.decompress(chunk, self._left)
        except zlib.error:
            self._broken = True
            return False
        self._left -= len(data)
        return self._inner.feed(data)

    def heard(self, whole: bool) -> Heard:
        return self._inner.heard(whole and not self._broken and self._left > 0)


class Said:
    """What the first choice says, gathered piece by piece."""

    def __init__(self) -> None:
        self.malformed = False
        self.finished = False
        self._texts: list[str] = []
        self._room = TEXT
        self._over = False
        self._refused = self._tools = self._error = self._chosen = False

    def hear(self, answer: object, part: Literal["message", "delta"]) -> None:
        """One object: all of an answer, or an event of it. `text` is how bare completions say it."""
        if not isinstance(answer, Mapping):
            self.malformed = True
            return
        self._error = self._error or bool(answer.get("error"))
        choice = _first(answer.get("choices"))
        if choice is None:
            return
        self._chosen = True
        self.finished = self.finished or bool(choice.get("finish_reason"))
        said = choice.get(part)
        if isinstance(said, Mapping):
            self._take(text_of(said.get("content")))
            self._refused = self._refused or bool(said.get("refusal"))
            self._tools = self._tools or bool(said.get("tool_calls") or said.get("function_call"))
        elif isinstance(choice.get("text"), str):
            self._take(choice["text"])

    def heard(self, done: bool) -> Heard:
        text = "".join(self._texts)
        return Heard(text, self._outcome(text, done))

    def _outcome(self, text: str, done: bool) -> Outcome:
        if self._tools:
            return "tools"
        if text.strip():
            return "answered" if done and not (self._over or self._error or self.malformed) else "cut"
        if self._error:
            return "error"
        if self._refused:
            return "refused"
        return "empty" if self._chosen and done else "malformed"

    def _take(self, text: str) -> None:
        if text:
            self._over = self._over or len(text) > self._room
            self._texts.append(text[: self._room])
            self._room -= min(len(text), self._room)


def reading(status: int, headers: Mapping[bytes, bytes]) -> Reading:
    """How to read an answer with these headers."""
    if status >= 300:
        return Failed()
    streamed = headers.get(b"content-type", b"").lower().startswith(b"text/event-stream")
    inner: Reading = Streamed() if streamed else Whole()
    return (
        Inflated(inner) if headers.get(b"content-encoding", b"").lower() in (b"gzip", b"deflate") else inner
    )


def _first(choices: object) -> Mapping[str, Any] | None:
    if not isinstance(choices, list):
        return None
    each = (choice for choice in choices if isinstance(choice, Mapping))
    return next((choice for choice in each if choice.get("index", 0) == 0), None)
