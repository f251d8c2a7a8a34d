"""Lookup of memory systems: by name, argument, module, file and installed package."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from thinkback_lab.cases import HistoryItem
from thinkback_lab.errors import LabError
from thinkback_lab.harness import Setup
from thinkback_lab.systems import registry
from thinkback_lab.systems.baselines import BM25, RawTurns
from thinkback_lab.systems.interface import RetrievedMemory, SystemFactory
from thinkback_lab.systems.registry import SYSTEMS, describe_systems, find_system
from thinkback_lab.systems.resources import load_resources

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

MINE = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Mine:
    kit: object
    held: list[str] | None = None

    def add_items(self, items):
        self.held = [item.text for item in items]

    def recall(self, question, k, at):
        return []
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine_of_a_test.py"
    path.write_text(MINE, "utf-8")
    return path


def recalled(scheme: SystemFactory, question: str) -> list[RetrievedMemory]:
    memory = scheme(load_resources(Setup(embedder="hashing")))
    memory.add_items(
        [HistoryItem(id="tea", query="I drink tea", at=NOON), HistoryItem(id="bus", query="A bus", at=NOON)]
    )
    assert hasattr(memory, "recall")
    return list(memory.recall(question, 1, NOON))


def test_find_by_name_module_and_file(mine: Path) -> None:
    assert find_system("raw") is RawTurns
    assert (
        recalled(find_system("thinkback_lab.systems.baselines:BM25"), "tea?") == recalled(BM25, "tea?") != []
    )
    assert recalled(find_system(f"{mine}:Mine"), "tea?") == []


def test_file_may_have_name_of_loaded_module(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text(MINE, "utf-8")
    json = sys.modules["json"]
    find_system(f"{path}:Mine")
    assert sys.modules["json"] is json


def test_installed_package_provides_system(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "thinkback_lab.systems.baselines:RawTurns", registry.ENTRY_POINT_GROUP)
    broken = EntryPoint("broken", "thinkback_lab.systems.baselines:Rare", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints([point, broken]))
    assert recalled(find_system("theirs"), "bus") == recalled(RawTurns, "bus") != []
    with pytest.raises(LabError, match=r"broken: .*Rare.* cannot be loaded"):
        find_system("broken")
    with pytest.raises(LabError, match="theirs"):
        find_system("nobodys")


def test_every_name_is_described_with_its_argument() -> None:
    told = describe_systems()
    assert len(told) == len(SYSTEMS)
    assert "last[:N]" in told
    assert all(about and "\n" not in about for about in told.values())


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("nothing", "unknown scheme 'nothing': choose from none, raw, bm25"),
        ("raw:5", "raw takes no argument"),
        ("last:", "missing argument N"),
        ("last:few", "number of turns"),
        ("last:0", "number of turns"),
        ("tim:003", "000, 001, 002"),
        ("perltqa:half", "plain, shipped, zero, few"),
        ("no.such.module:Name", "there is no module no; choose from none"),
        ("thinkback_lab.systems.baselines:Rare", "it has .*Raw"),
        ("thinkback_lab.systems.memorybank:RETENTION_WEIGHT", "float is not callable"),
        ("nowhere.py:Name", r"nowhere\.py: no such file"),
    ],
)
def test_unknown_name_lists_known_ones(spec: str, complaint: str) -> None:
    with pytest.raises(LabError, match=complaint):
        find_system(spec)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import a_library_that_nobody_has", "needs a_library_that_nobody_has"),
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        ("def (", "cannot be imported: SyntaxError"),
        ("Other = 1", "has no 'Mine'"),
        ("Mine = 1", "int is not callable"),
    ],
)
def test_failing_file_is_reported(mine: Path, text: str, complaint: str) -> None:
    mine.write_text(text, "utf-8")
    with pytest.raises(LabError, match=complaint):
        find_system(f"{mine}:Mine")
