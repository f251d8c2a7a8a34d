"""The Typer application with every command, and `main`, the entry point of the `thinkback` script."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from thinkback.cli import (
    backup,
    chat,
    context,
    demo,
    doctor,
    forget,
    keys,
    listings,
    models,
    move,
    recall,
    remember,
    serve,
    transfer,
    web,
)
from thinkback.cli.command import EXIT_CODE_INTERRUPTED

app = typer.Typer(
    name="thinkback",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(requested: bool) -> None:
    if requested:
        from thinkback import __version__

        typer.echo(f"thinkback {__version__}")
        raise typer.Exit


@app.callback()
def thinkback(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Long-term memory for any LLM: recall relevant thoughts before an answer, update them after it.

    All data stays in one file on this machine (`thinkback doctor` shows where). A language model improves
    the results but is not required.

    \b
    Getting started:
      thinkback demo                            a tour of all features in under a minute
      thinkback chat                            chat with a model that remembers
      thinkback remember "I moved to Lyon."     store one message
      thinkback recall "Where do I live?"       search the memory
    """
    ctx.obj = debug
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


for register_commands in (  # the order in which `thinkback --help` lists the commands
    chat.register,
    remember.register,
    recall.register,
    context.register,
    listings.register,
    listings.register_history,
    doctor.register_audit,
    forget.register,
    serve.register,
    web.register,
    transfer.register,
    backup.register,
    move.register,
    serve.register_mcp,
    models.register,
    keys.register,
    doctor.register,
    demo.register,
):
    register_commands(app)


def main() -> None:
    """Run the command line. Exit codes: 0 success, 1 error, 2 wrong usage, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # unencodable characters are escaped instead of raising
            stream.reconfigure(
                encoding=None if stream.isatty() else "utf-8", errors="backslashreplace", newline="\n"
            )
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    try:
        app(prog_name="thinkback")
    except KeyboardInterrupt:
        sys.exit(EXIT_CODE_INTERRUPTED)
