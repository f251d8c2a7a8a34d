"""What a caller may do: a key's scopes, asked for where the work is done."""

from __future__ import annotations

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.faults import forbidden
from thinkback.types import KeyScope


def need(caller: Caller, scope: KeyScope) -> None:
    """Refused, if the caller's key has not this scope."""
    if scope not in caller.scopes:
        raise forbidden(f"this key may not {scope}: it needs the scope {scope!r}")
