"""Writes docs/cli.md from the help of every command: `python -m thinkback.cli.docs [FILE]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HELP_WIDTH_COLUMNS = 100
PAGE_HEADER = """\
# The command line

Generated from the commands' own help by `python -m thinkback.cli.docs`; a test keeps it up to date.

Every command ends with 0 when it did its work, 1 on an error (one line on standard error), 2 when it was
used wrongly, and 130 on Ctrl-C. With `--json` the result is JSON on standard output and all else goes to
standard error.
"""


def render_page() -> str:
    """The whole page."""
    import typer

    from thinkback.cli.app import app

    return "\n".join((PAGE_HEADER, *_command_sections(typer.main.get_command(app), "thinkback", None)))


def _command_sections(command: Any, name: str, parent: Any) -> Iterator[str]:
    """The help of a command, and of every command under it."""
    within = command.context_class(
        command,
        info_name=name,
        parent=parent,
        terminal_width=HELP_WIDTH_COLUMNS,
        max_content_width=HELP_WIDTH_COLUMNS,
    )
    lines = "\n".join(line.rstrip() for line in command.get_help(within).strip().splitlines())
    yield f"## {within.command_path}\n\n```text\n{lines}\n```\n"
    for each in command.list_commands(within) if hasattr(command, "list_commands") else ():
        yield from _command_sections(command.get_command(within, each), each, within)


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/cli.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
