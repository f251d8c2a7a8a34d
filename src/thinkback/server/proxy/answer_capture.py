"""Reads an answer (JSON or server-sent events) while its bytes are relayed.

Extracts the text of the first choice and how the answer ended. Reading is bounded and never fails: an answer
that cannot be parsed is relayed all the same, and has the outcome "malformed".
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from thinkback.server.proxy.exchange import message_text
from thinkback.server.proxy.json_spans import partial_text

END_MARK = b"[DONE]"
MAX_EVENT_BYTES = 1 << 20
MAX_ANSWER_CHARS = 1 << 16  # of the text that is stored; indexing this much takes 0.14 s
MAX_ANSWER_BYTES = 1 << 20  # read to get the text: characters may be escaped, and other fields may come first
_MAX_END_LINE_BYTES = 64  # the line with the end mark is short
_MAX_COLLECTED_BYTES = 1 << 16  # of a stream before they are read
_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventDecoder:
    """Decodes server-sent events (WHATWG HTML, 9.2.6) from chunks that are cut anywhere.

    `done` is set with the byte that completes the end mark. After an event that is too long, nothing more is
    read.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # pieces of an incomplete line
        self._data: list[bytes] = []  # lines of an incomplete event
        self._held = 0  # bytes of both
        self._ends_with_cr = False  # the last byte may be the first of a CRLF
        self._overflowed = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Add a chunk and yield the data of each complete event."""
        if self._overflowed:
            return
        if self._ends_with_cr or b"\n" in chunk or b"\r" in chunk:
            text = b"".join((*self._line, chunk))
            self._held -= sum(map(len, self._line))
            self._line.clear()
            self._ends_with_cr = text.endswith(b"\r")
            *lines, chunk = _LINE_END.split(text[:-1] if self._ends_with_cr else text)
            for line in lines:
                yield from self._feed_line(line)
            chunk += b"\r" * self._ends_with_cr
        self._buffer(chunk)

    def flush(self) -> Iterator[bytes]:
        """Yield the last event of a stream that ends without an empty line."""
        line, self._line = b"".join(self._line), []
        for part in (line.removesuffix(b"\r"), b""):
            yield from self._feed_line(part)

    def _buffer(self, piece: bytes) -> None:
        self._line.append(piece)
        self._held += len(piece)
        if self._held > MAX_EVENT_BYTES:
            self._overflowed = True
            self._line.clear()
            self._data.clear()
        elif len(self._line) < _MAX_END_LINE_BYTES and sum(map(len, self._line)) < _MAX_END_LINE_BYTES:
            self.done = self.done or _data_field(b"".join(self._line)) == END_MARK

    def _feed_line(self, line: bytes) -> Iterator[bytes]:
        data = _data_field(line)
        if data == END_MARK:
            self.done = True
        elif data is not None:
            self._data.append(data)
            self._held += len(data)
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            self._held = 0
            yield event


def _data_field(line: bytes) -> bytes | None:
    """The value of a `data` line, or None. Its white space matters neither to JSON nor to the end mark."""
    name, _, value = line.partition(b":")
    return value.strip() if name == b"data" else None


AnswerOutcome = Literal[
    "answered",  # completely
    "cut",  # partly: the upstream or client disconnected, or it is longer than what is read
    "tools",  # the model calls tools, and will answer when it has their results
    "refused",
    "empty",
    "malformed",  # not an answer that we can parse
    "error",  # the upstream reports an error
    "unreached",  # the upstream did not answer at all
]


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The text of an answer, and how the answer ended."""

    text: str
    outcome: AnswerOutcome


class AnswerReader(Protocol):
    """Reads one answer."""

    def feed(self, chunk: bytes) -> bool:
        """Add a chunk; returns True if it contains the end of the answer for the client."""
        ...

    def result(self, whole: bool) -> AnswerText:
        """The text so far; `whole` says whether the upstream finished its response."""
        ...


