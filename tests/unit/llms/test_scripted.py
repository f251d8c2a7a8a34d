"""The scripted language model."""

from __future__ import annotations

import pytest

from thinkback.errors import BadReply, ModelTimeout, ModelUnavailable
from thinkback.llms.scripted import ScriptedLLM
from thinkback.types import Message

HI = [Message("user", "hi there")]


def test_replies_come_in_order_and_run_out() -> None:
    llm = ScriptedLLM(
        ["one", lambda messages: messages[-1].content.upper(), ModelTimeout("late")], name="tape"
    )
    assert llm.complete(HI).text == "one"
    assert llm.complete(HI).text == "HI THERE"
    with pytest.raises(ModelTimeout, match="late"):
        llm.complete(HI)
    with pytest.raises(ModelUnavailable, match="used up at call 4"):
        llm.complete(HI)
    assert llm.calls == [tuple(HI)] * 4


def test_patterns_match_the_last_message() -> None:
    llm = ScriptedLLM({"hi": "hello", "bye": "ciao"}, extracts=False)
    assert not llm.extracts
    assert llm.complete(HI).text == llm.complete(HI).text == "hello"
    assert llm.complete([*HI, Message("user", "bye")]).text == "ciao"
    with pytest.raises(ModelUnavailable, match="no reply to 'what'"):
        llm.complete([Message("user", "what")])


def test_schema_is_enforced() -> None:
    llm = ScriptedLLM(["```json\n[1]\n```", "none"])
    assert llm.complete(HI, schema={"type": "array"}).text == "[1]"
    with pytest.raises(BadReply):
        llm.complete(HI, schema={"type": "array"})


def test_streamed_chunks_join_to_the_reply() -> None:
    text = "  two  words\nand a line "
    assert "".join(ScriptedLLM([text]).stream(HI)) == text
