"""Writes docs/lab-cli.md from the help of every command: `python -m thinkback_lab.cli_docs [FILE]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTH = 100
HEADER = """\
# The laboratory's command line

Generated from the help of the commands by `python -m thinkback_lab.cli_docs`; a test keeps it up to date.
[The laboratory](lab.md) explains how to use them.

Exit status: 0 success, 1 error (one line on standard error), 2 wrong usage, 130 Ctrl-C. With `--json` the
result is JSON on standard output, and everything else goes to standard error.
"""


def render_page() -> str:
    """Render the whole page."""
    import typer

    from thinkback_lab.cli import app

    return "\n".join((HEADER, *_help_sections(typer.main.get_command(app), "thinkback-lab", None)))


def _help_sections(command: Any, name: str, above: Any) -> Iterator[str]:
    """Yield the help of a command and of all its subcommands."""
    within = command.context_class(
        command, info_name=name, parent=above, terminal_width=WIDTH, max_content_width=WIDTH
    )
    lines = "\n".join(line.rstrip() for line in command.get_help(within).strip().splitlines())
    yield f"## {within.command_path}\n\n```text\n{lines}\n```\n"
    for each in command.list_commands(within) if hasattr(command, "list_commands") else ():
        yield from _help_sections(command.get_command(within, each), each, within)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/lab-cli.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
