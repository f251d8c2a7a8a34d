"""Invalid addresses are reported before the server starts, without their secrets."""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack, closing, suppress

import pytest

from thinkback.errors import InvalidInput
from thinkback.server.processes import start
from thinkback.server.services import Options


def test_port_in_use_is_reported() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"127.0.0.1:{port} is already in use.*--port"):
            start.open_listener(Options(port=port))


@pytest.mark.parametrize("host", ["192.0.2.7", "no-such-host.invalid"])
def test_foreign_address_is_reported(host: str) -> None:
    with pytest.raises(InvalidInput, match=f"{host}:8765 is not an address of this machine"):
        start.open_listener(Options(host=host))


def test_port_0_selects_free_port() -> None:
    with closing(start.open_listener(Options(port=0))) as listener:
        assert listener.getsockname()[1] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems share one socket")
def test_connections_are_distributed_over_the_answering_processes() -> None:
    with start.open_listeners(Options(port=0, workers=4)) as listeners, ExitStack() as stack:
        (port,) = {listener.getsockname()[1] for listener in listeners}
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        waiting = [_accept_all(listener) for listener in listeners]
    assert sum(waiting) == 200
    assert min(waiting) > 20


def test_port_shared_by_the_processes_of_one_server_is_refused_to_another() -> None:
    with start.open_listeners(Options(port=0, workers=2)) as listeners:
        options = Options(port=listeners[0].getsockname()[1], workers=2)
        with pytest.raises(InvalidInput, match="already in use"), start.open_listeners(options):
            pass


def _accept_all(listener: socket.socket) -> int:
    """The number of connections that wait to be accepted."""
    listener.setblocking(False)
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


@pytest.mark.parametrize(
    "upstream",
    [
        "http://127.0.0.1:8765/v1",
        "http://localhost:8765",
        "http://LOCALHOST:8765/v1/",
        "http://[::1]:8765/v1",
        "http://memory.example:8765/v1",
    ],
)
def test_server_as_its_own_upstream_is_refused(upstream: str) -> None:
    """OPENAI_BASE_URL is easily set for the server as well; every chat would then loop for ever."""
    with pytest.raises(InvalidInput, match="is this server itself"):
        start.validate_options(Options(upstream=upstream, host="memory.example"))


@pytest.mark.parametrize("upstream", ["", "http://127.0.0.1:8080/v1", "https://models.example/v1"])
def test_other_upstreams_are_accepted(upstream: str) -> None:
    start.validate_options(Options(upstream=upstream))


@pytest.mark.parametrize("upstream", ["models.example", "ftp://models.example", "http://", "http://h:port/"])
def test_upstream_must_be_a_url(upstream: str) -> None:
    with pytest.raises(InvalidInput, match="--upstream"):
        start.validate_options(Options(upstream=upstream))


def test_several_workers_are_refused_if_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "supports_workers", lambda: False)
    start.validate_options(Options(workers=1))
    with pytest.raises(InvalidInput, match="--workers 2"):
        start.validate_options(Options(workers=2))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ann:secret@models.example/v1?key=secret#secret", "https://models.example/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_redact_url_removes_secrets(url: str, shown: str) -> None:
    assert start.redact_url(url) == shown
