"""Name headers and scopes."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from thinkback.errors import InvalidName
from thinkback.server.errors import RequestRefused
from thinkback.server.identity import USER_HEADER, Principal, read_name_header, require_scope


def request(**headers: bytes) -> Request:
    said = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    return Request({"type": "http", "headers": said})


@pytest.mark.parametrize("name", ["ann", "Zoë", "李雷"])
def test_name_header_may_contain_any_name(name: str) -> None:
    assert read_name_header(request(x_thinkback_user=name.encode()).headers, USER_HEADER) == name


@pytest.mark.parametrize("raw", [b"\xff\xfe", "Müller".encode("latin-1"), b"", "\ufffd".encode()])
def test_invalid_name_header_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidName, match=USER_HEADER):
        read_name_header(request(x_thinkback_user=raw).headers, USER_HEADER)


def test_name_header_may_be_sent_once() -> None:
    headers = Request({"type": "http", "headers": [(b"x-thinkback-user", b"ann")] * 2}).headers
    with pytest.raises(InvalidName, match="twice"):
        read_name_header(headers, USER_HEADER)


def test_missing_header_is_none() -> None:
    assert read_name_header(request().headers, USER_HEADER) is None


def test_missing_scope_is_refused() -> None:
    reader = Principal(scopes=frozenset({"read"}))
    require_scope(reader, "read")
    with pytest.raises(RequestRefused) as refusal:
        require_scope(reader, "write")
    assert refusal.value.status == 403
