"""The sockets that the answering processes accept connections from.

A process that is idle accepts all connections that wait on a shared socket, so that one process may have most
of them. Several sockets on one port share them: the kernel distributes connections by their addresses.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress

from thinkback.errors import InvalidInput
from thinkback.server.services import Options

LISTEN_BACKLOG = 2048  # connections that may wait to be accepted


@contextmanager
def open_listeners(options: Options) -> Iterator[list[socket.socket]]:
    """Open a socket for each answering process, all on one port; they are closed at the end.

    The first one listens at once, so that connections can wait; the others when their process is ready.
    Where the system cannot distribute connections, all processes get the same socket.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(closing(open_listener(options)))
        if options.workers == 1 or not _allow_others(listener):
            yield [listener] * options.workers
            return
        beside = (_bind_beside(listener) for _ in range(options.workers))
        listeners = [stack.enter_context(closing(each)) for each in beside]
        listeners[0].listen(LISTEN_BACKLOG)
        listener.close()  # with port 0 it would lose its port when it stops listening
        yield listeners


def open_listener(options: Options) -> socket.socket:
    """Open a socket and listen; port 0 selects a free port. Raises `InvalidInput` if that is not possible."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        if os.name == "posix":  # on Windows the option would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(LISTEN_BACKLOG)
    except OSError as error:
        listener.close()
        raise _listen_error(options, error) from error
    return listener


def leave_connections_to_others(listener: socket.socket, listeners: Sequence[socket.socket]) -> None:
    """Stop listening on the socket of a process that has ended, unless no other socket listens.

    Otherwise new connections would wait for the process to start again. It then listens itself.
    """
    if any(other is not listener and _is_listening(other) for other in listeners):
        with suppress(OSError):  # it was not listening yet
            listener.shutdown(socket.SHUT_RD)


def _allow_others(listener: socket.socket) -> bool:
    """Allow other sockets of this user on the port; False if connections would not be distributed.

    Called after binding: the bind has failed if any other server has the port.
    """
    if sys.platform != "linux":
        return False
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    except OSError:  # unknown to some sandboxes
        return False
    return True


def _bind_beside(listener: socket.socket) -> socket.socket:
    """A socket on the same port that does not listen yet."""
    other = socket.socket(listener.family)
    try:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(listener.getsockname())
    except OSError:
        other.close()
        raise
    return other


def _is_listening(listener: socket.socket) -> bool:
    try:
        return bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:  # closed
        return False


def _listen_error(options: Options, error: OSError) -> InvalidInput:
    address = f"{options.host}:{options.port}"
    if error.errno == errno.EADDRINUSE:
        return InvalidInput(f"{address} is already in use: stop the other program, or choose another --port")
    if error.errno == errno.EACCES:
        return InvalidInput(f"no permission to listen on {address}: choose a --port above 1023")
    return InvalidInput(f"{address} is not an address of this machine: {error.strerror or error}")
