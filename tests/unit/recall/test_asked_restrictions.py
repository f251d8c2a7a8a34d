"""Questions for everything that somebody must not eat or drink: all of it is told, and nobody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import OpenMemory

from thinkback.errors import ModelTimeout
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall.asked_restrictions import asks_for_restrictions

QUESTIONS = Path(__file__).parents[3] / "scenarios" / "restrictions" / "questions" / "heldout.jsonl"
TOLD = (
    "im lactose intolerant",
    "我对海鲜过敏",
    "my son leo is allergic to peanuts",
    "i dont eat pork",
    "my mate rob is vegan",
    "i live in leeds",
    "my daughter mia cant have gluten",
)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(":memory:")
    for text in TOLD:
        memory.remember(text)
        memory.post_think()
    return memory


@pytest.mark.parametrize(
    ("question", "told", "others"),
    [
        ("what can't i eat", ["lactose", "海鲜", "pork"], ["peanuts", "vegan", "gluten"]),
        ("which foods should we avoid", ["lactose", "海鲜", "pork"], ["peanuts", "vegan", "gluten"]),
        ("what am i allergic to", ["lactose", "海鲜"], ["peanuts", "pork", "vegan"]),
        ("any allergies i told you about?", ["lactose", "海鲜"], ["peanuts", "pork"]),
        ("我不能吃什么", ["lactose", "海鲜"], ["peanuts", "gluten"]),
        ("我对什么过敏", ["lactose", "海鲜"], ["peanuts", "pork"]),
        ("what cant leo eat", ["peanuts"], ["lactose", "pork", "gluten"]),
        ("what can't my daughter eat", ["gluten"], ["lactose", "peanuts", "vegan"]),
        ("what can my mate rob not eat", ["vegan"], ["lactose", "peanuts"]),
        ("我女儿不能吃什么", ["gluten"], ["lactose", "peanuts"]),
    ],
)
def test_all_restrictions_of_the_one_who_is_asked_about_are_told(
    memory: Memory, question: str, told: list[str], others: list[str]
) -> None:
    for reply in (memory.chat(question).text, memory.ask(question).text):
        assert all(word in reply for word in told), reply
        assert not any(word in reply for word in others), reply


@pytest.mark.parametrize(
    ("told", "question", "answer", "others"),
    [
        (["sorry mate im allergic to nuts", "i cant have dairy"], "what can't i eat", ["nuts", "dairy"], []),
        (["my mom says I'm allergic to latex"], "what am i allergic to", ["latex"], []),
        (["我不吃猪肉", "小明不能吃花生", "小李对芒果过敏"], "小明不能吃什么", ["花生"], ["猪肉", "芒果"]),
        (["我对青霉素过敏", "小李对芒果过敏"], "小李对什么过敏", ["芒果"], ["青霉素"]),
        (
            ["I'm allergic to penicillin", "im allergic to nuts"],
            "what medicines am i allergic to",
            ["penicillin"],
            ["nuts"],
        ),
        (
            ["My wife and I are both vegetarian", "i dont eat nuts"],
            "what can't i eat",
            ["vegetarian", "nuts"],
            [],
        ),
        (
            ["im allergic to peanuts", "You can't take liquids on the plane"],
            "what can't i take on the plane?",
            ["liquids"],
            [],
        ),
        (["i dont eat pork", "my friend zed is vegan"], "what can zed not eat", ["vegan"], []),
        (
            ["my fella is donal, hes coeliac", "i dont eat pork"],
            "what cant donal eat",
            ["coeliac"],
            ["pork"],
        ),
        (
            ["my fella is donal, hes coeliac", "i dont eat pork"],
            "what cant i eat",
            ["pork"],
            ["coeliac"],
        ),
    ],
)
def test_whose_restrictions_and_which(
    open_memory: OpenMemory, told: list[str], question: str, answer: list[str], others: list[str]
) -> None:
    memory = open_memory(":memory:")
    for text in told:
        memory.remember(text)
        memory.post_think()
    for reply in (memory.chat(question).text, memory.ask(question).text):
        assert all(word in reply for word in answer), reply
        assert not any(word in reply for word in others), reply


@pytest.mark.parametrize("question", ["where do i live", "what can't i have in my hand luggage?"])
def test_other_questions_are_not_taken_for_questions_about_restrictions(question: str) -> None:
    assert not asks_for_restrictions(question)


def test_all_are_told_if_the_model_fails(open_memory: OpenMemory) -> None:
    failing = ScriptedLLM([ModelTimeout("too slow")] * 9)
    memory = open_memory(":memory:", preset="careful", llm=failing, think="extractive")
    for text in (
        *TOLD,
        "im allergic to kiwi",
        "i cant have eggs",
        "i dont eat beef",
        "im allergic to penicillin",
    ):
        memory.remember(text)
        memory.post_think()
    answer = memory.ask("what can't i eat", k=2).text
    assert all(word in answer for word in ("lactose", "海鲜", "pork", "kiwi", "eggs", "beef")), answer


@pytest.mark.slow
@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_questions_of_another_writer(open_memory: OpenMemory) -> None:
    """Most are not recognised yet: "whats off the menu for my mum". Prints the figures."""
    complete, with_others = [], []
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        memory = open_memory(":memory:")
        for text in case["told"]:
            memory.chat(text)
            memory.post_think()
        for asked in case["asked"]:
            reply = memory.chat(asked["q"]).text.lower()
            complete.append(all(word.lower() in reply for word in asked["expect"]))
            with_others.append(any(word.lower() in reply for word in asked["reject"]))
        memory.close()
    shares = sum(complete) / len(complete), sum(with_others) / len(with_others)
    print(f"complete {shares[0]:.3f}, with those of others {shares[1]:.3f}, n {len(complete)}")
    assert shares[0] >= 0.24
    assert shares[1] <= 0.17
