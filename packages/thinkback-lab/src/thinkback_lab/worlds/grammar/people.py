"""The people of a world: unique names, genders, ages, and the profile of each character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from thinkback_lab.errors import LabError
from thinkback_lab.worlds.grammar.content import (
    GrammarContent,
    NameOrigin,
    Profession,
    RelationshipType,
)
from thinkback_lab.worlds.grammar.templates import TemplateEngine, TextBuilder
from thinkback_lab.worlds.world import PROFILE_FIELDS

MAX_NAME_TRIES = 400
MAX_AGE, MIN_AGE = 86, 11
CURRENT_YEAR = 2024  # ages refer to this year, and no event is later


@dataclass(frozen=True, slots=True)
class Person:
    given: str
    family: str
    full: str
    gender: str  # male or female
    age: int
    origin: NameOrigin


@dataclass(frozen=True, slots=True)
class Protagonist:
    """A character with profile and description, before any events."""

    person: Person
    work: Profession
    profile: Mapping[str, str]
    description: str


class NameGenerator:
    """Gives every person of a world a unique name."""

    def __init__(self, engine: TemplateEngine, content: GrammarContent) -> None:
        self._engine = engine
        self._content = content
        self._taken: set[str] = set()

    def person(
        self, gender: str, age: int, origin: NameOrigin | None = None, family: str = "", given: str = ""
    ) -> Person:
        """Make a new person, optionally with a given origin, family name or given name."""
        origin = origin or self._engine.rng.choice(self._content.origins)
        for tries in range(MAX_NAME_TRIES):
            first = given if given and tries < MAX_NAME_TRIES // 10 else self._given(origin, gender, tries)
            last = family or self._engine.pick(f"{origin.nation} family", origin.family)
            full = f"{first} {last}" if self._content.lang == "en" else last + first
            if full not in self._taken:
                self._taken.add(full)
                return Person(first, last, full, gender, age, origin)
        raise LabError(
            "the grammar has no unused names left: generate several smaller worlds with different seeds"
        )

    def _given(self, origin: NameOrigin, gender: str, tries: int) -> str:
        """A given name; a double one when the simple ones of a large family are used up."""
        names = getattr(origin, gender)
        first = self._engine.pick(f"{origin.nation} {gender}", names)
        if tries < 2 * len(names):
            return first
        second = self._engine.rng.choice(names)
        return f"{first}-{second}" if self._content.lang == "en" else first[0] + second[-1]


def pronouns(person: Person, content: GrammarContent, mark: str) -> dict[str, str]:
    """Pronoun slots of a person; `mark` distinguishes the second person from the first."""
    if content.lang == "zh":
        return {f"{mark}ta": "她" if person.gender == "female" else "他"}
    words = ("she", "her", "her", "herself") if person.gender == "female" else ("he", "him", "his", "himself")
    return {f"{mark}{key}": word for key, word in zip(("he", "him", "his", "himself"), words, strict=True)}


def joint_pronoun(one: Person, two: Person, content: GrammarContent) -> dict[str, str]:
    """The plural pronoun of two people, in a language where it depends on gender."""
    if content.lang == "en":
        return {}
    return {"tamen": "她们" if one.gender == two.gender == "female" else "他们"}


def make_protagonist(engine: TemplateEngine, content: GrammarContent, names: NameGenerator) -> Protagonist:
    """Make a character with a full profile and a description."""
    gender = engine.rng.choice(("male", "female"))
    person = names.person(gender, engine.rng.randint(30, 66))
    category = engine.pick("work", [each.category for each in content.professions])
    work = next(each for each in content.professions if each.category == category)
    short = person.given if content.lang == "en" else person.full
    slots = {"A": short, "Afull": person.full, "given": person.given, "family": person.family}
    slots |= pronouns(person, content, "")
    fields = dict(_profile_fields(engine, content, person, work, slots))
    slots |= {field.split()[0].lower(): value for field, value in fields.items()}
    slots["employer"], slots["models"] = fields["Employer"], fields["Awards and Role Models"]
    builder = TextBuilder(engine, slots, {"A": "{Afull}"}, content.sentence_separator)
    parts = [key for key in content.profile if key.startswith("tell_")]
    first, rest = parts[0], parts[1:]
    engine.rng.shuffle(rest)
    for part in (first, *rest):
        builder.say(engine.pick(part, content.profile[part]))
    return Protagonist(person, work, fields, builder.passage().text)


def _profile_fields(
    engine: TemplateEngine,
    content: GrammarContent,
    person: Person,
    work: Profession,
    slots: Mapping[str, str],
) -> dict[str, str]:
    def some(key: str) -> str:
        return engine.draw(f"profile {key}", content.profile[key], slots)

    job, _, only = engine.pick(f"job {work.category}", work.jobs).partition(" @ ")
    drawn = {"job": job, **slots}
    groups = engine.rng.sample(range(len(content.hobbies)), engine.rng.choice((2, 3, 3)))
    hobbies = [engine.draw(f"hobby {group}", content.hobbies[group], slots) for group in groups]
    comma, mark = (", ", "; ") if content.lang == "en" else ("、", "；")

    def of(key: str, options: tuple[str, ...]) -> str:
        return engine.draw(f"{work.category} {key}", options, drawn)

    model = of("model", work.models)
    values = (
        person.full,
        content.profile[person.gender][0],
        engine.draw(f"nickname {person.gender}", content.profile[f"nicknames_{person.gender}"], slots),
        engine.draw(f"title {person.gender}", content.profile[f"titles_{person.gender}"], slots),
        str(person.age) if content.lang == "en" else f"{person.age}岁",
        job,
        person.origin.nation,
        comma.join((some("build"), some("face"), some("mark"))),
        comma.join(hobbies),
        of("achievement", work.achievements),
        engine.rng.choice(person.origin.ethnic),
        of("degree", work.degrees),
        of(f"employer {only}", (only,) if only else work.employers),
        mark.join((of("award", work.awards), engine.value(content.profile["model"][0], {"model": model}))),
    )
    return dict(zip(PROFILE_FIELDS, values, strict=True))


def make_acquaintance(
    engine: TemplateEngine,
    names: NameGenerator,
    protagonist: Person,
    relationship_type: RelationshipType,
    gender: str,
    namesake: Person | None = None,
) -> Person:
    """Make the person of a relationship with suitable age and name; a namesake shares the given name."""
    least, most = relationship_type.age
    age = max(MIN_AGE, min(MAX_AGE, protagonist.age + engine.rng.randint(least, most)))
    if namesake is not None:
        return names.person(gender, age, namesake.origin, given=namesake.given)
    origin = None if relationship_type.family == "any" else protagonist.origin
    family = protagonist.family if relationship_type.family == "same" else ""
    while True:  # character and acquaintance must not share a given name
        person = names.person(gender, age, origin, family)
        if person.given != protagonist.given:
            return person
