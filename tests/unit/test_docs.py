"""The documents tell the truth: README code runs, links lead somewhere, the tree is the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_readmes_python_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "The user lives in Paris.\n" in printed
    assert "The user lives in Lyon (since 2" in printed
    assert "lives in holds one value" in printed
    assert "In Paris, you told me. ['thought:" in printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_tree_in_the_readme_names_every_room_and_top_level_file() -> None:
    tree = README[README.index("## The house") :]
    for house in ("thinkback", "thinkback_lab"):
        for path in sorted((PROJECT / "src" / house).iterdir()):
            if path.name not in ("__pycache__", "__init__.py", "__main__.py", "py.typed"):
                assert path.name in tree, f"{path.name} is missing from the tree in the README"


def test_every_decision_is_listed() -> None:
    index = (PROJECT / "docs" / "decisions" / "README.md").read_text("utf-8")
    for page in (PROJECT / "docs" / "decisions").glob("0*.md"):
        assert page.name in index


def test_words_of_the_glossary_point_at_files_that_exist() -> None:
    glossary = (PROJECT / "docs" / "glossary.md").read_text("utf-8")
    for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", glossary):
        house = "" if name.startswith("thinkback_lab/") else "thinkback"
        assert (PROJECT / "src" / house / name).exists(), name
