"""The arrows of the house: who may import whom, function-local and type-only imports too."""

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
    "usage": set(),
    "times": {"errors"},
    "presets": {"errors"},
    "prompts": {"errors"},
    "protocols": {"types"},
    "codec": {"errors", "times", "types"},
    "refs": {"errors", "types"},
    "language": {"errors", "types"},
    "index": {"errors", "types"},
    "history": {"types"},
    "validation": {"errors", "language"},
    "api_keys": {"errors", "types", "validation"},
    "mem0": {"errors", "validation"},
    "transfer": {"codec", "errors", "protocols", "types"},
    "audit": {"language", "protocols", "types"},
    "json_output": {"audit", "codec", "types"},
    "storage": VALUES | {"codec", "language", "protocols"},
    "llms": VALUES | {"language", "protocols"},
    "embedders": VALUES | {"language", "llms", "protocols"},
    "indexing": VALUES | {"index", "language", "presets", "protocols"},
    "think": VALUES | {"indexing", "language", "prompts", "protocols"},
    "recall": VALUES | {"history", "index", "language", "presets", "prompts", "protocols"},
    "session": VALUES | {"language", "prompts", "protocols", "recall"},
}
CORE = set(ALLOWED) - {"storage", "llms", "embedders"}
ALLOWED |= {
    "queries": set(CORE),
    "components": CORE | {"llms"},
    "memory": CORE | {"components", "embedders", "llms", "queries", "storage"},
    "aio": {"memory"},
    "config": CORE | {"embedders", "llms", "memory", "storage"},
}
ALLOWED |= {
    "cli": CORE | {"config", "llms", "memory", "server", "tui"},
    "tui": CORE | {"cli", "memory"},
    "server": CORE | {"config", "llms", "memory"},
}
APPLICATIONS = {"cli", "tui", "server"}  # these three may import each other


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__")


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The rooms of thinkback that a file imports, anywhere in it."""
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
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    assert room in ALLOWED, f"{path.name}: a new room needs a line in ALLOWED, and in docs/architecture.md"
    public = {"Memory", "AsyncMemory"}  # what `from thinkback import ...` gives an application
    used = {name for name in imported(path) if name not in public}
    assert used <= ALLOWED[room] | {room}


def test_thinking_and_recalling_never_meet() -> None:
    assert "recall" not in ALLOWED["think"]
    assert "think" not in ALLOWED["recall"]


def test_working_memory_meets_neither_of_them() -> None:
    assert "session" not in ALLOWED["think"] | ALLOWED["recall"]
    assert "think" not in ALLOWED["session"]


def test_the_arrows_make_no_circle() -> None:
    seen: dict[str, bool] = {}

    def visit(room: str, above: tuple[str, ...]) -> None:
        assert room not in above, f"circle: {' -> '.join((*above, room))}"
        if room not in seen:
            for other in sorted(ALLOWED[room] - {room} - (APPLICATIONS if room in APPLICATIONS else set())):
                visit(other, (*above, room))
            seen[room] = True

    for room in ALLOWED:
        visit(room, ())


def test_only_models_touch_a_model_library() -> None:
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
        if room_of(path) not in ("llms", "embedders"):
            assert not names & heavy, f"{path.name} imports {names & heavy}"
