"""Help texts: every command and option is documented, and docs/cli.md is up to date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.acceptance.cli_runner import run

from thinkback.cli import docs
from thinkback.cli.app import app

ROOT: Any = typer.main.get_command(app)


def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        path = f"{above}{name}"
        yield from commands(command, f"{path} ") if hasattr(command, "commands") else [(path, command)]


FOUND = dict(commands(ROOT))
COMMANDS = sorted(
    {"chat", "remember", "recall", "thoughts", "turns", "why", "forget", "undo", "erase", "think"}
    | {
        "backup",
        "restore",
        "salvage",
        "export",
        "import",
        "reembed",
        "pull",
        "stats",
        "doctor",
        "journal",
        "users",
        "correct",
        "demo",
        "ask",
        "audit",
        "entities",
        "organise",
        "move",
        "history",
        "instructions",
        "config",
        "context",
        "serve",
        "work",
        "web",
        "summary",
        "tui",
        "keys create",
        "keys list",
        "keys revoke",
        "mcp",
    }
)
FOR_ALL_USERS = ("serve", "work", "move", "web", "backup", "restore", "salvage")


def test_list_of_commands() -> None:
    assert sorted(FOUND) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    command = FOUND[name]
    assert f"thinkback {name}" in command.help.split("Examples:")[1]
    assert len(command.help.split("\n")[0]) > 20
    for parameter in command.params:
        assert parameter.help, f"{name} {parameter.name} has no help"
    names = {option for parameter in command.params for option in parameter.opts}
    assert {"--db", "--json"} <= names
    assert ({"--tenant", "--user"} <= names) is (name not in FOR_ALL_USERS)
    out = run(*name.split(), "--help").ok().out
    assert out.startswith(f"Usage: thinkback {name} ")
    assert not re.search(r"\\b\b|[\x00-\x09\x0b-\x1f]", out), "an escape of the docstring is printed"
    for line in command.help.split("Examples:")[1].splitlines():
        assert line.strip(" \b") in out, "the examples are wrapped: write \\b before them"


def test_no_command_prints_help() -> None:
    assert "Getting started:" in run().ok().out
    assert "Getting started:" in run("-h").ok().out


def test_docs_cli_page_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    monkeypatch.setattr("sys.argv", ["cli_docs", str(tmp_path / "docs" / "cli.md")])
    docs.main()
    fresh = (tmp_path / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == fresh, "run: make docs"
    for name in COMMANDS:
        assert f"## thinkback {name}\n" in fresh
