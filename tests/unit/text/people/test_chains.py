"""Phrases that name somebody in steps, as words alone: who that is, the graph tells."""

from __future__ import annotations

import pytest
from tests.timing import LINEAR, growth

from thinkback.text.people.chain import ANYONE, THEY, Called, Step, Told
from thinkback.text.people.chains import chains
from thinkback.text.people.names import USER

NAMES = frozenset(("anna", "tom", "dr. smith", "o'brien", "mary ann", "安娜", "王伟"))


def read(text: str) -> list[tuple[str, str, list[str]]]:
    """(words, head, what each link says) of every chain."""
    out = []
    for chain in chains(text, NAMES.__contains__):
        links = []
        for link in chain.links:
            match link:
                case Step():
                    links.append(link.person or link.kin or link.relations[0])
                case Called():
                    links.append(f"called {link.name}")
                case Told():
                    links.append(f"told {link.clause}")
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
        ("her husband", [("her husband", THEY, ["husband"])]),
        ("the guy who sings", [("guy", ANYONE, ["told sings"])]),
        ("the city where Tom lives", [("city where Tom lives", "tom", ["lives in"])]),
        ("the doctor", []),
        ("my list", []),
        ("我妹妹的丈夫", [("我妹妹的丈夫", USER, ["younger sister", "husband"])]),
        ("王伟家的猫", [("王伟家的猫", "王伟", ["cat"])]),
        ("我朋友王伟的公司在哪", [("我朋友王伟的公司", USER, ["friend", "called 王伟", "works at"])]),
        ("她老公", [("她老公", THEY, ["husband"])]),
        ("我妹妹住的城市", [("我妹妹住的城市", USER, ["younger sister", "lives in"])]),
        ("会说法语的人", [("会说法语的人", ANYONE, ["told 会说法语"])]),
        ("Anna的丈夫", [("Anna的丈夫", "anna", ["husband"])]),
        ("我大学同学", []),
        ("今天天气好", []),
    ],
)
def test_a_chain_is_read(text: str, expected: list[tuple[str, str, list[str]]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("part", ["my sister's ", "of the ", "我的", "的人", "Anna ", "who that ", "'s"])
def test_a_long_text_takes_no_longer_than_a_question(part: str) -> None:
    assert growth(lambda size: chains(part * size, NAMES.__contains__), 20_000) < LINEAR
