"""Social relationships: whom a character knows, without contradictions, and what is known of each of them."""

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

ADULT_AGE = 20  # from this age on a child of the family has a job and no favourite lesson
FIRST_EVENT_YEAR = 2020  # a relationship is older than its events


@dataclass(frozen=True, slots=True)
class GeneratedRelationship:
    """A relationship with everything the later steps need of it."""

    id: str
    relationship_type: RelationshipType
    person: Person
    slots: Mapping[str, str]
    told_facets: tuple[Facet, ...]  # what the description tells
    untold_facets: tuple[Facet, ...]  # what it leaves open
    passage: GeneratedText
    namesake: bool


def make_relationships(
    engine: TemplateEngine, content: GrammarContent, names: NameGenerator, lead: Protagonist, number: int
) -> tuple[GeneratedRelationship, ...]:
    """Five to ten relationships; in most lives two people share a given name."""
    chosen = choose_relationship_types(engine, content, lead)
    people = _make_people(engine, names, lead, chosen)
    made = []
    for index, (tie, person) in enumerate(zip(chosen, people, strict=True)):
        shared = sum(other.given == person.given for other in people) > 1
        made.append(_make_relationship(engine, content, lead, tie, person, f"{number}_{index}", shared))
    return tuple(made)


def choose_relationship_types(
    engine: TemplateEngine, content: GrammarContent, lead: Protagonist
) -> list[RelationshipType]:
    """Ties that can hold at once: one partner at most, in-laws only with a spouse, no child out of time."""
    words = {tie.word: tie for tie in content.relationship_types}
    wanted = engine.rng.randint(5, 10)
    chosen: list[RelationshipType] = []
    for _ in range(len(words) * 2):
        tie = words[engine.pick("tie", tuple(words))]
        if _is_compatible(tie, lead.person, chosen):
            chosen.append(tie)
        if len(chosen) == wanted:
            break
    return chosen


def _is_compatible(tie: RelationshipType, person: Person, chosen: list[RelationshipType]) -> bool:
    if tie.of not in {"any", person.gender} or tie in chosen:
        return False
    if "partner" in tie.groups and any("partner" in other.groups for other in chosen):
        return False
    if tie.needs and not any(other.word in tie.needs for other in chosen):
        return False
    oldest, youngest = person.age + tie.age[0], person.age + tie.age[1]
    return oldest <= MAX_AGE and youngest >= MIN_AGE


def _make_people(
    engine: TemplateEngine, names: NameGenerator, lead: Protagonist, chosen: list[RelationshipType]
) -> list[Person]:
    """The persons of the ties; a namesake shares its given name with an earlier one of the same gender."""
    people: list[Person] = []
    free = [index for index, tie in enumerate(chosen) if tie.family == "any"]
    twin = engine.rng.choice(free[1:]) if len(free) > 1 and engine.rng.random() < 0.8 else -1
    for index, tie in enumerate(chosen):
        namesake = None
        if index == twin:
            fit = [each for each in people if tie.gender in {"any", each.gender}]
            namesake = engine.rng.choice(fit) if fit else None
        gender = engine.rng.choice(("male", "female")) if tie.gender == "any" else tie.gender
        gender = namesake.gender if namesake is not None else gender
        people.append(make_acquaintance(engine, names, lead.person, tie, gender, namesake))
    return people


def _make_relationship(
    engine: TemplateEngine,
    content: GrammarContent,
    lead: Protagonist,
    tie: RelationshipType,
    person: Person,
    id: str,
    namesake: bool,
) -> GeneratedRelationship:
    groups = tie.groups if person.age < ADULT_AGE else tie.groups - {"young"}
    suited = [
        each
        for each in content.facets
        if (not each.groups or each.groups & groups) and not each.never & groups
    ]
    engine.rng.shuffle(suited)
    first = next(each for each in suited if each.name == "rel")
    others = _first_of_each_name([each for each in suited if each.name != "rel"])
    told = (first, *others[: engine.rng.randint(3, 4)])
    # Who somebody is stands in every description, so it is never unknown.
    untold = tuple(each for each in others if each not in told and each.name != "who")
    slots = people_slots(content, lead.person, person, tie)
    born = CURRENT_YEAR - lead.person.age
    since = {"birth": 0, "child": born + engine.rng.randint(7, 18)}.get(
        tie.met, engine.rng.randint(max(2001, born + 23), FIRST_EVENT_YEAR - 1)
    )
    slots["since"] = str(max(since, CURRENT_YEAR - person.age + 5))  # a young pupil was not born in 2005
    slots["bage"] = str(person.age)
    for facet in told:
        for slot, options in facet.values.items():
            slots[slot] = engine.draw(f"{facet.name} {slot}", options, slots)
    telling = TextBuilder(engine, slots, {"B": "{Bfull}", "A": "{Afull}"}, content.sentence_separator)
    for facet in told:
        telling.say(engine.pick(f"say {facet.name} {sorted(facet.groups)}", facet.say))
    return GeneratedRelationship(id, tie, person, slots, told, untold, telling.passage(), namesake)


def _first_of_each_name(facets: list[Facet]) -> list[Facet]:
    """The first facet of each name: a name may have a version for each group of ties."""
    return list({each.name: each for each in reversed(facets)}.values())[::-1]


def people_slots(
    content: GrammarContent, lead: Person, other: Person, tie: RelationshipType
) -> dict[str, str]:
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
        **joint_pronoun(lead, other, content),
    }
