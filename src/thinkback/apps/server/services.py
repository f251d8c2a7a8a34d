"""What every room is given: the options, the memories, the desk, and the eyes of whoever runs the server."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from thinkback.apps.server.backlog import Backlog
from thinkback.apps.server.caller import Caller
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import forbidden
from thinkback.apps.server.options import Options
from thinkback.apps.server.telemetry import Telemetry
from thinkback.memory import Memory

TENANTS = 1024  # whose memories are kept at hand
DEFAULT_USER = "default"


class Memories:
    """A Memory for every tenant, made when first asked for; the root one owns database and models."""

    def __init__(self, root: Memory) -> None:
        self.root = root
        self._tenants: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, caller: Caller, user: str | None = None) -> Memory:
        """The memory of one user of the caller's tenant; a key bound to a user has no other."""
        if caller.user is not None and user is not None and user != caller.user:
            raise forbidden(f"this key speaks for the user {caller.user!r} alone")
        return self.tenant(caller.tenant).for_user(caller.user or user or DEFAULT_USER)

    def tenant(self, name: str) -> Memory:
        if name == self.root.tenant:
            return self.root
        with self._lock:
            memory = self._tenants.pop(name, None) or self.root.for_tenant(name)
            self._tenants[name] = memory
            if len(self._tenants) > TENANTS:
                self._tenants.popitem(last=False)
        return memory


@dataclass(frozen=True, slots=True)
class Services:
    options: Options
    memories: Memories
    desk: Desk
    telemetry: Telemetry
    backlog: Backlog = field(default_factory=Backlog)
    stopping: threading.Event = field(default_factory=threading.Event)  # set: it ends after what is in hand
