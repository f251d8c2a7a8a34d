"""Consistency: a steady memory scores 1, a moody one less; only what was told is asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.talking import Talker, item, question

from thinkback import Memory
from thinkback_lab.cases import Case, Dataset, Item
from thinkback_lab.consistency.run import Asked, Plan, play
from thinkback_lab.consistency.summary import summarise, table
from thinkback_lab.consistency.wordings import MOST, wordings
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.consistency import answers_alike, pairwise, recalls_alike
from thinkback_lab.reader import ModelReader
from thinkback_lab.runs.run import Reader
from thinkback_lab.schemes.scheme import Found, Kit, Remembers, Scheme
from thinkback_lab.stage import Setup

SETUP = Setup(embedder="hashing")
with Memory.open(":memory:", embedder="hashing", background=False) as _memory:
    KIT = Kit(_memory.embedder, None, SETUP)


class Steady:
    """Finds the items that share a word with the question, whatever stands around it."""

    def __init__(self, kit: Kit) -> None:
        self.items: list[Item] = []
        self.asked: list[tuple[str, datetime, int]] = []

    def tell(self, items: Sequence[Item]) -> None:
        self.items += items

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        self.asked.append((question, at, len(self.items)))
        words = set(question.lower().replace("?", " ").split())
        found = [each for each in self.items if words & set(each.query.lower().split()) - {"is"}]
        return [Found(each.query, (each.id,)) for each in found[:k]]


class Moody(Steady):
    """Finds something else for every wording."""

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        return [Found(question, (question,))]


def toy(length: int = 12, cases: int = 2) -> Dataset:
    """Item n says that thing-n is colour-n; question n asks for it."""
    items = tuple(item(n, f"thing{n} is colour{n}") for n in range(length))
    questions = tuple(
        question(n, f"What colour is thing{n}?", gold=(f"i{n}",), anchors=(f"colour{n}",))
        for n in range(length)
    )
    told = tuple(Case(id=f"c{c}", items=items, questions=questions) for c in range(cases))
    return Dataset(name="toy", cases=told, settings={"lang": "en"})


def figures(scheme: Scheme, plan: Plan, dataset: Dataset | None = None, reader: Reader | None = None) -> Any:
    data = dataset or toy()
    asked = play(data, scheme, KIT, plan, reader)
    return summarise(asked, plan, dataset=data.name, scheme="s", settings=data.settings)


def test_a_steady_memory_is_wholly_consistent_and_a_moody_one_is_not() -> None:
    plan = Plan(turns=(5, 10), wordings=4)
    steady = figures(Steady, plan)
    assert steady["metrics"] == {
        "consistency": 1, "same_first": 1, "same_five": 1, "hit@1": 1, "hit@5": 1, "kept": 1,
    }  # fmt: skip
    moody = figures(Moody, plan)
    assert moody["metrics"]["consistency"] == moody["metrics"]["hit@5"] == 0


def test_the_shape_of_the_results() -> None:
    told = figures(Steady, Plan(turns=(10, 5, 5), questions=3, short=11))
    assert told["dataset"] == "consistency:toy"
    assert list(told["by_category"]) == ["turn 5", "turn 10", "long dialogue"]
    assert told["by_category"]["turn 5"]["n"] == 2 * 3
    assert told["by_category"]["turn 5"]["interval"] == [1, 1]
    assert told["n"] == 12
    assert "Jaccard" in told["settings"]["measured"]
    assert told["settings"]["turns"] == [5, 10]
    assert told["ms_per_query"] >= 0
    assert table(told).row_count == 4


def test_only_what_was_told_is_asked_and_at_that_moment() -> None:
    memories: list[Steady] = []

    def scheme(kit: Kit) -> Remembers:
        memories.append(Steady(kit))
        return memories[-1]

    data = toy(20, 1)
    play(data, scheme, KIT, Plan(turns=(3, 7, 100), questions=50, wordings=2))
    (memory,) = memories
    assert len(memory.items) == 7
    for text, at, told in memory.asked:
        number = int(text.split("thing")[1].split("?")[0])
        assert number < told
        assert at == data.cases[0].items[told - 1].at
    assert len(memory.asked) == 2 * (3 + 7)


def test_a_seed_chooses_the_questions() -> None:
    def chosen(seed: int) -> list[tuple[str, int]]:
        asked = play(toy(30, 1), Steady, KIT, Plan(turns=(10, 20, 30), questions=3, seed=seed))
        return [(each.question, each.turn) for each in asked]

    assert chosen(1) == chosen(1) != chosen(2)


def test_answers_are_compared_where_a_model_gives_them() -> None:
    certain = ModelReader(Talker(lambda prompt: "colour1 colour2 colour3 colour4 colour0"))
    steady = figures(Moody, Plan(turns=(5,)), reader=certain)
    assert steady["metrics"]["consistency"] == steady["metrics"]["anchor_map"] == 1
    assert steady["metrics"]["same_first"] == 0
    assert "answers" in steady["settings"]["measured"]
    llm = Talker(lambda prompt: f"word{len(llm.prompts)}")
    moods = figures(Steady, Plan(turns=(5,)), reader=ModelReader(llm))
    assert moods["metrics"]["same_words"] == 0
    assert moods["metrics"]["same_anchors"] == 1  # none says the anchor: they agree in what they leave out
    assert moods["metrics"]["consistency"] == 0.5


def test_what_was_found_first_and_is_lost_later_is_not_kept() -> None:
    class Newest(Steady):
        def recall(self, question: str, k: int, at: datetime) -> list[Found]:
            return [Found(self.items[-1].query, (self.items[-1].id,))]

    told = figures(Newest, Plan(turns=(5, 10), questions=50))
    assert told["metrics"]["consistency"] == 1
    assert told["metrics"]["kept"] == 0
    assert "kept" not in told["by_category"]["turn 5"]


def test_a_control_is_told_the_gold_and_a_memory_is_closed() -> None:
    closed = []

    class Oracle(Steady):
        def recall_knowing(self, question: Any, k: int) -> list[Found]:
            return [Found("x", question.gold)]

        def close(self) -> None:
            closed.append(self)

    assert figures(Oracle, Plan(turns=(5,)))["metrics"]["hit@1"] == 1
    assert len(closed) == 2


@pytest.mark.parametrize(
    "wrong", [{"turns": ()}, {"turns": (0, 5)}, {"wordings": 1}, {"wordings": MOST + 1}, {"questions": 0}]
)
def test_a_plan_that_cannot_be_carried_out_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LabError):
        Plan(**wrong)


def test_too_short_a_history_says_so() -> None:
    with pytest.raises(LabError, match="longest history has 3 items"):
        play(toy(3), Steady, KIT, Plan(turns=(5,)))
    with pytest.raises(LabError, match="nothing to ask"):
        play(Dataset(name="empty", cases=()), Steady, KIT, Plan())


@given(st.text(min_size=1, max_size=30), st.sampled_from(["en", "zh", "cn", "fr"]), st.integers(2, MOST))
def test_wordings_differ_and_hold_the_question(text: str, lang: str, n: int) -> None:
    told = wordings(question(1, text), lang, n)
    assert len(told) == len(set(told)) == n
    assert told[0] == text
    assert all(text.strip() in each for each in told)


def test_the_data_set_s_own_wordings_come_first() -> None:
    asked = question(1, "Who?", again=("Which one?", "Who?"))
    assert wordings(asked, "en", 3) == ("Who?", "Which one?", "Can you tell me: Who?")
    assert wordings(question(1, "你住在哪里"), "zh", 3)[2] == "你住在哪里？你还记得吗？"


SOURCES = st.lists(st.lists(st.sampled_from("abcd"), max_size=2).map(tuple), max_size=7)


@given(SOURCES, SOURCES)
def test_likeness_of_recalls_is_bounded_symmetric_and_full_for_equals(
    one: list[tuple[str, ...]], other: list[tuple[str, ...]]
) -> None:
    told = recalls_alike(one, other)
    assert told == recalls_alike(other, one)
    assert all(0 <= value <= 1 for value in told.values())
    assert set(recalls_alike(one, one).values()) == {1}


@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.text(max_size=4), max_size=3))
def test_likeness_of_answers_is_bounded_symmetric_and_full_for_equals(
    one: str, other: str, anchors: list[str]
) -> None:
    told = answers_alike(one, other, anchors)
    assert told == pytest.approx(answers_alike(other, one, anchors))
    assert all(0 <= value <= 1 for value in told.values())
    assert set(answers_alike(one, one, anchors).values()) == {1}


def test_pairs_are_averaged() -> None:
    told = pairwise([[("a",)], [("a",)], [("b",)]], recalls_alike)
    assert told["same_first"] == pytest.approx(1 / 3)


def test_the_summary_counts_each_figure_by_itself() -> None:
    asked = [
        Asked("c", "q", 5, 9, 1.0, {"consistency": 1.0}),
        Asked("c", "q", 10, 30, 3.0, {"consistency": 0.5, "kept": 0.0}),
    ]
    told = summarise(asked, Plan(turns=(5, 10)), dataset="d", scheme="s", settings={})
    assert told["metrics"] == {"consistency": 0.75, "kept": 0.0}
    assert told["counts"] == {"consistency": 2, "kept": 1}
    assert told["by_category"]["short dialogue"]["consistency"] == 1
    assert told["by_category"]["long dialogue"]["consistency"] == 0.5
    assert told["ms_per_query"] == 2
