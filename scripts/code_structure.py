"""Print the structure of the code base: files, lines, longest files, and modules with a single importer.

Run from the root of the repository:

    python scripts/code_structure.py
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCES = {"thinkback": Path("src"), "thinkback_lab": Path("packages/thinkback-lab/src")}


def module_name(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Names of the project's modules that a file imports, at any depth of the file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                if submodule in modules or node.module in modules:
                    yield submodule if submodule in modules else node.module


def main() -> None:
    modules = {
        module_name(path, source): path
        for package, source in SOURCES.items()
        for path in sorted((source / package).rglob("*.py"))
    }
    importers: dict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for imported in imported_modules(path, modules):
            importers[imported].add(name)
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules.items()}
    for package in SOURCES:
        own = [name for name in modules if name.split(".")[0] == package]
        single = sorted(name for name in own if len(importers[name] - {name}) == 1)
        longest = sorted(own, key=lambda name: -lines[name])[:5]
        print(f"{package}: {len(own)} files, {sum(lines[name] for name in own)} lines")
        print("  longest: " + ", ".join(f"{name} ({lines[name]})" for name in longest))
        print(f"  modules with a single importer: {len(single)}")
        for name in single:
            print(f"    {name} <- {next(iter(importers[name] - {name}))}")


if __name__ == "__main__":
    main()
