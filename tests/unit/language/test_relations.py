"""Relations by their surface forms, and the sentences composed from triples."""

from __future__ import annotations

import pytest

from thinkback.language.relations import canonical_relation, get_relation, list_relations, parse_relation
from thinkback.language.sentence_builder import (
    add_article,
    compose_sentence,
    join_values,
    sentence_language,
)


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ("lives in", "lives in"),
        ("Resides in", "lives in"),
        ("住在", "lives in"),
        ("lives_in", "lives in"),
        ("首都", "capital"),
        ("favorite color", "favourite colour"),
        ("has mom", "has mother"),
        ("has 妹妹", "has sister"),
        ("collects", "collects"),
        ("是", "is"),  # also the words of a diet
        ("有", "has"),  # also those of an appointment
    ],
)
def test_canonical_relation_of_surface_forms(surface: str, name: str) -> None:
    assert canonical_relation(surface) == name
    assert canonical_relation(name) == name


def test_no_name_or_alias_belongs_to_two_relations() -> None:
    for relation in list_relations():
        for form in (relation.name, *relation.aliases):
            assert canonical_relation(form) == relation.name, form


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("likes", ("likes", False)),
        ("hates", ("likes", True)),
        ("does not like", ("likes", True)),
        ("no longer lives in", ("lives in", True)),
        ("is not allergic to", ("is allergic to", True)),
        ("不喜欢", ("likes", True)),
        ("不同于", ("不同于", False)),
    ],
)
def test_parse_relation_finds_negation(surface: str, expected: tuple[str, bool]) -> None:
    assert parse_relation(surface) == expected


@pytest.mark.parametrize(
    ("name", "single"),
    [("lives in", True), ("is named", True), ("likes", False), ("speaks", False), ("has mother", True),
     ("has sister", False), ("has dog", False), ("favourite food", True), ("capital",
         True), ("works as", False),
     ("collects", False)],
)  # fmt: skip
def test_relation_cardinality(name: str, single: bool) -> None:
    assert get_relation(name).single_valued is single


@pytest.mark.parametrize("relation", list_relations(), ids=lambda relation: relation.name)
def test_relation_has_templates_in_both_languages(relation: object) -> None:
    name = getattr(relation, "name", "")
    for lang in ("en", "zh"):
        yes = compose_sentence("user", name, ("x",), lang=lang)
        no = compose_sentence("user", name, ("x",), lang=lang, negated=True)
        ended = compose_sentence("user", name, ("x",), lang=lang, negated=True, ended=True)
        assert len({yes, no, ended}) == 3
        assert "{" not in yes + no + ended


def test_compose_sentence() -> None:
    assert compose_sentence("user", "has dog", ("Rex",)) == "The user has a dog named Rex."
    assert compose_sentence("user's sister", "repairs", ("clocks",)) == "The user's sister repairs clocks."
    assert compose_sentence("user", "repairs", ("clocks",), negated=True) == "The user repairs not clocks."
    assert (
        compose_sentence("user", "birthday", ("May 6",), negated=True, ended=True)
        == "The user's former birthday is May 6."
    )
    assert compose_sentence("用户的妹妹", "has cat", ("咪咪",), lang="zh") == "用户的妹妹有猫叫咪咪。"
    assert (join_values((), lang="en"), join_values(("a", "b"), lang="en", negated=True)) == ("", "a or b")
    assert (add_article("actor"), add_article("the boss"), add_article("医生")) == (
        "an actor",
        "the boss",
        "医生",
    )
    assert (sentence_language("用户叫李明。"), sentence_language("привет")) == ("zh", "en")
