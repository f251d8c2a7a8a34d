"""onnxruntime sends usage data by default: here it must not, and nothing else may import it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
SOURCES = [
    path
    for folder in ("src/thinkback", "packages/thinkback-lab/src/thinkback_lab", "benchmarks", "scripts")
    for path in sorted((PROJECT / folder).rglob("*.py"))
]
EMBED = "from thinkback.embedders.onnx import create_minilm; create_minilm().embed(['I live in Paris.'])"


@pytest.mark.parametrize("setting", [None, "0"])
def test_embedding_writes_nothing_into_the_home_folder(tmp_path: Path, setting: str | None) -> None:
    hidden = ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CI")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    if setting is not None:
        environment["ORT_DISABLE_TELEMETRY"] = setting
    subprocess.run([sys.executable, "-c", EMBED], env={**environment, "HOME": str(tmp_path)}, check=True)
    assert sorted(tmp_path.rglob("*")) == []


def test_only_one_function_imports_onnxruntime() -> None:
    importers = []
    for path in SOURCES:
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "onnxruntime" in text else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
                )
                importers += [path.name for module in modules if module.split(".")[0] == "onnxruntime"]
    assert importers == ["runtime.py"]
