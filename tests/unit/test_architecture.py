"""Which package may import which. Function-local and type-only imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback

ROOT = Path(thinkback.__file__).parent

VALUES = {"errors", "types", "times", "usage"}

# package or module -> what it may import besides itself
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "types": set(),
    "usage": {"types"},
    "times": {"errors"},
    "package_files": {"errors"},
    "presets": {"errors"},
    "prompts": {"errors"},
    "protocols": {"types"},
    "schemas": {"errors", "times", "types"},
    "language": {"errors", "network", "package_files", "types"},
    "index": {"errors", "types"},
    "network": {"errors"},
    "history": {"types"},
    "forgotten": {"language", "protocols", "types"},
    "validation": {"errors", "language", "types"},
    "api_keys": {"errors", "types", "validation"},
    "mem0": {"errors", "validation"},
    "transfer": {"errors", "language", "protocols", "schemas", "types", "validation"},
    "audit": {"language", "protocols", "types"},
    "storage": VALUES | {"language", "protocols", "schemas"},
    "llms": VALUES | {"language", "protocols"},
    "embedders": VALUES | {"language", "llms", "network", "package_files", "protocols"},
    "indexing": VALUES | {"index", "language", "presets", "protocols"},
    "think": VALUES | {"forgotten", "index", "indexing", "language", "prompts", "protocols"},
    "recall": VALUES | {"history", "index", "language", "network", "presets", "prompts", "protocols"},
    "session": VALUES | {"forgotten", "language", "prompts", "protocols", "recall"},
}
CORE = set(ALLOWED) - {"storage", "llms", "embedders"}
ALLOWED |= {
    "memory_queries": set(CORE),
    "memory_changes": CORE | {"memory_queries"},
    "memory_recall": CORE | {"memory_queries"},
    "memory_config": {"index", "presets", "protocols", "think", "times"},
    "components": CORE | {"embedders", "llms", "memory_config"},
    "memory": CORE
    | {"components", "llms", "embedders", "memory_config", "memory_changes", "memory_recall", "storage"},
    "aio": {"errors", "memory", "memory_config", "protocols"},
    "config": CORE | {"embedders", "llms", "memory", "storage"},
}
ALLOWED |= {
    "bulk": CORE | {"config", "memory", "storage"},
    "cli": CORE | {"bulk", "config", "llms", "memory", "server", "storage", "tui"},
    "tui": CORE | {"cli", "memory"},
    "web": set(),  # only the built page: no Python code
    "server": CORE | {"config", "llms", "memory"},
}
APPLICATIONS = {"cli", "tui", "server"}  # these three may import each other


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__")


def package_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The packages of thinkback that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "thinkback":
                names = [f"thinkback.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "thinkback" and len(parts) > 1 and parts[1] != "__version__":
                yield parts[1]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_only_allowed_packages(path: Path) -> None:
    package = package_of(path)
    assert package in ALLOWED, (
        f"{path.name}: a new package needs a line in ALLOWED, and in docs/architecture.md"
    )
    public = {"Memory", "AsyncMemory"}  # what `from thinkback import ...` gives an application
    used = {name for name in imported(path) if name not in public}
    assert used <= ALLOWED[package] | {package}


def test_think_and_recall_do_not_import_each_other() -> None:
    assert "recall" not in ALLOWED["think"]
    assert "think" not in ALLOWED["recall"]


def test_session_is_not_imported_by_think_and_recall() -> None:
    assert "session" not in ALLOWED["think"] | ALLOWED["recall"]
    assert "think" not in ALLOWED["session"]


def test_allowed_imports_have_no_cycle() -> None:
    seen: dict[str, bool] = {}

    def visit(package: str, above: tuple[str, ...]) -> None:
        assert package not in above, f"circle: {' -> '.join((*above, package))}"
        if package not in seen:
            for other in sorted(
                ALLOWED[package] - {package} - (APPLICATIONS if package in APPLICATIONS else set())
            ):
                visit(other, (*above, package))
            seen[package] = True

    for package in ALLOWED:
        visit(package, ())


def test_only_adapters_and_network_import_model_libraries() -> None:
    heavy = {"onnxruntime", "tokenizers", "openai", "xllamacpp", "wordllama", "torch", "transformers"}
    for path in modules():
        names = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import)
            for alias in node.names
        } | {
            (node.module or "").split(".")[0]
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom)
        }
        if package_of(path) not in ("llms", "embedders", "network"):
            assert not names & heavy, f"{path.name} imports {names & heavy}"
