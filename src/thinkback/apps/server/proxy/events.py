"""Server-sent events out of chunks that are cut anywhere (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.checks import MAX_TEXT

END = b"[DONE]"
_LINE = re.compile(rb"\r\n|\n|\r")
_MARK = re.compile(rb"[^\r\n]*")


class Events:
    """Feed chunks, take the data of each event; `done` from the byte on that completes the end mark.

    A line longer than what is ever read ends the reading: the rest passes unread.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # the pieces of a line that has not ended
        self._held = 0
        self._data: list[bytes] = []
        self._deaf = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        if self._deaf:
            return
        if b"\n" not in chunk and b"\r" not in chunk:
            self._hold(chunk)
            return
        text = b"".join((*self._line, chunk))
        self._line.clear()
        # a CR at the very end may be half of a CRLF
        whole, rest = (text[:-1], b"\r") if text.endswith(b"\r") else (text, b"")
        *lines, last = _LINE.split(whole)
        for line in lines:
            yield from self._take(line)
        self._held = 0
        self._hold(last + rest)

    def rest(self) -> Iterator[bytes]:
        """What a stream that ends without an empty line leaves."""
        line, self._line = b"".join(self._line), []
        for part in (line.rstrip(b"\r"), b""):
            yield from self._take(part)

    def _hold(self, piece: bytes) -> None:
        self._line.append(piece)
        self._held += len(piece)
        if self._held > MAX_TEXT or sum(map(len, self._data)) > MAX_TEXT:
            self._deaf = True
            self._line.clear()
            self._data.clear()
        elif self._held < 64:  # the end mark is short, and so is all that may stand before it
            self._look(b"".join(self._line))

    def _look(self, line: bytes) -> None:
        if _data(line) == END:
            self.done = True

    def _take(self, line: bytes) -> Iterator[bytes]:
        data = _data(line)
        if data == END:
            self.done = True
        elif data is not None:
            self._data.append(data)
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            yield event


def _data(line: bytes) -> bytes | None:
    name, colon, value = line.partition(b":")
    return value.strip() if colon and name == b"data" else None
