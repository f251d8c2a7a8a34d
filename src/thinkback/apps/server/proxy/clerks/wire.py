"""How the pass-through and the office talk: JSON in frames, each with its length before it.

errand  [number, deadline, tenant, user, text, said]
reply   [number, "found", used, block, seconds] | [number, "failed", kind of error]
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from thinkback.types import Used

LONGEST = 64 << 20
_HEAD = 4

Words = list[Any]


def frame(words: Words) -> bytes:
    body = json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(_HEAD) + body


class Frames:
    """Bytes as they come -> what they say."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Words]:
        """ValueError where it is no frame."""
        self._held += data
        while len(self._held) >= _HEAD:
            end = _HEAD + int.from_bytes(self._held[:_HEAD])
            if end > LONGEST:
                raise ValueError("a frame that is too long")
            if len(self._held) < end:
                return
            body = bytes(self._held[_HEAD:end])
            del self._held[:end]
            words: Words = json.loads(body.decode("utf-8", "surrogatepass"))
            yield words


def told(used: tuple[Used, ...]) -> Words:
    return [[each.kind, each.id, each.score, each.cosine, each.lexical, each.group] for each in used]


def read(words: Words) -> tuple[Used, ...]:
    return tuple(Used(*each) for each in words)
