"""What a request says of whom it is for, and what its caller may do: asked where the work is done."""

from __future__ import annotations

from starlette.requests import Request

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.faults import forbidden
from thinkback.types import KeyScope

USER_HEADER = "X-Thinkback-User"
SESSION_HEADER = "X-Thinkback-Session"


def need(caller: Caller, scope: KeyScope) -> None:
    """Refused, if the caller's key has not this scope."""
    if scope not in caller.scopes:
        raise forbidden(f"this key may not {scope}: it needs the scope {scope!r}")


def named_in(request: Request, header: str) -> str:
    """The name that a header holds, empty without one: sent as UTF-8, which HTTP hands on as Latin-1."""
    return request.headers.get(header, "").encode("latin-1").decode("utf-8", "replace").strip()
