"""Loaded first by every process of a server under test: notes each address that it looks up or connects to.

What uvloop does in C raises no audit event, so the same code runs on asyncio's own loop here.
"""

from __future__ import annotations

import os
import sys

NOTES = os.environ["THINKBACK_TEST_OUTBOUND"]
EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg")


def note(event: str, arguments: tuple[object, ...]) -> None:
    if event in EVENTS:
        where = (
            arguments[1] if event in ("socket.connect", "socket.sendto", "socket.sendmsg") else arguments[:2]
        )
        line = f"{event} {where!r}\n".encode()
        file = os.open(NOTES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, line)
        os.close(file)


sys.modules["uvloop"] = None  # type: ignore[assignment]
sys.addaudithook(note)
