"""How people name a turn, thought or action: `thought:7`, or just `7` where the kind is clear."""

from __future__ import annotations

from typing import Literal, get_args

from thinkback.errors import InvalidInput
from thinkback.types import Ref

RefKind = Literal["turn", "thought", "action"]


def parse_ref(text: str | int | Ref, default: RefKind) -> Ref:
    """The reference; a bare number is a `default`."""
    if isinstance(text, Ref):
        return text
    kind, _, number = str(text).strip().rpartition(":")
    for known in get_args(RefKind):
        if (kind or default) == known and number.isascii() and number.isdigit():
            return Ref(known, int(number))
    raise InvalidInput(f"{text!r} names nothing: say {default}:7, or 7 alone")
