"""Social relationships: whom a character knows, without contradictions, and what is known of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thinkback_lab.worlds.grammar.cast import (
    OLDEST,
    TODAY,
    YOUNGEST,
    Lead,
    Names,
    Person,
    kin,
    pronouns,
    together,
)
from thinkback_lab.worlds.grammar.content import Content, Facet, Tie
from thinkback_lab.worlds.grammar.voice import Passage, Telling, Voice

GROWN = 20  # from this age on a child of the family has a job and no favourite lesson
EVENTS_FROM = 2020  # a relationship is older than its events


@dataclass(frozen=True, slots=True)
class Bond:
    """A relationship with everything the later steps need of it."""

    id: str
    tie: Tie
    person: Person
    slots: Mapping[str, str]
    told: tuple[Facet, ...]  # what the description tells
    untold: tuple[Facet, ...]  # what it leaves open
    passage: Passage
    namesake: bool


def bonds(voice: Voice, content: Content, names: Names, lead: Lead, number: int) -> tuple[Bond, ...]:
    """Five to ten relationships; in most lives two people share a given name."""
    chosen = choose(voice, content, lead)
    people = _people(voice, names, lead, chosen)
    made = []
    for index, (tie, person) in enumerate(zip(chosen, people, strict=True)):
        shared = sum(other.given == person.given for other in people) > 1
        made.append(_bond(voice, content, lead, tie, person, f"{number}_{index}", shared))
    return tuple(made)


def choose(voice: Voice, content: Content, lead: Lead) -> list[Tie]:
    """Ties that can hold at once: one partner at most, in-laws only with a spouse, no child out of time."""
    words = {tie.word: tie for tie in content.ties}
    wanted = voice.rng.randint(5, 10)
    chosen: list[Tie] = []
    for _ in range(len(words) * 2):
        tie = words[voice.deal("tie", tuple(words))]
        if _fits(tie, lead.person, chosen):
            chosen.append(tie)
        if len(chosen) == wanted:
            break
    return chosen


def _fits(tie: Tie, person: Person, chosen: list[Tie]) -> bool:
    if tie.of not in {"any", person.gender} or tie in chosen:
        return False
    if "partner" in tie.groups and any("partner" in other.groups for other in chosen):
        return False
    if tie.needs and not any(other.word in tie.needs for other in chosen):
        return False
    oldest, youngest = person.age + tie.age[0], person.age + tie.age[1]
    return oldest <= OLDEST and youngest >= YOUNGEST


def _people(voice: Voice, names: Names, lead: Lead, chosen: list[Tie]) -> list[Person]:
    """The persons of the ties; a namesake shares its given name with an earlier one of the same gender."""
    people: list[Person] = []
    free = [index for index, tie in enumerate(chosen) if tie.family == "any"]
    twin = voice.rng.choice(free[1:]) if len(free) > 1 and voice.rng.random() < 0.8 else -1
    for index, tie in enumerate(chosen):
        namesake = None
        if index == twin:
            fit = [each for each in people if tie.gender in {"any", each.gender}]
            namesake = voice.rng.choice(fit) if fit else None
        gender = voice.rng.choice(("male", "female")) if tie.gender == "any" else tie.gender
        gender = namesake.gender if namesake is not None else gender
        people.append(kin(voice, names, lead.person, tie, gender, namesake))
    return people


def _bond(
    voice: Voice, content: Content, lead: Lead, tie: Tie, person: Person, id: str, namesake: bool
) -> Bond:
    groups = tie.groups if person.age < GROWN else tie.groups - {"young"}
    suited = [
        each
        for each in content.facets
        if (not each.groups or each.groups & groups) and not each.never & groups
    ]
    voice.rng.shuffle(suited)
    first = next(each for each in suited if each.name == "rel")
    others = _distinct([each for each in suited if each.name != "rel"])
    told = (first, *others[: voice.rng.randint(3, 4)])
    # Who somebody is stands in every description, so it is never unknown.
    untold = tuple(each for each in others if each not in told and each.name != "who")
    slots = people_slots(content, lead.person, person, tie)
    born = TODAY - lead.person.age
    since = {"birth": 0, "child": born + voice.rng.randint(7, 18)}.get(
        tie.met, voice.rng.randint(max(2001, born + 23), EVENTS_FROM - 1)
    )
    slots["since"] = str(max(since, TODAY - person.age + 5))  # a young pupil was not born in 2005
    slots["bage"] = str(person.age)
    for facet in told:
        for slot, options in facet.values.items():
            slots[slot] = voice.draw(f"{facet.name} {slot}", options, slots)
    telling = Telling(voice, slots, {"B": "{Bfull}", "A": "{Afull}"}, content.joint)
    for facet in told:
        telling.say(voice.deal(f"say {facet.name} {sorted(facet.groups)}", facet.say))
    return Bond(id, tie, person, slots, told, untold, telling.passage(), namesake)


def _distinct(facets: list[Facet]) -> list[Facet]:
    """The first facet of each name: a name may have a version for each group of ties."""
    return list({each.name: each for each in reversed(facets)}.values())[::-1]


def people_slots(content: Content, lead: Person, other: Person, tie: Tie) -> dict[str, str]:
    """The words for the two people of a memory."""
    short = content.lang == "en"
    return {
        "A": lead.given if short else lead.full,
        "Afull": lead.full,
        "B": other.given if short else other.full,
        "Bfull": other.full,
        "rel": tie.word,
        **pronouns(lead, content, ""),
        **pronouns(other, content, "b"),
        **together(lead, other, content),
    }
