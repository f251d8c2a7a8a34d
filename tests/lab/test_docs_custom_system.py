"""The documented memory of a third party is under 40 lines, is found by its file, and works."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import thinkback_lab
from thinkback_lab.cases import HistoryItem
from thinkback_lab.harness import Setup
from thinkback_lab.systems.registry import describe_systems, find_system
from thinkback_lab.systems.resources import load_resources

PAGE = Path(thinkback_lab.__file__).parents[2] / "docs" / "lab.md"
START = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("docs/lab.md is not here: the package is installed without its repository")
    return PAGE.read_text("utf-8")


def test_the_documented_memory_is_short_and_remembers(page: str, tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(block.splitlines()) < 40
    (spec,) = re.findall(r"--scheme (\S+\.py:\w+)", page)
    (tmp_path / spec.partition(":")[0]).write_text(block, "utf-8")
    memory = find_system(f"{tmp_path}/{spec}")(load_resources(Setup(embedder="hashing")))
    memory.tell([HistoryItem(id="tea", query="I drink green tea", response="Nice", at=START)])
    memory.tell(
        [HistoryItem(id="bus", query="The bus is late", at=START + timedelta(days=day)) for day in (1,)]
    )
    assert hasattr(memory, "recall")
    found = memory.recall("which tea do I drink", 1, START + timedelta(days=2))
    assert [(each.text, each.sources) for each in found] == [("I drink green tea\nNice", ("tea",))]
    recent = memory.recall("hello", 2, START + timedelta(days=2))
    assert [each.sources for each in recent] == [("bus",), ("tea",)]


def test_every_scheme_of_the_registry_stands_on_the_page(page: str) -> None:
    for name, about in describe_systems().items():
        assert f"| `{name}` | {about} |" in page.replace("\\|", "|")
