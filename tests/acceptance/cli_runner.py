"""Runs the command line: in this process for most tests, as a separate process for the essentials."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

COMMAND = [sys.executable, "-m", "thinkback.cli"]


@dataclass(frozen=True)
class CommandResult:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> CommandResult:
        assert self.code == 0, f"exit code {self.code}\n{self.out}\n{self.err}"
        self.assert_no_traceback()
        return self

    def failed(self, code: int = 1) -> CommandResult:
        """Assert that it failed with one error line and this exit code."""
        assert self.code == code, f"exit code {self.code}\n{self.out}\n{self.err}"
        self.assert_no_traceback()
        assert "rror: " in self.err
        assert code == 2 or len([line for line in self.err.splitlines() if line.startswith("error: ")]) == 1
        return self

    def assert_no_traceback(self) -> None:
        assert "Traceback" not in self.out + self.err
        assert "This is a bug" not in self.err


def run(*words: str, stdin: str | bytes = b"") -> CommandResult:
    """Run a command in this process; standard input is not a terminal."""
    from thinkback.cli.app import app

    result = CliRunner().invoke(app, list(words), input=stdin or None, prog_name="thinkback")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return CommandResult(result.exit_code, result.stdout, result.stderr)


def run_process(*words: str | bytes, stdin: str | bytes = b"", timeout: float = 60) -> CommandResult:
    """Run a command as a process; arguments may be bytes that are not UTF-8."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [*COMMAND, *words],
        input=data,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())


def refs(items: Sequence[dict[str, Any]]) -> list[str]:
    return [item["ref"] for item in items]
