"""Relation chains and known objects in queries."""

from __future__ import annotations

import pytest
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.language.mentions import find_chains, find_objects
from thinkback.language.names import USER
from thinkback.language.relation_chain import (
    PRONOUN,
    UNKNOWN_PERSON,
    DescriptionLink,
    NameLink,
    RelationStep,
)

NAMES = frozenset(("anna", "tom", "dr. smith", "o'brien", "mary ann", "安娜", "王伟"))


def parse_chains(text: str) -> list[tuple[str, str, list[str]]]:
    """(words, head, links as text) of every chain."""
    out = []
    for chain in find_chains(text, NAMES.__contains__):
        links = []
        for link in chain.links:
            match link:
                case RelationStep():
                    links.append(link.specific_role or link.role or link.relations[0])
                case NameLink():
                    links.append(f"called {link.name}")
                case DescriptionLink():
                    links.append(f"described as {link.clause}")
        out.append((text[chain.start : chain.end], chain.head, links))
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my sister", [("my sister", USER, ["sister"])]),
        (
            "My little sister's best friend",
            [("My little sister's best friend", USER, ["younger sister", "friend"])],
        ),
        ("my mother in law's dog", [("my mother in law's dog", USER, ["mother-in-law", "dog"])]),
        ("Is Mary Ann's boss here?", [("Mary Ann's boss", "mary ann", ["boss"])]),
        (
            "O’Brien's wife and Dr. Smith",
            [("O’Brien's wife", "o'brien", ["wife"]), ("Dr. Smith", "dr. smith", [])],
        ),
        ("my friend Tom's wife", [("my friend Tom's wife", USER, ["friend", "called tom", "wife"])]),
        ("the wife of the boss of Tom", [("wife of the boss of Tom", "tom", ["boss", "wife"])]),
        ("her husband", [("her husband", PRONOUN, ["husband"])]),
        ("the guy who sings", [("guy", UNKNOWN_PERSON, ["described as sings"])]),
        ("the city where Tom lives", [("city where Tom lives", "tom", ["lives in"])]),
        ("the doctor", []),
        ("my list", []),
        ("我妹妹的丈夫", [("我妹妹的丈夫", USER, ["younger sister", "husband"])]),
        ("王伟家的猫", [("王伟家的猫", "王伟", ["cat"])]),
        ("我朋友王伟的公司在哪", [("我朋友王伟的公司", USER, ["friend", "called 王伟", "works at"])]),
        ("她老公", [("她老公", PRONOUN, ["husband"])]),
        ("我妹妹住的城市", [("我妹妹住的城市", USER, ["younger sister", "lives in"])]),
        ("会说法语的人", [("会说法语的人", UNKNOWN_PERSON, ["described as 会说法语"])]),
        ("Anna的丈夫", [("Anna的丈夫", "anna", ["husband"])]),
        ("我大学同学", []),
        ("今天天气好", []),
    ],
)
def test_find_chains(text: str, expected: list[tuple[str, str, list[str]]]) -> None:
    assert parse_chains(text) == expected


@pytest.mark.parametrize("part", ["my sister's ", "of the ", "我的", "的人", "Anna ", "who that ", "'s"])
def test_find_chains_time_is_bounded(part: str) -> None:
    assert time_growth(lambda size: find_chains(part * size, NAMES.__contains__), 20_000) < MAX_LINEAR_GROWTH


KNOWN = frozenset(("oslo", "new york", "new york city", "nurse", "chess", "华为", "钓鱼", "花生"))


@pytest.mark.parametrize(
    ("clause", "found", "relation", "expected"),
    [
        ("lives in Oslo", "oslo", "lives in", True),
        ("works in Oslo", "oslo", "lives in", False),
        ("moved to New York City last year", "new york city", "lives in", True),
        ("is a nurse", "nurse", "works as", True),
        ("hates chess", "chess", "likes", False),
        ("enjoys chess a lot", "chess", "likes", True),
        ("plays chess", "chess", "plays", True),
        ("from Oslo", "oslo", "comes from", True),
        ("在华为工作", "华为", "works at", True),
        ("也喜欢钓鱼", "钓鱼", "likes", True),
        ("不喜欢钓鱼", "钓鱼", "likes", False),
        ("对花生过敏", "花生", "is allergic to", True),
    ],
)
def test_find_objects_and_relation(clause: str, found: str, relation: str, expected: bool) -> None:
    item, has_relation, end = next(find_objects(clause, KNOWN.__contains__))
    assert item == found
    assert clause[:end].casefold().endswith(found)
    assert has_relation(relation) is expected


def test_find_objects_without_known_object() -> None:
    assert list(find_objects("lives in Rome", KNOWN.__contains__)) == []
    assert list(find_objects("", KNOWN.__contains__)) == []
