"""People named in an English sentence, how they are related, and whom "she", "he" or "there" refers to.

A role that is given with a name ("my neighbour Priya") is a fact wherever it occurs in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from thinkback.language.en.lexicon import KIN, MODIFIERS, NAME, PET, is_job, is_name, word_set
from thinkback.language.kinship import KIN_EN, PETS_EN, alternation_pattern
from thinkback.language.names import USER
from thinkback.language.rules import ExtractedFact

_KIN_OR_PET = alternation_pattern(KIN_EN | PETS_EN)
_CALLED = (
    r"(?:(?:'s| is) an? [\w -]{2,25}? (?:called|named)|,? (?:who is |who's )?(?:called|named)"
    r"|,? (?:her|his|its|their|whose) name(?:'s| is| was))"
)
_WORD_END = r"(?![\w-])"
_MY_KIN_NAMED = re.compile(
    rf"(?<!not )\b(?:[Mm]y|[Oo]ur) (?P<mods>{MODIFIERS})(?:(?P<free>[a-z]+) )?(?P<kin>{_KIN_OR_PET})"
    rf"(?:{_CALLED}\s+|\s+|,\s+|\s*\()(?P<name>{NAME}){_WORD_END}"
)
_MY_SEVERAL = re.compile(
    rf"\b[Mm]y (?:{MODIFIERS}|two |three |four )(?P<kin>{_KIN_OR_PET}|children)s?(?:,? |,? are"
    rf" (?:called |named )?)"
    rf"(?P<names>{NAME}(?:, {NAME})*,? and {NAME})"
)
_FRIEND_OF_MINE = re.compile(
    rf"\b(?:an?|one of my) (?:old |good |close |dear )?(?P<kin>friend|colleague|cousin|neighbou?r|mate"
    rf"|coworker"
    rf"|pal|buddy|classmate)s?(?: of mine| at work| from work)?(?:,|,? (?:called|named))"
    rf" (?P<name>{NAME}){_WORD_END}"
)
_NAME_THEN_KIN = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME})(?:, | \(|,? (?:who is|who's) )my {MODIFIERS}(?P<kin>{_KIN_OR_PET})\b"
    r"(?=\s*[,.;!)]|\Z|\s+who\b)"
)
_PET_WHOSE_NAME = re.compile(
    rf"\ban? (?:[\w-]+ )?(?P<kin>{PET})[,:]? (?:and )?(?:his |her |its |the )?name(?:'s| is) (?P<name>{NAME})"
)
_KIN_CALLED = re.compile(
    rf"\ban? {MODIFIERS}(?P<kin>{_KIN_OR_PET}) (?:called|named) (?P<name>{NAME}){_WORD_END}"
)
_HAVE_TWO = re.compile(r"\b(?:I|we)(?:'ve(?: got)?| have(?: got)?| also have) an? .+ and an? ", re.I)
_NAMED_PET = re.compile(rf"\b(?:named|called|calling|naming|christened) (?:him|her|it) (?P<name>{NAME})")
_SOME_PET = re.compile(rf"\b(?:an?|the|our|my|new|this) (?:[\w-]+ )?(?P<kin>{PET})\b", re.I)
_OURS = re.compile(r"\b(?:we|our|I|my|the (?:house|family|gang|pack|household))\b", re.I)
_NOT_OURS = re.compile(r"\b(?:saw|met|bit|chased|neighbou?r'?s?|park|his|her|their|friend'?s?)\b", re.I)
_JOB_APPOSITION = re.compile(
    r"\s*,?\s*\(?(?:an?|the) (?P<o>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)(?=\s*[,.;!)]|\Z|\s+(?:in|at|from"
    r"|who|and|gave|is|has)\b)"
)
_FORMER_JOB = re.compile(r"(?:former|ex|retired|one-?time|wannabe|aspiring|future)\b")
_NOT_PEOPLE = word_set("god jesus christ christmas easter english french german spanish chinese italian")
_UNNAMED_KIN = re.compile(rf"\b[Mm]y (?P<mods>{MODIFIERS})(?P<kin>{KIN})\b(?!'s|-)")
_PLACE = re.compile(rf"\b(?:in|to|from|near|at) (?P<o>{NAME})")
_NAME_WITH_VERB = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME}) (?:is|has|works|lives|likes|loves|plays|moved|just|got|was|called)\b"
)
_MAX_EARLIER_CHARS = 2000  # searched part of an earlier turn
_FEMALE_KIN = word_set(
    """
    mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law sister-in-law
    daughter-in-law stepmother stepsister stepdaughter godmother goddaughter
    """
)
_MALE_KIN = word_set(
    """
    father brother husband boyfriend son uncle nephew grandfather grandson father-in-law brother-in-law
    son-in-law stepfather stepbrother stepson godfather godson
    """
)
_PRONOUN_BY_KIN = dict.fromkeys(_FEMALE_KIN, "she") | dict.fromkeys(_MALE_KIN, "he")
_SUBJECT_PRONOUN = {"she": "she", "her": "she", "hers": "she", "he": "he", "his": "he", "him": "he"}
_PRONOUN_BY_TITLE = {"mr": "he", "mrs": "she", "ms": "she", "miss": "she", "sir": "he"}


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """A person or pet named with its role to the user; the job if it is given; the span of the words."""

    kin: str
    name: str
    start: int
    end: int
    job: str = ""


@dataclass(slots=True)
class MentionContext:
    """The people and places mentioned so far in a turn, and the context of earlier turns."""

    people: list[str] = field(default_factory=list)
    gender: dict[str, str] = field(default_factory=dict)
    """Person -> "she" or "he", where it is known."""
    places: list[str] = field(default_factory=list)
    previous: MentionContext | None = None

    def add_person(self, person: str, kin: str = "") -> None:
        """Record a mention; a name replaces an earlier unnamed relative ("my sister")."""
        unnamed = f"{USER}'s {kin}"
        if kin and unnamed != person and unnamed in self.people:
            self.people[:] = [each for each in self.people if each != unnamed]
        self.people.append(person)
        title = person.split(maxsplit=1)[0].rstrip(".").lower()
        gender = _PRONOUN_BY_KIN.get((KIN_EN | PETS_EN).get(kin, kin), "") or _PRONOUN_BY_TITLE.get(title, "")
        if gender:
            self.gender[person] = gender

    def resolve_pronoun(self, pronoun: str) -> str:
        """The only person that a pronoun can refer to; empty if there are several or none."""
        gender = _SUBJECT_PRONOUN.get(pronoun.lower(), "")
        candidates = {each for each in self.people if not gender or self.gender.get(each, gender) == gender}
        if len(candidates) == 1:
            return candidates.pop()
        certain = {each for each in candidates if gender and self.gender.get(each) == gender}
        if len(certain) == 1 and len(candidates) == len(certain):
            return certain.pop()
        return self.previous.resolve_pronoun(pronoun) if not candidates and self.previous else ""

    def resolve_place(self) -> str:
        """The only place that "there" can refer to; empty if there are several or none."""
        places = set(self.places)
        if len(places) == 1:
            return places.pop()
        return self.previous.resolve_place() if not places and self.previous else ""


def last_pet(text: str) -> str:
    """The last kind of pet that a text mentions."""
    matches = [*_SOME_PET.finditer(text)]
    return matches[-1]["kin"].lower() if matches else ""


def find_named_people(text: str, pet: str = "") -> Iterator[NamedPerson]:
    """Find everybody who is named with a role.

    `pet` is the kind of pet mentioned before: "got a puppy! named him Rex".
    """
    seen: set[tuple[str, str]] = set()
    if "y " in text:
        for several in _MY_SEVERAL.finditer(text):
            kin = "child" if several["kin"] == "children" else several["kin"]
            names = [name.strip() for name in re.split(r",? and |, ", several["names"])]
            if all(_is_person_name(name) for name in names) and (
                kin + "s" in several.group() or kin == "child"
            ):
                seen.update((kin, name) for name in names)
                yield from (NamedPerson(kin, name, *several.span()) for name in names)
    if named_pet := _NAMED_PET.search(text):
        kind = last_pet(text[: named_pet.start()]) or pet
        if kind and _is_person_name(named_pet["name"]):
            seen.add((kind, named_pet["name"]))
            yield NamedPerson(kind, named_pet["name"], *named_pet.span())
    more_patterns = (_KIN_CALLED,) if _HAVE_TWO.search(text) else ()
    for pattern in (_MY_KIN_NAMED, _FRIEND_OF_MINE, _NAME_THEN_KIN, _PET_WHOSE_NAME, *more_patterns):
        for match in pattern.finditer(text):
            name = re.sub(r"'s\Z", "", match["name"])
            if (
                (match["kin"], name) in seen
                or not _is_person_name(name)
                or (pattern is _PET_WHOSE_NAME and not _is_own_pet(text))
            ):
                continue
            if match.groupdict().get("free") in ("and", "or", "the", "with", "for"):
                continue
            seen.add((match["kin"], name))
            end = match.start("name") + len(name)
            apposition = _JOB_APPOSITION.match(text, end) if pattern is not _PET_WHOSE_NAME else None
            job = (
                apposition["o"]
                if apposition and is_job(apposition["o"]) and not _FORMER_JOB.match(apposition["o"])
                else ""
            )
            yield NamedPerson(match["kin"], name, match.start(), end, job)


def build_mention_context(texts: Sequence[str]) -> MentionContext | None:
    """The mentions of earlier turns (oldest first). They only resolve pronouns and yield no facts."""
    context: MentionContext | None = None
    for text in texts:
        context = _mentions_of(text[:_MAX_EARLIER_CHARS], context)
    return context


def _mentions_of(text: str, previous: MentionContext | None) -> MentionContext:
    """The mentions of one earlier turn."""
    context = MentionContext(previous=previous)
    people = list(find_named_people(text))
    for person in people:
        context.add_person(person.name, person.kin)
    for match in _UNNAMED_KIN.finditer(text):
        if not any(person.start == match.start() for person in people):
            context.add_person(f"{USER}'s {match['mods']}{match['kin']}", match["kin"])
    for subject in _NAME_WITH_VERB.finditer(text):
        if is_name(subject["name"]) and subject["name"] not in context.people:
            context.add_person(subject["name"])
    context.places.extend(place for place in find_places(text) if place not in context.people)
    return context


def find_places(text: str) -> list[str]:
    """Names after "in", "to", "from", "near" or "at"."""
    return [match["o"] for match in _PLACE.finditer(text) if is_name(match["o"])]


def _is_person_name(name: str) -> bool:
    """Whether a capitalised word names a person or pet, and is no kin word, language or feast."""
    first = name.split(maxsplit=1)[0].lower()
    return is_name(name) and first not in KIN_EN and first not in _NOT_PEOPLE


def _is_own_pet(text: str) -> bool:
    """Whether the text is about a pet of the user, not one seen in the park."""
    return bool(_OURS.search(text)) and not _NOT_OURS.search(text)


_RELATIVE_OWNER = rf"(?:(?P<owner>{NAME})(?:'s|(?<=s)')|[Mm]y (?P<mine>{MODIFIERS}{KIN})'s)"
_KIN_ROLE = rf"(?P<mods>{MODIFIERS})(?P<kin>{KIN})"
_NAME_APPOSITION = re.compile(
    rf"(?<![\w'-])(?P<name>{NAME})"
    rf"(?P<cut>(?:, | \(|, who is |, who's ){_RELATIVE_OWNER} {_KIN_ROLE}(?:,|\)|(?=\s*[.!;]|\s*\Z)))"
)
_KIN_THEN_NAME = re.compile(
    rf"(?<![\w'-])(?P<cut>{_RELATIVE_OWNER} {_KIN_ROLE}(?:,| called| named)? )(?P<name>{NAME})"
    r"(?=,? [a-z]|[,.!;)]|\Z)"
)
_CAPITALISED_OPENING = re.compile(
    r"\A(?:(?:As|If|When|While|Although|Though|Since|Because|For|With|To|From|By|At|In|On|Of|And|But|Or|So"
    r"|That|Then|Like|Unless|After|Before|Until|Even|Both|Also|Only|Once|Yes|No) )+"
)
"""Words that are capitalised only because they open a sentence: "As Anna's colleague, Tom ..."."""
_MUTUAL_KIN = {
    "sibling": "siblings twins",
    "partner": "married engaged spouses",
    "friend": "friends mates buddies pals",
    "colleague": "colleagues coworkers co-workers workmates teammates",
    "roommate": "roommates flatmates housemates",
    "neighbour": "neighbours neighbors",
    "classmate": "classmates schoolmates",
    "cousin": "cousins",
    "brother": "brothers",
    "sister": "sisters",
    "co-founder": "co-founders cofounders",
}
_MUTUAL_KIN_BY_WORD = {word: kin for kin, words in _MUTUAL_KIN.items() for word in words.split()}
_MUTUAL_RELATIONSHIP = re.compile(
    rf"(?<![\w'-])(?P<one>{NAME}) and (?P<other>{NAME}) (?:are|were|got|have been)"
    rf" (?:both |now |also |still )?(?:happily |newly )?(?:best |good |close |old |childhood |twin )*"
    rf"(?P<word>{alternation_pattern(_MUTUAL_KIN_BY_WORD)})\b(?! (?:with|to|of)\b)"
)
_SEVERAL_RELATIVES = re.compile(
    rf"(?P<mods>{MODIFIERS})"
    rf"(?:(?P<kin>{alternation_pattern(KIN_EN)})s|(?P<many>parents|grandparents|children|kids))"
    rf" are(?: called| named)? (?P<names>{NAME}(?:, {NAME})*,? and {NAME})\Z"
)
_PLURAL_KIN = {"parents": "parents", "grandparents": "grandparents", "children": "child", "kids": "child"}


class Relationship(NamedTuple):
    """A relationship between two people.

    `name` is the person that the rest of the sentence is about; `start` and `end` are the span to blank out.
    """

    fact: ExtractedFact
    name: str
    start: int
    end: int


def find_relationships(text: str) -> Iterator[Relationship]:
    """Find relationships in passing: "Erik, Anna's husband, ...", "Tom and Lucy are siblings"."""
    if "'" not in text and " and " not in text:
        return
    for pattern in (_NAME_APPOSITION, _KIN_THEN_NAME):
        for match in pattern.finditer(text):
            owner = (
                f"{USER}'s {match['mine']}" if match["mine"] else _CAPITALISED_OPENING.sub("", match["owner"])
            )
            name = re.sub(r"'s\Z", "", match["name"])
            are_names = (
                is_name(name) and not _CAPITALISED_OPENING.match(name) and (match["mine"] or is_name(owner))
            )
            if not are_names or name == owner:
                continue
            template = f"{{s}}'s {match['mods']}{match['kin']} is {{o}}"
            fact = ExtractedFact(
                "their kin", owner, f"has {KIN_EN[match['kin']]}", (name,), template=template
            )
            yield Relationship(fact, name, match.start("cut"), match.end("cut"))
    if (mutual := _MUTUAL_RELATIONSHIP.search(text)) and is_name(mutual["one"]) and is_name(mutual["other"]):
        kin = _MUTUAL_KIN_BY_WORD[mutual["word"]]
        template = f"{{s}} and {{o}} are {'married' if kin == 'partner' else mutual['word']}"
        fact = ExtractedFact(
            "each other's kin", mutual["one"], f"has {kin}", (mutual["other"],), template=template
        )
        yield Relationship(fact, "", mutual.start(), mutual.end())


def read_several_relatives(owner: str, rest: str) -> ExtractedFact | None:
    """Read "children are Tom and Mia" after "Anna's"."""
    match = _SEVERAL_RELATIVES.fullmatch(rest)
    if not match:
        return None
    names = tuple(name.strip() for name in re.split(r",? and |, ", match["names"]))
    kin = _PLURAL_KIN[match["many"]] if match["many"] else KIN_EN[match["kin"]]
    if not all(map(is_name, names)):
        return None
    word = match["many"] or f"{match['kin']}s"
    return ExtractedFact("their kin", owner, f"has {kin}", names, template=f"{{s}}'s {word} are {{o}}")
