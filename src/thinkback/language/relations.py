"""The relations of thoughts: canonical names, surface forms, cardinality and sentence templates.

Algorithm 1 of TiM retires every older thought with the same subject and relation. That is right only
for relations with one value at a time: a person lives in one place but likes many things. A relation that is
not in the table counts as many-valued, so an unknown word never retires a thought.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from thinkback.language.attributes import ATTRIBUTE_ALIASES
from thinkback.language.kinship import (
    GENERIC_ROLE_WORDS_ZH,
    KIN_EN,
    KIN_ZH,
    PETS_EN,
    PETS_ZH,
    UNIQUE_ROLES,
)
from thinkback.language.names import normalise_name
from thinkback.language.relation_templates import (
    FAVOURITE_NOUNS_ZH,
    RELATION_TABLE,
    Relation,
    attribute_relation,
    phrase_relation,
)

ALL_VALUES = "*"
"""Wildcard for every value of a relation, in amendments."""


def _surface_forms_zh(relation: Relation) -> tuple[str, str]:
    """The Chinese words between subject and value, and the noun of an attribute: 的地址是, 地址."""
    words = relation.zh.replace("{s}", "").replace("{o}", "")
    noun = words.removeprefix("的").removesuffix("是")
    return words, noun if words == f"的{noun}是" else ""


RELATIONS: dict[str, Relation] = {relation.name: relation for relation, _ in RELATION_TABLE}
_NAME_BY_FORM: dict[str, str] = {
    normalise_name(noun): each.relation
    for each in ATTRIBUTE_ALIASES
    for noun in (*each.english_nouns, *each.chinese_nouns)
} | {
    normalise_name(form): relation.name
    for relation, forms in RELATION_TABLE
    for form in (relation.name, *forms.split(","), *_surface_forms_zh(relation))
    if form.strip()
}
_KIN_NAMES = KIN_EN | KIN_ZH | PETS_EN | PETS_ZH
_PET_NAMES = frozenset((*PETS_EN.values(), *PETS_ZH.values()))
_KIN_WORDS_ZH = {name: word for words in (KIN_ZH, PETS_ZH) for word, name in reversed(words.items())}
FAVOURITE_PREFIX = "favourite "
_FAVOURITE_SYNONYMS = {"color": "colour", "film": "movie", "meal": "food", "beverage": "drink"}


def canonical_relation(relation: str) -> str:
    """Return the canonical name of a relation: "resides in" -> "lives in".

    An unknown relation is returned in normalised spelling.
    """
    folded = normalise_name(relation.replace("_", " ").replace("favorite", "favourite"))
    if folded in _NAME_BY_FORM:
        return _NAME_BY_FORM[folded]
    head, _, rest = folded.partition(" ")
    if folded.startswith(FAVOURITE_PREFIX):
        return FAVOURITE_PREFIX + _FAVOURITE_SYNONYMS.get(rest, rest)
    if head in ("has", "have") and rest in _KIN_NAMES:
        return f"has {_KIN_NAMES[rest]}"
    return folded


_NEGATIVE_RELATIONS = dict.fromkeys(
    ("dislikes", "dislike", "hates", "hate", "detests", "can't stand", "讨厌", "不爱", "反感"), "likes"
)
_NEGATIONS = (
    "does not ",
    "doesn't ",
    "do not ",
    "don't ",
    "did not ",
    "no longer ",
    "is not ",
    "isn't ",
    "not ",
)
_NEGATIONS_ZH = ("不再", "没有", "并不", "不")


def parse_relation(relation: str) -> tuple[str, bool]:
    """Parse a relation as a model writes it into (canonical name, negated).

    "doesn't like" gives ("likes", True).
    """
    folded = normalise_name(relation.replace("_", " "))
    if folded in _NEGATIVE_RELATIONS:
        return _NEGATIVE_RELATIONS[folded], True
    for negation in _NEGATIONS:
        if folded.startswith(negation) and len(folded) > len(negation):
            rest = folded.removeprefix(negation)
            return canonical_relation(f"is {rest}" if negation.startswith("is") else rest), True
    for negation in _NEGATIONS_ZH:
        if (rest := folded.removeprefix(negation)) != folded and canonical_relation(rest) in RELATIONS:
            return canonical_relation(rest), True
    return canonical_relation(relation), False


@lru_cache(maxsize=4096)
def get_relation(name: str) -> Relation:
    """Look up a relation by any of its names.

    "has sister", "favourite food" and unknown relations are derived, not looked up.
    """
    key = canonical_relation(name)
    if key in RELATIONS:
        return RELATIONS[key]
    if key.startswith(FAVOURITE_PREFIX):
        noun = key.removeprefix(FAVOURITE_PREFIX)
        start_zh = f"{{s}}最喜欢的{FAVOURITE_NOUNS_ZH.get(noun, noun)}"
        return replace(
            attribute_relation(key, "profile", True, ""), zh=start_zh + "是{o}", zh_not=start_zh + "不是{o}"
        )
    kin = key.removeprefix("has ")
    if key.startswith("has ") and kin in _KIN_NAMES.values():
        return _kin_relation(key, kin)
    en_not, zh_not = f"{{s}} {key} not {{o}}", f"{{s}}不{key}{{o}}"
    unknown = phrase_relation(
        key, "knowledge", False, f"{{s}} {key} {{o}}", en_not, f"{{s}}{key}{{o}}", zh_not
    )
    return replace(unknown, is_known=False)


def _kin_relation(name: str, kin: str) -> Relation:
    """The relation to a relative or pet, for example "has sister"."""
    word = GENERIC_ROLE_WORDS_ZH.get(kin) or _KIN_WORDS_ZH.get(kin, kin)
    if kin not in _PET_NAMES:
        return attribute_relation(name, "relationship", kin in UNIQUE_ROLES, word, kin)
    en, en_not = f"{{s}} has a {kin} named {{o}}", f"{{s}} does not have a {kin} named {{o}}"
    return phrase_relation(
        name, "relationship", False, en, en_not, f"{{s}}有{word}叫{{o}}", f"{{s}}没有{word}叫{{o}}"
    )
