"""How roles belong together: a wife is a partner, my sister's son my nephew, and 妹妹 is no 姐姐.

`kin` knows the words; this knows what follows from them, so that "my nephew" can be found where only a
sister and her son were told. All roles are said by the one word `kin` gives them.
"""

from __future__ import annotations

from thinkback.text.people.kin import EITHER_ZH, KIN_EN, KIN_ZH, PERSON_ZH, PETS_EN, PETS_ZH

ROLES: dict[str, str] = KIN_EN | PETS_EN | {"parent": "parents", "grandparent": "grandparents"}
ROLES |= {"children": "child", "wives": "wife", "boy": "son", "girl": "daughter"}
ROLES_ZH: dict[str, str] = KIN_ZH | PETS_ZH | {"姐妹": "sister", "兄弟姐妹": "sibling"}
ROLES_ZH |= {"子女": "child", "儿女": "child"}
HELD = frozenset((*ROLES.values(), *ROLES_ZH.values()))
"""Every role that a thought may be kept under: (somebody, has ROLE, name)."""

QUALIFIERS = {"elder": "older", "big": "older", "little": "younger"}
QUALIFIERS |= {
    word: word for word in ("older", "younger", "maternal", "paternal", "former", "pen", "childhood", "late")
}
"""Words before a role that tell which of several is meant."""

_COUPLE = ("husband", "wife", "partner", "fiance", "girlfriend", "boyfriend")
_PETS = tuple(dict.fromkeys((*PETS_EN.values(), *PETS_ZH.values())))
_WIDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "partner": (_COUPLE,),
    "husband": (("husband",), ("partner", "fiance")),
    "wife": (("wife",), ("partner", "fiance")),
    "fiance": (("fiance",), ("partner",)),
    "boyfriend": (("boyfriend",), ("partner",)),
    "girlfriend": (("girlfriend",), ("partner",)),
    "child": (("child", "son", "daughter"),),
    "son": (("son",), ("child",)),
    "daughter": (("daughter",), ("child",)),
    "sibling": (("sibling", "brother", "sister"),),
    "brother": (("brother",), ("sibling",)),
    "sister": (("sister",), ("sibling",)),
    "parents": (("parents", "mother", "father"),),
    "grandparents": (("grandparents", "grandmother", "grandfather"),),
    "parents-in-law": (("parents-in-law", "mother-in-law", "father-in-law"),),
    "pet": (_PETS,),
    "boss": (("boss",),),
}

_CHILDREN = ("son", "daughter", "child")
_PARENTS = ("mother", "father", "parents")
_SIBLINGS = ("brother", "sister", "sibling")
_MUTUAL = ("friend", "colleague", "roommate", "neighbour", "classmate", "cousin", "ex", "co-founder")
_BACK: dict[str, tuple[str, ...]] = {name: (name,) for name in _MUTUAL}
_BACK |= dict.fromkeys(("husband", "wife", "partner", "fiance"), _COUPLE)
_BACK |= dict.fromkeys(("girlfriend", "boyfriend"), ("girlfriend", "boyfriend", "partner", "fiance"))
_BACK |= dict.fromkeys(_PARENTS, _CHILDREN) | dict.fromkeys(_CHILDREN, _PARENTS)
_BACK |= dict.fromkeys(_SIBLINGS, _SIBLINGS)
_BACK |= dict.fromkeys(("grandmother", "grandfather", "grandparents"), ("grandson", "granddaughter"))
_BACK |= dict.fromkeys(("grandson", "granddaughter"), ("grandmother", "grandfather", "grandparents"))
_BACK |= dict.fromkeys(("aunt", "uncle"), ("niece", "nephew"))
_BACK |= dict.fromkeys(("niece", "nephew"), ("aunt", "uncle"))
_BACK |= {"landlord": ("tenant",), "tenant": ("landlord",)}

_OF_WOMEN = """mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law
 sister-in-law daughter-in-law stepmother stepdaughter stepsister godmother goddaughter"""
_OF_MEN = """father brother husband boyfriend son uncle nephew grandfather grandson father-in-law
 brother-in-law son-in-law stepfather stepson stepbrother godfather godson"""
_WOMEN = frozenset(_OF_WOMEN.split())
_MEN = frozenset(_OF_MEN.split())

