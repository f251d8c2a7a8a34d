"""Who is asking: the tenant and what may be done, from the credential and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.types import Scope as AsgiScope

from thinkback.server.errors import forbidden
from thinkback.types import KEY_SCOPES, KeyScope
from thinkback.validation import checked_name

USER_HEADER = "X-Thinkback-User"
SESSION_HEADER = "X-Thinkback-Session"

OPEN_TENANT = ""
"""The tenant of a server without keys, and of the library and the command line."""


@dataclass(frozen=True, slots=True)
class Principal:
    """`key` is the id of the key, never its secret; a key bound to a `user` speaks for that one alone."""

    tenant: str = OPEN_TENANT
    scopes: frozenset[KeyScope] = frozenset(KEY_SCOPES)
    key: str = ""
    user: str | None = None


def get_principal(scope: AsgiScope) -> Principal:
    """The caller the gate has let in."""
    caller: Principal = scope["state"]["caller"]
    return caller


def require_scope(principal: Principal, scope: KeyScope) -> None:
    """Refused, if the caller's key has not this scope."""
    if scope not in principal.scopes:
        raise forbidden(f"this key may not {scope}: it needs the scope {scope!r}")


def read_name_header(headers: Mapping[str, str], header: str) -> str | None:
    """The name in a header, sent as UTF-8, which HTTP hands on as Latin-1; an empty one is a mistake."""
    value = headers.get(header)
    return None if value is None else checked_name(value.encode("latin-1").decode("utf-8", "replace"), header)
