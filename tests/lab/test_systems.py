"""All memory systems on one small bilingual case: the interface contract, and the purpose of each."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from thinkback.llms.scripted import ScriptedLLM
from thinkback_lab.cases import HistoryItem, Question
from thinkback_lab.errors import LabError
from thinkback_lab.harness import Setup
from thinkback_lab.systems.dialogue_simulation import keyword_overlap, shared_vocabulary, time_factor
from thinkback_lab.systems.interface import (
    MemorySystem,
    MemoryType,
    OracleSystem,
    Resources,
    RetrievedMemory,
)
from thinkback_lab.systems.memorybank import MemoryTrace
from thinkback_lab.systems.perltqa import (
    ClassifiedRetrieval,
    LLMClassifier,
    TrainedClassifier,
    few_shot_examples,
    load_examples,
)
from thinkback_lab.systems.registry import SYSTEMS, find_system
from thinkback_lab.systems.resources import load_resources
from thinkback_lab.systems.scm import SCM
from thinkback_lab.systems.summaries import summarise_items
from thinkback_lab.systems.thinkback import ThinkbackSystem
from thinkback_lab.systems.tim import PAPERS, HashTable, ThoughtRow, TiM
from thinkback_lab.systems.tokens import tokenize

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
LATER = START + timedelta(days=5)


def item(id_: str, day: int, query: str, response: str = "", **more: str) -> HistoryItem:
    return HistoryItem(id=id_, at=START + timedelta(days=day), query=query, response=response, **more)  # type: ignore[arg-type]


ITEMS = (
    item("fish", 0, "I cooked sweet and sour fish for my sister Ann.", "How did it turn out?"),
    item("city", 0, "我住在苏州，在一家书店上班。", "苏州很美。"),
    item("run", 1, "I ran ten kilometres along the river.", "Well done!"),
    item("job", 2, "My name is Li Wei and I work as a nurse.", kind="profile"),
    item("cat", 3, "我的猫叫团子。", "团子真可爱！"),
)
QUESTIONS = ("Which fish did I cook for my sister?", "我在哪里上班？", "What is my cat called?")


@pytest.fixture(scope="module")
def tools() -> Resources:
    return load_resources(Setup(embedder="hashing", think="extractive"))


@contextmanager
def memory(
    spec: str, tools: Resources, items: Sequence[HistoryItem] = ITEMS
) -> Iterator[MemorySystem | OracleSystem]:
    made = find_system(spec)(tools)
    try:
        made.add_items(items)
        yield made
    finally:
        getattr(made, "close", lambda: None)()


def ask(
    made: MemorySystem | OracleSystem, question: str, k: int, gold: tuple[str, ...] = ("fish",)
) -> Sequence[RetrievedMemory]:
    if hasattr(made, "recall_with_gold"):
        return made.recall_with_gold(Question(id="q", text=question, at=LATER, gold=gold), k)
    return made.recall(question, k, LATER)


OURS = [f"thinkback:{name}" for name in ("fading", "tim", "fuzzy", "perltqa", "bm25", "dense")]
SPECS = [*SYSTEMS, "last:2", "tim:000", "tim:001", "perltqa:plain", *OURS]
LEARNS_BY_BEING_ASKED = ("memorybank", "thinkback:fading")


@pytest.mark.parametrize("spec", SPECS)
def test_recall_returns_at_most_k_best_first_from_stored_items(spec: str, tools: Resources) -> None:
    with memory(spec, tools) as made:
        for k in (1, 3):
            for question in QUESTIONS:
                found = ask(made, question, k)
                assert len(found) <= k or getattr(made, "returns_everything", False)
                for each in found:
                    assert each.text.strip()
                    assert each.sources
                    assert set(each.sources) <= {item.id for item in ITEMS}


@pytest.mark.parametrize("spec", SPECS)
def test_same_history_gives_same_memories(spec: str, tools: Resources) -> None:
    def asked() -> list[Sequence[RetrievedMemory]]:
        with memory(spec, tools) as made:
            return [ask(made, question, 3) for question in QUESTIONS]

    assert asked() == asked()


@pytest.mark.parametrize("spec", SPECS)
def test_adding_in_parts_or_at_once_is_equal(spec: str, tools: Resources) -> None:
    with memory(spec, tools, ITEMS[:2]) as parts, memory(spec, tools) as once:
        if spec not in LEARNS_BY_BEING_ASKED:
            ask(parts, "今天天气怎么样？", 1)  # whatever was built so far must be built anew
        parts.add_items(ITEMS[2:])
        for question in QUESTIONS:
            assert ask(parts, question, 3) == ask(once, question, 3)


@pytest.mark.parametrize("spec", SPECS)
def test_empty_history_recalls_nothing(spec: str, tools: Resources) -> None:
    with memory(spec, tools, ()) as made:
        assert list(ask(made, QUESTIONS[0], 3, gold=())) == []


@pytest.mark.parametrize(
    "spec",
    ["raw", "bm25", "dense", "thinkback", "memorybank", "scm", "tim:001", "oracle"]
    + [f"thinkback:{name}" for name in ("fuzzy", "perltqa", "bm25")],
)
def test_matching_item_comes_first(spec: str, tools: Resources) -> None:
    with memory(spec, tools) as made:
        assert "fish" in ask(made, QUESTIONS[0], 1, gold=("fish",))[0].sources
        assert "cat" in ask(made, "我的猫叫什么？", 1, gold=("cat",))[0].sources


# --- what needs no search ---------------------------------------------------------------------


def test_no_memory_recalls_nothing_and_full_history_everything_newest_first(tools: Resources) -> None:
    with memory("none", tools) as none, memory("full", tools) as full, memory("last:2", tools) as last:
        assert ask(none, QUESTIONS[0], 5) == []
        newest = [each.id for each in reversed(ITEMS)]
        assert [found.sources[0] for found in ask(full, QUESTIONS[0], 1)] == newest
        assert [found.sources[0] for found in ask(last, QUESTIONS[0], 1)] == newest[:2]


def test_wrong_retrieval_is_similar_but_never_gold(tools: Resources) -> None:
    with memory("wrong", tools) as wrong, memory("bm25", tools) as right:
        near = [found.sources[0] for found in ask(right, QUESTIONS[0], 5)]
        assert near[0] == "fish"
        assert [found.sources[0] for found in ask(wrong, QUESTIONS[0], 5, gold=("fish",))] == near[1:]


# --- words ------------------------------------------------------------------------------------


def test_tokens_are_stems_characters_and_pairs() -> None:
    assert tokenize("Running in 爱吃面, cats_2!") == [
        "run",
        "in",
        "爱",
        "吃",
        "面",
        "爱吃",
        "吃面",
        "cat",
        "2",
    ]


def test_bm25_prefers_rare_words_and_returns_only_matches(tools: Resources) -> None:
    told = [item(str(number), 0, text) for number, text in enumerate(
        ["the green tea", "the tea", "the tea", "the pagoda", "!?"])]  # fmt: skip
    with memory("bm25", tools, told) as made:
        assert [found.sources[0] for found in ask(made, "the tea pagoda", 5)] == ["3", "1", "2", "0"]
        assert ask(made, "unheard", 5) == []


def test_missing_library_names_install_command(tools: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(LabError, match=r"bm25s is not installed: pip install thinkback-lab"):
        find_system("bm25")(tools)


# --- thinkback and TiM ------------------------------------------------------------------------


def test_thought_is_scored_through_its_source_turn(tools: Resources) -> None:
    with memory("thinkback", tools) as made:
        raw = {item.text for item in ITEMS}
        found = [each for asked in QUESTIONS for each in ask(made, asked, 5) if each.text not in raw]
        assert found  # thoughts, not turns
        assert all(each.sources for each in found)


def test_thinkback_answers_as_of_question_time(tools: Resources) -> None:
    made = ThinkbackSystem(tools)
    made.add_items(ITEMS)
    made.recall(QUESTIONS[0], 3, LATER)
    turn = made.memory.remember("And now?")
    made.close()
    assert turn.at == LATER


def test_tim_recalls_only_thoughts_of_question_group(tools: Resources) -> None:
    rows = [ThoughtRow(f"fact {number} of {number * 7}", (str(number),), f"fact {number} of {number * 7}")
            for number in range(300)]  # fmt: skip
    table = HashTable(rows, tools.embedder.embed)
    asked = tools.embedder.embed(["fact 12 of 84"])
    found = table.nearest(asked, 300, -1.0)
    mates = {rows[place].text for place in range(300) if table.groups[place] == table.groups[12]}
    assert found[0].text == "fact 12 of 84"
    assert {each.text for each in found} == mates
    assert 1 < len(mates) < 150
    table.drop([12])
    assert {each.text for each in table.nearest(asked, 300, -1.0)} == mates - {"fact 12 of 84"}


def test_tim_falls_back_to_raw_turns_except_in_arxiv_paper(tools: Resources) -> None:
    told = (item("rain", 0, "Rainy again!", "Indeed."), item("snow", 1, "Snowy again!", "Indeed."))
    with memory("tim:002", tools, told) as first, memory("tim:001", tools, told) as later:
        assert ask(first, "Was it snowy?", 1) == []
        assert [found.sources for found in ask(later, "Was it snowy?", 1)] == [("snow",)]


def test_tim_treats_knowledge_note_as_thought(tools: Resources) -> None:
    told = [item("k", 0, "云台寺 门票 五十元", kind="knowledge")]
    with memory("tim:002", tools, told) as made:
        assert ask(made, told[0].text, 1)[0].sources == ("k",)


def test_only_algorithm_1_supersedes_across_groups(tools: Resources) -> None:
    def held(paper: str, groups: tuple[int, int]) -> set[str]:
        made = TiM(tools, PAPERS[paper])
        made.add_items([item("1", 0, "I live in Lyon."), item("2", 1, "I moved house, now I live in Oslo.")])
        every = made.thinkback.memory.thoughts(current=False)
        thoughts = [each for each in every if each.relation == "lives in"]
        older, newer = (next(each for each in thoughts if city in each.objects) for city in ("Lyon", "Oslo"))
        kept = made.current_ids(thoughts, {older.id: groups[0], newer.id: groups[1]})
        made.close()
        return {each.objects[0] for each in thoughts if each.id in kept}

    assert held("001", (0, 1)) == {"Oslo"}
    assert held("000", (0, 1)) == {"Lyon", "Oslo"}
    assert held("000", (1, 1)) == {"Oslo"}


# --- MemoryBank and SCM -----------------------------------------------------------------------


def test_retention_decays_daily_and_recall_slows_it() -> None:
    trace = MemoryTrace("text", ("id",), np.zeros(2, np.float32), START)
    assert trace.retention(START + timedelta(days=1)) == pytest.approx(math.exp(-1))
    assert trace.retention(START - timedelta(days=1)) == 1.0
    trace.strengthen(START + timedelta(days=1))
    assert trace.retention(START + timedelta(days=1)) == 1.0
    assert trace.retention(START + timedelta(days=3)) == pytest.approx(math.exp(-2 / 2))


def test_memorybank_prefers_recalled_memory_among_equals(tools: Resources) -> None:
    told = [item("old", 0, "I fed the horses."), item("new", 3, "I fed the horses.")]
    with memory("memorybank", tools, told) as made:
        assert [found.sources for found in ask(made, "Who fed the horses?", 1)] == [("new",)]
    with memory("memorybank", tools, told[:1]) as made:
        for _ in range(5):
            made.recall("Who fed the horses?", 1, START + timedelta(days=1))  # type: ignore[union-attr]
        made.add_items(told[1:])
        assert [found.sources for found in ask(made, "Who fed the horses?", 1)] == [("old",)]


def test_summary_system_summarises_past_sessions_and_keeps_current_one(tools: Resources) -> None:
    told = [
        item("ferry", 0, "The ferry to Bergen was late.", session="one"),
        item("yes", 0, "Yes.", session="one"),
        item("now", 3, "I'm back.", "Welcome!", session="two"),
    ]
    with memory("summary:1", tools, told) as made:
        found = ask(made, "Anything?", 1)
        assert [each.text for each in found] == ["The ferry to Bergen was late.", "I'm back.\nWelcome!"]
        assert found[0].sources == ("ferry",)
    with pytest.raises(LabError, match="summary:6"):
        find_system("summary:none")
    assert ask(find_system("summary")(tools), "Anything?", 1) == []


def test_daily_summary_is_scored_only_for_what_it_retells(tools: Resources) -> None:
    told = [item(str(number), 0, text) for number, text in enumerate(
        ["The ferry to Bergen was late.", "Ok.", "We took the ferry to Bergen with Ada.", "Soup with Ada.",
         "Yes."])]  # fmt: skip
    summary = summarise_items(told, None)
    assert summary.sources == ("0", "2", "3")
    assert summary.text.startswith("The ferry")
    by_model = summarise_items(told, ScriptedLLM(["They took the late ferry to Bergen."]))
    assert by_model.sources == ("0", "2")


def test_scm_always_returns_last_turn_and_more_if_memory_is_needed(tools: Resources) -> None:
    with memory("scm", tools) as made:
        assert [found.sources for found in ask(made, "Compute 12 * 7.", 3)] == [("cat",)]
        needed = [found.sources[0] for found in ask(made, QUESTIONS[0], 3)]
        assert needed[0] == "fish"
        assert needed[-1] == "cat"


def test_scm_asks_model_if_there_is_one(tools: Resources) -> None:
    llm = ScriptedLLM({"Message: Compute": "No.", "Message": "yes"})
    made = SCM(replace(tools, llm=llm))
    made.add_items(ITEMS)
    assert not made.needs_memory("Compute what we said.")
    assert made.needs_memory("12 * 7?")


def test_scm_shortens_long_results(tools: Resources) -> None:
    long = item("long", 0, " ".join(f"Sentence {number} is about my garden." for number in range(900)))
    with memory("scm", tools, [long, *ITEMS]) as made:
        found = {each.sources[0]: each.text for each in ask(made, "What about my garden?", 3)}
        assert found["long"].count("garden") == 3
        assert found["cat"] == ITEMS[4].text


# --- seed 003 ---------------------------------------------------------------------------------


def test_fuzzy_original_scores_as_described() -> None:
    asked, seen = frozenset({"cook", "fish"}), frozenset({"cooked", "fish", "sister"})
    assert keyword_overlap(asked, seen) == pytest.approx(2 / 3)  # cook is contained in cooked
    assert shared_vocabulary(asked, seen) == pytest.approx(1 / math.sqrt(6))
    hours = [time_factor(timedelta(hours=hours)) for hours in (0, 12, 24, 400)]
    assert hours == pytest.approx([1.0, 0.85, 0.7, 0.7])


def test_fuzzy_original_has_documented_faults(tools: Resources) -> None:
    unlike = [item(str(number), 0, f"{name} sings") for number, name in enumerate("abcdefgh")]
    with memory("fuzzy-original", tools, [*unlike, item("q", 1, QUESTIONS[0])]) as made:
        found = [each.sources[0] for each in ask(made, QUESTIONS[0], 10)]
        assert found == ["q", "0", "1", "2", "3"]  # itself, and then the oldest; five at most
    with memory("fuzzy-original", tools, [*unlike, item("cat", 1, "我养了一只猫，叫团子。")]) as made:
        assert "cat" not in [each.sources[0] for each in ask(made, "团子是一只什么猫？", 5)]


# --- PerLTQA ----------------------------------------------------------------------------------


def test_classification_decides_among_good_matches(tools: Resources) -> None:
    told = [item("said", 0, "The nurse Li Wei spoke about the night shift."),
            item("job", 0, "Li Wei is a nurse.", kind="profile")]  # fmt: skip

    def first(semantic: float) -> RetrievedMemory:
        def classify(question: str) -> dict[MemoryType, float]:
            return {"semantic": semantic, "episodic": 1 - semantic}

        made = ClassifiedRetrieval(tools, classify)
        made.add_items(told)
        return made.recall("nurse Li Wei night", 1, LATER)[0]

    assert first(0.9).sources == ("job",)
    assert first(0.1).sources == ("said",)
    with memory("bm25", tools, told) as plain:
        points = {found.sources[0]: found.score for found in ask(plain, "nurse Li Wei night", 2)}
    assert first(0.9).score == pytest.approx(0.45 + 0.5 / (1 + math.exp(-points["job"])))


def test_single_type_finds_nothing_of_other_type(tools: Resources) -> None:
    with memory("semantic", tools) as semantic, memory("episodic", tools) as episodic:
        assert [found.sources for found in ask(semantic, "Who is a nurse by the river?", 5)] == [("job",)]
        assert [found.sources for found in ask(episodic, "Who is a nurse by the river?", 1)] == [("run",)]


def test_classifier_learns_from_its_questions() -> None:
    learned = TrainedClassifier(load_examples())
    unseen: list[tuple[str, MemoryType]] = [
        ("What is Paula's job?", "semantic"),
        ("Who is Paula's brother?", "semantic"),
        ("赵敏的爱好是什么？", "semantic"),
        ("What happened when Paula visited the lighthouse last week?", "episodic"),
        ("赵敏昨天和助手聊了什么？", "episodic"),
    ]
    for question, kind in unseen:
        probability = learned(question)
        assert sum(probability.values()) == pytest.approx(1.0)
        assert max(probability, key=lambda each: probability[each]) == kind
    turned = TrainedClassifier(
        [(text, "semantic" if kind == "episodic" else "episodic") for text, kind in load_examples()]
    )
    assert turned("What is Paula's job?")["semantic"] < 0.5
    with pytest.raises(LabError, match="both types"):
        TrainedClassifier([("Who?", "semantic")])


def test_model_classifies_by_one_word_and_may_be_undecided() -> None:
    llm = ScriptedLLM(["Episodic.", "It is semantic", "semantic or episodic", "hm"])
    asked = LLMClassifier(llm, few_shot_examples())
    assert asked("When?") == {"episodic": 1.0, "semantic": 0.0}
    assert asked("Who?")["semantic"] == 1.0
    assert asked("What?") == asked("Why?") == {"episodic": 0.5, "semantic": 0.5}
    assert llm.calls[0][0].content.count("Kind: ") == len(few_shot_examples())
    assert {kind for _, kind in few_shot_examples()} == {"semantic", "episodic"}
    assert {text.isascii() for text, _ in few_shot_examples()} == {True, False}


def test_model_classifier_needs_model(tools: Resources) -> None:
    with pytest.raises(LabError, match="--llm"):
        find_system("perltqa:zero")(tools)
    llm = ScriptedLLM({"Which kind holds": "episodic"})
    made = find_system("perltqa:zero")(replace(tools, llm=llm))
    made.add_items(ITEMS)
    assert ask(made, "Which fish did I cook?", 1)[0].sources == ("fish",)
    assert len(llm.calls) == 1
