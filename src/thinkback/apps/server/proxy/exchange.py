"""One question on its way: whose it is, what memory may do for it, and what it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers

from thinkback.apps.server.caller import SESSION_HEADER, USER_HEADER, Caller, named
from thinkback.apps.server.proxy import asked as asking
from thinkback.apps.server.proxy.asked import Asked
from thinkback.apps.server.proxy.splice import Body
from thinkback.apps.server.services import Services
from thinkback.errors import InvalidInput
from thinkback.memory import Memory

MODES = {
    "on": (True, True),
    "read": (True, False),
    "write": (False, True),
    "off": (False, False),
}
"""What `X-Thinkback-Memory` may say, and whether it then recalls and remembers."""

Ask = Callable[[Body], Asked | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """`key` is the client's own name for the turn, if it gives one."""

    memory: Memory
    asked: Asked
    session: str
    key: str | None
    reads: bool
    writes: bool

    @property
    def unanswered(self) -> str:
        """The key of what was not answered: however often the client tries again, it is kept once."""
        return f"unanswered-{asking.digest([self.session, self.asked.digest])}"

    def broken_off(self, text: str) -> str:
        """The key of an answer that broke off: the client's own is for the whole one."""
        return f"cut-{asking.digest([self.session, self.asked.digest, text])}"


def exchange(services: Services, caller: Caller, given: Headers, body: Body, ask: Ask) -> Exchange | None:
    """None where nothing is asked that could be remembered; InvalidInput or Refused for a false name."""
    mode = given.get("x-thinkback-memory", "on").strip().lower()
    if mode not in MODES:
        raise InvalidInput(f"X-Thinkback-Memory={mode!r:.40}: use one of {', '.join(MODES)}")
    asked = ask(body)
    if asked is None:
        return None
    reads, writes = MODES[mode]
    user = named(given, USER_HEADER) or (asked.user if caller.user is None else None)
    key = given.get("idempotency-key", "").strip()
    return Exchange(
        memory=services.memories.of(caller, user),
        asked=asked,
        session=named(given, SESSION_HEADER) or asked.session,
        key=f"client-{asking.digest(key)}" if key else None,
        reads=reads and "read" in caller.scopes,
        writes=writes and "write" in caller.scopes,
    )
