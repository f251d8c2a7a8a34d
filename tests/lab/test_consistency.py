"""Consistency: a deterministic memory scores 1, a changing one less; only stored facts are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.fakes import FakeLLM, make_item, make_question

from thinkback import Memory
from thinkback_lab.cases import Case, Dataset, HistoryItem
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.consistency import (
    MAX_WORDINGS,
    ConsistencyPlan,
    QuestionOutcome,
    consistency_table,
    make_wordings,
    run_consistency,
    summarise_consistency,
)
from thinkback_lab.harness import Setup
from thinkback_lab.metrics.consistency import answer_similarity, mean_over_pairs, recall_overlap
from thinkback_lab.reader import LLMReader
from thinkback_lab.runs.runner import Reader
from thinkback_lab.systems.interface import MemorySystem, Resources, RetrievedMemory, SystemFactory

SETUP = Setup(embedder="hashing")
with Memory.open(":memory:", embedder="hashing", background=False) as _memory:
    KIT = Resources(_memory.embedder, None, SETUP)


class Steady:
    """Finds the items that share a word with the question, whatever stands around it."""

    def __init__(self, kit: Resources) -> None:
        self.items: list[HistoryItem] = []
        self.asked: list[tuple[str, datetime, int]] = []

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self.items += items

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        self.asked.append((question, at, len(self.items)))
        words = set(question.lower().replace("?", " ").split())
        found = [each for each in self.items if words & set(each.query.lower().split()) - {"is"}]
        return [RetrievedMemory(each.query, (each.id,)) for each in found[:k]]


class Moody(Steady):
    """Finds something else for every wording."""

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return [RetrievedMemory(question, (question,))]


def toy(length: int = 12, cases: int = 2) -> Dataset:
    """Item n says that thing-n is colour-n; question n asks for it."""
    items = tuple(make_item(n, f"thing{n} is colour{n}") for n in range(length))
    questions = tuple(
        make_question(n, f"What colour is thing{n}?", gold=(f"i{n}",), anchors=(f"colour{n}",))
        for n in range(length)
    )
    told = tuple(Case(id=f"c{c}", items=items, questions=questions) for c in range(cases))
    return Dataset(name="toy", cases=told, settings={"lang": "en"})


def figures(
    scheme: SystemFactory, plan: ConsistencyPlan, dataset: Dataset | None = None, reader: Reader | None = None
) -> Any:
    data = dataset or toy()
    asked = run_consistency(data, scheme, KIT, plan, reader)
    return summarise_consistency(asked, plan, dataset=data.name, scheme="s", settings=data.settings)


def test_deterministic_memory_scores_one_and_changing_memory_less() -> None:
    plan = ConsistencyPlan(turns=(5, 10), wordings=4)
    steady = figures(Steady, plan)
    assert steady["metrics"] == {
        "consistency": 1, "same_first": 1, "same_five": 1, "hit@1": 1, "hit@5": 1, "kept": 1,
    }  # fmt: skip
    moody = figures(Moody, plan)
    assert moody["metrics"]["consistency"] == moody["metrics"]["hit@5"] == 0


def test_results_have_common_form() -> None:
    told = figures(Steady, ConsistencyPlan(turns=(10, 5, 5), questions=3, short=11))
    assert told["dataset"] == "consistency:toy"
    assert list(told["by_category"]) == ["turn 5", "turn 10", "long dialogue"]
    assert told["by_category"]["turn 5"]["n"] == 2 * 3
    assert told["by_category"]["turn 5"]["interval"] == [1, 1]
    assert told["n"] == 12
    assert "Jaccard" in told["settings"]["measured"]
    assert told["settings"]["turns"] == [5, 10]
    assert told["ms_per_query"] >= 0
    assert consistency_table(told).row_count == 4


def test_only_stored_gold_is_asked_for_at_that_time() -> None:
    memories: list[Steady] = []

    def scheme(kit: Resources) -> MemorySystem:
        memories.append(Steady(kit))
        return memories[-1]

    data = toy(20, 1)
    run_consistency(data, scheme, KIT, ConsistencyPlan(turns=(3, 7, 100), questions=50, wordings=2))
    (memory,) = memories
    assert len(memory.items) == 7
    for text, at, told in memory.asked:
        number = int(text.split("thing")[1].split("?")[0])
        assert number < told
        assert at == data.cases[0].items[told - 1].at
    assert len(memory.asked) == 2 * (3 + 7)


def test_seed_chooses_questions() -> None:
    def chosen(seed: int) -> list[tuple[str, int]]:
        asked = run_consistency(
            toy(30, 1), Steady, KIT, ConsistencyPlan(turns=(10, 20, 30), questions=3, seed=seed)
        )
        return [(each.question, each.turn) for each in asked]

    assert chosen(1) == chosen(1) != chosen(2)


def test_answers_are_compared_with_a_reader() -> None:
    certain = LLMReader(FakeLLM(lambda prompt: "colour1 colour2 colour3 colour4 colour0"))
    steady = figures(Moody, ConsistencyPlan(turns=(5,)), reader=certain)
    assert steady["metrics"]["consistency"] == steady["metrics"]["anchor_map"] == 1
    assert steady["metrics"]["same_first"] == 0
    assert "answers" in steady["settings"]["measured"]
    llm = FakeLLM(lambda prompt: f"word{len(llm.prompts)}")
    moods = figures(Steady, ConsistencyPlan(turns=(5,)), reader=LLMReader(llm))
    assert moods["metrics"]["same_words"] == 0
    assert moods["metrics"]["same_anchors"] == 1  # none says the anchor: they agree in what they leave out
    assert moods["metrics"]["consistency"] == 0.5


def test_lost_memory_lowers_kept() -> None:
    class Newest(Steady):
        def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
            return [RetrievedMemory(self.items[-1].query, (self.items[-1].id,))]

    told = figures(Newest, ConsistencyPlan(turns=(5, 10), questions=50))
    assert told["metrics"]["consistency"] == 1
    assert told["metrics"]["kept"] == 0
    assert "kept" not in told["by_category"]["turn 5"]


def test_oracle_gets_gold_and_memory_is_closed() -> None:
    closed = []

    class Oracle(Steady):
        def recall_with_gold(self, question: Any, k: int) -> list[RetrievedMemory]:
            return [RetrievedMemory("x", question.gold)]

        def close(self) -> None:
            closed.append(self)

    assert figures(Oracle, ConsistencyPlan(turns=(5,)))["metrics"]["hit@1"] == 1
    assert len(closed) == 2


@pytest.mark.parametrize(
    "wrong",
    [{"turns": ()}, {"turns": (0, 5)}, {"wordings": 1}, {"wordings": MAX_WORDINGS + 1}, {"questions": 0}],
)
def test_invalid_plan_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(LabError):
        ConsistencyPlan(**wrong)


def test_too_short_history_is_reported() -> None:
    with pytest.raises(LabError, match="longest history has 3 items"):
        run_consistency(toy(3), Steady, KIT, ConsistencyPlan(turns=(5,)))
    with pytest.raises(LabError, match="no question can be asked"):
        run_consistency(Dataset(name="empty", cases=()), Steady, KIT, ConsistencyPlan())


@given(
    st.text(min_size=1, max_size=30), st.sampled_from(["en", "zh", "cn", "fr"]), st.integers(2, MAX_WORDINGS)
)
def test_wordings_differ_and_contain_the_question(text: str, lang: str, n: int) -> None:
    told = make_wordings(make_question(1, text), lang, n)
    assert len(told) == len(set(told)) == n
    assert told[0] == text
    assert all(text.strip() in each for each in told)


def test_wordings_of_the_data_set_come_first() -> None:
    asked = make_question(1, "Who?", again=("Which one?", "Who?"))
    assert make_wordings(asked, "en", 3) == ("Who?", "Which one?", "Can you tell me: Who?")
    assert make_wordings(make_question(1, "你住在哪里"), "zh", 3)[2] == "你住在哪里？你还记得吗？"


SOURCES = st.lists(st.lists(st.sampled_from("abcd"), max_size=2).map(tuple), max_size=7)


@given(SOURCES, SOURCES)
def test_recall_overlap_is_bounded_symmetric_and_one_for_equals(
    one: list[tuple[str, ...]], other: list[tuple[str, ...]]
) -> None:
    told = recall_overlap(one, other)
    assert told == recall_overlap(other, one)
    assert all(0 <= value <= 1 for value in told.values())
    assert set(recall_overlap(one, one).values()) == {1}


@given(st.text(max_size=20), st.text(max_size=20), st.lists(st.text(max_size=4), max_size=3))
def test_answer_similarity_is_bounded_symmetric_and_one_for_equals(
    one: str, other: str, anchors: list[str]
) -> None:
    told = answer_similarity(one, other, anchors)
    assert told == pytest.approx(answer_similarity(other, one, anchors))
    assert all(0 <= value <= 1 for value in told.values())
    assert set(answer_similarity(one, one, anchors).values()) == {1}


def test_pairs_are_averaged() -> None:
    told = mean_over_pairs([[("a",)], [("a",)], [("b",)]], recall_overlap)
    assert told["same_first"] == pytest.approx(1 / 3)


def test_summary_counts_each_metric_separately() -> None:
    asked = [
        QuestionOutcome("c", "q", 5, 9, 1.0, {"consistency": 1.0}),
        QuestionOutcome("c", "q", 10, 30, 3.0, {"consistency": 0.5, "kept": 0.0}),
    ]
    told = summarise_consistency(asked, ConsistencyPlan(turns=(5, 10)), dataset="d", scheme="s", settings={})
    assert told["metrics"] == {"consistency": 0.75, "kept": 0.0}
    assert told["counts"] == {"consistency": 2, "kept": 1}
    assert told["by_category"]["short dialogue"]["consistency"] == 1
    assert told["by_category"]["long dialogue"]["consistency"] == 0.5
    assert told["ms_per_query"] == 2
