"""Consistent answers (TiM (ACL), section 3.4): contradictions are held back or sent with a warning."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest
from tests.conftest import OpenMemory
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.errors import ModelUnavailable
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Message, Reply

ASK = "Where do I live?"


def holding(open_memory: OpenMemory, llm: ScriptedLLM, *told: str, **options: Any) -> Memory:
    memory = open_memory(think="extractive", llm=llm, **options)
    for statement in told:
        memory.remember(statement, session="before")
    memory.post_think()
    return memory


def test_contradicting_draft_is_held_back_and_named_to_the_model(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Paris.", "You live in Lyon."])
    memory = holding(open_memory, llm, "I live in Lyon.")
    stream = memory.chat_stream(ASK)
    assert list(stream) == ["You live in Lyon."]
    answer = stream.answer
    assert (answer.text, answer.warning) == ("You live in Lyon.", "")
    assert answer.turn.response == "You live in Lyon."
    assert answer.usage.llm_calls == 2
    assert answer.usage.completion_tokens == 8
    first, second = llm.calls
    assert second[: len(first)] == first
    assert [message.role for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2].content == "You live in Paris."
    assert '"You live in Paris."' in second[-1].content
    assert "Fact #1: The user lives in Lyon." in second[-1].content
    assert "already read" not in second[-1].content


def test_caught_contradiction_is_stored_and_explained(open_memory: OpenMemory) -> None:
    memory = holding(open_memory, ScriptedLLM(["You live in Paris.", "Lyon."]), "I live in Lyon.")
    answer = memory.chat(ASK)
    (check,) = answer.checks
    assert (check.thought, check.way, check.draft, check.outcome) == (1, "words", 1, "regenerated")
    assert check.words == "You live in Paris."
    (line,) = [line for line in memory.why(answer).lines if line.startswith("draft")]
    assert line == (
        "draft 1 said 'You live in Paris.': contradicts thought:1 'The user lives in Lyon.' "
        "(another value: 'Paris' instead of 'Lyon'); asked again"
    )
    assert memory.why(answer).checks == memory.turns()[-1].checks == (check,)


def test_persistent_contradiction_is_sent_with_a_warning(open_memory: OpenMemory) -> None:
    memory = holding(open_memory, ScriptedLLM(["You live in Paris."] * 3), "I live in Lyon.")
    answer = memory.chat(ASK)
    assert answer.warning == "(This may contradict what you told me: The user lives in Lyon.)"
    assert answer.text == f"You live in Paris.\n{answer.warning}"
    assert answer.turn.response == "You live in Paris."
    assert [(check.draft, check.outcome) for check in answer.checks] == [
        (1, "regenerated"),
        (2, "regenerated"),
        (3, "warned"),
    ]
    assert answer.usage.llm_calls == 3
    assert "said, with a warning" in memory.why(answer).lines[-1]


def test_chinese_contradiction_is_held_back(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["你住在上海。", "你住在北京。", "上海。", "上海。", "上海。"])
    memory = holding(open_memory, llm, "我住在北京。")
    assert memory.chat("我住在哪里？").text == "你住在北京。"
    assert memory.chat("我住在哪里？").warning == "（这可能与你告诉过我的不一致：用户住在北京。）"


def test_checked_sentences_are_sent_and_the_rest_is_regenerated(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(
        ["Good question! You live in Paris. It is sunny.", "You live in Lyon. It is rainy there."]
    )
    memory = holding(open_memory, llm, "I live in Lyon.")
    stream = memory.chat_stream(ASK)
    assert next(stream) == "Good question! "
    assert len(llm.calls) == 1
    assert next(stream) == "You live in Lyon. "
    assert len(llm.calls) == 2
    assert next(stream) == "It is rainy there."
    assert list(stream) == []
    assert stream.answer.text == "Good question! You live in Lyon. It is rainy there."
    assert 'already read its beginning: "Good question!"' in llm.calls[1][-1].content
    assert llm.calls[1][-2].content == "Good question! You live in Paris. "


def test_restarted_draft_does_not_repeat_sent_sentences(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["Hello. You live in Paris.", "Hello. You live in Lyon."])
    memory = holding(open_memory, llm, "I live in Lyon.")
    assert memory.chat(ASK).text == "Hello. You live in Lyon."


def test_closed_stream_stores_sent_text_and_checks(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Paris.", "You live in Lyon. It is nice. Very nice."])
    memory = holding(open_memory, llm, "I live in Lyon.")
    with memory.chat_stream(ASK) as stream:
        next(stream)
    turn = memory.turns()[-1]
    assert turn.response == "You live in Lyon. "
    assert [check.outcome for check in turn.checks] == ["regenerated"]


def test_failing_retry_keeps_the_sent_text(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["Let me see. You live in Paris.", ModelUnavailable("down")])
    memory = holding(open_memory, llm, "I live in Lyon.")
    stream = memory.chat_stream(ASK)
    assert next(stream) == "Let me see. "
    with pytest.raises(ModelUnavailable, match="down"):
        next(stream)
    assert stream.answer.turn.response == "Let me see. "
    assert len(stream.answer.checks) == 1
    assert stream.answer.usage.llm_calls == 2


def test_contradicting_words_are_masked_if_supported(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Paris.", "You live in Oslo.", "You live in Lyon."], masks=True)
    memory = holding(open_memory, llm, "I live in Lyon.")
    answer = memory.chat(ASK)
    assert llm.forbidden == [(), ("Paris",), ("Paris", "Oslo")]
    assert [check.outcome for check in answer.checks] == ["masked", "masked"]
    assert "with the contradicting words masked" in memory.why(answer).lines[-1]


@pytest.mark.parametrize(
    ("told", "ask", "draft"),
    [
        ("I live in Lyon.", ASK, "You do not live in Lyon."),  # masking "not" would cripple it
        ("I am 34 years old.", "How old am I?", "You are 35 years old."),  # 3 and 5 are tokens of 34, too
        ("I live in Lyon.", "Do I live in Paris?", "Yes, you live in Paris."),  # the answer may need it
        ("I live in Parma.", ASK, "You live in Paris."),  # may share its first token
    ],
)
def test_words_of_the_right_answer_are_not_masked(
    open_memory: OpenMemory, told: str, ask: str, draft: str
) -> None:
    llm = ScriptedLLM([draft, "Right."], masks=True)
    answer = holding(open_memory, llm, told).chat(ask)
    assert [check.outcome for check in answer.checks] == ["regenerated"]
    assert llm.forbidden == [(), ()]


def test_new_message_takes_precedence_over_thoughts(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Oslo now, enjoy it!", "You live in Oslo."])
    memory = holding(open_memory, llm, "I live in Lyon.")
    assert memory.chat("I moved to Oslo! What should I see?").checks == ()
    # not thought over yet, and asked about in the next turn
    assert memory.chat(ASK).checks == ()
    assert len(llm.calls) == 2


@pytest.mark.parametrize(
    "message",
    ["Sorry, it's Oslo, not Lyon.", "Forget that I live in Lyon.", "I don't live in Lyon any more."],
)
def test_retracted_fact_is_not_checked(open_memory: OpenMemory, message: str) -> None:
    memory = holding(open_memory, ScriptedLLM(["So you live in Oslo."]), "I live in Lyon.")
    assert memory.chat(message).checks == ()


def test_older_turn_does_not_take_precedence_over_newer_thought(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["Noted.", "Noted.", "You live in Lyon.", "You live in Oslo."])
    memory = open_memory(think="extractive", llm=llm)
    memory.chat("I live in Lyon.")
    memory.chat("I live in Oslo.")
    memory.post_think()
    assert memory.chat(ASK).text == "You live in Oslo."


def test_answer_is_streamed_unchecked_if_nothing_was_recalled(open_memory: OpenMemory) -> None:
    memory = open_memory(think="extractive", llm=ScriptedLLM(["You live in Paris. So it is."]))
    assert next(memory.chat_stream("Hello there")) == "You"


def test_small_model_is_checked_too(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Paris.", "You live in Lyon."], extracts=False)
    memory = holding(open_memory, llm, "I live in Lyon.")
    assert memory.chat("Write down where I live.").text == "You live in Lyon."


def holding_thoughts(open_memory: OpenMemory, llm: ScriptedLLM, *sentences: str) -> Memory:
    """A memory whose thoughts are the given sentences, as said."""

    script = {
        sentence: [add(sentence, fact(sentence, sentence, relation=f"note {number}"))]
        for number, sentence in enumerate(sentences, start=1)
    }
    memory = open_memory(think=ScriptedReader(script), llm=llm)
    for sentence in sentences:
        memory.remember(sentence, session="before")
    memory.post_think()
    assert [thought.sentence for thought in memory.thoughts()] == list(sentences)
    return memory


def test_forbidden_food_is_not_recommended_although_the_fact_was_not_recalled(
    open_memory: OpenMemory,
) -> None:
    llm = ScriptedLLM(["Try the satay skewers.", "Try the vegetable skewers."], extracts=False)
    memory = holding_thoughts(open_memory, llm, "i cant have peanuts", "my bike is blue")
    answer = memory.chat("What would go well with my blue bike tour?", k=1)
    assert answer.text == "Try the vegetable skewers."
    (check,) = answer.checks
    assert (check.way, check.outcome) == ("safety", "regenerated")
    assert check.reason == "'satay' is against a refusal"


def test_safety_fact_is_in_the_context_whatever_its_rank(open_memory: OpenMemory) -> None:
    ordinary = ("甜品店在公园旁边", "甜品店周一休息", "我喜欢去甜品店吃蛋糕")
    memory = holding_thoughts(open_memory, ScriptedLLM([]), "我对芒果过敏", *ordinary)
    question = "去甜品店吃什么？"
    assert not any("芒果" in item.text for item in memory.recall(question, k=2))
    assert "我对芒果过敏 (must be respected)" in memory.context(question, k=2).part("facts")


def test_model_is_asked_once_and_its_findings_are_judged(open_memory: OpenMemory) -> None:
    found = """{"contradictions": [
        {"fact": 1, "quote": "flaunt your Harley", "reason": "she sold it"},
        {"fact": 1, "quote": "words that the draft lacks", "reason": "invented"},
        {"fact": 9, "quote": "flaunt your Harley", "reason": "no such fact"}]}"""
    llm = ScriptedLLM(["Go and flaunt your Harley.", found, "Go by train.", '{"contradictions": []}'])
    memory = holding_thoughts(open_memory, llm, "I let my old motorcycle go last year.")
    answer = memory.chat("How do I arrive in style without my old motorcycle?")
    assert answer.text == "Go by train."
    (check,) = answer.checks
    assert (check.way, check.words, check.reason) == ("model", "Go and flaunt your Harley.", "she sold it")
    assert "Draft: Go and flaunt your Harley." in llm.calls[1][0].content


def test_failing_check_by_the_model_does_not_stop_the_answer(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You might enjoy the coast road.", ModelUnavailable("down")])
    memory = holding_thoughts(open_memory, llm, "I sold my motorcycle last year.")
    answer = memory.chat("Where should I go, now that my motorcycle is gone?")
    assert (answer.text, answer.checks) == ("You might enjoy the coast road.", ())


def test_checks_are_exported_imported_and_erased(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["You live in Paris.", "Lyon."])
    memory = holding(open_memory, llm, "I live in Lyon.")
    memory.chat(ASK, session="talk")
    other = open_memory(":memory:", user="copy")
    other.import_(list(memory.export()))
    assert other.turns() == memory.turns()
    assert other.turns()[-1].checks
    memory.erase(session="before")  # the thought goes, and with it what was said against it
    assert memory.turns()[-1].checks == ()
    assert other.erase(session="talk").turns == 1


def test_draft_stream_is_closed_before_the_next_one(open_memory: OpenMemory) -> None:
    events: list[str] = []

    class Noting(ScriptedLLM):
        def stream(
            self,
            messages: Sequence[Message],
            *,
            max_tokens: int = 512,
            temperature: float = 0.0,
            forbid: Sequence[str] = (),
        ) -> Generator[str, None, Reply]:
            events.append("asked")
            try:
                return (yield from super().stream(messages, max_tokens=max_tokens))
            finally:
                events.append("left")

    llm = Noting(["You live in Paris. And more. And more.", "Lyon."])
    assert holding(open_memory, llm, "I live in Lyon.").chat(ASK).text == "Lyon."
    assert events == ["asked", "left", "asked", "left"]
