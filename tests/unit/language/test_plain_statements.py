"""Short plain statements about the user are recognised; passing states and other talk are not."""

from __future__ import annotations

import pytest

from thinkback.language.plain_statements import is_plain_statement


@pytest.mark.parametrize(
    "text",
    [
        "I am vegan.",
        "im joe",
        "we are in bristol btw",
        "I live in Porto.",
        "my brother is a plumber",
        "I have a cat named Miso.",
        "I no longer smoke",
        "I don't eat pork.",
        "我叫王芳",
        "我住在成都",
        "我对花生过敏",
        "我女儿今年五岁",
        "我不再喝酒了",
    ],
)
def test_plain_statements(text: str) -> None:
    assert is_plain_statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm so tired today",
        "I am thinking about it",
        "we are not sure",
        "I like that",
        "my god is it hot",
        "I have a question",
        "my point is that nobody came",
        "我是说明天",
        "我觉得不错",
        "I live in Porto " + "and it rains " * 20,
    ],
)
def test_other_sentences(text: str) -> None:
    assert not is_plain_statement(text)
