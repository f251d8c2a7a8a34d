"""Chat: the model gets the relevant memories, and the user's message is always remembered."""

from __future__ import annotations

import gc
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import InvalidInput, ModelUnavailable
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.prompts import NO_FACTS
from thinkback.types import Message, Reply


def talker(*replies: str | BaseException) -> ScriptedLLM:
    return ScriptedLLM(replies)


def prompt(llm: ScriptedLLM, call: int = -1) -> str:
    return llm.calls[call][0].content


def test_prompt_contains_facts_and_turn_records_them(open_memory: OpenMemory) -> None:
    llm = talker("You live in Lyon.")
    memory = open_memory(think="extractive", llm=llm)
    memory.remember("I live in Lyon.")
    memory.remember("My brother lives in a red house.")
    memory.post_think()
    answer = memory.chat("Where do I live?", session="now")
    assert "Fact #1: The user lives in Lyon." in prompt(llm)
    assert "2024-05-01" in prompt(llm)
    assert llm.calls[0][-1] == Message("user", "Where do I live?")
    assert answer.text == "You live in Lyon."
    (turn,) = memory.turns(session="now")
    assert turn == answer.turn
    assert (turn.query, turn.response) == ("Where do I live?", "You live in Lyon.")
    assert [used.id for used in turn.recalled] == [item.ref.id for item in answer.recollection]
    why = memory.why(answer)
    assert why.used == turn.recalled
    assert any("The user lives in Lyon." in line and "score" in line for line in why.lines)
    assert (answer.usage.llm_calls, answer.usage.completion_tokens) == (1, 4)
    assert set(answer.usage.ms) == {"index", "understand", "embed", "search", "answer"}


def test_prompt_says_when_nothing_is_known(open_memory: OpenMemory) -> None:
    llm = talker("Hello!")
    open_memory(think="extractive", llm=llm).chat("Hi there")
    assert NO_FACTS in prompt(llm)


def test_history_is_the_last_two_turns_shortened(open_memory: OpenMemory) -> None:
    llm = talker("one " * 500, "two", "three", "four")
    memory = open_memory(think="extractive", llm=llm)
    for message in ("first", "second", "third"):
        memory.chat(message, session="s")
    memory.remember("elsewhere", "other", session="t")
    memory.chat("fourth", session="s")
    said = [(message.role, message.content) for message in llm.calls[-1][1:]]
    assert said == [
        ("user", "second"),
        ("assistant", "two"),
        ("user", "third"),
        ("assistant", "three"),
        ("user", "fourth"),
    ]
    assert len(llm.calls[1][2].content) == 600


def test_answer_is_streamed_in_pieces(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=talker("one two three"))
    stream = memory.chat_stream("count")
    with pytest.raises(InvalidInput, match="not complete"):
        _ = stream.answer
    pieces = list(stream)
    assert len(pieces) > 1
    assert stream.answer.text == "".join(pieces) == "one two three"
    assert list(stream) == []
    assert len(memory.turns()) == 1


def test_failing_model_raises_and_message_is_remembered(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=talker(ModelUnavailable("down"), "Sure."))
    with pytest.raises(ModelUnavailable, match="down"):
        memory.chat("I live in Lyon.")
    assert [(turn.query, turn.response) for turn in memory.turns()] == [("I live in Lyon.", "")]
    memory.post_think()
    assert [thought.objects for thought in memory.thoughts()] == [("Lyon",)]
    assert memory.chat("Where do I live?").recollection[0].text == "The user lives in Lyon. (said 2024-05-01)"


def test_interrupted_answer_is_remembered(open_memory: OpenMemory) -> None:
    class Breaking(ScriptedLLM):
        def stream(
            self,
            messages: Sequence[Message],
            *,
            max_tokens: int = 512,
            temperature: float = 0.0,
            forbid: Sequence[str] = (),
        ) -> Generator[str, None, Reply]:
            yield "half an "
            raise ModelUnavailable("cut")

    memory = open_memory(think="extractive", llm=Breaking([]))
    stream = memory.chat_stream("Tell me.")
    assert next(stream) == "half an "
    with pytest.raises(ModelUnavailable):
        next(stream)
    assert [(turn.query, turn.response) for turn in memory.turns()] == [("Tell me.", "half an ")]
    assert stream.answer.text == "half an "


