"""How every experiment treats a memory: opened and released, asked, and read with its speakers named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback_lab.cases import Case, Dataset, Item, Question
from thinkback_lab.consistency.run import Plan, play
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.runs.run import Job, run
from thinkback_lab.schemes.bounds import Oracle
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.scheme import Kit, opened, read_of, recalled, spoken
from thinkback_lab.schemes.whole import Newest
from thinkback_lab.stage import Setup

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TEA = Item(id="tea", query="I drink tea", response="Nice", at=NOON)
NOTE = Item(id="note", query="Ann lives in Lyon", at=NOON)
ASKED = Question(id="q", text="What do I drink?", at=NOON, gold=("tea",))
KIT = kit(Setup(embedder="hashing"))


class Notes:
    """A reader that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        self.given.append(list(context))
        return "tea"


def test_a_memory_is_released_whatever_happens() -> None:
    closed = []

    class Closing(Newest):
        def close(self) -> None:
            closed.append(self)

    with pytest.raises(ZeroDivisionError), opened(Closing, KIT):
        raise ZeroDivisionError
    assert len(closed) == 1


def test_a_bound_is_told_the_gold_and_nobody_else() -> None:
    for scheme, ids in ((Oracle, [("tea",)]), (Newest, [("note",), ("tea",)])):
        with opened(scheme, KIT) as memory:
            memory.tell([TEA, NOTE])
            assert [each.sources for each in recalled(memory, ASKED, 5)] == ids


def test_what_is_read_whole_is_read_whole() -> None:
    with opened(Newest, KIT) as whole, opened(Oracle, KIT) as bound:
        whole.tell([TEA, NOTE])
        found = recalled(whole, ASKED, 1)
        assert (read_of(whole, found, 1), read_of(bound, found, 1)) == (2, 1)
        assert spoken(found, [TEA, NOTE]) == ["Ann lives in Lyon", "User: I drink tea\nAssistant: Nice"]


def test_every_reader_is_told_who_speaks(tmp_path: Path) -> None:
    def newest(parts: Kit) -> Newest:
        return Newest(parts)

    dataset = Dataset(name="toy", cases=(Case(id="c", items=(TEA,), questions=(ASKED,)),))
    reader = Notes()
    play(dataset, newest, KIT, Plan(turns=(1,), wordings=2), reader)
    with RunFolder(tmp_path / "run", {}, "") as folder:
        run(Job(dataset, newest, KIT, reader=reader), folder)
    assert reader.given == [["User: I drink tea\nAssistant: Nice"]] * 3
