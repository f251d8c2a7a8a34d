"""The command line put together: every command, and `main`."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from thinkback.cli import (
    audit,
    chat,
    context,
    demo,
    doctor,
    forget,
    history,
    keys,
    listings,
    mcp,
    models,
    recall,
    remember,
    serve,
    transfer,
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
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
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
    chat,
    remember,
    recall,
    context,
    listings,
    history,
    audit,
    forget,
    serve,
    transfer,
    mcp,
    models,
    keys,
    doctor,
    demo,
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
        sys.exit(EXIT_CODE_INTERRUPTED)
