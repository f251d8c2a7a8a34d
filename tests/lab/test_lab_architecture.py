"""The arrows of the laboratory: which room may import which, function-local and type-only imports too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback_lab

ROOT = Path(thinkback_lab.__file__).parent

HANDS = {"errors", "text", "files", "extras", "progress", "sample"}  # what every room may pick up
PARTS = HANDS | {"cases", "stage", "prompts", "models", "metrics"}
ASKED = PARTS | {"schemes", "reader"}

# room or file -> what it may import besides itself
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "text": set(),
    "sample": set(),
    "progress": set(),
    "files": {"errors"},
    "extras": {"errors"},
    "cases": {"text"},
    "stage": set(),
    "prompts": {"errors"},
    "models": {"errors"},
    "metrics": HANDS,
    "reader": HANDS | {"prompts", "models"},
    "worlds": HANDS | {"prompts", "models"},
    "datasets": HANDS | {"cases", "worlds"},
    "schemes": HANDS | {"cases", "stage", "prompts"},
    "runs": ASKED,
    # one experiment each
    "scenarios": ASKED,
    "pairs": PARTS,
    "sharded": PARTS,
    "triples": PARTS | {"datasets"},
    "classification": PARTS,
    "timing": PARTS,
    "training": PARTS | {"worlds"},
    "determinism": PARTS | {"scenarios"},
    "consistency": ASKED | {"runs"},
    # what becomes of finished runs
    "judge": ASKED | {"runs"},
    "report": PARTS | {"schemes", "runs"},
    "compare": PARTS | {"runs"},
    "tables": PARTS | {"runs"},
    # an experiment with a report of its own
    "consult": ASKED | {"runs", "report"},
}
ALLOWED["commands"] = set(ALLOWED)
ALLOWED["cli"] = {"commands", "datasets"}
ALLOWED["cli_docs"] = {"cli"}

EXTRA = {"bm25s", "sklearn", "scipy", "yaml"}  # of the extra `lab`: imported where used, by `extras.extra`


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__")


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """The full names of what is imported anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            whole = module == "thinkback_lab"
            yield from ([f"{module}.{alias.name}" for alias in node.names] if whole else [module])


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    assert room in ALLOWED, f"{path.name}: a new room needs a line in ALLOWED, and in docs/architecture.md"
    names = [name.split(".") for name in imported(ast.parse(path.read_text("utf-8")))]
    used = {parts[1] for parts in names if parts[0] == "thinkback_lab"}
    assert used <= ALLOWED[room] | {room}


def test_the_arrows_make_no_circle() -> None:
    done: set[str] = set()

    def visit(room: str, above: tuple[str, ...]) -> None:
        assert room not in above, f"circle: {' -> '.join((*above, room))}"
        if room not in done:
            for other in sorted(ALLOWED[room]):
                visit(other, (*above, room))
            done.add(room)

    for room in ALLOWED:
        visit(room, ())


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_the_extra_brings_is_imported_where_it_is_used(path: Path) -> None:
    top = ast.Module([node for node in ast.parse(path.read_text("utf-8")).body if _runs(node)], [])
    at_once = {name.split(".")[0] for name in imported(top)}
    assert not at_once & EXTRA


def _runs(node: ast.stmt) -> bool:
    """Whether a statement is carried out when its module is imported: no function, nothing for types only."""
    types_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return not types_only and isinstance(node, ast.Import | ast.ImportFrom | ast.If | ast.Try)


def test_the_architecture_page_tells_of_every_room() -> None:
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    part = page[page.index("## The laboratory") :]
    assert [room for room in ALLOWED if f"`{room}`" not in part] == []
