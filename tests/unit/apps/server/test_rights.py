"""What a request says of whom it is for, and what its caller may do."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.apps.server.caller import Caller
from thinkback.apps.server.faults import Refused
from thinkback.apps.server.rights import USER_HEADER, named_in, need


def request(**headers: bytes) -> Request:
    named = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return Request({"type": "http", "headers": named})


@pytest.mark.parametrize("name", ["ann", "Zoë", "李雷"])
def test_a_name_in_a_header_is_any_name(name: str) -> None:
    assert named_in(request(x_thinkback_user=name.encode()), USER_HEADER) == name


def test_bytes_that_are_no_text_are_no_error() -> None:
    assert named_in(request(x_thinkback_user=b"\xff\xfe"), USER_HEADER) == "\ufffd\ufffd"


def test_no_header_is_no_name() -> None:
    assert named_in(request(), USER_HEADER) == ""


def test_a_scope_that_a_key_has_not_is_refused() -> None:
    reader = Caller(scopes=frozenset({"read"}))
    need(reader, "read")
    with pytest.raises(Refused) as refusal:
        need(reader, "write")
    assert refusal.value.status == 403
