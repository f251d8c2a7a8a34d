"""What the grammar speaks of: the tables of one language, read from its TOML files into plain values."""

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
    """Where a name is at home: given names by gender, family names, and what the profile says of it."""

    nation: str
    ethnic: Strings
    male: Strings
    female: Strings
    family: Strings


@dataclass(frozen=True, slots=True)
class Profession:
    """A category of professions with what goes with them; `job @ employer` binds a job to its place."""

    category: str
    jobs: Strings
    employers: Strings
    degrees: Strings
    achievements: Strings
    awards: Strings
    models: Strings


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """A category of relationship: who can stand in it, and which events suit it.

    `age` is how much older than the character (least, most); `needs` names ties of which one must exist.
    """

    word: str
    groups: frozenset[str]
    gender: str  # male, female or any
    age: tuple[int, int]
    of: str  # the character's gender, or any
    family: str  # the family name: same, other or any
    needs: Strings
    met: str  # birth, child or adult


@dataclass(frozen=True, slots=True)
class Facet:
    """A thing one can know: its values, the sentences that tell it, the questions that ask for it."""

    name: str
    groups: frozenset[str]  # of relationships; empty for all
    never: frozenset[str]  # groups it does not suit
    values: Mapping[str, Strings]  # slot -> options; the first slot is the answer
    prompt: Strings  # how a partner in a dialogue leads to it
    say: Strings
    ask: Strings
    clash: frozenset[str] = frozenset()  # slots of scenarios that could be taken for the same thing


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """A kind of event, with everything that varies in it."""

    id: str
    theme: str
    groups: frozenset[str]
    months: tuple[int, ...]
    festival: str
    chain: str  # a fact that changes, told by two scenarios
    step: int
    is_unpleasant: bool  # nobody would wish for it again; it is not talked of with a smile
    values: Mapping[str, Strings]
    did: Strings  # `{A} and {B} ...`
    what: Strings  # a noun phrase for it
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
    missing: tuple[Facet, ...]  # what no profile tells: only asked, never said
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
    """All tables of the language; the files are read once."""
    folder = resources.files("thinkback_lab.worlds.grammar") / lang
    read: dict[str, Any] = {}
    events: list[dict[str, Any]] = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            data = tomllib.loads(file.read_text(encoding="utf-8"))
            events.extend(data.pop("event", ()))
            for key, value in data.items():
                _merge_table(read, key, value)
    return GrammarContent(
        lang=lang,
        tables=_string_lists(read["tables"]),
        pools=_string_lists(read["pools"]),
        origins=tuple(_parse_origin(each) for each in read["origin"]),
        professions=tuple(_parse_profession(each) for each in read["work"]),
        hobbies=tuple(tuple(each) for each in read["hobbies"].values()),
        profile=_string_lists(read["profile"]),
        fields=_string_lists(read["fields"]),
        missing=tuple(_parse_facet(each) for each in read["missing"]),
        relationship_types=tuple(_parse_relationship_type(each) for each in read["tie"]),
        facets=tuple(_parse_facet(each) for each in read["facet"]),
        scenarios=tuple(_parse_event_template(each) for each in events),
        later=tuple(_parse_facet(each) for each in read["later"]),
        festivals=_string_lists(read.get("festivals", {})),
    )


def _merge_table(read: dict[str, Any], key: str, value: Any) -> None:
    """Several files may add to one table."""
    if isinstance(value, dict):
        read.setdefault(key, {}).update(value)
    else:
        read.setdefault(key, []).extend(value)


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
    least, most = data["age"]
    return RelationshipType(
        word=data["word"],
        groups=frozenset(data["groups"].split()),
        gender=data.get("gender", "any"),
        age=(least, most),
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
