"""Sentences keep their place; questions are known with and without their mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing import LINEAR, growth

from thinkback.text.sentences import is_question, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("no stop", ["no stop"]),
        ("i live here. i like tea", ["i live here.", "i like tea"]),
        ("Dr. Smith met Mrs. Jones.", ["Dr. Smith met Mrs. Jones."]),
        ("It costs 3.14 e.g. today.", ["It costs 3.14 e.g. today."]),
        ("We met at 5 p.m. Then we left.", ["We met at 5 p.m.", "Then we left."]),
        ("J. K. Rowling wrote it.", ["J. K. Rowling wrote it."]),
        ("So do I. Good.", ["So do I.", "Good."]),
        ('"Stop!" he said. Then left.', ['"Stop!" he said.', "Then left."]),
        ("See example.com now.", ["See example.com now."]),
        ("Wait... what?!", ["Wait...", "what?!"]),
        ("我住在巴黎。你呢？好的！", ["我住在巴黎。", "你呢？", "好的！"]),
        ("“你好！”他说。", ["“你好！”", "他说。"]),
        ("1. one\n2. two", ["1. one", "2. two"]),
        ("I use Python.我很喜欢。", ["I use Python.", "我很喜欢。"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


@given(st.text() | st.text(alphabet='ab. !?\n"。？'))
def test_spans_slice_to_the_sentence_and_nothing_is_lost(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert not text[end : sentence.start].strip()
        end = sentence.end
    assert not text[end:].strip()


@pytest.mark.parametrize("unit", ["Dr. ", ". ", "1. ", "a", "!", "“", "3.1"])
def test_linear(unit: str) -> None:
    assert growth(lambda size: sentences(unit * (size // len(unit))), 500_000) < LINEAR


@pytest.mark.parametrize(
    "text",
    ["What's my name", "Where do I live", "do you like tea", "How many cats do I have", "Is Anna here",
        "who knows me?",
     "So, can you help me", "what city do I live in", "Any idea", "I live in Paris, right?", '"Really?"',
     "你叫什么名字", "我住在哪里", "你好吗", "我今年几岁", "他是谁", "为什么", "是不是", "你呢",
         "这是什么？"],
)  # fmt: skip
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    ["", "I live in Paris.", "When I was young, I lived here.", "Will is my brother.", "Remind me.",
        "What a day!",
     "我住在巴黎。", "我什么都吃。", "我有几个朋友。", "没什么。", "我不知道为什么。", "谁都知道。"],
)  # fmt: skip
def test_statements(text: str) -> None:
    assert not is_question(text)
