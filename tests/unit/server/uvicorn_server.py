"""A real uvicorn on loopback in a thread, with the server's own protocol; it stops by itself."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from thinkback.server.options import Options
from thinkback.server.processes.http_server import uvicorn_config


@contextmanager
def run_server(app: ASGIApp, options: Options) -> Iterator[int]:
    """The port it listens on."""
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
    """All the server says until it ends the connection."""
    heard = b""
    try:
        while piece := client.recv(65536):
            heard += piece
    except ConnectionError:
        pass
    return heard


@contextmanager
def connect(port: int) -> Iterator[socket.socket]:
    """A client that waits far longer than any limit tested."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        yield client
