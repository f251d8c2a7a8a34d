"""Editing a thought exactly, and checking an answer that came from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from thinkback import Memory
from thinkback.errors import Conflict, InvalidInput, NotFound
from thinkback.think.edits import ThoughtEdit
from thinkback.types import SAID

START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        memory.remember("I live in Paris.", "I see.")
        memory.post_think()
        yield memory


def test_value_is_replaced_in_the_sentence_and_quotes_the_user(memory: Memory) -> None:
    (old,) = memory.thoughts(relation="lives in")
    action = memory.edit(old, ThoughtEdit(value="Lyon"), "it was Lyon")
    (new,) = memory.thoughts(relation="lives in")
    assert new.objects == ("Lyon",)
    assert new.sentence == old.sentence.replace("Paris", "Lyon")
    assert (action.action, action.actor, action.reason) == ("supersede", "user", "it was Lyon")
    (turn,) = memory.turns(newest=True, limit=1)
    assert turn.query == "Lyon"
    assert new.sources[0].turn == turn.id == action.turn
    assert memory.stats().pending == 0, "there is nothing to think about"


def test_undo_restores_the_old_thought(memory: Memory) -> None:
    (old,) = memory.thoughts(relation="lives in")
    memory.undo(memory.edit(old, ThoughtEdit(sentence="The user lives in Rome."), "no, Rome"))
    assert [thought.objects for thought in memory.thoughts(relation="lives in")] == [("Paris",)]


def test_sentence_alone_changes_the_value_if_it_can_be_seen(memory: Memory) -> None:
    (old,) = memory.thoughts(relation="lives in")
    memory.edit(old, ThoughtEdit(sentence=old.sentence.replace("Paris", "Oslo")), "x")
    (new,) = memory.thoughts(relation="lives in")
    assert new.objects == ("Oslo",)
    memory.edit(new, ThoughtEdit(sentence="Home is a boat."), "x")
    (said,) = memory.thoughts(relation=SAID)
    assert (said.sentence, said.objects) == ("Home is a boat.", ("Home is a boat.",))


def test_kind_and_times_keep_words_and_source(memory: Memory) -> None:
    (old,) = memory.thoughts(relation="lives in")
    turns = memory.stats().turns
    memory.edit(old, ThoughtEdit(kind="event", valid_from=START, valid_to=None), "since then")
    (new,) = memory.thoughts(relation="lives in")
    assert (new.kind, new.valid_from, new.sources) == ("event", START, old.sources)
    assert memory.stats().turns == turns


@pytest.mark.parametrize(
    "edit",
    [
        ThoughtEdit(),
        ThoughtEdit(value="Paris"),
        ThoughtEdit(valid_from=START, valid_to=datetime(2023, 1, 1, tzinfo=UTC)),
    ],
)
def test_edit_without_effect_is_refused(memory: Memory, edit: ThoughtEdit) -> None:
    (old,) = memory.thoughts(relation="lives in")
    turns = memory.stats().turns
    with pytest.raises(InvalidInput):
        memory.edit(old, edit, "x")
    assert memory.stats().turns == turns


def test_only_current_thoughts_can_be_edited(memory: Memory) -> None:
    (old,) = memory.thoughts(relation="lives in")
    memory.forget(old, "x")
    with pytest.raises(Conflict):
        memory.edit(old, ThoughtEdit(value="Lyon"), "x")
    with pytest.raises(NotFound):
        memory.edit(99, ThoughtEdit(value="Lyon"), "x")


def test_answer_is_checked_against_memory_and_safety_facts(memory: Memory) -> None:
    memory.remember("I am allergic to peanuts.")
    memory.post_think()
    check = memory.check_answer("What shall I order?", "Go for the chicken satay. Enjoy!")
    assert [conflict.method for conflict in check.conflicts] == ["safety"]
    assert [touched.constraint.restriction.kind for touched in check.constraints] == ["allergy"]
    assert memory.check_answer("Where do I live?", "You live in Rome.").conflicts[0].method == "words"
    assert not memory.check_answer("Where do I live?", "You live in Paris.").conflicts
