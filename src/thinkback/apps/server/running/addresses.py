"""Where the server listens and where its models are: what cannot work is said before anything starts."""

from __future__ import annotations

import errno
import os
import socket
from urllib.parse import SplitResult, urlsplit

from thinkback.apps.server.options import Options
from thinkback.errors import InvalidInput

WAITING = 2048  # connections that may wait to be accepted


def several_processes() -> bool:
    """Without fork (Windows) one process answers, and thinks in a thread of its own."""
    return hasattr(os, "fork")


def checked(options: Options) -> None:
    """InvalidInput where options contradict themselves or this machine."""
    if options.workers < 1:
        raise InvalidInput(f"--workers {options.workers}: at least one process has to answer")
    if options.workers > 1 and not several_processes():
        raise InvalidInput(f"--workers {options.workers}: this system can run one process; leave it out")
    if options.upstream and _is_this_server(_split(options.upstream), options):
        raise InvalidInput(
            f"the upstream {shown(options.upstream)} is this server itself: set --upstream (or "
            "OPENAI_BASE_URL) to the server of the models, or --upstream '' for none"
        )


def listening(options: Options) -> socket.socket:
    """The socket that all processes accept from; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        raise _cannot_listen(options, error) from error
    return listener


def shown(url: str) -> str:
    """An address without user, password and query."""
    parts = _split(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not close
        known = False
    if not known:
        raise InvalidInput(
            "--upstream: give the base URL of a model server, such as http://127.0.0.1:8080/v1"
        )
    return parts


def _is_this_server(upstream: SplitResult, options: Options) -> bool:
    port = upstream.port or (443 if upstream.scheme == "https" else 80)
    names = {options.host.lower(), "localhost", "127.0.0.1", "::1", *options.allow_hosts}
    return port == options.port and upstream.hostname in names


def _cannot_listen(options: Options, error: OSError) -> InvalidInput:
    there = f"{options.host}:{options.port}"
    if error.errno == errno.EADDRINUSE:
        return InvalidInput(f"{there} is taken by another program: end it, or choose another --port")
    if error.errno == errno.EACCES:
        return InvalidInput(f"{there} is not for this user: choose a --port above 1023")
    return InvalidInput(f"{there} is no address of this machine: {error.strerror or error}")
