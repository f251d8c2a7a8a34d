"""Server-sent events out of chunks that are cut anywhere (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator

END = b"[DONE]"
_LINE = re.compile(rb"\r\n|\n|\r")
LONGEST = 1 << 20  # bytes of one event
_SHORT = 64  # the end mark is short, and so is all that may stand before it on its line


class Events:
    """Feed chunks, take the data of each event; `done` from the byte on that completes the end mark.

    An event longer than what is ever read ends the reading: the rest passes unread.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # the pieces of a line that has not ended
        self._data: list[bytes] = []  # the lines of an event that has not ended
        self._held = 0  # bytes of both
        self._half = False  # whether the last byte was the first of a CRLF, it may be
        self._deaf = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        if self._deaf:
            return
        if self._half or b"\n" in chunk or b"\r" in chunk:
            text = b"".join((*self._line, chunk))
            self._held -= sum(map(len, self._line))
            self._line.clear()
            self._half = text.endswith(b"\r")
            *lines, chunk = _LINE.split(text[:-1] if self._half else text)
            for line in lines:
                yield from self._take(line)
            chunk += b"\r" * self._half
        self._hold(chunk)

    def rest(self) -> Iterator[bytes]:
        """What a stream leaves that ends without an empty line."""
        line, self._line = b"".join(self._line), []
        for part in (line.removesuffix(b"\r"), b""):
            yield from self._take(part)

    def _hold(self, piece: bytes) -> None:
        self._line.append(piece)
        self._held += len(piece)
        if self._held > LONGEST:
            self._deaf = True
            self._line.clear()
            self._data.clear()
        elif len(self._line) < _SHORT and sum(map(len, self._line)) < _SHORT:
            self.done = self.done or _data(b"".join(self._line)) == END

    def _take(self, line: bytes) -> Iterator[bytes]:
        data = _data(line)
        if data == END:
            self.done = True
        elif data is not None:
            self._data.append(data)
            self._held += len(data)
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            self._held = 0
            yield event


def _data(line: bytes) -> bytes | None:
    """What a line of the field `data` says; of its white space none matters to JSON or to the end mark."""
    name, _, value = line.partition(b":")
    return value.strip() if name == b"data" else None
