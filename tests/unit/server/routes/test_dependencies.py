"""The user and scope of a request."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.errors import InvalidInput, InvalidName
from thinkback.memory import Memory
from thinkback.server.errors import RequestRefused
from thinkback.server.identity import Principal
from thinkback.server.routes.dependencies import RequestContext, request_context
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import KEY_SCOPES, KeyScope


def ask(
    memory: Memory,
    principal: Principal,
    *,
    header: bytes | None = None,
    user: str | None = None,
    scope: KeyScope = "read",
) -> RequestContext:
    pool = ThreadPool(threads=1)
    pool.close()
    services = Services(Options(), MemoryRegistry(memory), pool, Telemetry())
    headers = [] if header is None else [(b"x-thinkback-user", header)]
    request = Request(
        {"type": "http", "headers": headers, "state": {"principal": principal, "services": services}}
    )
    return request_context(request, scope, user)


@pytest.mark.parametrize(
    ("header", "user", "found"),
    [
        (None, None, "default"),
        (None, "ann", "ann"),
        (b"bo", "bo", "bo"),
        ("安娜".encode(), None, "安娜"),
    ],
)
def test_user_of_header_or_query(memory: Memory, header: bytes | None, user: str | None, found: str) -> None:
    assert ask(memory, Principal(), header=header, user=user).memory.user == found


def test_key_bound_to_user_has_no_other_user(memory: Memory) -> None:
    bound = Principal(user="ann")
    assert ask(memory, bound).memory.user == "ann"
    assert ask(memory, bound, header=b"ann").memory.user == "ann"
    for header, user in ((b"bo", None), (None, "bo"), (b"bo", "bo")):
        with pytest.raises(RequestRefused) as refused:
            ask(memory, bound, header=header, user=user)
        assert refused.value.status == 403


@pytest.mark.parametrize("principal", [Principal(), Principal(user="ann")])
def test_header_and_query_must_agree(memory: Memory, principal: Principal) -> None:
    with pytest.raises(InvalidName, match="disagree"):
        ask(memory, principal, header=b"bo", user="ann")


@pytest.mark.parametrize("scope", KEY_SCOPES)
def test_scope_is_required(memory: Memory, scope: KeyScope) -> None:
    others = frozenset(other for other in KEY_SCOPES if other != scope)
    with pytest.raises(RequestRefused) as refused:
        ask(memory, Principal(scopes=others), scope=scope)
    assert refused.value.status == 403
    assert ask(memory, Principal(scopes=frozenset({scope})), scope=scope).memory.user == "default"


def test_invalid_user_name_is_refused(memory: Memory) -> None:
    for header in (b"", b"   ", b"a\xc2\x80b", b"x" * 300):
        with pytest.raises(InvalidInput):
            ask(memory, Principal(), header=header)
