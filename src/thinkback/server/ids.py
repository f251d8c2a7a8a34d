"""The ids that MCP and mem0 clients are given: opaque, and each names its user, for no URL of theirs does.

An id is a name and no credential: it opens nothing that its reader could not open by naming the user.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Literal, NamedTuple

from thinkback.errors import InvalidInput, NotFound
from thinkback.types import Ref
from thinkback.validation import checked_name

RefKind = Literal["turn", "thought", "action"]
_LETTERS: dict[RefKind, str] = {"thought": "t", "turn": "s", "action": "a"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_MAX_ID_CHARS = 2048
_MAX_NUMBER = 1 << 63


class DecodedId(NamedTuple):
    """What an id names: one thing in the space of one user."""

    user: str
    ref: Ref


def encode_id(user: str, ref: Ref) -> str:
    """The id of a turn, thought or action."""
    plain = f"{_LETTERS[ref.kind]}{ref.id}:{user}"
    return urlsafe_b64encode(plain.encode()).rstrip(b"=").decode()


def decode_id(text: str) -> DecodedId:
    """What an id names, whether it is there or not; NotFound if it is no id as `named` makes them."""
    found = _parse(text) if len(text) <= _MAX_ID_CHARS else None
    if found is None or encode_id(*found) != text:  # one thing has one id
        raise NotFound(f"{text[:40]!r} is the id of no memory: use one as it was given")
    return found


def decode_ref(user: str, text: str, *kinds: RefKind) -> Ref:
    """The same for the space of one user: another's id, or that of another kind, is not found there."""
    found = decode_id(text)
    if found.user != user or found.ref.kind not in kinds:
        raise NotFound(f"{text[:40]!r} names no {' or '.join(kinds)} of this user")
    return found.ref


def _parse(text: str) -> DecodedId | None:
    try:
        plain = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)).decode()
        head, colon, user = plain.partition(":")
        kind, number = _KINDS[head[:1]], int(head[1:])
        checked = checked_name(user, "user")
    except (ValueError, KeyError, binascii.Error, InvalidInput):
        return None
    return DecodedId(checked, Ref(kind, number)) if colon and 0 < number < _MAX_NUMBER else None