def test_abandoned_stream_is_remembered_at_once(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=talker("one two three"))
    gc.disable()  # it must not take a collection of garbage
    try:
        for _ in memory.chat_stream("count"):
            break
        assert [(turn.query, turn.response) for turn in memory.turns()] == [("count", "one")]
    finally:
        gc.enable()


def test_closing_a_stream_twice_remembers_one_turn(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=talker("one two three"))
    with memory.chat_stream("count") as stream:
        next(stream)
    stream.close()
    assert stream.answer.text == "one"
    assert len(memory.turns()) == 1


def test_closing_the_memory_remembers_unread_streams(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=talker("never said"))
    stream = memory.chat_stream("I live in Lyon.")
    memory.close()
    assert stream.answer.text == ""
    assert [turn.query for turn in open_memory().turns()] == ["I live in Lyon."]


@pytest.mark.parametrize(
    ("told", "noted", "asked", "answer", "unknown", "not_known"),
    [
        ("I live in Lyon.", "Noted: you live in Lyon.", "Where do I live?", "You live in Lyon. [thought:1]",
         "How tall is Everest?", "You have not told me that."),
        ("我住在北京。", "记下了：你住在北京。", "我住在哪里？", "你住在北京。 [thought:1]",
         "珠峰多高？", "你还没告诉过我。"),
    ],
)  # fmt: skip
def test_chat_without_model_answers_from_memory(
    memory: Memory,
    clock: FakeClock,
    told: str,
    noted: str,
    asked: str,
    answer: str,
    unknown: str,
    not_known: str,
) -> None:
    assert memory.chat(told).text == noted
    for _ in range(30):  # its own answers never become news, nor do the questions crowd out the fact
        assert memory.chat(asked).text == answer
    assert memory.chat(unknown).text.startswith(not_known)
    assert {turn.response for turn in memory.turns()} == {""}
    memory.post_think()
    assert len(memory.thoughts()) == 1


@pytest.mark.parametrize(
    "bad", [{"message": " "}, {"message": "x", "k": 0}, {"message": "x", "session": ""}], ids=str
)
def test_invalid_message_is_rejected_before_the_model_is_called(
    open_memory: OpenMemory, bad: dict[str, Any]
) -> None:
    llm = talker("never")
    memory = open_memory(think="extractive", llm=llm)
    with pytest.raises(InvalidInput):
        memory.chat(**bad)
    assert (llm.calls, memory.turns()) == ([], [])


def test_small_model_gets_few_facts_and_no_history(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["In Lyon."], extracts=False)
    memory = open_memory(llm=llm)
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.chat("Hello there!", session="now")
    answer = memory.chat("Write down where I live.", session="now")
    assert answer.text == "In Lyon."
    given = llm.calls[-1]
    assert [message.role for message in given] == ["system", "user"]
    assert "The user lives in Lyon." in given[0].content
    assert len(given[0].content) < 200


def test_failing_embedder_does_not_lose_the_message(open_memory: OpenMemory) -> None:
    memory = open_memory()
    kept = memory.embedder.embed

    def broken(texts: object) -> None:
        raise ModelUnavailable("the embedder is away")

    memory.embedder.embed = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(ModelUnavailable):
        memory.chat("I live in Lyon.")
    memory.embedder.embed = kept  # type: ignore[method-assign]
    assert [turn.query for turn in memory.turns()] == ["I live in Lyon."]


def test_model_without_the_language_is_replaced_by_memory(
    open_memory: OpenMemory,
) -> None:
    llm = ScriptedLLM(["Hello!"], speaks=("en",))
    memory = open_memory(think="extractive", llm=llm)
    memory.remember("我住在北京。")
    memory.post_think()
    assert "北京" in memory.chat("我住在哪里？").text
    assert llm.calls == []
    assert memory.chat("Hi there, friend.").text == "Hello!"
