"""What the grammar speaks of: the tables of one language, read from its TOML files into plain values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from thinkback_lab.worlds.world import Lang

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a name is at home: given names by gender, family names, and what the profile says of it."""

    nation: str
    ethnic: Words
    male: Words
    female: Words
    family: Words


@dataclass(frozen=True, slots=True)
class Work:
    """A category of professions with what goes with them; `job @ employer` binds a job to its place."""

    category: str
    jobs: Words
    employers: Words
    degrees: Words
    achievements: Words
    awards: Words
    models: Words


@dataclass(frozen=True, slots=True)
class Tie:
    """A category of relationship: who can stand in it, and which events suit it.

    `age` is how much older than the character (least, most); `needs` names ties of which one must exist.
    """

    word: str
    groups: frozenset[str]
    gender: str  # male, female or any
    age: tuple[int, int]
    of: str  # the character's gender, or any
    family: str  # the family name: same, other or any
    needs: Words
    met: str  # birth, child or adult


@dataclass(frozen=True, slots=True)
class Facet:
    """A thing one can know: its values, the sentences that tell it, the questions that ask for it."""

    name: str
    groups: frozenset[str]  # of relationships; empty for all
    never: frozenset[str]  # groups it does not suit
    values: Mapping[str, Words]  # slot -> options; the first slot is the answer
    prompt: Words  # how a partner in a dialogue leads to it
    say: Words
    ask: Words
    clash: frozenset[str] = frozenset()  # slots of scenarios that could be taken for the same thing


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of event, with everything that varies in it."""

    id: str
    theme: str
    groups: frozenset[str]
    months: tuple[int, ...]
    festival: str
    chain: str  # a fact that changes, told by two scenarios
    step: int
    hard: bool  # nobody would wish for it again; it is not talked of with a smile
    values: Mapping[str, Words]
    did: Words  # `{A} and {B} ...`
    what: Words  # a noun phrase for it
    tell: tuple[Words, ...]
    ask: Mapping[str, Words]
    now: Words
    past: Words
    later: tuple[Facet, ...]


@dataclass(frozen=True, slots=True)
class Content:
    lang: Lang
    tables: Mapping[str, Words]
    pools: Mapping[str, Words]
    origins: tuple[Origin, ...]
    works: tuple[Work, ...]
    hobbies: tuple[Words, ...]  # seven groups
    profile: Mapping[str, Words]  # looks, nicknames, titles ...
    fields: Mapping[str, Words]  # questions by profile field
    missing: tuple[Facet, ...]  # what no profile tells: only asked, never said
    ties: tuple[Tie, ...]
    facets: tuple[Facet, ...]
    scenarios: tuple[Scenario, ...]
    later: tuple[Facet, ...]  # details of dialogues that suit any event
    festivals: Mapping[str, Words]

    @property
    def joint(self) -> str:
        return " " if self.lang == "en" else ""


@cache
def content(lang: Lang) -> Content:
    """All tables of the language; the files are read once."""
    folder = resources.files("thinkback_lab.worlds.grammar") / lang
    read: dict[str, Any] = {}
    events: list[dict[str, Any]] = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            data = tomllib.loads(file.read_text(encoding="utf-8"))
            events.extend(data.pop("event", ()))
            for key, value in data.items():
                _merge(read, key, value)
    return Content(
        lang=lang,
        tables=_lists(read["tables"]),
        pools=_lists(read["pools"]),
        origins=tuple(_origin(each) for each in read["origin"]),
        works=tuple(_work(each) for each in read["work"]),
        hobbies=tuple(tuple(each) for each in read["hobbies"].values()),
        profile=_lists(read["profile"]),
        fields=_lists(read["fields"]),
        missing=tuple(_facet(each) for each in read["missing"]),
        ties=tuple(_tie(each) for each in read["tie"]),
        facets=tuple(_facet(each) for each in read["facet"]),
        scenarios=tuple(_scenario(each) for each in events),
        later=tuple(_facet(each) for each in read["later"]),
        festivals=_lists(read.get("festivals", {})),
    )


def _merge(read: dict[str, Any], key: str, value: Any) -> None:
    """Several files may add to one table."""
    if isinstance(value, dict):
        read.setdefault(key, {}).update(value)
    else:
        read.setdefault(key, []).extend(value)


def _words(value: str | list[str]) -> Words:
    return (value,) if isinstance(value, str) else tuple(value)


def _lists(table: Mapping[str, str | list[str]]) -> dict[str, Words]:
    return {key: _words(value) for key, value in table.items()}


def _origin(data: Mapping[str, Any]) -> Origin:
    return Origin(
        nation=data["nation"],
        ethnic=_words(data["ethnic"]),
        male=tuple(data["male"].split()),
        female=tuple(data["female"].split()),
        family=tuple(data["family"].split()),
    )


def _work(data: Mapping[str, Any]) -> Work:
    return Work(data["category"], *(tuple(data[key]) for key in Work.__slots__[1:]))


def _tie(data: Mapping[str, Any]) -> Tie:
    least, most = data["age"]
    return Tie(
        word=data["word"],
        groups=frozenset(data["groups"].split()),
        gender=data.get("gender", "any"),
        age=(least, most),
        of=data.get("of", "any"),
        family=data.get("family", "any"),
        needs=tuple(data.get("needs", ())),
        met=data.get("met", "adult"),
    )


def _facet(data: Mapping[str, Any]) -> Facet:
    return Facet(
        name=data["name"],
        groups=frozenset(data.get("for", "").split()),
        never=frozenset(data.get("never", "").split()),
        values=_lists(data.get("values", {})),
        prompt=_words(data.get("prompt", [])),
        say=_words(data.get("say", [])),
        ask=_words(data["ask"]),
        clash=frozenset(data.get("clash", "").split()),
    )


def _scenario(data: Mapping[str, Any]) -> Scenario:
    return Scenario(
        id=data["id"],
        theme=data["theme"],
        groups=frozenset(data["with"].split()),
        months=tuple(data.get("months", range(1, 13))),
        festival=data.get("festival", ""),
        chain=data.get("chain", ""),
        step=data.get("step", 0),
        hard=data.get("hard", False),
        values=_lists(data["values"]),
        did=_words(data["did"]),
        what=_words(data["what"]),
        tell=tuple(_words(stage) for stage in data["tell"]),
        ask=_lists(data["ask"]),
        now=_words(data.get("now", [])),
        past=_words(data.get("past", [])),
        later=tuple(_facet({"name": name, **facet}) for name, facet in data.get("later", {}).items()),
    )
