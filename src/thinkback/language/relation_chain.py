"""Relation chains: phrases that name a person by relations ("my sister's husband", 我妹妹的丈夫)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thinkback.language.kinship import PETS_EN, ROLES_EN, ROLES_ZH, specific_role_zh

IsKnownName = Callable[[str], bool]
"""Whether a case-folded text is a known name."""

_ATTRIBUTE_WORDS: dict[str, tuple[str, ...]] = {
    "company employer firm workplace office 公司 单位 东家": ("works at",),
    "city town country village 城市 国家": ("lives in",),
    "school university college uni 学校 大学 中学 小学": ("studies at", "studied at", "graduated from"),
    "hometown 老家 家乡 故乡": ("comes from", "was born in", "grew up in"),
}
ATTRIBUTE_RELATIONS: dict[str, tuple[str, ...]] = {
    word: relations for words, relations in _ATTRIBUTE_WORDS.items() for word in words.split()
}
"""Words for things a person has one of, and the relations of thoughts about them."""


@dataclass(frozen=True, slots=True)
class RelationStep:
    """A step from a person to a relative (`role`, such as "sister") or to an attribute (`relations`).

    `specific_role` is more precise where the word is: "older sister", 表哥.
    """

    word: str
    role: str = ""
    specific_role: str = ""
    relations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameLink:
    """A name next to a role: "Tom" in "my friend Tom"."""

    name: str


@dataclass(frozen=True, slots=True)
class DescriptionLink:
    """A description of the person, without "who" or 的: "lives in Oslo".

    The clause may be longer than the description.
    """

    clause: str
    start: int


ChainLink = RelationStep | NameLink | DescriptionLink
UNKNOWN_PERSON = ""  # head of "the person who ..."
PRONOUN = "they"  # head of "her husband"


@dataclass(frozen=True, slots=True)
class RelationChain:
    """`text[start:end]` names a person; `head` is `USER`, a name, `PRONOUN` or `UNKNOWN_PERSON`."""

    start: int
    end: int
    head: str
    links: tuple[ChainLink, ...] = ()


def english_step(word: str, qualifier: str = "") -> RelationStep | None:
    """The step of an English word, or None; `qualifier` is a word such as "older" or "maternal"."""
    role = ROLES_EN.get(word) or (ROLES_EN.get(word[:-1]) if word.endswith("s") else None)
    if role is not None:
        return RelationStep(word, role, f"{qualifier} {role}" if qualifier and word not in PETS_EN else "")
    return RelationStep(word, relations=ATTRIBUTE_RELATIONS[word]) if word in ATTRIBUTE_RELATIONS else None


def chinese_step(word: str) -> RelationStep:
    """The step of a Chinese word, which must be in `ROLES_ZH` or `ATTRIBUTE_RELATIONS`."""
    if word in ROLES_ZH:
        return RelationStep(word, ROLES_ZH[word], specific_role_zh(word))
    return RelationStep(word, relations=ATTRIBUTE_RELATIONS[word])
