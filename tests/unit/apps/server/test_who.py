"""Who a request is for, and what its key may do."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused
from thinkback.apps.server.options import Options
from thinkback.apps.server.services import Memories, Services
from thinkback.apps.server.telemetry import Telemetry
from thinkback.apps.server.who import Asked, asked
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.types import SCOPES, KeyScope


def ask(
    memory: Memory,
    caller: Caller,
    *,
    header: bytes | None = None,
    user: str | None = None,
    scope: KeyScope = "read",
) -> Asked:
    desk = Desk(threads=1)
    desk.close()  # nothing is done here
    services = Services(Options(), Memories(memory), desk, Telemetry())
    headers = [] if header is None else [(b"x-thinkback-user", header)]
    request = Request({"type": "http", "headers": headers, "state": {"caller": caller, "services": services}})
    return asked(request, scope, user)


@pytest.mark.parametrize(
    ("header", "user", "found"),
    [
        (None, None, "default"),
        (None, "ann", "ann"),
        (b"bo", "ann", "bo"),
        ("安娜".encode(), None, "安娜"),
    ],
)
def test_the_header_goes_before_what_the_surface_says(
    memory: Memory, header: bytes | None, user: str | None, found: str
) -> None:
    assert ask(memory, Caller(), header=header, user=user).memory.user == found


def test_a_key_of_one_user_has_no_other(memory: Memory) -> None:
    bound = Caller(user="ann")
    assert ask(memory, bound).memory.user == "ann"
    assert ask(memory, bound, header=b"ann").memory.user == "ann"
    for header, user in ((b"bo", None), (None, "bo"), (b"bo", "ann")):
        with pytest.raises(Refused) as refused:
            ask(memory, bound, header=header, user=user)
        assert refused.value.status == 403


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_needs_the_scope_itself(memory: Memory, scope: KeyScope) -> None:
    others = frozenset(other for other in SCOPES if other != scope)
    with pytest.raises(Refused) as refused:
        ask(memory, Caller(scopes=others), scope=scope)
    assert refused.value.status == 403
    assert ask(memory, Caller(scopes=frozenset({scope})), scope=scope).memory.user == "default"


def test_a_name_that_cannot_be_one_is_refused(memory: Memory) -> None:
    for header in (b"", b"   ", b"a\xc2\x80b", b"x" * 300):
        with pytest.raises(InvalidInput):
            ask(memory, Caller(), header=header)
