"""Reads an answer (JSON or server-sent events) while its bytes are relayed: the text of the first choice and how the answer ended. Bounded, and never fails."""

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
_LINE_END = re.compile(rb"\r\n|\n|\r")
MAX_EVENT_BYTES = 1 << 20  # bytes of one event
_MAX_END_LINE_BYTES = 64  # the end mark is short, and so is all that may stand before it on its line


class EventDecoder:
    """Feed chunks, take the data of each event; `done` from the byte on that completes the end mark.

    An event longer than what is ever read ends the reading: the rest passes unread.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # the pieces of a line that has not ended
        self._data: list[bytes] = []  # the lines of an event that has not ended
        self._held = 0  # bytes of both
        self._ends_with_cr = False  # whether the last byte was the first of a CRLF, it may be
        self._overflowed = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
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
        """What a stream leaves that ends without an empty line."""
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
    """What a line of the field `data` says; of its white space none matters to JSON or to the end mark."""
    name, _, value = line.partition(b":")
    return value.strip() if name == b"data" else None


MAX_ANSWER_CHARS = 1 << 16  # characters of an answer that are kept at most: to index them takes 0.14 s
MAX_ANSWER_BYTES = (
    1 << 20
)  # bytes that are read for them: each character may be escaped, and other things be told before

AnswerOutcome = Literal[
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
class AnswerText:
    text: str
    outcome: AnswerOutcome


class AnswerReader(Protocol):
    def feed(self, chunk: bytes) -> bool:
        """Take a chunk; True if with it the client sees the end of the answer."""
        ...

    def result(self, whole: bool) -> AnswerText:
        """What was said; `whole` tells whether the upstream came to the end of its body."""
        ...


class JsonReader:
    """An answer that is one JSON object."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._over = False

    def feed(self, chunk: bytes) -> bool:
        room = MAX_ANSWER_BYTES - len(self._raw)
        self._over = self._over or len(chunk) > room
        self._raw += chunk[:room] if self._over else chunk
        return False

    def result(self, whole: bool) -> AnswerText:
        said = FirstChoice()
        try:
            if whole and not self._over:
                said.add(json.loads(self._raw), "message")
                return said.result(done=True)
        except (ValueError, RecursionError):
            pass
        text = partial_text(self._raw.decode(errors="replace").removesuffix("\ufffd"))
        return AnswerText(text[:MAX_ANSWER_CHARS], "cut" if text.strip() else "malformed")


class StreamReader:
    """An answer that comes as server-sent events."""

    def __init__(self) -> None:
        self._events = EventDecoder()
        self._said = FirstChoice()
        self._done = False

    def feed(self, chunk: bytes) -> bool:
        for data in self._events.feed(chunk):
            self._read_event(data)
        ends = self._events.done and not self._done
        self._done = self._events.done
        return ends

    def result(self, whole: bool) -> AnswerText:
        for data in self._events.flush():
            self._read_event(data)
        return self._said.result(done=whole and (self._done or self._said.finished))

    def _read_event(self, data: bytes) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            self._said.malformed = True
            return
        self._said.add(event, "delta")


class ErrorReader:
    """An answer that says it failed: its words are not the assistant's."""

    def feed(self, chunk: bytes) -> bool:
        return False

    def result(self, whole: bool) -> AnswerText:
        return AnswerText("", "error")


class DecompressingReader:
    """A compressed answer, read from a copy that is decompressed."""

    def __init__(self, inner: AnswerReader) -> None:
        self._inner = inner
        self._inflate = zlib.decompressobj(wbits=47)  # gzip or zlib, as the header says
        self._left = MAX_ANSWER_BYTES
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

    def result(self, whole: bool) -> AnswerText:
        return self._inner.result(whole and not self._broken and self._left > 0)


class FirstChoice:
    """What the first choice says, gathered piece by piece."""

    def __init__(self) -> None:
        self.malformed = False
        self.finished = False
        self._texts: list[str] = []
        self._room = MAX_ANSWER_CHARS
        self._over = False
        self._refused = self._tools = self._error = self._has_choice = False

    def add(self, answer: object, part: Literal["message", "delta"]) -> None:
        """One object: all of an answer, or an event of it. `text` is how bare completions say it."""
        if not isinstance(answer, Mapping):
            self.malformed = True
            return
        self._error = self._error or bool(answer.get("error"))
        choice = _first_choice(answer.get("choices"))
        if choice is None:
            return
        self._has_choice = True
        self.finished = self.finished or bool(choice.get("finish_reason"))
        said = choice.get(part)
        if isinstance(said, Mapping):
            self._add_text(message_text(said.get("content")))
            self._refused = self._refused or bool(said.get("refusal"))
            self._tools = self._tools or bool(said.get("tool_calls") or said.get("function_call"))
        elif isinstance(choice.get("text"), str):
            self._add_text(choice["text"])

    def result(self, done: bool) -> AnswerText:
        text = "".join(self._texts)
        return AnswerText(text, self._outcome(text, done))

    def _outcome(self, text: str, done: bool) -> AnswerOutcome:
        if self._tools:
            return "tools"
        if text.strip():
            return "answered" if done and not (self._over or self._error or self.malformed) else "cut"
        if self._error:
            return "error"
        if self._refused:
            return "refused"
        return "empty" if self._has_choice and done else "malformed"

    def _add_text(self, text: str) -> None:
        if text:
            self._over = self._over or len(text) > self._room
            self._texts.append(text[: self._room])
            self._room -= min(len(text), self._room)


def create_reader(status: int, headers: Mapping[bytes, bytes]) -> AnswerReader:
    """How to read an answer with these headers."""
    if status >= 300:
        return ErrorReader()
    streamed = headers.get(b"content-type", b"").lower().startswith(b"text/event-stream")
    inner: AnswerReader = StreamReader() if streamed else JsonReader()
    return (
        DecompressingReader(inner)
        if headers.get(b"content-encoding", b"").lower() in (b"gzip", b"deflate")
        else inner
    )


def _first_choice(choices: object) -> Mapping[str, Any] | None:
    if not isinstance(choices, list):
        return None
    each = (choice for choice in choices if isinstance(choice, Mapping))
    return next((choice for choice in each if choice.get("index", 0) == 0), None)
