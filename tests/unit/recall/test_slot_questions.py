"""Questions about one fact of the user, by the cues of its relation."""

from __future__ import annotations

import pytest

from thinkback.memory import Memory
from thinkback.recall.answerable import repair_question
from thinkback.recall.slot_questions import asked_relations


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        ("whats my name", {"is named"}),
        ("do you know my name?", {"is named"}),
        ("what city am i in", {"lives in"}),
        ("what is my home town", {"comes from"}),
        ("where do i work", {"works at"}),
        ("what do i do for work", {"works as", "works at"}),
        ("what meds am i on", {"takes"}),
        ("how old am i", {"is aged"}),
        ("我叫什么", {"is named"}),
        ("我的名字是什么", {"is named"}),
        ("我在哪个城市", {"lives in"}),
        ("tell me your name", set()),
        ("告诉我你的名字", set()),
        ("who do i live with", set()),
        ("when do i work", set()),
        ("did i take my pills", set()),
        ("what can i take for it", set()),
        ("what country am i in", set()),
        ("what number do i wear", set()),
        ("where do i park my car", set()),
        ("what does my sister take", set()),
        ("what is the capital of France", set()),
        ("我妹妹叫什么", set()),
    ],
)
def test_asked_relations(question: str, relations: set[str]) -> None:
    assert asked_relations(repair_question(question)) == relations


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("My name is Joe Miller.", "whats my name", "You are named Joe Miller."),
        ("im dana, 34, i live in porto", "whats my name?", "You are named Dana."),
        ("im dana, 34, i live in porto", "how old am i", "You are 34 years old."),
        ("i live in leeds", "what city am i in", "You live in Leeds."),
        ("i have a dog called rex", "do i have pets", "You have a dog named Rex."),
        ("我叫王强", "我叫什么", "你叫王强。"),
    ],
)
def test_plain_fact_is_answered_without_doubt(memory: Memory, told: str, asked: str, answer: str) -> None:
    for text in ("the weather is awful today", told):
        memory.chat(text)
        memory.post_think()
    assert memory.chat(asked).text.startswith(answer)


def test_unsure_fact_is_quoted_in_the_second_person(memory: Memory) -> None:
    memory.chat("i work as a nurse")
    memory.post_think()
    reply = memory.chat("where do i work").text
    assert "you work as a nurse" in reply
    assert "The user" not in reply


def test_overview_begins_with_who_the_user_is_and_leaves_out_thanks(memory: Memory) -> None:
    for text in ("im dana, 34, i live in porto", "my favourite colour is green", "thanks your pretty good"):
        memory.chat(text)
        memory.post_think()
    reply = memory.chat("what do you know about me").text
    assert reply.startswith(
        "You are named Dana. [thought:1] You are 34 years old. [thought:2] You live in Porto."
    )
    assert "pretty good" not in reply
