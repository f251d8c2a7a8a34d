"""What the chat without a model says back to statements, commands and short remarks."""

from __future__ import annotations

import pytest
from tests.conftest import OpenMemory

from thinkback.memory import Memory
from thinkback.recall.chat_phrases import say
from thinkback.recall.memory_chat import reply_from_memory
from thinkback.types import Recollection

NOT_TOLD = ("You have not told me that.", "你还没告诉过我。")


def test_a_statement_is_acknowledged_with_what_was_kept(memory: Memory) -> None:
    answer = memory.chat("My sister Anna moved to Turku in May 2023.")
    assert answer.text.startswith("Noted: your sister Anna moved to Turku in May")
    assert memory.stats().pending == 0
    assert [turn.id for turn in memory.turns()] == [answer.turn.id]  # stored once
    assert memory.chat("我对花生过敏。").text == "记下了：你对花生过敏。"


@pytest.mark.parametrize(
    ("message", "reply"), [("haha ok then", "Okay."), ("嗯嗯好的", "好的。"), ("honestly so bored", "Okay.")]
)
def test_nothing_is_claimed_if_nothing_was_kept(memory: Memory, message: str, reply: str) -> None:
    assert memory.chat(message).text == reply
    assert not memory.thoughts()


def test_commands_say_what_was_done(memory: Memory) -> None:
    memory.chat("My favourite colour is green.")
    assert memory.chat("forget my favourite colour").text == say("forgotten_one", "x", "my favourite colour")
    assert memory.chat("what is my favourite colour?").text in NOT_TOLD
    assert memory.chat("forget what I said about Zanzibar").text == say("not_found_about", "x", "Zanzibar")
    assert memory.chat("off the record, I hate my job").text == say("off_record", "x")
    wish = memory.chat("Always answer in German.").text
    assert wish.startswith("Noted as a standing wish: “Always answer in German”.")
    assert wish.endswith("my own short answers do not follow it.")
    assert memory.chat("以后都用中文回答我").text.startswith("记为长期要求：")


def test_a_backlog_does_not_delay_the_answer(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for number in range(12):
        memory.remember(f"I saw film number {number}.")
    assert memory.chat("I live in Lyon.").text == "Okay."
    assert memory.stats().pending == 13


def test_a_rhetorical_question_beside_a_statement_gets_no_answer(memory: Memory) -> None:
    text = memory.chat("My blood pressure is 158 again. What can you do").text
    assert "158" in text
    assert "larger language model" not in text


def test_a_statement_that_is_not_thought_about_is_no_question() -> None:
    recollection = Recollection(query="", items=())
    assert reply_from_memory("I finally know how to bake rye bread.", recollection) == "Okay."
    assert reply_from_memory("forget what I said about Anna", recollection) != say("not_told", "Anna")


@pytest.mark.parametrize(
    "message",
    [
        "ok",
        "sure",
        "no",
        "k",
        "yep",
        "nah",
        "bye",
        "right",
        "cool",
        "hm",
        "lol",
        "嗯",
        "好的",
        "行",
        "收到",
    ],
)
def test_short_replies_are_not_answered_as_questions(memory: Memory, message: str) -> None:
    memory.chat("My sister Anna lives in Turku.")
    assert memory.chat(message).text == say("okay", message)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("hiya!", "Hello!"),
        ("中午好呀", "你好！"),
        ("many thanks again", "You are welcome."),
        ("谢谢你的提醒", "不客气。"),
        ("hey, are you still there?", "I am here."),
        ("so what are you", say("identity", "x")),
        ("你叫什么名字", say("identity", "你")),
    ],
)
def test_small_talk_gets_a_fixed_reply(memory: Memory, message: str, reply: str) -> None:
    assert memory.chat(message).text == reply


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("hold on, i meant my tutor is Nils", "Noted: your tutor is Nils."),
        ("whoops, our gate is C14", "Noted: your gate is C14."),
        ("啊不好意思打错了，我鞋码是43", "记下了：你的鞋码是43。"),
    ],
)
def test_the_opener_of_a_correction_is_not_said_back(memory: Memory, message: str, reply: str) -> None:
    assert memory.chat(message).text == reply


def test_what_may_be_a_fact_is_said_back_although_no_thought_is_kept(memory: Memory) -> None:
    assert memory.chat("tried the ramen place by the river").text == (
        "Noted: tried the ramen place by the river."
    )
    assert not memory.thoughts()


def test_a_secret_is_not_said_back(memory: Memory) -> None:
    assert "hunter2!X" not in memory.chat("changed the wifi password to hunter2!X today").text


def test_a_remark_beside_a_question_is_not_noted(memory: Memory) -> None:
    memory.chat("my flatmate Tess is allergic to cashews")
    assert "Noted" not in memory.chat("what is tess allergic to? standing in the shop").text
