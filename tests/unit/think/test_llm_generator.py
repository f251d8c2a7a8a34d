"""The model behind the port: what it is shown, and how its reply becomes drafts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from thinkback.errors import BadReply, InvalidInput
from thinkback.models.scripted import ScriptedLLM
from thinkback.prompts import load
from thinkback.think.choose import generator_for
from thinkback.think.llm_generator import LONGEST_SIDE, LLMGenerator
from thinkback.think.rules import RuleGenerator
from thinkback.types import Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turn(query: str, response: str = "") -> Turn:
    return Turn(id=2, query=query, response=response, at=AT, recorded_at=AT)


def reply(subject: str, relation: str, value: str, speaker: str) -> str:
    thought = {"subject": subject, "relation": relation, "objects": [value], "sentence":
        f"{subject}: {value}.",
               "kind": "knowledge", "speaker": speaker}  # fmt: skip
    return json.dumps({"thoughts": [thought]})


def test_the_papers_example() -> None:
    llm = ScriptedLLM([reply("China", "Capital", "Beijing", "assistant")])
    (draft,) = LLMGenerator(llm).generate(turn("Which city is the capital of China?", "Beijing."))
    assert (draft.subject, draft.relation, draft.objects, draft.kind) == (
        "China",
        "capital",
        ("Beijing",),
        "knowledge",
    )
    assert draft.sources[0].speaker == "assistant"
    (messages,) = llm.calls
    assert "Which city is the capital of China?" in messages[-1].content
    assert "Wednesday 2024-05-15" in messages[-1].content


def test_a_long_turn_is_shown_in_part_and_an_empty_one_not_at_all() -> None:
    llm = ScriptedLLM([json.dumps({"thoughts": []})])
    assert LLMGenerator(llm).generate(turn("zq" * LONGEST_SIDE)) == []
    assert llm.calls[0][-1].content.count("zq") == LONGEST_SIDE // 2
    assert LLMGenerator(llm).generate(turn(" ")) == []
    assert len(llm.calls) == 1


def test_a_reply_that_cannot_be_used_is_an_error() -> None:
    with pytest.raises(BadReply):
        LLMGenerator(ScriptedLLM(["I would rather not."])).generate(turn("I live in Rome."))


def test_the_name_carries_the_prompt_version() -> None:
    assert LLMGenerator(ScriptedLLM([])).name == f"scripted generate@{load('generate').version}"


def test_choosing_a_generator() -> None:
    able, small = ScriptedLLM([]), ScriptedLLM([], extracts=False)
    assert isinstance(generator_for("auto", able), LLMGenerator)
    assert isinstance(generator_for("auto", small), RuleGenerator)
    assert isinstance(generator_for("auto", None), RuleGenerator)
    assert isinstance(generator_for("llm", small), LLMGenerator)
    assert generator_for(own := RuleGenerator("own"), None) is own
    with pytest.raises(InvalidInput, match="needs a language model"):
        generator_for("llm", None)
    with pytest.raises(InvalidInput, match="choose auto"):
        generator_for("both", None)  # type: ignore[arg-type]
