"""The command line put together: every command, and `main`."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from thinkback.apps.cli import (
    auditing,
    changing,
    connecting,
    demonstrating,
    diagnosing,
    keying,
    listing,
    looking,
    modelling,
    moving,
    serving,
    talking,
    tracing,
    working,
    writing,
)
from thinkback.apps.cli.command import INTERRUPTED

app = typer.Typer(
    name="thinkback",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from thinkback import __version__

        typer.echo(f"thinkback {__version__}")
        raise typer.Exit


@app.callback()
def thinkback(
    ctx: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Long-term memory for any LLM: it recalls thoughts before it answers, and thinks again after.

    Everything stays in one file on this machine (see `thinkback doctor`), and works without a language
    model; one makes it better.

    \b
    To begin:
      thinkback demo                            the story of memory, in under a minute
      thinkback chat                            talk to it
      thinkback remember "I moved to Lyon."     or tell it
      thinkback recall "Where do I live?"       and ask
    """
    ctx.obj = debug
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


for group in (
    talking,
    writing,
    looking,
    working,
    listing,
    tracing,
    auditing,
    changing,
    serving,
    moving,
    connecting,
    modelling,
    keying,
    diagnosing,
    demonstrating,
):
    group.register(app)


def main() -> None:
    """The entry point: 0 done, 1 an error (one line on standard error), 2 used wrongly, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show must not end the command
            stream.reconfigure(
                encoding=None if stream.isatty() else "utf-8", errors="backslashreplace", newline="\n"
            )
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    try:
        app(prog_name="thinkback")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
