"""Documentation tests: README code runs, links resolve, and the described layout is the real one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_readme_python_runs_twice_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        for block in blocks("python"):
            exec(compile(block, "README.md", "exec"), {})
        printed = capsys.readouterr().out
        assert "The user lives in Paris" in printed
        assert "The user lives in Lyon (since 2" in printed
        assert 'replaces "The user lives in Paris."' in printed


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_tree_names_every_package() -> None:
    tree = README[README.index("## Where things are") :]
    for path in sorted((PROJECT / "src" / "thinkback").iterdir()):
        if path.is_dir() and path.name != "__pycache__":
            assert f"{path.name}/" in tree, f"{path.name}/ is missing from the tree in the README"


def test_architecture_names_every_package_and_top_level_module() -> None:
    text = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
    for path in sorted((PROJECT / "src" / "thinkback").iterdir()):
        if path.name not in ("__pycache__", "__init__.py", "__main__.py", "py.typed"):
            assert path.name in text, f"{path.name} is missing from docs/architecture.md"


def test_every_decision_is_listed() -> None:
    index = (PROJECT / "docs" / "decisions" / "README.md").read_text("utf-8")
    for page in (PROJECT / "docs" / "decisions").glob("0*.md"):
        assert page.name in index


def test_glossary_names_files_that_exist() -> None:
    glossary = (PROJECT / "docs" / "glossary.md").read_text("utf-8")
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", glossary):
        lab = name.startswith("thinkback_lab/")
        root = PROJECT / "packages/thinkback-lab/src" if lab else PROJECT / "src/thinkback"
        assert (root / name).exists(), name
