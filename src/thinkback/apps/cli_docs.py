"""Writes docs/cli.md from the help of every command: `python -m thinkback.apps.cli_docs [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

WIDTH = 100
HEADER = """\
# The command line

Generated from the commands' own help by `python -m thinkback.apps.cli_docs`; a test keeps it up to date.

Every command ends with 0 when it did its work, 1 on an error (one line on standard error), 2 when it was
used wrongly, and 130 on Ctrl-C. With `--json` the result is JSON on standard output and all else goes to
standard error.
"""


def text() -> str:
    """The whole page."""
    import typer

    from thinkback.apps.cli.app import app

    root: Any = typer.main.get_command(app)
    top = root.context_class(root, info_name="thinkback", terminal_width=WIDTH, max_content_width=WIDTH)
    parts = [HEADER, _block("thinkback", root.get_help(top))]
    for name in root.list_commands(top):
        command = root.get_command(top, name)
        within = command.context_class(
            command, info_name=name, parent=top, terminal_width=WIDTH, max_content_width=WIDTH
        )
        parts.append(_block(f"thinkback {name}", command.get_help(within)))
    return "\n".join(parts)


def _block(title: str, help_: str) -> str:
    lines = "\n".join(line.rstrip() for line in help_.strip().splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/cli.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
