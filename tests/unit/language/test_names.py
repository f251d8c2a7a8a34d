"""Normalised names, entity keys and phonetic similarity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.names import (
    is_han_name,
    may_be_pinyin,
    normalise_name,
    phonetic_key,
    phonetic_similarity,
)
from thinkback.think.comparison_keys import object_key, thought_key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Anna", "anna"), (" ANNA. ", "anna"), ("Ａｎｎａ", "anna"), ("the Netherlands", "netherlands"), (
            "A dog", "dog"),
        ("Anna's", "anna"), ("I", "user"), ("me", "user"), ("the user", "user"), ("我", "user"), ("用户",
            "user"),
        ("my sister", "user's sister"), ("the user's sister", "user's sister"), ("user's sister",
            "user's sister"),
        ("我妹妹", "user's younger sister"), ("My little sister", "user's younger sister"), ("用户的姐姐",
            "user's older sister"), ("我舅舅", "user's 舅舅"), ("我的妈妈", "user's mother"), (
            "我家的狗", "user's dog"),
        ("“The Little Prince”", "little prince"), ("a", "a"), ("...", "..."), ("", ""),
    ],
)  # fmt: skip
def test_normalise_name(name: str, key: str) -> None:
    assert normalise_name(name) == key


@given(st.text(max_size=40))
def test_normalise_name_is_idempotent(name: str) -> None:
    assert normalise_name(normalise_name(name)) == normalise_name(name)


def test_entity_keys() -> None:
    assert thought_key("My mom", "resides in") == thought_key("我妈妈", "住在")
    assert object_key("to play football") == object_key("playing football")
    assert object_key("a dog") == object_key("Dogs")
    assert object_key("茶") != object_key("咖啡")


def test_normalise_name_keeps_article_inside_name() -> None:
    assert normalise_name("Anna Lee") == "anna lee"
    assert normalise_name("Mia Chen") == "mia chen"
    assert normalise_name("the Louvre") == "louvre"


@pytest.mark.parametrize(("name", "key"), [("安娜", "anna"), ("Zhang Wei", "zhangwei"), ("张伟", "zhangwei")])
def test_phonetic_key(name: str, key: str) -> None:
    assert phonetic_key(name) == key


def test_phonetic_similarity() -> None:
    assert phonetic_similarity("安娜", "Anna") == 1.0
    assert phonetic_similarity("大卫", "David") >= 0.5
    assert phonetic_similarity("小红", "Grace") < 0.5
    assert phonetic_similarity("", "Anna") == 0.0


def test_may_be_pinyin() -> None:
    spelt = ("Zhang Wei", "Anna", "Tom", "R2-D2")
    assert [may_be_pinyin(name) for name in spelt] == [True, True, False, False]
    assert [is_han_name(name) for name in ("Anna 安娜", "Anna")] == [True, False]
