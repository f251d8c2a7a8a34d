"""docs/lab-cli.md equals the help of the commands, and every command has examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from thinkback_lab import cli_docs
from thinkback_lab.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "lab-cli.md"


def commands(group: Any, above: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        path = f"{above} {name}"
        yield from commands(command, path) if hasattr(command, "commands") else [(path, command)]


COMMANDS = dict(commands(typer.main.get_command(app), "thinkback-lab"))


def test_page_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = tmp_path / "docs" / "lab-cli.md"
    monkeypatch.setattr("sys.argv", ["cli_docs", str(fresh)])
    cli_docs.main()
    assert PAGE.read_text("utf-8") == fresh.read_text("utf-8"), "run: make docs"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_description_and_examples(path: str) -> None:
    command = COMMANDS[path]
    assert path in command.help.split("Examples:")[1]
    assert all(parameter.help for parameter in command.params if parameter.name != "help")
    if path != "thinkback-lab replay":  # it prints nothing: its result is a database
        assert "--json" in {option for parameter in command.params for option in parameter.opts}
    assert f"## {path}\n" in PAGE.read_text("utf-8")
