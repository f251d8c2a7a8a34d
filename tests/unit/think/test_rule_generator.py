"""`RuleGenerator` as a whole: statement filter, assistant replies, determinism and linear running time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.language.statement_filter import find_statements, is_pure_question
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turn(query: str, response: str = "") -> Turn:
    return Turn(id=3, query=query, response=response, at=AT, recorded_at=AT)


def format_triple(draft: ThoughtDraft) -> str:
    return f"{draft.subject} | {draft.relation} | {draft.object}"


@pytest.mark.parametrize(
    ("query", "response", "triple", "sentence"),
    [
        (
            "Do you have any book recommendations for me?",
            'I recommend "The Little Prince".',
            "book | recommended | The Little Prince",
            "The recommended book is The Little Prince.",
        ),
        (
            "Do you have any company recommendations for me?",
            "I recommend Google.",
            "company | recommended | Google",
            "The recommended company is Google.",
        ),
        ("Which City is the capital of China?", "Beijing.", "China | capital | Beijing",
            "The capital of China is Beijing."),
        ("What is the capital of France?", "The capital of France is Paris.", "France | capital | Paris",
            "The capital of France is Paris."),
        ("中国的首都是哪里？", "北京。", "中国 | capital | 北京", "中国的首都是北京。"),
        ("能推荐一本书吗？", "我推荐《小王子》。", "书 | recommended | 小王子", "推荐的书是小王子。"),
    ],
)  # fmt: skip
def test_plain_answer_yields_thought_of_the_assistant(
    query: str, response: str, triple: str, sentence: str
) -> None:
    (draft,) = RuleGenerator().generate(turn(query, response))
    assert (format_triple(draft), draft.sentence) == (triple, sentence)
    assert draft.kind in ("dialogue", "knowledge")
    (source,) = draft.sources
    assert (source.speaker, source.side) == ("assistant", "response")
    assert draft.object in response[source.start : source.end]


@pytest.mark.parametrize(
    ("query", "response"),
    [
        ("Where do I live?", "You live in Paris and you like tea."),
        ("Hello", "My name is Bot. I live in a server and I like tea."),
        ("你好", "我叫小助手，我住在云端。"),
        (
            "What is the capital of France?",
            "That depends on the century you ask about, since kings moved a lot.",
        ),
        ("Can you recommend a book?", "There are so many!"),
        ("推荐一本书吧", "给你一些建议。"),
    ],
)
def test_other_response_yields_no_fact(query: str, response: str) -> None:
    assert RuleGenerator().generate(turn(query, response)) == []


def test_repeated_fact_yields_one_draft_per_place() -> None:
    drafts = RuleGenerator().generate(turn("I like tea. I like tea."))
    assert [d.sources[0].start for d in drafts] == [0, 12]


def test_two_languages_in_one_turn() -> None:
    drafts = RuleGenerator().generate(turn("I live in Oslo. 我喜欢喝茶。"))
    assert [d.sentence for d in drafts] == ["The user lives in Oslo.", "用户喜欢喝茶。"]


def test_statement_before_question_is_kept() -> None:
    assert [s.text for s in find_statements("I live in Oslo, what should I see?")] == ["I live in Oslo"]
    assert is_pure_question("Do I live in Oslo?")
    assert not is_pure_question("I live in Oslo, what should I see?")
    assert find_statements("```\nI live in Oslo.\n```\nI like tea.")[0].text == "I like tea."
    assert find_statements("x" * 401) == []


@given(st.text(max_size=300), st.text(max_size=100))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_deterministically(query: str, response: str) -> None:
    first = RuleGenerator().generate(turn(query, response))
    assert first == RuleGenerator().generate(turn(query, response))
    for draft in first:
        assert draft.objects
        assert all(draft.objects)
        (source,) = draft.sources
        said = query if source.side == "query" else response
        assert 0 <= source.start < source.end <= len(said)


WORDS = ["I", "like", "live in", "my sister", "Anna", "not", "and", ",", "tea", "Paris", "because",
    "used to", "have a",
         "我", "喜欢", "住在", "妹妹", "不", "，", "叫", "小红", "巴黎", "去年", "了"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
@settings(max_examples=300, deadline=None)
def test_random_word_sequences_raise_no_error(words: list[str]) -> None:
    for draft in RuleGenerator().generate(turn(" ".join(words))):
        assert isinstance(draft, Amendment) or draft.sentence.endswith((".", "。"))


@pytest.mark.parametrize(
    "unit",
    ["I like ", "a", "I like a, ", "my sister ", "not ", "I have a dog named ", "and I ", "I am ", "(((",
        '"', "1.",
     "我喜欢", "我", "我妹妹", "不", "，我", "I like tea. ", "我喜欢茶。", "\n> ", "in 2019 ", "5月6日",
         " - ", "if "],
)  # fmt: skip
def test_long_adversarial_text_takes_linear_time(unit: str) -> None:
    def generate(size: int) -> None:
        text = unit * (size // len(unit))
        RuleGenerator().generate(turn(text, text))

    assert time_growth(generate, 50_000) < MAX_LINEAR_GROWTH
