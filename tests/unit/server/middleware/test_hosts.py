"""Host and Origin checks."""

from __future__ import annotations

import pytest

from thinkback.errors import InvalidInput
from thinkback.server.errors import RequestRefused
from thinkback.server.middleware.hosts import (
    HostPolicy,
    check_exposure,
    describe_open_access,
    is_loopback,
    split_host,
)
from thinkback.server.services import Options

LOCAL = Options(allow_hosts=("memory.example", "two.example:8443"), allow_origins=("https://chat.example",))
ANYWHERE = Options(host="0.0.0.0")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST", "::1", "[::1]"])
def test_loopback_hosts(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "10.0.0.1", "localhost.example", "127.0.0.1.example", "1"]
)
def test_non_loopback_hosts(host: str) -> None:
    assert not is_loopback(host)


def test_non_loopback_server_needs_key() -> None:
    with pytest.raises(InvalidInput, match="thinkback keys create"):
        check_exposure(ANYWHERE, has_keys=False)
    check_exposure(ANYWHERE, has_keys=True)
    check_exposure(LOCAL, has_keys=False)
    assert "no keys" in describe_open_access(LOCAL)


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://*", "chat.example", "https://a.example/path", "file://"]
)
def test_allowed_origin_must_be_complete(origin: str) -> None:
    with pytest.raises(InvalidInput, match="origin"):
        check_exposure(Options(allow_origins=(origin,)), has_keys=True)


def test_allowed_host_has_no_scheme() -> None:
    with pytest.raises(InvalidInput, match="host"):
        check_exposure(Options(allow_hosts=("https://a.example",)), has_keys=True)


@pytest.mark.parametrize(
    ("host", "parts"),
    [
        ("a.example", ("a.example", "")),
        ("A.Example.:80", ("a.example", "80")),
        ("[::1]:8765", ("::1", "8765")),
        ("::1", None),
        ("[::1", None),
        ("a:b", None),
        ("a:99999", None),
        ("a:٣", None),
        ("", None),
        ("user@a", None),
        ("a b", None),
        ("a\n", None),
    ],
)
def test_split_host(host: str, parts: tuple[str, str] | None) -> None:
    assert split_host(host) == parts


@pytest.mark.parametrize(
    ("options", "host", "status"),
    [
        (LOCAL, b"127.0.0.1:8765", 0),
        (LOCAL, b"localhost", 0),
        (LOCAL, b"LocalHost:1", 0),
        (LOCAL, b"[::1]:8765", 0),
        (LOCAL, b"memory.example", 0),
        (LOCAL, b"memory.example:9000", 0),
        (LOCAL, b"memory.example.", 0),
        (LOCAL, b"two.example:8443", 0),
        (LOCAL, b"two.example:8444", 421),
        (LOCAL, b"two.example", 421),
        (LOCAL, b"evil.example", 421),
        (LOCAL, b"127.0.0.1.evil.example", 421),
        (LOCAL, b"evil.example:8765", 421),
        (LOCAL, b"192.168.0.2:8765", 421),
        (LOCAL, b"", 400),
        (LOCAL, b"127.0.0.1, evil.example", 400),
        (LOCAL, b"\xff\xfe", 400),
        (ANYWHERE, b"192.168.0.2:8765", 0),
        (ANYWHERE, b"[fe80::1]:8765", 0),
        (ANYWHERE, b"evil.example", 421),
        (Options(host="::"), b"10.0.0.1", 0),
        (Options(host="10.1.1.1"), b"10.1.1.1:8765", 0),
        (Options(host="10.1.1.1"), b"10.1.1.2:8765", 421),
    ],
)
def test_known_host_names_are_accepted(options: Options, host: bytes, status: int) -> None:
    doorways = HostPolicy(options)
    if not status:
        assert doorways.check_host([host]) == host.decode()
        return
    with pytest.raises(RequestRefused) as refused:
        doorways.check_host([host])
    assert refused.value.status == status


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"localhost"]])
def test_host_header_must_be_unique(hosts: list[bytes]) -> None:
    with pytest.raises(RequestRefused) as refused:
        HostPolicy(LOCAL).check_host(hosts)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("origins", "host", "answered"),
    [
        ([], "localhost:8765", None),
        ([b"http://localhost:8765"], "localhost:8765", None),
        ([b"https://memory.example"], "memory.example", None),
        ([b"http://memory.example"], "memory.example:80", None),
        ([b"http://[::1]:8765"], "[::1]:8765", None),
        ([b"https://chat.example"], "localhost:8765", "https://chat.example"),
    ],
)
def test_allowed_origins(origins: list[bytes], host: str, answered: str | None) -> None:
    assert HostPolicy(LOCAL).check_origin(origins, host) == answered


@pytest.mark.parametrize(
    "origin",
    [
        b"null",
        b"",
        b"*",
        b"http://chat.example",
        b"https://chat.example:444",
        b"https://chat.example.evil.example",
        b"https://evil.example",
        b"http://localhost:3000",
        b"http://localhost",
        b"http://127.0.0.1:8765",
        b"file://",
        b"\xff",
        b"http://localhost:8765/",
        b"http://user@localhost:8765",
        b"http://localhost:8765 http://evil.example",
    ],
)
def test_refused_origins(origin: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        HostPolicy(LOCAL).check_origin([origin], "localhost:8765")
    assert refused.value.status == 403


def test_two_origin_headers_are_refused() -> None:
    with pytest.raises(RequestRefused):
        HostPolicy(LOCAL).check_origin([b"https://chat.example"] * 2, "localhost:8765")
