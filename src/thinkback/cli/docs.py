"""Generates docs/cli.md from the help text of every command: `python -m thinkback.cli.docs [FILE]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HELP_WIDTH_COLUMNS = 100
PAGE_HEADER = """\
# Command line reference

This page is generated from the help texts by `python -m thinkback.cli.docs`; a test keeps it up to date.

Exit codes: 0 on success, 1 on an error (one line on standard error), 2 on wrong usage, 130 on Ctrl-C.
With `--json` the result is printed as JSON on standard output. Everything else goes to standard error.
"""


def render_page() -> str:
    """The whole page as Markdown."""
    import typer

    from thinkback.cli.app import app

    return "\n".join((PAGE_HEADER, *_command_sections(typer.main.get_command(app), "thinkback", None)))


def _command_sections(command: Any, name: str, parent: Any) -> Iterator[str]:
    """One section with the help of the command, and one for each of its subcommands."""
    context = command.context_class(
        command,
        info_name=name,
        parent=parent,
        terminal_width=HELP_WIDTH_COLUMNS,
        max_content_width=HELP_WIDTH_COLUMNS,
    )
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    yield f"## {context.command_path}\n\n```text\n{help_text}\n```\n"
    for subcommand in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _command_sections(command.get_command(context, subcommand), subcommand, context)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/cli.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
