"""PerLTQA's equation 3, computed by hand: k of each half, then classification and score."""

from __future__ import annotations

from math import exp

import pytest
from tests.conftest import OpenMemory
from tests.unit.recall.rerank.seeing import asks, thought, turn

from thinkback.recall.rerank.perltqa import totals
from thinkback.types import Kind


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def test_the_equation_by_hand() -> None:
    question = asks(
        "When did I move?", kinds={"profile": 0.1, "relationship": 0.05, "event": 0.6, "dialogue": 0.25}
    )
    rows = [thought("profile", total=0.9), thought("event", total=0.2), turn("I moved.", total=0.5)]
    # semantic 0.15, episodic 0.85
    expected = [
        0.5 * 0.15 + 0.5 * sigmoid(0.9),
        0.5 * 0.85 + 0.5 * sigmoid(0.2),
        0.5 * 0.85 + 0.5 * sigmoid(0.5),
    ]
    assert totals(question, rows) == pytest.approx(expected)
    assert totals(question, rows)[0] == pytest.approx(0.43047, abs=1e-5)


def test_where_nothing_is_known_of_the_question_both_halves_are_as_likely() -> None:
    rows = [thought("knowledge", total=0.3), turn("tea", total=0.3)]
    assert totals(asks("tea?"), rows) == pytest.approx([0.25 + 0.5 * sigmoid(0.3)] * 2)


@pytest.mark.parametrize("kind", ["profile", "relationship", "knowledge", "event", "dialogue"])
def test_every_kind_belongs_to_its_half(kind: Kind) -> None:
    sure = asks("tea?", kinds={"profile": 1.0})
    likely = 0.5 if kind in ("profile", "relationship", "knowledge") else 0.0
    assert totals(sure, [thought(kind, total=0.3)]) == pytest.approx([likely + 0.5 * sigmoid(0.3)])


def test_of_each_half_the_k_best_and_no_more() -> None:
    semantic = [thought("profile", total=total) for total in (0.1, 0.4, 0.3)]
    episodic = [turn("tea", total=total) for total in (0.6, 0.8, 0.7)]
    scored = totals(asks("tea?", k=2), [*semantic, *episodic])
    assert [total > 0 for total in scored] == [False, True, True, False, True, True]


def test_what_no_word_leads_to_is_no_find_however_likely_its_half() -> None:
    assert totals(asks("tea?", kinds={"profile": 1.0}), [thought("profile", total=0.0)]) == [0.0]


def test_recall_goes_by_words_and_gives_nothing_to_fill_up(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="perltqa")
    for told in ("The parrot sleeps on the roof.", "The weather was awful.", "鹦鹉在屋顶上睡觉。"):
        memory.remember(told)
    (item,) = memory.recall("Where does the parrot sleep?")
    assert item.ref.id == 1
    kinds = memory.kinds("Where does the parrot sleep?")
    episodic = kinds["event"] + kinds["dialogue"]
    assert item.score.total == pytest.approx(0.5 * episodic + 0.5 * sigmoid(item.score.lexical))
    assert memory.recall("鹦鹉在哪里睡觉？")[0].ref.id == 3
    assert not memory.recall("violin")


def test_questions_asked_every_day_do_not_take_the_places_of_their_half(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="perltqa")
    memory.remember("The parrot sleeps on the roof.")
    for _ in range(200):
        memory.remember("Where does the parrot sleep?")
    found = memory.recall("Where does the parrot sleep?", k=2, explain=True)
    assert [item.ref.id for item in found] == [1]
    assert {item.reason.partition(":")[0] for item in found.dropped} == {"repeats the query"}
