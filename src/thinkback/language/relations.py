"""The relations of thoughts: canonical names, aliases, cardinality and sentences, read from `relations.toml`.

Algorithm 1 of TiM retires every older thought with the same subject and relation. That is right only
for relations with one value at a time: a person lives in one place but likes many things. A relation that is
not in the table counts as many-valued, so an unknown word never retires a thought.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from thinkback.language.kinship import (
    GENERIC_ROLE_WORDS_ZH,
    KIN_EN,
    KIN_ZH,
    PETS_EN,
    PETS_ZH,
    UNIQUE_ROLES,
)
from thinkback.language.names import normalise_name
from thinkback.language.text_cache import cache_words
from thinkback.types import Kind

ALL_VALUES = "*"
"""Wildcard for every value of a relation."""
LANGUAGES = ("en", "zh")
ROLE_FAMILY = "has {role}"
"""Family of relations to relatives and pets: "has sister", "has dog"."""
FAVOURITE_FAMILY = "favourite {noun}"
FAVOURITE_PREFIX = FAVOURITE_FAMILY.removesuffix("{noun}")


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language speaks of a relation; `{s}` is the subject and `{o}` the value of a sentence.

    `statements`, `negations` and `denials` are patterns of sentences that state the fact, state that it does
    not hold, and end a fact known before. `cues` are words of questions about it.
    """

    sentence: str
    negated: str
    noun: str = ""
    cues: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation of thoughts and its wording in each language."""

    name: str
    kind: Kind
    single_valued: bool
    """A newer value replaces the older one."""
    wordings: Mapping[str, Wording] = field(hash=False)
    aliases: tuple[str, ...] = ()
    past: str = ""
    """Relation of the same fact when it has ended: "lived in"."""
    takes_article: bool = False
    """English values get "a" or "an": "works as a nurse"."""
    value_slot: str = ""
    """Slot of the value in the attribute patterns of a language."""
    is_known: bool = True
    """False for a relation that is not in the table."""

    def wording(self, lang: str) -> Wording:
        """The wording in a language; English where the language has none."""
        return self.wordings.get(lang) or self.wordings["en"]


@dataclass(frozen=True, slots=True)
class _Registry:
    relations: Mapping[str, Relation]
    families: Mapping[str, Relation]
    name_by_form: Mapping[str, str]
    favourite_nouns: Mapping[str, Mapping[str, str]]


@cache
def _registry() -> _Registry:
    """Parse the table on first use, so that `import thinkback` does not wait for it."""
    source = files("thinkback.language").joinpath("relations.toml").read_text("utf-8")
    table = tomllib.loads(source)
    parsed = [_parse_relation_record(record) for record in table["relation"]]
    relations = {relation.name: relation for relation in parsed if "{" not in relation.name}
    return _Registry(
        relations,
        {relation.name: relation for relation in parsed if "{" in relation.name},
        _names_by_form(relations.values()),
        table["favourite_nouns"],
    )


def _names_by_form(relations: Collection[Relation]) -> dict[str, str]:
    """The name of the relation for each alias and each Chinese wording.

    Several relations may have the same wording: 是 stands in the sentences of "is" and of "diet", 有 in those
    of "has" and of "has appointment". Then the relation that comes first in the table is meant.
    """
    names: dict[str, str] = {}
    for relation in relations:
        names |= {normalise_name(form): relation.name for form in (*relation.aliases, relation.name)}
    for relation in relations:
        for form in _surface_forms_zh(relation):
            if form:
                names.setdefault(normalise_name(form), relation.name)
    return names


def _parse_relation_record(record: Mapping[str, Any]) -> Relation:
    name = str(record["name"])
    return Relation(
        name=name,
        kind=record["kind"],
        single_valued=record["cardinality"] == "one",
        wordings={lang: _parse_wording(name, record.get(lang, {}), lang) for lang in LANGUAGES},
        aliases=tuple(record.get("aliases", ())),
        past=record.get("past", ""),
        takes_article=record.get("article", False),
        value_slot=record.get("value", ""),
    )


def _parse_wording(name: str, record: Mapping[str, Any], lang: str) -> Wording:
    noun = record.get("noun", "")
    sentence, negated = _attribute_sentences(noun or name, lang)
    return Wording(
        sentence=record.get("sentence", sentence),
        negated=record.get("negated", negated),
        noun=noun,
        cues=tuple(record.get("cues", ())),
        statements=tuple(record.get("statements", ())),
        negations=tuple(record.get("negations", ())),
        denials=tuple(record.get("denials", ())),
    )


def _attribute_sentences(noun: str, lang: str) -> tuple[str, str]:
    """Sentence and negated sentence of an attribute: "{s}'s rent is {o}", {s}的房租是{o}."""
    if lang == "zh":
        return f"{{s}}的{noun}是{{o}}", f"{{s}}的{noun}不是{{o}}"
    return f"{{s}}'s {noun} is {{o}}", f"{{s}}'s {noun} is not {{o}}"


def _surface_forms_zh(relation: Relation) -> tuple[str, str]:
    """The Chinese words between subject and value, and the noun of an attribute: 的地址是, 地址."""
    words = relation.wording("zh").sentence.replace("{s}", "").replace("{o}", "")
    noun = words.removeprefix("的").removesuffix("是")
    return words, noun if words == f"的{noun}是" else ""


_KIN_NAMES = KIN_EN | KIN_ZH | PETS_EN | PETS_ZH
_PET_NAMES = frozenset((*PETS_EN.values(), *PETS_ZH.values()))
_KIN_WORDS_ZH = {name: word for words in (KIN_ZH, PETS_ZH) for word, name in reversed(words.items())}
_FAVOURITE_SYNONYMS = {"color": "colour", "film": "movie", "meal": "food", "beverage": "drink"}


def list_relations() -> tuple[Relation, ...]:
    """All relations of the table, without the families."""
    return tuple(_registry().relations.values())


def list_families() -> tuple[Relation, ...]:
    """The families of relations, "has {role}" and "favourite {noun}"."""
    return tuple(_registry().families.values())


def canonical_relation(relation: str) -> str:
    """Return the canonical name of a relation: "resides in" -> "lives in".

    An unknown relation is returned in normalised spelling.
    """
    folded = normalise_name(relation.replace("_", " ").replace("favorite", "favourite"))
    known = _registry().name_by_form
    if folded in known:
        return known[folded]
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
        rest = folded.removeprefix(negation)
        if rest != folded and canonical_relation(rest) in _registry().relations:
            return canonical_relation(rest), True
    return canonical_relation(relation), False


@cache_words(4096)
def get_relation(name: str) -> Relation:
    """Look up a relation by any of its names.

    "has sister", "favourite food" and unknown relations are derived, not looked up.
    """
    key = canonical_relation(name)
    known = _registry().relations.get(key)
    if known is not None:
        return known
    if key.startswith(FAVOURITE_PREFIX):
        return _favourite_relation(key)
    kin = key.removeprefix("has ")
    if key.startswith("has ") and kin in _KIN_NAMES.values():
        return _kin_relation(key, kin)
    return Relation(
        name=key,
        kind="knowledge",
        single_valued=False,
        wordings={
            "en": Wording(f"{{s}} {key} {{o}}", f"{{s}} {key} not {{o}}"),
            "zh": Wording(f"{{s}}{key}{{o}}", f"{{s}}不{key}{{o}}"),
        },
        is_known=False,
    )


def favourite_noun(word: str) -> str:
    """The English noun of a favourite: 颜色 -> "colour"; other words stay as they are."""
    for nouns in _registry().favourite_nouns.values():
        for english, other in nouns.items():
            if other == word:
                return english
    return word


def _favourite_relation(name: str) -> Relation:
    noun = name.removeprefix(FAVOURITE_PREFIX)
    noun_zh = _registry().favourite_nouns["zh"].get(noun, noun)
    return Relation(
        name=name,
        kind="profile",
        single_valued=True,
        wordings={
            "en": Wording(*_attribute_sentences(name, "en")),
            "zh": Wording(f"{{s}}最喜欢的{noun_zh}是{{o}}", f"{{s}}最喜欢的{noun_zh}不是{{o}}"),
        },
    )


def _kin_relation(name: str, kin: str) -> Relation:
    """The relation to a relative or pet, for example "has sister"."""
    word = GENERIC_ROLE_WORDS_ZH.get(kin) or _KIN_WORDS_ZH.get(kin, kin)
    if kin in _PET_NAMES:
        en = Wording(f"{{s}} has a {kin} named {{o}}", f"{{s}} does not have a {kin} named {{o}}")
        zh = Wording(f"{{s}}有{word}叫{{o}}", f"{{s}}没有{word}叫{{o}}")
    else:
        en = Wording(*_attribute_sentences(kin, "en"))
        zh = Wording(*_attribute_sentences(word, "zh"))
    return Relation(
        name=name,
        kind="relationship",
        single_valued=kin in UNIQUE_ROLES,
        wordings={"en": en, "zh": zh},
    )
