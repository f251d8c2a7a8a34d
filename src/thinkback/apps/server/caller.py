"""Who is asking: the tenant and what may be done, from the credential and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope as AsgiScope

from thinkback.types import SCOPES, KeyScope

OPEN_TENANT = ""
"""The tenant of a server without keys, and of the library and the command line."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`key` is the id of the key, never its secret; a key bound to a `user` speaks for that one alone."""

    tenant: str = OPEN_TENANT
    scopes: frozenset[KeyScope] = frozenset(SCOPES)
    key: str = ""
    user: str | None = None


def caller_of(scope: AsgiScope) -> Caller:
    """The caller the gate has let in."""
    caller: Caller = scope["state"]["caller"]
    return caller
