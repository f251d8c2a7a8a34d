"""A real uvicorn on loopback in a thread, with the server's own protocol."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from thinkback.server.processes.http_server import uvicorn_config
from thinkback.server.services import Options


@contextmanager
def run_server(app: ASGIApp, options: Options) -> Iterator[int]:
    """Serve the application; yields the port."""
    settings = uvicorn_config(options, app)
    settings.lifespan = "off"
    server = uvicorn.Server(settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.005)
            yield int(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server did not stop"


def read_until_closed(client: socket.socket) -> bytes:
    """Read everything until the server closes the connection."""
    response = b""
    try:
        while piece := client.recv(65536):
            response += piece
    except ConnectionError:
        pass
    return response


@contextmanager
def connect(port: int) -> Iterator[socket.socket]:
    """A client whose timeout is far longer than any tested limit."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        yield client
