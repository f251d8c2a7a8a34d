"""`mcp`: memory for an assistant that speaks the Model Context Protocol."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import typer

from thinkback.cli.command import CommandCall, register_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from thinkback.memory import Memory


def register(app: typer.Typer) -> None:
    register_command(app, "embedder", "preset", "llm", "summary_llm", "think")(mcp)


def mcp(call: CommandCall) -> None:
    """Serve one user's memory to an assistant by the Model Context Protocol, on standard input and output.

    The assistant starts this command itself and ends it by closing standard input; it can then search, add,
    correct, explain and forget memories of this user, and of nobody else. What is added is thought over in
    the background. With --json nothing is served: it prints what to put into the assistant's configuration.

    \b
    Examples:
      thinkback mcp --user ann
      thinkback mcp --user ann --json
    """
    if call.json:
        _print_configuration(call)
        return
    with redirect_stdout(sys.stderr):  # whatever a model library says while it loads is not the protocol
        serve = _import_stdio_server()
        memory = call.open_memory(with_llm=True, background=True)
    with memory:
        serve(memory)


def _import_stdio_server() -> Callable[[Memory], None]:
    from importlib.util import find_spec

    from thinkback.errors import MissingExtra

    if find_spec("mcp") is None:
        raise MissingExtra("thinkback mcp", "server")
    from thinkback.server.mcp.server import serve_stdio

    return serve_stdio


def _print_configuration(call: CommandCall) -> None:
    """As assistants have it in common: the command, with the values that flags and settings give now."""
    from pathlib import Path

    from thinkback.cli import output

    settings = call.settings
    place = settings.db if "://" in settings.db else str(Path(settings.db).absolute())
    words = ["-m", "thinkback", "mcp", "--db", place, "--user", settings.user]
    for name, value in call.flags.items():
        if value is not None and name not in ("db", "user"):
            words += [f"--{name.replace('_', '-')}", value]
    output.print_json({"mcpServers": {"thinkback": {"command": sys.executable, "args": words}}})
