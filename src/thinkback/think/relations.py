"""The vocabulary of relations: what each is called, whether it holds one value or many, and how it is said.

TiM's Algorithm 1 retires any older thought with the same subject and relation. That is right only where a
relation holds one value at a time (design decision 7): a person lives in one place but likes many things.
An unknown relation counts as many-valued, so nothing is ever retired because of a word we do not know.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from thinkback.text.people.kin import EITHER_ZH, KIN_EN, KIN_ZH, ONE_EACH, PETS_EN, PETS_ZH
from thinkback.text.people.names import normalise
from thinkback.think.attributes import OLD
from thinkback.think.vocabulary import ENTRIES, FAVOURITES_ZH, Relation, of, said


def _said_zh(relation: Relation) -> tuple[str, str]:
    """What stands between subject and object, whole and as a noun: 的地址是, 地址."""
    words = relation.zh.replace("{s}", "").replace("{o}", "")
    noun = words.removeprefix("的").removesuffix("是")
    return words, noun if words == f"的{noun}是" else ""


VOCABULARY: dict[str, Relation] = {relation.name: relation for relation, _ in ENTRIES}
_FORMS: dict[str, str] = {
    normalise(noun): each.relation for each in OLD for noun in (*each.english, *each.chinese)
} | {
    normalise(form): relation.name
    for relation, forms in ENTRIES
    for form in (relation.name, *forms.split(","), *_said_zh(relation))
    if form.strip()
}
_KIN = KIN_EN | KIN_ZH | PETS_EN | PETS_ZH
_PETS = frozenset((*PETS_EN.values(), *PETS_ZH.values()))
_KIN_ZH = {name: word for words in (KIN_ZH, PETS_ZH) for word, name in reversed(words.items())}
FAVOURITE = "favourite "
_SAME_THING = {"color": "colour", "film": "movie", "meal": "food", "beverage": "drink"}


def canonical(relation: str) -> str:
    """The one name of a relation: of a known surface form, its name; else the words, normalised."""
    folded = normalise(relation.replace("_", " ").replace("favorite", "favourite"))
    if folded in _FORMS:
        return _FORMS[folded]
    head, _, rest = folded.partition(" ")
    if folded.startswith(FAVOURITE):
        return FAVOURITE + _SAME_THING.get(rest, rest)
    if head in ("has", "have") and rest in _KIN:
        return f"has {_KIN[rest]}"
    return folded


_OPPOSITES = {"dislikes": "likes", "dislike": "likes", "hates": "likes", "hate": "likes", "讨厌": "likes"}
_OPPOSITES |= {"detests": "likes", "can't stand": "likes", "不爱": "likes", "反感": "likes"}
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


def polar(relation: str) -> tuple[str, bool]:
    """A relation as a model may say it -> (canonical name, denied?): "doesn't like" is ("likes", True)."""
    folded = normalise(relation.replace("_", " "))
    if folded in _OPPOSITES:
        return _OPPOSITES[folded], True
    for negation in _NEGATIONS:
        if folded.startswith(negation) and len(folded) > len(negation):
            rest = folded.removeprefix(negation)
            return canonical(f"is {rest}" if negation.startswith("is") else rest), True
    for negation in _NEGATIONS_ZH:
        if (rest := folded.removeprefix(negation)) != folded and canonical(rest) in VOCABULARY:
            return canonical(rest), True
    return canonical(relation), False


@lru_cache(maxsize=4096)
def relation_of(name: str) -> Relation:
    """All that is known of a relation; families (has sister, favourite food) and unknown ones are made up."""
    key = canonical(name)
    if key in VOCABULARY:
        return VOCABULARY[key]
    if key.startswith(FAVOURITE):
        what = key.removeprefix(FAVOURITE)
        said_zh = f"{{s}}最喜欢的{FAVOURITES_ZH.get(what, what)}"
        return replace(of(key, "profile", True, ""), zh=said_zh + "是{o}", zh_not=said_zh + "不是{o}")
    kin = key.removeprefix("has ")
    if key.startswith("has ") and kin in _KIN.values():
        return _kin(key, kin)
    en_not, zh_not = f"{{s}} {key} not {{o}}", f"{{s}}不{key}{{o}}"
    made_up = said(key, "knowledge", False, f"{{s}} {key} {{o}}", en_not, f"{{s}}{key}{{o}}", zh_not)
    return replace(made_up, known=False)


def _kin(name: str, kin: str) -> Relation:
    word = EITHER_ZH.get(kin) or _KIN_ZH.get(kin, kin)
    if kin not in _PETS:
        return of(name, "relationship", kin in ONE_EACH, word, kin)
    en, en_not = f"{{s}} has a {kin} named {{o}}", f"{{s}} does not have a {kin} named {{o}}"
    return said(name, "relationship", False, en, en_not, f"{{s}}有{word}叫{{o}}", f"{{s}}没有{word}叫{{o}}")
