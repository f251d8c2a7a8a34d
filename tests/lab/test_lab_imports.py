"""The laboratory uses only the public API of thinkback."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import thinkback
import thinkback_lab

ROOT = Path(thinkback_lab.__file__).parent


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_only_public_names(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("thinkback.")]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, "imports are absolute"
            assert not module.startswith("thinkback."), module
            if module == "thinkback":
                assert {alias.name for alias in node.names} <= set(thinkback.__all__)
