"""Who is calling (tenant, user, scopes), and the opaque ids that clients see."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from starlette.types import Scope as AsgiScope

from thinkback.errors import InvalidInput, NotFound
from thinkback.server.errors import forbidden
from thinkback.types import KEY_SCOPES, KeyScope, Ref
from thinkback.validation import RefKind, checked_name

USER_HEADER = "X-Thinkback-User"
SESSION_HEADER = "X-Thinkback-Session"

OPEN_TENANT = ""
"""Tenant of a server without keys, of the library and of the command line."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request.

    `key` is the id of the API key, never its secret. A key that is bound to a `user` can only act for them.
    """

    tenant: str = OPEN_TENANT
    scopes: frozenset[KeyScope] = frozenset(KEY_SCOPES)
    key: str = ""
    user: str | None = None


def get_principal(scope: AsgiScope) -> Principal:
    """The principal that the security middleware has authenticated."""
    principal: Principal = scope["state"]["principal"]
    return principal


def require_scope(principal: Principal, scope: KeyScope) -> None:
    """Raise `RequestRefused` (403) unless the key has this scope."""
    if scope not in principal.scopes:
        raise forbidden(f"this key may not {scope}: it needs the scope {scope!r}")


def read_name_header(headers: Mapping[str, str], header: str) -> str | None:
    """Read a name from a header. It is UTF-8, which HTTP servers decode as Latin-1.

    Raises `InvalidInput` if the header is present but empty.
    """
    value = headers.get(header)
    return None if value is None else checked_name(value.encode("latin-1").decode("utf-8", "replace"), header)


_LETTERS: dict[RefKind, str] = {"thought": "t", "turn": "s", "action": "a"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}
_MAX_ID_CHARS = 2048
_MAX_NUMBER = 1 << 63


class DecodedId(NamedTuple):
    """The user and the object that an id refers to."""

    user: str
    ref: Ref


def encode_id(user: str, ref: Ref) -> str:
    """The opaque id of a turn, thought or action."""
    plain = f"{_LETTERS[ref.kind]}{ref.id}:{user}"
    return urlsafe_b64encode(plain.encode()).rstrip(b"=").decode()


def decode_id(text: str) -> DecodedId:
    """Decode an id. The object need not exist; raises `NotFound` if the text was not made by `encode_id`."""
    decoded = _parse(text) if len(text) <= _MAX_ID_CHARS else None
    if decoded is None or encode_id(*decoded) != text:  # reject other encodings of the same object
        raise NotFound(f"{text[:40]!r} is not a memory id: use an id exactly as the server returned it")
    return decoded


def decode_ref(user: str, text: str, *kinds: RefKind) -> Ref:
    """Decode an id that must belong to `user` and be of one of `kinds`; raises `NotFound` otherwise."""
    decoded = decode_id(text)
    if decoded.user != user or decoded.ref.kind not in kinds:
        raise NotFound(f"this user has no {' or '.join(kinds)} with the id {text[:40]!r}")
    return decoded.ref


def _parse(text: str) -> DecodedId | None:
    try:
        plain = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)).decode()
        prefix, colon, user = plain.partition(":")
        kind, number = _KINDS[prefix[:1]], int(prefix[1:])
        user = checked_name(user, "user")
    except (ValueError, KeyError, binascii.Error, InvalidInput):
        return None
    return DecodedId(user, Ref(kind, number)) if colon and 0 < number < _MAX_NUMBER else None
