"""One name, one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.text.people.names import normalise
from thinkback.think.resolve import key_of, object_key


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
def test_normalise(name: str, key: str) -> None:
    assert normalise(name) == key


@given(st.text(max_size=40))
def test_normalising_twice_is_normalising_once(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)


def test_keys() -> None:
    assert key_of("My mom", "resides in") == key_of("我妈妈", "住在")
    assert object_key("to play football") == object_key("playing football")
    assert object_key("a dog") == object_key("Dogs")
    assert object_key("茶") != object_key("咖啡")


def test_letters_that_look_like_an_article_inside_a_name_stay() -> None:
    assert normalise("Anna Lee") == "anna lee"
    assert normalise("Mia Chen") == "mia chen"
    assert normalise("the Louvre") == "louvre"