class JsonReader:
    """Reads an answer that is one JSON object."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._truncated = False

    def feed(self, chunk: bytes) -> bool:
        remaining = MAX_ANSWER_BYTES - len(self._raw)
        self._truncated = self._truncated or len(chunk) > remaining
        self._raw += chunk[:remaining] if self._truncated else chunk
        return False

    def result(self, whole: bool) -> AnswerText:
        choice = FirstChoice()
        try:
            if whole and not self._truncated:
                choice.add(json.loads(self._raw), "message")
                return choice.result(done=True)
        except (ValueError, RecursionError):
            pass
        text = partial_text(self._raw.decode(errors="replace").removesuffix("\ufffd"))
        return AnswerText(text[:MAX_ANSWER_CHARS], "cut" if text.strip() else "malformed")


class StreamReader:
    """Reads an answer that is a stream of server-sent events.

    Chunks are collected and read together, which costs less than reading each token by itself. Only the end
    mark must be found at once: from the first chunk on that may complete it, each chunk is read as it comes.
    """

    def __init__(self) -> None:
        self._events = EventDecoder()
        self._choice = FirstChoice()
        self._done = False
        self._collected: list[bytes] = []
        self._collected_bytes = 0
        self._last_bytes = b""  # the end mark may begin in them
        self._may_have_ended = False

    def feed(self, chunk: bytes) -> bool:
        self._collected.append(chunk)
        self._collected_bytes += len(chunk)
        if not self._may_have_ended:
            recent = self._last_bytes + chunk
            self._may_have_ended = END_MARK in recent
            self._last_bytes = recent[1 - len(END_MARK) :]
        if not self._may_have_ended and self._collected_bytes < _MAX_COLLECTED_BYTES:
            return False
        self._read_collected()
        ends = self._events.done and not self._done
        self._done = self._events.done
        return ends

    def result(self, whole: bool) -> AnswerText:
        self._read_collected()
        for data in self._events.flush():
            self._read_event(data)
        return self._choice.result(done=whole and (self._done or self._choice.finished))

    def _read_collected(self) -> None:
        raw = b"".join(self._collected)
        self._collected.clear()
        self._collected_bytes = 0
        for data in self._events.feed(raw):
            self._read_event(data)

    def _read_event(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            self._choice.malformed = True
            return
        self._choice.add(event, "delta")


class ErrorReader:
    """For error responses: their text is not the assistant's."""

    def feed(self, chunk: bytes) -> bool:
        return False

    def result(self, whole: bool) -> AnswerText:
        return AnswerText("", "error")


class DecompressingReader:
    """Decompresses a copy of a compressed answer and reads that."""

    def __init__(self, inner: AnswerReader) -> None:
        self._inner = inner
        self._inflate = zlib.decompressobj(wbits=47)  # detects gzip or zlib by the header
        self._remaining = MAX_ANSWER_BYTES
        self._broken = False

    def feed(self, chunk: bytes) -> bool:
        if self._broken or self._remaining <= 0:
            return False
        try:
            data = self._inflate.decompress(chunk, self._remaining)
        except zlib.error:
            self._broken = True
            return False
        self._remaining -= len(data)
        return self._inner.feed(data)

    def result(self, whole: bool) -> AnswerText:
        return self._inner.result(whole and not self._broken and self._remaining > 0)


class FirstChoice:
    """Collects the text and state of the first choice."""

    def __init__(self) -> None:
        self.malformed = False
        self.finished = False
        self._texts: list[str] = []
        self._remaining = MAX_ANSWER_CHARS
        self._truncated = False
        self._refused = self._tools = self._error = self._has_choice = False

    def add(self, answer: object, part: Literal["message", "delta"]) -> None:
        """Add an answer or one of its events; completions have `text` instead of a message."""
        if not isinstance(answer, dict):
            self.malformed = True
            return
        self._error = self._error or bool(answer.get("error"))
        choice = _first_choice(answer.get("choices"))
        if choice is None:
            return
        self._has_choice = True
        self.finished = self.finished or bool(choice.get("finish_reason"))
        message = choice.get(part)
        if isinstance(message, dict):
            self._add_text(message_text(message.get("content")))
            self._refused = self._refused or bool(message.get("refusal"))
            self._tools = self._tools or bool(message.get("tool_calls") or message.get("function_call"))
        elif isinstance(choice.get("text"), str):
            self._add_text(choice["text"])

    def result(self, done: bool) -> AnswerText:
        text = "".join(self._texts)
        return AnswerText(text, self._outcome(text, done))

    def _outcome(self, text: str, done: bool) -> AnswerOutcome:
        if self._tools:
            return "tools"
        if text.strip():
            return "answered" if done and not (self._truncated or self._error or self.malformed) else "cut"
        if self._error:
            return "error"
        if self._refused:
            return "refused"
        return "empty" if self._has_choice and done else "malformed"

    def _add_text(self, text: str) -> None:
        if text:
            self._truncated = self._truncated or len(text) > self._remaining
            self._texts.append(text[: self._remaining])
            self._remaining -= min(len(text), self._remaining)


def create_reader(status: int, headers: Mapping[bytes, bytes]) -> AnswerReader:
    """The reader for an answer with this status and these headers."""
    if status >= 300:
        return ErrorReader()
    streamed = headers.get(b"content-type", b"").lower().startswith(b"text/event-stream")
    inner: AnswerReader = StreamReader() if streamed else JsonReader()
    compressed = headers.get(b"content-encoding", b"").lower() in (b"gzip", b"deflate")
    return DecompressingReader(inner) if compressed else inner


def _first_choice(choices: object) -> dict[str, Any] | None:
    if not isinstance(choices, list):
        return None
    for choice in choices:
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return None
