"""When a candidate was said, and what kind of memory it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.making import NOW, minute
from tests.unit.recall.rerank.seeing import thought, turn

from thinkback.recall.rerank import seen
from thinkback.recall.search import Lookup
from thinkback.types import Score, Source, Thought, Turn

SCORE = Score(0.5, 0.5, 0.5)


def held(*turns: int) -> Thought:
    memory = thought("event", total=0.5).memory
    assert isinstance(memory, Thought)
    return replace(memory, sources=tuple(Source(each, "user", "query", 0, 3) for each in turns))


def said(id_: int, minutes: float) -> Turn:
    memory = turn("tea").memory
    assert isinstance(memory, Turn)
    return replace(memory, id=id_, at=minute(minutes))


def test_a_thought_is_as_old_as_its_last_turn_and_only_turns_not_read_yet_are_read() -> None:
    read: list[int] = []

    def turns(ids: Sequence[int]) -> list[Turn]:
        read.extend(ids)
        return [said(id_, -id_) for id_ in ids if id_ == 7]

    rows: list[Thought | Turn] = [held(3, 7), held(2), held(), held(9), said(2, -20)]
    found = seen([(row, SCORE) for row in rows], Lookup(lambda ids: [], turns, lambda id_: []))
    # by turn 7 as read; by turn 2, which is a candidate; without a turn; its turn erased meanwhile; its own
    assert [each.at for each in found] == [minute(-7), minute(-20), NOW, NOW, minute(-20)]
    assert set(read) & {2, 3} == set()


def test_a_raw_turn_is_dialogue_and_a_thought_of_its_kind() -> None:
    found = seen(
        [(held(2), SCORE), (said(2, 0), SCORE)], Lookup(lambda ids: [], lambda ids: [], lambda id_: [])
    )
    assert [each.kind for each in found] == ["event", "dialogue"]
    assert [each.text for each in found] == ["The user likes tea.", "tea"]
