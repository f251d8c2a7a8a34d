"""The tables of one language, read from its TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from thinkback_lab.worlds.world import Lang

Strings = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameOrigin:
    """An origin of names: given names by gender, family names, and profile values."""

    nation: str
    ethnic: Strings
    male: Strings
    female: Strings
    family: Strings


@dataclass(frozen=True, slots=True)
class Profession:
    """A category of professions; `job @ employer` binds a job to an employer."""

    category: str
    jobs: Strings
    employers: Strings
    degrees: Strings
    achievements: Strings
    awards: Strings
    models: Strings


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """A category of relationship: who can have it, and which events suit it.

    `age` is the age difference to the character (minimum, maximum); of the types in `needs` one must exist.
    """

    word: str
    groups: frozenset[str]
    gender: str  # male, female or any
    age: tuple[int, int]
    of: str  # gender of the character, or any
    family: str  # family name: same, other or any
    needs: Strings
    met: str  # since birth, childhood or adulthood: birth, child or adult


@dataclass(frozen=True, slots=True)
class Facet:
    """A detail one can know: its values, sentences that state it, and questions that ask for it."""

    name: str
    groups: frozenset[str]  # of relationships; empty means all
    never: frozenset[str]  # groups it does not suit
    values: Mapping[str, Strings]  # slot -> options; the first slot is the answer
    prompt: Strings  # lines by which a dialogue partner leads to it
    say: Strings
    ask: Strings
    clash: frozenset[str] = frozenset()  # slots of event templates that could be confused with it


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """A kind of event with its variable parts."""

    id: str
    theme: str
    groups: frozenset[str]
    months: tuple[int, ...]
    festival: str
    chain: str  # a changing fact, described by two event templates
    step: int
    is_unpleasant: bool  # dialogues about it are not cheerful
    values: Mapping[str, Strings]
    did: Strings  # completes `{A} and {B} ...`
    what: Strings  # a noun phrase for the event
    tell: tuple[Strings, ...]
    ask: Mapping[str, Strings]
    now: Strings
    past: Strings
    later: tuple[Facet, ...]


@dataclass(frozen=True, slots=True)
class GrammarContent:
    lang: Lang
    tables: Mapping[str, Strings]
    pools: Mapping[str, Strings]
    origins: tuple[NameOrigin, ...]
    professions: tuple[Profession, ...]
    hobbies: tuple[Strings, ...]  # seven groups
    profile: Mapping[str, Strings]  # looks, nicknames, titles ...
    fields: Mapping[str, Strings]  # questions by profile field
    missing: tuple[Facet, ...]  # asked about, but in no profile
    relationship_types: tuple[RelationshipType, ...]
    facets: tuple[Facet, ...]
    scenarios: tuple[EventTemplate, ...]
    later: tuple[Facet, ...]  # details of dialogues that suit any event
    festivals: Mapping[str, Strings]

    @property
    def sentence_separator(self) -> str:
        return " " if self.lang == "en" else ""


@cache
def load_content(lang: Lang) -> GrammarContent:
    """Load all tables of a language; cached."""
    folder = resources.files("thinkback_lab.worlds.grammar") / lang
    tables: dict[str, Any] = {}
    events: list[dict[str, Any]] = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            data = tomllib.loads(file.read_text(encoding="utf-8"))
            events.extend(data.pop("event", ()))
            for key, value in data.items():
                _merge_table(tables, key, value)
    return GrammarContent(
        lang=lang,
        tables=_string_lists(tables["tables"]),
        pools=_string_lists(tables["pools"]),
        origins=tuple(_parse_origin(each) for each in tables["origin"]),
        professions=tuple(_parse_profession(each) for each in tables["work"]),
        hobbies=tuple(tuple(each) for each in tables["hobbies"].values()),
        profile=_string_lists(tables["profile"]),
        fields=_string_lists(tables["fields"]),
        missing=tuple(_parse_facet(each) for each in tables["missing"]),
        relationship_types=tuple(_parse_relationship_type(each) for each in tables["tie"]),
        facets=tuple(_parse_facet(each) for each in tables["facet"]),
        scenarios=tuple(_parse_event_template(each) for each in events),
        later=tuple(_parse_facet(each) for each in tables["later"]),
        festivals=_string_lists(tables.get("festivals", {})),
    )


def _merge_table(tables: dict[str, Any], key: str, value: Any) -> None:
    """Several files may add to one table."""
    if isinstance(value, dict):
        tables.setdefault(key, {}).update(value)
    else:
        tables.setdefault(key, []).extend(value)


def _strings(value: str | list[str]) -> Strings:
    return (value,) if isinstance(value, str) else tuple(value)


def _string_lists(table: Mapping[str, str | list[str]]) -> dict[str, Strings]:
    return {key: _strings(value) for key, value in table.items()}


def _parse_origin(data: Mapping[str, Any]) -> NameOrigin:
    return NameOrigin(
        nation=data["nation"],
        ethnic=_strings(data["ethnic"]),
        male=tuple(data["male"].split()),
        female=tuple(data["female"].split()),
        family=tuple(data["family"].split()),
    )


def _parse_profession(data: Mapping[str, Any]) -> Profession:
    return Profession(data["category"], *(tuple(data[key]) for key in Profession.__slots__[1:]))


def _parse_relationship_type(data: Mapping[str, Any]) -> RelationshipType:
    low, high = data["age"]
    return RelationshipType(
        word=data["word"],
        groups=frozenset(data["groups"].split()),
        gender=data.get("gender", "any"),
        age=(low, high),
        of=data.get("of", "any"),
        family=data.get("family", "any"),
        needs=tuple(data.get("needs", ())),
        met=data.get("met", "adult"),
    )


def _parse_facet(data: Mapping[str, Any]) -> Facet:
    return Facet(
        name=data["name"],
        groups=frozenset(data.get("for", "").split()),
        never=frozenset(data.get("never", "").split()),
        values=_string_lists(data.get("values", {})),
        prompt=_strings(data.get("prompt", [])),
        say=_strings(data.get("say", [])),
        ask=_strings(data["ask"]),
        clash=frozenset(data.get("clash", "").split()),
    )


def _parse_event_template(data: Mapping[str, Any]) -> EventTemplate:
    return EventTemplate(
        id=data["id"],
        theme=data["theme"],
        groups=frozenset(data["with"].split()),
        months=tuple(data.get("months", range(1, 13))),
        festival=data.get("festival", ""),
        chain=data.get("chain", ""),
        step=data.get("step", 0),
        is_unpleasant=data.get("hard", False),
        values=_string_lists(data["values"]),
        did=_strings(data["did"]),
        what=_strings(data["what"]),
        tell=tuple(_strings(stage) for stage in data["tell"]),
        ask=_string_lists(data["ask"]),
        now=_strings(data.get("now", [])),
        past=_strings(data.get("past", [])),
        later=tuple(_parse_facet({"name": name, **facet}) for name, facet in data.get("later", {}).items()),
    )
