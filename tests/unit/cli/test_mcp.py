"""`thinkback mcp` without its extra."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from typer.testing import CliRunner

from thinkback.cli.app import app


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def without_mcp(name: str, *rest: Any) -> Any:
        return None if name == "mcp" else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without_mcp)
    done = CliRunner().invoke(app, ["mcp"])
    assert done.exit_code == 1
    assert "thinkback[server]" in done.stderr
    assert done.stdout == ""
