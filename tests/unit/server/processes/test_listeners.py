"""The sockets of the answering processes: addresses that cannot be used, and connections that are shared."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress

import pytest

from thinkback.errors import InvalidInput
from thinkback.server.processes import listeners
from thinkback.server.services import Options

CONNECTIONS = 200
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems share one socket")


def test_port_in_use_is_reported() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"127.0.0.1:{port} is already in use.*--port"):
            listeners.open_listener(Options(port=port))


@pytest.mark.parametrize("host", ["192.0.2.7", "no-such-host.invalid"])
def test_foreign_address_is_reported(host: str) -> None:
    with pytest.raises(InvalidInput, match=f"{host}:8765 is not an address of this machine"):
        listeners.open_listener(Options(host=host))


def test_port_0_selects_free_port() -> None:
    with closing(listeners.open_listener(Options(port=0))) as listener:
        assert listener.getsockname()[1] > 0


def test_one_process_has_one_socket_that_listens() -> None:
    with listeners.open_listeners(Options(port=0)) as (only,):
        assert count_accepted([only], only.getsockname()) == [CONNECTIONS]
    assert only.fileno() == -1


def test_processes_share_a_socket_where_connections_are_not_distributed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listeners, "_allow_others", lambda listener: False)
    with listeners.open_listeners(Options(port=0, workers=3)) as opened:
        assert len(opened) == 3
        assert len(set(opened)) == 1
    assert opened[0].fileno() == -1


@linux_only
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_connections_are_distributed_over_the_processes_that_listen(host: str) -> None:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with listeners.open_listeners(Options(host=host, port=0, workers=4)) as opened:
        address = opened[0].getsockname()
        assert {each.getsockname() for each in opened} == {address}
        assert count_accepted(opened, address) == [CONNECTIONS, 0, 0, 0]  # the other processes are not ready
        for each in opened[1:]:
            each.listen(listeners.LISTEN_BACKLOG)
        assert min(count_accepted(opened, address)) > CONNECTIONS // 10
    assert {each.fileno() for each in opened} == {-1}


@linux_only
def test_process_that_ended_gets_no_connections_until_it_listens_again() -> None:
    with listeners.open_listeners(Options(port=0, workers=2)) as (first, other):
        address = first.getsockname()
        listeners.leave_connections_to_others(first, [first, other])
        assert count_accepted([first, other], address) == [CONNECTIONS, 0]  # no other one listens
        other.listen(listeners.LISTEN_BACKLOG)
        listeners.leave_connections_to_others(first, [first, other])
        assert count_accepted([first, other], address) == [0, CONNECTIONS]
        listeners.leave_connections_to_others(other, [first, other])
        assert count_accepted([first, other], address) == [0, CONNECTIONS]  # the last one goes on
        first.listen(listeners.LISTEN_BACKLOG)
        assert min(count_accepted([first, other], address)) > CONNECTIONS // 10


@linux_only
def test_port_shared_by_the_processes_of_one_server_is_refused_to_another() -> None:
    with listeners.open_listeners(Options(port=0, workers=2)) as opened:
        opened[1].listen(listeners.LISTEN_BACKLOG)
        options = Options(port=opened[0].getsockname()[1], workers=2)
        with pytest.raises(InvalidInput, match="already in use"), listeners.open_listeners(options):
            pass


def count_accepted(opened: Sequence[socket.socket], address: tuple[object, ...]) -> list[int]:
    """How many of 200 new connections wait at each socket."""
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(socket.create_connection(address[:2], timeout=10))  # type: ignore[arg-type]
        return [_accept_all(each) for each in opened]


def _accept_all(listener: socket.socket) -> int:
    listener.settimeout(0.2)
    count = 0
    with suppress(OSError):  # none is left, or the socket does not listen
        while True:
            listener.accept()[0].close()
            count += 1
    return count
