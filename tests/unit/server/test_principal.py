"""Name headers and scopes."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.server.errors import RequestRefused
from thinkback.server.identity import USER_HEADER, Principal, read_name_header, require_scope


def request(**headers: bytes) -> Request:
    said = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return Request({"type": "http", "headers": said})


@pytest.mark.parametrize("name", ["ann", "Zoë", "李雷"])
def test_name_header_may_contain_any_name(name: str) -> None:
    assert read_name_header(request(x_thinkback_user=name.encode()).headers, USER_HEADER) == name


def test_invalid_utf8_header_is_no_error() -> None:
    assert read_name_header(request(x_thinkback_user=b"\xff\xfe").headers, USER_HEADER) == "\ufffd\ufffd"


def test_missing_header_is_none() -> None:
    assert read_name_header(request().headers, USER_HEADER) is None


def test_missing_scope_is_refused() -> None:
    reader = Principal(scopes=frozenset({"read"}))
    require_scope(reader, "read")
    with pytest.raises(RequestRefused) as refusal:
        require_scope(reader, "write")
    assert refusal.value.status == 403
