"""Which package of the laboratory may import which; function-local and type-only imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback_lab

ROOT = Path(thinkback_lab.__file__).parent

UTILITIES = {"errors", "text", "files", "progress", "cases"}  # every package may import them
CORE = UTILITIES | {"harness", "prompts", "llms", "metrics"}

# package or module -> what it may import besides itself
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "progress": set(),
    "files": {"errors"},
    "cases": {"text"},
    "recorded": {"errors", "files", "text"},
    "harness": {"llms"},
    "prompts": {"errors"},
    "llms": {"errors", "recorded"},
    "metrics": UTILITIES,
    "reader": UTILITIES | {"prompts", "llms", "recorded"},
    "worlds": UTILITIES | {"prompts", "llms"},
    "datasets": UTILITIES | {"worlds"},
    "systems": UTILITIES | {"harness", "prompts", "llms"},
    "runs": CORE | {"systems", "reader", "recorded"},
    "evaluations": CORE | {"systems", "reader", "runs", "datasets"},
    "training": CORE | {"datasets", "evaluations", "report", "worlds"},
    "judge": CORE | {"systems", "reader", "runs", "recorded"},
    "report": CORE | {"systems", "runs"},
    "tables": CORE | {"runs"},
    "consult": CORE | {"systems", "reader", "runs", "report"},
}
ALLOWED["commands"] = set(ALLOWED)
ALLOWED["cli"] = {"commands", "datasets"}
ALLOWED["cli_docs"] = {"cli"}

EXTRA = {"bm25s", "sklearn", "scipy", "yaml"}  # optional: imported where used, by `errors.import_extra`


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__")


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names of everything that is imported anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            whole = module == "thinkback_lab"
            yield from ([f"{module}.{alias.name}" for alias in node.names] if whole else [module])


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_only_allowed_packages(path: Path) -> None:
    package = package_of(path)
    assert package in ALLOWED, (
        f"{path.name}: a new package needs a line in ALLOWED, and in docs/architecture.md"
    )
    names = [name.split(".") for name in imported(ast.parse(path.read_text("utf-8")))]
    used = {parts[1] for parts in names if parts[0] == "thinkback_lab"}
    assert used <= ALLOWED[package] | {package}


def test_allowed_imports_have_no_cycle() -> None:
    done: set[str] = set()

    def visit(package: str, above: tuple[str, ...]) -> None:
        assert package not in above, f"cycle: {' -> '.join((*above, package))}"
        if package not in done:
            for other in sorted(ALLOWED[package]):
                visit(other, (*above, package))
            done.add(package)

    for package in ALLOWED:
        visit(package, ())


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_optional_libraries_are_not_imported_at_module_level(path: Path) -> None:
    top = ast.Module([node for node in ast.parse(path.read_text("utf-8")).body if _runs(node)], [])
    at_once = {name.split(".")[0] for name in imported(top)}
    assert not at_once & EXTRA


def _runs(node: ast.stmt) -> bool:
    """Whether a statement runs when its module is imported."""
    types_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return not types_only and isinstance(node, ast.Import | ast.ImportFrom | ast.If | ast.Try)


def test_architecture_page_lists_every_package() -> None:
    page = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text("utf-8")
    part = page[page.index("## The laboratory") :]
    assert [package for package in ALLOWED if f"`{package}`" not in part] == []
