"""Social relationships of a character, without contradictions, and what is known about each person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thinkback_lab.worlds.grammar.content import Facet, GrammarContent, RelationshipType
from thinkback_lab.worlds.grammar.people import (
    CURRENT_YEAR,
    MAX_AGE,
    MIN_AGE,
    NameGenerator,
    Person,
    Protagonist,
    joint_pronoun,
    make_acquaintance,
    pronouns,
)
from thinkback_lab.worlds.grammar.templates import GeneratedText, TemplateEngine, TextBuilder

ADULT_AGE = 20  # from this age on, a child of the family has a job instead of school details
FIRST_EVENT_YEAR = 2020  # relationships begin before their events


@dataclass(frozen=True, slots=True)
class GeneratedRelationship:
    """A relationship with everything the later steps need."""

    id: str
    relationship_type: RelationshipType
    person: Person
    slots: Mapping[str, str]
    told_facets: tuple[Facet, ...]  # in the description
    untold_facets: tuple[Facet, ...]  # not in the description
    passage: GeneratedText
    namesake: bool


def make_relationships(
    engine: TemplateEngine,
    content: GrammarContent,
    names: NameGenerator,
    protagonist: Protagonist,
    number: int,
) -> tuple[GeneratedRelationship, ...]:
    """Make five to ten relationships; in most lives two people share a given name."""
    types = choose_relationship_types(engine, content, protagonist)
    people = _make_people(engine, names, protagonist, types)
    relationships = []
    for index, (relationship_type, person) in enumerate(zip(types, people, strict=True)):
        shared = sum(other.given == person.given for other in people) > 1
        relationships.append(
            _make_relationship(
                engine, content, protagonist, relationship_type, person, f"{number}_{index}", shared
            )
        )
    return tuple(relationships)


def choose_relationship_types(
    engine: TemplateEngine, content: GrammarContent, protagonist: Protagonist
) -> list[RelationshipType]:
    """Choose compatible types: at most one partner, in-laws only with a spouse, plausible ages."""
    by_word = {candidate.word: candidate for candidate in content.relationship_types}
    wanted = engine.rng.randint(5, 10)
    chosen: list[RelationshipType] = []
    for _ in range(len(by_word) * 2):
        candidate = by_word[engine.pick("tie", tuple(by_word))]
        if _is_compatible(candidate, protagonist.person, chosen):
            chosen.append(candidate)
        if len(chosen) == wanted:
            break
    return chosen


def _is_compatible(
    relationship_type: RelationshipType, person: Person, chosen: list[RelationshipType]
) -> bool:
    if relationship_type.of not in {"any", person.gender} or relationship_type in chosen:
        return False
    if "partner" in relationship_type.groups and any("partner" in other.groups for other in chosen):
        return False
    if relationship_type.needs and not any(other.word in relationship_type.needs for other in chosen):
        return False
    oldest, youngest = person.age + relationship_type.age[0], person.age + relationship_type.age[1]
    return oldest <= MAX_AGE and youngest >= MIN_AGE


def _make_people(
    engine: TemplateEngine, names: NameGenerator, protagonist: Protagonist, types: list[RelationshipType]
) -> list[Person]:
    """The people of the relationships; a namesake shares the given name of an earlier one."""
    people: list[Person] = []
    free = [index for index, relationship_type in enumerate(types) if relationship_type.family == "any"]
    twin = engine.rng.choice(free[1:]) if len(free) > 1 and engine.rng.random() < 0.8 else -1
    for index, relationship_type in enumerate(types):
        namesake = None
        if index == twin:
            fit = [each for each in people if relationship_type.gender in {"any", each.gender}]
            namesake = engine.rng.choice(fit) if fit else None
        gender = (
            engine.rng.choice(("male", "female"))
            if relationship_type.gender == "any"
            else relationship_type.gender
        )
        gender = namesake.gender if namesake is not None else gender
        people.append(
            make_acquaintance(engine, names, protagonist.person, relationship_type, gender, namesake)
        )
    return people


def _make_relationship(
    engine: TemplateEngine,
    content: GrammarContent,
    protagonist: Protagonist,
    relationship_type: RelationshipType,
    person: Person,
    id: str,
    namesake: bool,
) -> GeneratedRelationship:
    groups = relationship_type.groups if person.age < ADULT_AGE else relationship_type.groups - {"young"}
    suitable = [
        each
        for each in content.facets
        if (not each.groups or each.groups & groups) and not each.never & groups
    ]
    engine.rng.shuffle(suitable)
    first = next(each for each in suitable if each.name == "rel")
    others = _first_of_each_name([each for each in suitable if each.name != "rel"])
    told = (first, *others[: engine.rng.randint(3, 4)])
    # Every description says who the person is, so that is never unknown.
    untold = tuple(each for each in others if each not in told and each.name != "who")
    slots = people_slots(content, protagonist.person, person, relationship_type)
    born = CURRENT_YEAR - protagonist.person.age
    since = {"birth": 0, "child": born + engine.rng.randint(7, 18)}.get(
        relationship_type.met, engine.rng.randint(max(2001, born + 23), FIRST_EVENT_YEAR - 1)
    )
    slots["since"] = str(max(since, CURRENT_YEAR - person.age + 5))  # a young pupil was not born in 2005
    slots["bage"] = str(person.age)
    for facet in told:
        for slot, options in facet.values.items():
            slots[slot] = engine.draw(f"{facet.name} {slot}", options, slots)
    builder = TextBuilder(engine, slots, {"B": "{Bfull}", "A": "{Afull}"}, content.sentence_separator)
    for facet in told:
        builder.say(engine.pick(f"say {facet.name} {sorted(facet.groups)}", facet.say))
    return GeneratedRelationship(
        id, relationship_type, person, slots, told, untold, builder.passage(), namesake
    )


def _first_of_each_name(facets: list[Facet]) -> list[Facet]:
    """The first facet of each name: a name may have a version per relationship group."""
    return list({each.name: each for each in reversed(facets)}.values())[::-1]


def people_slots(
    content: GrammarContent, protagonist: Person, other: Person, relationship_type: RelationshipType
) -> dict[str, str]:
    """Slots for the two people of a memory."""
    short = content.lang == "en"
    return {
        "A": protagonist.given if short else protagonist.full,
        "Afull": protagonist.full,
        "B": other.given if short else other.full,
        "Bfull": other.full,
        "rel": relationship_type.word,
        **pronouns(protagonist, content, ""),
        **pronouns(other, content, "b"),
        **joint_pronoun(protagonist, other, content),
    }
