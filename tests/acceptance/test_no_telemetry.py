"""Nothing leaves the machine, not even from libraries written in C: system calls of programs (strace)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="needs strace")
LISTEN_SECONDS = 8.0  # telemetry of onnxruntime 1.31 asks for the address of its server within this time
_LOOPBACK = re.compile(r'inet_addr\("127\.|"::1"|"::ffff:127\.')
COMMANDS = {
    "embed": [
        "-c",
        "import time; from thinkback.embedders.registry import create_embedder\n"
        f"create_embedder().embed(['I live in Paris.', '你好']); time.sleep({LISTEN_SECONDS})",
    ],
    "chat": ["-m", "thinkback", "chat", "--llm", "none"],
    "serve": ["-m", "thinkback", "serve", "--llm", "none", "--port", "0"],
}


def traced(arguments: list[str], log: Path) -> list[str]:
    calls = "connect,sendto,sendmsg,sendmmsg"
    return [STRACE or "", "-f", "-qq", "-e", f"trace={calls}", "-o", str(log), sys.executable, *arguments]


def outbound(log: Path) -> list[str]:
    """The calls that name an internet address of another machine, or send to one."""
    lines = log.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if "sa_family=AF_INET" in line and not _LOOPBACK.search(line)]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_packet_is_sent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("THINKBACK_EMBEDDER", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "CI"):
        monkeypatch.delenv(variable, raising=False)
    log = tmp_path / "calls"
    program = subprocess.Popen(
        traced(COMMANDS[name], log),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        if name == "serve":
            assert program.stdout is not None
            while line := program.stdout.readline():
                if b"http://" in line:
                    break
            assert b"http://" in line
        elif name == "chat":
            assert program.stdin is not None
            program.stdin.write(b"I live in Lyon.\nWhere do I live?\n")
            program.stdin.flush()
        if name != "embed":
            time.sleep(LISTEN_SECONDS)
            if name == "serve":
                os.killpg(program.pid, signal.SIGTERM)
        said, _ = program.communicate(timeout=60)
        assert name != "chat" or b"You live in Lyon." in said
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    assert outbound(log) == []
    assert not (tmp_path / ".cache" / "Microsoft").exists()
