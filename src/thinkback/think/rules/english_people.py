"""Whom an English sentence names: "my neighbour Priya", "a friend of mine, Tom", "Ann (my sister)".

A role that is said with a name is a fact wherever in the sentence it stands; and whoever was named is whom
"she" may mean afterwards. `there` works alike with places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from thinkback.text.people.kin import KIN_EN, PETS_EN, longest_first
from thinkback.text.people.names import USER
from thinkback.think.rules.english_parts import KIN, MODS, PET
from thinkback.think.rules.english_words import NAME, is_job, is_name, word_set

_ROLE = longest_first(KIN_EN | PETS_EN)
_CALLED = (
    r"(?:(?:'s| is) an? [\w -]{2,25}? (?:called|named)|,? (?:who is |who's )?(?:called|named)"
    r"|,? (?:her|his|its|their|whose) name(?:'s| is| was))"
)
_SIDES = r"(?![\w-])"
_MY = re.compile(
    rf"(?<!not )\b(?:[Mm]y|[Oo]ur) (?P<mods>{MODS})(?:(?P<free>[a-z]+) )?(?P<kin>{_ROLE})"
    rf"(?:{_CALLED}\s+|\s+|,\s+|\s*\()(?P<name>{NAME}){_SIDES}"
)
_MY_SEVERAL = re.compile(
    rf"\b[Mm]y (?:{MODS}|two |three |four )(?P<kin>{_ROLE}|children)s?(?:,? |,? are (?:called |named )?)"
    rf"(?P<names>{NAME}(?:, {NAME})*,? and {NAME})"
)
_OF_MINE = re.compile(
    rf"\b(?:an?|one of my) (?:old |good |close |dear )?(?P<kin>friend|colleague|cousin|neighbou?r|mate"
    rf"|coworker"
    rf"|pal|buddy|classmate)s?(?: of mine| at work| from work)?(?:,|,? (?:called|named))"
    rf" (?P<name>{NAME}){_SIDES}"
)
_NAME_FIRST = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME})(?:, | \(|,? (?:who is|who's) )my {MODS}(?P<kin>{_ROLE})\b"
    r"(?=\s*[,.;!)]|\Z|\s+who\b)"
)
_PET = re.compile(
    rf"\ban? (?:[\w-]+ )?(?P<kin>{PET})[,:]? (?:and )?(?:his |her |its |the )?name(?:'s| is) (?P<name>{NAME})"
)
_HAVE_ONE = re.compile(rf"\ban? {MODS}(?P<kin>{_ROLE}) (?:called|named) (?P<name>{NAME}){_SIDES}")
_WE_HAVE = re.compile(r"\b(?:I|we)(?:'ve(?: got)?| have(?: got)?| also have) an? .+ and an? ", re.I)
_NAMED_IT = re.compile(rf"\b(?:named|called|calling|naming|christened) (?:him|her|it) (?P<name>{NAME})")
_SOME_PET = re.compile(rf"\b(?:an?|the|our|my|new|this) (?:[\w-]+ )?(?P<kin>{PET})\b", re.I)
_OURS = re.compile(r"\b(?:we|our|I|my|the (?:house|family|gang|pack|household))\b", re.I)
_NOT_OURS = re.compile(r"\b(?:saw|met|bit|chased|neighbou?r'?s?|park|his|her|their|friend'?s?)\b", re.I)
_TRADE = re.compile(
    r"\s*,?\s*\(?(?:an?|the) (?P<o>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)(?=\s*[,.;!)]|\Z|\s+(?:in|at|from"
    r"|who|and|gave|is|has)\b)"
)
_ONCE = re.compile(r"(?:former|ex|retired|one-?time|wannabe|aspiring|future)\b")
_NOBODY = word_set("god jesus christ christmas easter english french german spanish chinese italian")
_UNNAMED = re.compile(rf"\b[Mm]y (?P<mods>{MODS})(?P<kin>{KIN})\b(?!'s|-)")
_PLACE = re.compile(rf"\b(?:in|to|from|near|at) (?P<o>{NAME})")
_SPEAKS_OF = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME}) (?:is|has|works|lives|likes|loves|plays|moved|just|got|was|called)\b"
)
_OPENING = 2000  # characters of an earlier turn that are looked at
_SHE = """mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law
 sister-in-law
 daughter-in-law stepmother stepsister stepdaughter godmother goddaughter"""
_HE = """father brother husband boyfriend son uncle nephew grandfather grandson father-in-law brother-in-law
 son-in-law stepfather stepbrother stepson godfather godson"""
_GENDER = dict.fromkeys(_SHE.split(), "she") | dict.fromkeys(_HE.split(), "he")
_PRONOUN = {"she": "she", "her": "she", "hers": "she", "he": "he", "his": "he", "him": "he"}
_TITLES = {"mr": "he", "mrs": "she", "ms": "she", "miss": "she", "sir": "he"}


@dataclass(frozen=True, slots=True)
class Mention:
    """A person or pet by name, the role it has to the user, and where the words stand."""

    kin: str
    name: str
    start: int
    end: int
    trade: str = ""


@dataclass(slots=True)
class Cast:
    """Whom this turn has named so far, in order; `before` is the cast of the turns before it."""

    people: list[str] = field(default_factory=list)
    gender: dict[str, str] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    before: Cast | None = None

    def meet(self, person: str, kin: str = "") -> None:
        """Somebody is spoken of; a name takes the place of "my sister" if that was all we knew."""
        unnamed = f"{USER}'s {kin}"
        if kin and unnamed != person and unnamed in self.people:
            self.people[:] = [each for each in self.people if each != unnamed]
        self.people.append(person)
        title = person.split(maxsplit=1)[0].rstrip(".").lower()
        known = _GENDER.get((KIN_EN | PETS_EN).get(kin, kin), "") or _TITLES.get(title, "")
        if known:
            self.gender[person] = known

    def whom(self, pronoun: str) -> str:
        """The one person a pronoun can mean; nobody if there are several."""
        wanted = _PRONOUN.get(pronoun.lower(), "")
        fits = {each for each in self.people if not wanted or self.gender.get(each, wanted) == wanted}
        if len(fits) == 1:
            return fits.pop()
        certain = {each for each in fits if wanted and self.gender.get(each) == wanted}
        if len(certain) == 1 and len(fits) == len(certain):
            return certain.pop()
        return self.before.whom(pronoun) if not fits and self.before else ""

    def where(self) -> str:
        """The one place that "there" can mean."""
        known = set(self.places)
        if len(known) == 1:
            return known.pop()
        return self.before.where() if not known and self.before else ""


def pet_in(text: str) -> str:
    """The last kind of pet that a text speaks of."""
    found = [*_SOME_PET.finditer(text)]
    return found[-1]["kin"].lower() if found else ""


def mentions(text: str, pet: str = "") -> Iterator[Mention]:
    """Everybody that is named with a role in a text; `pet` is the kind that was spoken of before."""
    seen: set[tuple[str, str]] = set()
    if "y " in text:
        for several in _MY_SEVERAL.finditer(text):
            kin = "child" if several["kin"] == "children" else several["kin"]
            names = [name.strip() for name in re.split(r",? and |, ", several["names"])]
            if all(_fits(name) for name in names) and (kin + "s" in several.group() or kin == "child"):
                seen.update((kin, name) for name in names)
                yield from (Mention(kin, name, *several.span()) for name in names)
    if christened := _NAMED_IT.search(text):
        kind = pet_in(text[: christened.start()]) or pet
        if kind and _fits(christened["name"]):
            seen.add((kind, christened["name"]))
            yield Mention(kind, christened["name"], *christened.span())
    having = (_HAVE_ONE,) if _WE_HAVE.search(text) else ()
    for pattern in (_MY, _OF_MINE, _NAME_FIRST, _PET, *having):
        for found in pattern.finditer(text):
            name = re.sub(r"'s\Z", "", found["name"])
            if (found["kin"], name) in seen or not _fits(name) or (pattern is _PET and not _is_ours(text)):
                continue
            if found.groupdict().get("free") in ("and", "or", "the", "with", "for"):
                continue
            seen.add((found["kin"], name))
            end = found.start("name") + len(name)
            trade = _TRADE.match(text, end) if pattern is not _PET else None
            job = trade["o"] if trade and is_job(trade["o"]) and not _ONCE.match(trade["o"]) else ""
            yield Mention(found["kin"], name, found.start(), end, job)


def cast_before(texts: Sequence[str]) -> Cast | None:
    """Whom and which places earlier turns have named, the nearest turn first: for reference only."""
    cast: Cast | None = None
    for text in texts:
        cast = _cast_of(text[:_OPENING], cast)
    return cast


def _cast_of(text: str, before: Cast | None) -> Cast:
    cast = Cast(before=before)
    named = list(mentions(text))
    for mention in named:
        cast.meet(mention.name, mention.kin)
    for found in _UNNAMED.finditer(text):
        if not any(mention.start == found.start() for mention in named):
            cast.meet(f"{USER}'s {found['mods']}{found['kin']}", found["kin"])
    for subject in _SPEAKS_OF.finditer(text):
        if is_name(subject["name"]) and subject["name"] not in cast.people:
            cast.meet(subject["name"])
    cast.places.extend(place for place in places(text) if place not in cast.people)
    return cast


def places(text: str) -> list[str]:
    """Names that stand after "in", "to" or "from"."""
    return [found["o"] for found in _PLACE.finditer(text) if is_name(found["o"])]


def _fits(name: str) -> bool:
    first = name.split(maxsplit=1)[0].lower()
    return is_name(name) and first not in KIN_EN and first not in _NOBODY


def _is_ours(text: str) -> bool:
    return bool(_OURS.search(text)) and not _NOT_OURS.search(text)
