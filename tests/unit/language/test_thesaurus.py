"""Synonyms and narrower words of questions."""

from __future__ import annotations

import pytest

from thinkback.language.thesaurus import related_terms, word_terms


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("我能吃什么水果？", "榴莲"),
        ("租金多少？", "房租"),
        ("Who was my teacher?", "班主任"),
        ("我的上司是谁？", "manager"),
        ("姥姥拿手什么菜？", "外婆"),
        ("我會什麼樂器？", "吉他"),
        ("我每週五做什么？", "friday"),
        ("王芳的外表怎么样？", "体貌特征"),
        ("王芳的长相如何？", "外貌"),
        ("王芳祖籍哪里？", "老家"),
        ("What are Eva's pastimes?", "爱好"),
        ("王芳的个性如何？", "性格"),
        ("Eva's faith", "religion"),
        ("怎么联系王芳？", "电话"),
        ("Which degree does Eva have?", "学历"),
    ],
)
def test_related_terms(question: str, word: str) -> None:
    assert set(word_terms(word)) <= set(related_terms(question))


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("我吃榴莲吗？", "苹果"),  # one of a kind does not call its siblings
        ("国家大事", "搬家"),
        ("租金多少？", "租金"),  # its own words it has already
        ("Denver", "city"),
    ],
)
def test_related_terms_exclude_unrelated_words(question: str, word: str) -> None:
    assert not set(word_terms(word)) & set(related_terms(question))
