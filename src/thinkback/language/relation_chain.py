"""The phrases of a query that name somebody by who he is to somebody: "my sister's husband", 我妹妹的丈夫.

Only words are read here; who that is, `recall.graph` knows. A chain starts at the user, at a known name, at
a pronoun, or at a description ("the friend who lives in Oslo", 住在奥斯陆的那个朋友), and goes on in steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thinkback.language.kinship import PETS_EN, ROLES_EN, ROLES_ZH, specific_role_zh

IsKnownName = Callable[[str], bool]
"""Whether words, case-folded, are a name somebody is known by."""

_ATTRIBUTE_WORDS: dict[str, tuple[str, ...]] = {
    "company employer firm workplace office 公司 单位 东家": ("works at",),
    "city town country village 城市 国家": ("lives in",),
    "school university college uni 学校 大学 中学 小学": ("studies at", "studied at", "graduated from"),
    "hometown 老家 家乡 故乡": ("comes from", "was born in", "grew up in"),
}
ATTRIBUTE_RELATIONS: dict[str, tuple[str, ...]] = {
    word: relations for words, relations in _ATTRIBUTE_WORDS.items() for word in words.split()
}
"""Words for what somebody has only one of, and the relations under which thoughts keep it."""


@dataclass(frozen=True, slots=True)
class RelationStep:
    """From somebody to who is something to him (`kin`, or more closely `person`), or to what he has."""

    word: str
    role: str = ""
    specific_role: str = ""
    relations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameLink:
    """A name said beside a role: "my friend Tom"."""

    name: str


@dataclass(frozen=True, slots=True)
class DescriptionLink:
    """What is told of the one meant, without "who" or 的: "lives in Oslo"; it may run on too far."""

    clause: str
    start: int


ChainLink = RelationStep | NameLink | DescriptionLink
UNKNOWN_PERSON = ""
PRONOUN = "they"


@dataclass(frozen=True, slots=True)
class RelationChain:
    """`text[start:end]` names somebody; `head` is the user, a name, `THEY` (a pronoun) or `ANYONE`."""

    start: int
    end: int
    head: str
    links: tuple[ChainLink, ...] = ()


def english_step(word: str, which: str = "") -> RelationStep | None:
    """The step a word of English is; `which` is one of the words that tell of several the one meant."""
    kin = ROLES_EN.get(word) or (ROLES_EN.get(word[:-1]) if word.endswith("s") else None)
    if kin is not None:
        return RelationStep(word, kin, f"{which} {kin}" if which and word not in PETS_EN else "")
    return RelationStep(word, relations=ATTRIBUTE_RELATIONS[word]) if word in ATTRIBUTE_RELATIONS else None


def chinese_step(word: str) -> RelationStep:
    """The step a Chinese word of `text.people.kin` or of `ATTRIBUTES` is."""
    if word in ROLES_ZH:
        return RelationStep(word, ROLES_ZH[word], specific_role_zh(word))
    return RelationStep(word, relations=ATTRIBUTE_RELATIONS[word])
