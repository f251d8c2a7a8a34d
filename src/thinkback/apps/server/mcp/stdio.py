"""MCP on standard input and output: the server that a desktop application starts for its user."""

from __future__ import annotations

import signal

from thinkback.apps.server.mcp.hosts import OneUser
from thinkback.apps.server.mcp.server import create
from thinkback.memory import Memory


def serve(memory: Memory) -> None:
    """Until standard input ends. While it runs, nothing else in this process can write to standard output.

    Ctrl-C ends the process at once: a thread that waits for input cannot be woken, and nothing
    acknowledged is lost.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    create(OneUser(memory)).run("stdio")