_AGES = ("older", "younger")
_COMPOSED: dict[str, tuple[tuple[str, str], ...]] = {
    **{kin: (("sibling", kin),) for kin in ("sister", "brother", "mother", "father", "parents")},
    **{f"{age} {kin}": (("sibling", f"{age} {kin}"),) for kin in ("sister", "brother") for age in _AGES},
    "nephew": (("sibling", "son"),),
    "niece": (("sibling", "daughter"),),
    "brother-in-law": (("sister", "husband"), ("partner", "brother")),
    "sister-in-law": (("brother", "wife"), ("partner", "sister")),
    "mother-in-law": (("partner", "mother"),),
    "father-in-law": (("partner", "father"),),
    "son-in-law": (("daughter", "husband"),),
    "daughter-in-law": (("son", "wife"),),
    "grandmother": (("parents", "mother"),),
    "grandfather": (("parents", "father"),),
    "grandson": (("child", "son"),),
    "granddaughter": (("child", "daughter"),),
    "uncle": (("parents", "brother"),),
    "aunt": (("parents", "sister"),),
    "cousin": (("uncle", "child"), ("aunt", "child")),
    "外甥": (("sister", "son"),),
    "外甥女": (("sister", "daughter"),),
    "侄子": (("brother", "son"),),
    "侄女": (("brother", "daughter"),),
    "舅": (("mother", "brother"),),
    "姨": (("mother", "sister"),),
    "姑": (("father", "sister"),),
    "叔": (("father", "brother"),),
    "伯": (("father", "brother"),),
    "妹夫": (("younger sister", "husband"),),
    "姐夫": (("older sister", "husband"),),
    "嫂子": (("older brother", "wife"),),
    "嫂嫂": (("older brother", "wife"),),
    "弟妹": (("younger brother", "wife"),),
    "弟媳": (("younger brother", "wife"),),
    "maternal grandmother": (("mother", "mother"),),
    "maternal grandfather": (("mother", "father"),),
    "paternal grandmother": (("father", "mother"),),
    "paternal grandfather": (("father", "father"),),
}
_LINES = "姑姨舅婶伯叔"  # by which side of the family an aunt or uncle is one
_ANY_LINE = frozenset(("阿姨", "叔叔"))  # said of any friend of the family
_OWN_WORD = frozenset(("cousin", "brother-in-law", "sister-in-law", "niece", "nephew"))
_SPELT_TWICE = {"嫂嫂": "嫂子", "弟媳": "弟妹"}


def told_role(words: str) -> tuple[str, str]:
    """(role, which one) of words as a thought may say it: "older sister" is a sister; empty if it is none."""
    if words in HELD:
        return words, ""
    if words in ROLES_ZH:
        return ROLES_ZH[words], person_of(words)
    which, _, word = words.rpartition(" ")
    kin = ROLES.get(word, "")
    return kin, f"{which} {kin}" if kin and which in QUALIFIERS.values() else ""


def kin_of(person: str) -> str:
    """The role of a person told more closely: of "older sister" it is "sister", of 表哥 "cousin"."""
    return ROLES_ZH.get(person) or person.rpartition(" ")[2]


def person_of(word: str) -> str:
    """Which of several in one role a Chinese word means; empty where it does not tell."""
    kin = ROLES_ZH.get(word, "")
    if kin in _OWN_WORD:
        return _SPELT_TWICE.get(word, word)
    if kin in ("aunt", "uncle") and word not in _ANY_LINE:
        return next((line for line in word if line in _LINES), "")
    return PERSON_ZH.get(word, "") if kin in EITHER_ZH else ""


def tiers(kin: str) -> tuple[tuple[str, ...], ...]:
    """The roles by which one asked for as `kin` may be known: the first that somebody holds counts."""
    return _WIDER.get(kin, ((kin,),))


def back(kin: str) -> tuple[str, ...]:
    """What the owner of a role is to its holder: the mother of a son, or his father."""
    return _BACK.get(kin, ())


def composed(person: str, kin: str) -> tuple[tuple[str, str], ...]:
    """The pairs of steps that lead to such a one: a nephew is a sibling's son."""
    return _COMPOSED.get(person) or (() if person else _COMPOSED.get(kin, ()))


def never_held(kin: str) -> frozenset[str]:
    """The roles that nobody holds who is that: who is a mother is nobody's son."""
    return _MEN if kin in _WOMEN else _WOMEN if kin in _MEN else frozenset()
