"""Whether a clause tells a relation, and of which objects."""

from __future__ import annotations

import pytest

from thinkback.text.people.telling import objects_in

KNOWN = frozenset(("oslo", "new york", "new york city", "nurse", "chess", "华为", "钓鱼", "花生"))


@pytest.mark.parametrize(
    ("clause", "found", "relation", "told"),
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
def test_a_clause_tells_a_relation_of_an_object(clause: str, found: str, relation: str, told: bool) -> None:
    item, tells, end = next(objects_in(clause, KNOWN.__contains__))
    assert item == found
    assert clause[:end].casefold().endswith(found)
    assert tells(relation) is told


def test_a_clause_without_a_known_object_tells_nothing() -> None:
    assert list(objects_in("lives in Rome", KNOWN.__contains__)) == []
    assert list(objects_in("", KNOWN.__contains__)) == []
