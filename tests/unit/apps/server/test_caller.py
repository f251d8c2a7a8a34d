"""What a request says of whom it is for, and what its caller may do."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.apps.server.caller import USER_HEADER, Caller, named, require
from thinkback.apps.server.faults import Refused


def request(**headers: bytes) -> Request:
    said = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return Request({"type": "http", "headers": said})


@pytest.mark.parametrize("name", ["ann", "Zoë", "李雷"])
def test_a_name_in_a_header_is_any_name(name: str) -> None:
    assert named(request(x_thinkback_user=name.encode()).headers, USER_HEADER) == name


def test_bytes_that_are_no_text_are_no_error() -> None:
    assert named(request(x_thinkback_user=b"\xff\xfe").headers, USER_HEADER) == "\ufffd\ufffd"


def test_no_header_is_no_name() -> None:
    assert named(request().headers, USER_HEADER) is None


def test_a_scope_that_a_key_has_not_is_refused() -> None:
    reader = Caller(scopes=frozenset({"read"}))
    require(reader, "read")
    with pytest.raises(Refused) as refusal:
        require(reader, "write")
    assert refusal.value.status == 403
