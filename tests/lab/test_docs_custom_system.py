"""The memory system in docs/lab.md is short, can be loaded from its file, and works."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from thinkback_lab.cases import HistoryItem
from thinkback_lab.harness import Setup
from thinkback_lab.systems.registry import describe_systems, find_system
from thinkback_lab.systems.resources import load_resources

PAGE = Path(__file__).parents[2] / "docs" / "lab.md"
START = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


def test_documented_system_is_short_and_works(page: str, tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(block.splitlines()) < 40
    (spec,) = re.findall(r"--scheme (\S+\.py:\w+)", page)
    (tmp_path / spec.partition(":")[0]).write_text(block, "utf-8")
    memory = find_system(f"{tmp_path}/{spec}")(load_resources(Setup(embedder="hashing")))
    memory.add_items([HistoryItem(id="tea", query="I drink green tea", response="Nice", at=START)])
    memory.add_items(
        [HistoryItem(id="bus", query="The bus is late", at=START + timedelta(days=day)) for day in (1,)]
    )
    assert hasattr(memory, "recall")
    found = memory.recall("which tea do I drink", 1, START + timedelta(days=2))
    assert [(each.text, each.sources) for each in found] == [("I drink green tea\nNice", ("tea",))]
    recent = memory.recall("hello", 2, START + timedelta(days=2))
    assert [each.sources for each in recent] == [("bus",), ("tea",)]


def test_page_lists_every_registered_system(page: str) -> None:
    for name, about in describe_systems().items():
        assert f"| `{name}` | {about} |" in page.replace("\\|", "|")
