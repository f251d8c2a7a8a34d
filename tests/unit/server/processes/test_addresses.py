"""Addresses: what cannot work is said before anything starts, and secrets in them are not shown."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from thinkback.errors import InvalidInput
from thinkback.server.options import Options
from thinkback.server.processes import start


def test_a_taken_port_is_said_so() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"127.0.0.1:{port} is taken.*--port"):
            start.open_listener(Options(port=port))


@pytest.mark.parametrize("host", ["192.0.2.7", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_said_so(host: str) -> None:
    with pytest.raises(InvalidInput, match=f"{host}:8765 is no address of this machine"):
        start.open_listener(Options(host=host))


def test_port_0_takes_a_free_one() -> None:
    with closing(start.open_listener(Options(port=0))) as listener:
        assert listener.getsockname()[1] > 0


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
def test_a_server_in_front_of_itself_is_refused(upstream: str) -> None:
    """OPENAI_BASE_URL of the clients is easily set for the server too; every chat would go round for ever."""
    with pytest.raises(InvalidInput, match="is this server itself"):
        start.validate_options(Options(upstream=upstream, host="memory.example"))


@pytest.mark.parametrize("upstream", ["", "http://127.0.0.1:8080/v1", "https://models.example/v1"])
def test_other_upstreams_are_fine(upstream: str) -> None:
    start.validate_options(Options(upstream=upstream))


@pytest.mark.parametrize("upstream", ["models.example", "ftp://models.example", "http://", "http://h:port/"])
def test_an_upstream_is_an_address(upstream: str) -> None:
    with pytest.raises(InvalidInput, match="--upstream"):
        start.validate_options(Options(upstream=upstream))


def test_one_process_where_there_can_be_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "can_fork", lambda: False)
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
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert start.redact_url(url) == shown
