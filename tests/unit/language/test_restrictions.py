"""Safety facts read from sentences, and the table of substances."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from thinkback.language.restrictions import DOMAINS, find_domains, find_restriction, find_substances


@pytest.mark.parametrize(
    ("sentence", "holder", "food"),
    [
        ("my son has an egg allergy", "son", "omelette"),
        ("The user avoids gluten.", "user", "bread"),
        ("Marco can't eat shellfish.", "Marco", "prawns"),
        ("我从来不碰猪肉的", "user", "培根"),
        ("小安对坚果过敏。", "小安", "核桃酥"),
        ("用户不喝酒。", "user", "红酒"),
        ("I'm a vegetarian.", "user", "bacon"),
        ("我老公对花粉过敏", "老公", "花粉"),
    ],
)
def test_restriction_is_read_with_its_holder(sentence: str, holder: str, food: str) -> None:
    restriction = find_restriction(sentence)
    assert restriction is not None
    assert holder in restriction.holders
    assert restriction.find_forbidden(food)


@pytest.mark.parametrize(
    "sentence",
    [
        "The user is not allergic to cats.",
        "The user likes sushi.",
        "Can I eat nuts?",
        "用户对花生不过敏。",
        "x" * 500,
    ],
)
def test_other_sentences_restrict_nothing(sentence: str) -> None:
    assert find_restriction(sentence) is None


def test_member_of_a_category_is_forbidden_alone() -> None:
    restriction = find_restriction("The user is allergic to walnuts.")
    assert restriction is not None
    assert restriction.find_forbidden("walnut cake")
    assert not restriction.find_forbidden("cashew cake")


def test_compounds_are_not_the_substance() -> None:
    assert not find_substances("oat milk, ginger beer and 牛油果")
    assert [mention.id for mention in find_substances("猪肉")] == ["pork"]


def test_domains_of_a_message() -> None:
    assert find_domains("What's for dinner?") == {"food"}
    assert find_domains("头好痛，吃什么药？") >= {"medicine"}
    assert find_domains("How is the weather?") == frozenset()


def test_table_is_well_formed() -> None:
    data = tomllib.loads(files("thinkback.language").joinpath("restrictions.toml").read_text("utf-8"))
    for name, category in data["category"].items():
        assert set(category) <= {"domain", "names", "members", "includes", "whole"}, name
        assert category["domain"] in DOMAINS
        assert category["names"]
        assert all(other in data["category"] for other in category.get("includes", ()))
    assert all(other in data["category"] for diet in data["diet"].values() for other in diet["forbids"])
