"""Who is calling (tenant, user, scopes), and the opaque ids that clients see."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope as AsgiScope

from thinkback.errors import InvalidInput, InvalidName, NotFound
from thinkback.server.errors import forbidden
from thinkback.types import KEY_SCOPES, KeyScope, Ref
from thinkback.validation import RefKind, checked_name

USER_HEADER = "X-Thinkback-User"
SESSION_HEADER = "X-Thinkback-Session"

IDENTITY_HEADERS = (USER_HEADER, SESSION_HEADER)
IDENTITY_PARAMETERS = ("user", "session", "user_id", "agent_id", "run_id")
"""Query parameters that name a user or session, of REST and of mem0's API."""

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


RequiredScope = Literal["read", "write", "change", "admin"]
"""Scopes that a request requires. `change` stands for `read` and `write`: it is required where memories are
changed and the answer shows what they said.
"""


def require_scope(principal: Principal, scope: RequiredScope) -> None:
    """Raise `RequestRefused` (403) unless the key has this scope."""
    needed: tuple[KeyScope, ...] = ("read", "write") if scope == "change" else (scope,)
    for name in needed:
        if name not in principal.scopes:
            raise forbidden(f"this key may not {name}: it needs the scope {name!r}")


def decode_name(values: Sequence[bytes], header: str) -> str | None:
    """The name in the values of a header; None if there is no such header.

    Raises `InvalidName` if the header is sent twice, is not UTF-8, or contains no valid name.
    """
    if not values:
        return None
    if len(values) > 1:
        raise InvalidName(f"{header} is sent twice: send it once")
    try:
        name = values[0].strip(b" \t").decode()  # HTTP allows blanks around a value
    except UnicodeDecodeError:
        raise InvalidName(f"{header} is not valid UTF-8: encode the name as UTF-8") from None
    return checked_name(name, header)


def read_name_header(headers: Headers, header: str) -> str | None:
    """The name in a header of a request, see `decode_name`."""
    return decode_name([value.encode("latin-1") for value in headers.getlist(header)], header)


def check_parameters(parameters: QueryParams) -> None:
    """Raise `InvalidName` if a query parameter that names a user or session is sent twice."""
    for name in IDENTITY_PARAMETERS:
        if len(parameters.getlist(name)) > 1:
            raise InvalidName(f"{name} is sent twice: send it once")


def agreed_user(header: str | None, parameter: str | None) -> str | None:
    """The user of a request that may name one in a header and in a parameter; they must be the same."""
    if parameter is None:
        return header
    user = checked_name(parameter, "user")
    if header is not None and header != user:
        raise InvalidName(f"{USER_HEADER} and the parameter user disagree: send one of them")
    return user


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
