"""LLMGenerator: its prompt, retries, and how replies become drafts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from thinkback.errors import BadReply, InvalidInput
from thinkback.language.tokens import count_tokens
from thinkback.llms.scripted import ScriptedLLM
from thinkback.prompts import load_prompt
from thinkback.think.generators import CombinedGenerator, LLMGenerator, create_generator
from thinkback.think.prompt_lines import MAX_EXCHANGE_TOKENS
from thinkback.think.rule_generator import RuleGenerator
from thinkback.types import Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
EMPTY = '{"thoughts": []}'


def turn(query: str, response: str = "") -> Turn:
    return Turn(id=2, query=query, response=response, at=AT, recorded_at=AT)


def reply(subject: str, relation: str, value: str, line: int = 1) -> str:
    thought = {
        "line": line,
        "subject": subject,
        "relation": relation,
        "objects": [value],
        "kind": "knowledge",
    }
    return json.dumps({"thoughts": [thought]})


def test_paper_examples() -> None:
    llm = ScriptedLLM([reply("China", "Capital", "Beijing"), reply("company", "recommended", "Google")])
    (city,) = LLMGenerator(llm).generate(turn("Which city is the capital of China?", "Beijing."))
    assert (city.subject, city.relation, city.objects, city.kind) == (
        "China",
        "capital",
        ("Beijing",),
        "knowledge",
    )
    assert city.sources[0].speaker == "assistant"
    asked = turn("Do you have any company recommendations for me?", "I recommend Google.")
    (company,) = LLMGenerator(llm).generate(asked)
    assert (company.sentence, company.kind) == ("The recommended company is Google.", "dialogue")
    assert llm.calls[0][-1].content.endswith(
        "User:\n- Which city is the capital of China?\nAssistant:\n1. Beijing.\n"
    )


def test_shared_prompt_prefix_comes_first() -> None:
    """Servers with a prefix cache process it only once."""
    llm = ScriptedLLM([EMPTY, EMPTY])
    for query in ("I live in Rome.", "Our gnome guards the pond."):
        LLMGenerator(llm).generate(turn(query))
    one, other = (messages[-1].content for messages in llm.calls)
    shared = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert one[shared:] == "I live in Rome.\n"


def test_long_turn_is_cut_and_empty_turn_is_skipped() -> None:
    llm = ScriptedLLM([EMPTY])
    assert LLMGenerator(llm).generate(turn("I own a zebra. " * 10_000)) == []
    assert count_tokens(llm.calls[0][-1].content) < MAX_EXCHANGE_TOKENS + 1000
    for nothing in (" ", "?!", "Where do I live?"):
        assert LLMGenerator(llm).generate(turn(nothing)) == []
    assert len(llm.calls) == 1


def test_model_is_told_once_what_was_wrong() -> None:
    llm = ScriptedLLM([reply("user", "lives in", "Paris"), reply("user", "lives in", "Rome")])
    (draft,) = LLMGenerator(llm).generate(turn("I live in Rome."))
    assert draft.objects == ("Rome",)
    assert "line 1 does not say 'Paris'" in llm.calls[1][-1].content
    llm = ScriptedLLM([reply("user", "lives in", "Paris"), EMPTY])
    assert LLMGenerator(llm).generate(turn("I live in Rome.")) == []


def test_unusable_reply_is_an_error() -> None:
    with pytest.raises(BadReply):
        LLMGenerator(ScriptedLLM(["I would rather not."])).generate(turn("I live in Rome."))
    with pytest.raises(BadReply, match="supports none"):
        LLMGenerator(ScriptedLLM([reply("user", "lives in", "Paris")] * 2)).generate(turn("I live in Rome."))


def test_name_contains_the_prompt_version() -> None:
    assert (
        LLMGenerator(ScriptedLLM([])).name
        == f"scripted generate@{load_prompt('thinkback.think', 'generate').version}"
    )


def test_create_generator_for_each_mode() -> None:
    able, small = ScriptedLLM([]), ScriptedLLM([], extracts=False)
    assert isinstance(create_generator("auto", able), CombinedGenerator)
    assert isinstance(create_generator("auto", small), RuleGenerator)
    assert isinstance(create_generator("auto", None), RuleGenerator)
    assert isinstance(create_generator("llm", small), LLMGenerator)
    assert create_generator(own := RuleGenerator("own"), None) is own
    with pytest.raises(InvalidInput, match="needs a language model"):
        create_generator("llm", None)
    with pytest.raises(InvalidInput, match="choose auto"):
        create_generator("both", None)  # type: ignore[arg-type]


def test_yes_makes_the_words_of_the_question_count() -> None:
    asked = Turn(
        id=1, query="Hi.", response="Is it new? Do you have frequent nosebleeds?", at=AT, recorded_at=AT
    )
    told = reply("user", "has condition", "frequent nosebleeds")
    llm = ScriptedLLM([told])
    (draft,) = LLMGenerator(llm).generate(turn("Yes, and I hate it."), (asked,))
    assert (draft.relation, draft.objects) == ("has condition", ("frequent nosebleeds",))
    assert "- Do you have frequent nosebleeds?\nUser:\n1. Yes" in llm.calls[0][-1].content


@pytest.mark.parametrize("answer", ["No, and I hate doctors.", "I hate hospitals."])
def test_without_yes_the_question_does_not_count(answer: str) -> None:
    asked = Turn(id=1, query="Hi.", response="Do you have frequent nosebleeds?", at=AT, recorded_at=AT)
    told = reply("user", "has condition", "frequent nosebleeds")
    with pytest.raises(BadReply, match="does not say"):
        LLMGenerator(ScriptedLLM([told, told])).generate(turn(answer), (asked,))


def test_assistant_may_assess_a_value_but_not_a_person() -> None:
    said = turn("My ferritin is 9 ng/ml.", "That is a low value. Anna is a low talker.")
    (judged,) = LLMGenerator(ScriptedLLM([reply("9 ng/ml", "is", "a low value", line=2)])).generate(said)
    assert (judged.kind, judged.sources[0].speaker) == ("knowledge", "assistant")
    person = reply("Anna", "is", "a low talker", line=3)
    with pytest.raises(BadReply, match="cannot tell"):
        LLMGenerator(ScriptedLLM([person, person])).generate(said)
