"""How memory systems are opened, closed, asked and read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.evaluations.consistency import ConsistencyPlan, run_consistency
from thinkback_lab.harness import Setup
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.runner import Job, run_questions
from thinkback_lab.systems.baselines import GoldRetrieval, NewestFirst
from thinkback_lab.systems.interface import (
    Resources,
    count_read,
    open_system,
    reader_texts,
    recall_memories,
)
from thinkback_lab.systems.resources import load_resources

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TEA = HistoryItem(id="tea", query="I drink tea", response="Nice", at=NOON)
NOTE = HistoryItem(id="note", query="Ann lives in Lyon", at=NOON)
ASKED = Question(id="q", text="What do I drink?", at=NOON, gold=("tea",))
KIT = load_resources(Setup(embedder="hashing"))


class Notes:
    """A reader that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        self.given.append(list(context))
        return "tea"


def test_memory_is_closed_whatever_happens() -> None:
    closed = []

    class Closing(NewestFirst):
        def close(self) -> None:
            closed.append(self)

    with pytest.raises(ZeroDivisionError), open_system(Closing, KIT):
        raise ZeroDivisionError
    assert len(closed) == 1


def test_only_oracle_gets_gold() -> None:
    for scheme, ids in ((GoldRetrieval, [("tea",)]), (NewestFirst, [("note",), ("tea",)])):
        with open_system(scheme, KIT) as memory:
            memory.add_items([TEA, NOTE])
            assert [each.sources for each in recall_memories(memory, ASKED, 5)] == ids


def test_system_that_returns_everything_is_read_completely() -> None:
    with open_system(NewestFirst, KIT) as whole, open_system(GoldRetrieval, KIT) as bound:
        whole.add_items([TEA, NOTE])
        found = recall_memories(whole, ASKED, 1)
        assert (count_read(whole, found, 1), count_read(bound, found, 1)) == (2, 1)
        assert reader_texts(found, [TEA, NOTE]) == ["Ann lives in Lyon", "User: I drink tea\nAssistant: Nice"]


def test_reader_texts_have_speakers(tmp_path: Path) -> None:
    def newest(parts: Resources) -> NewestFirst:
        return NewestFirst(parts)

    dataset = Dataset(name="toy", cases=(Case(id="c", items=(TEA,), questions=(ASKED,)),))
    reader = Notes()
    run_consistency(dataset, newest, KIT, ConsistencyPlan(turns=(1,), wordings=2), reader)
    with RunFolder(tmp_path / "run", {}, "") as folder:
        run_questions(Job(dataset, newest, KIT, reader=reader), folder)
    assert reader.given == [["User: I drink tea\nAssistant: Nice"]] * 3
