"""What a language package provides to the statement patterns, and the part that all languages share.

One language is one package with a `lexicon.toml` (clause cues, macros and slots of patterns, word lists) and
a module `language.py` with the class that checks values. To add a language, write such a package, name it in
`LANGUAGE_MODULES`, and add its patterns and sentences to `relations.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple, Protocol, cast

LANGUAGE_MODULES = {"en": "thinkback.language.en.language", "zh": "thinkback.language.zh.language"}


class Person(NamedTuple):
    """The one a statement is about: `about` is a name or a role ("user's sister").

    `role` and `name` are both set where the words give a relative's name: "my brother Felix".
    """

    about: str
    role: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of value in a pattern: its shape, and the check that its words must pass.

    `is_list`: the value may be a list, which is split. `is_closed`: the words decide where the value ends, so
    that any words may follow.
    """

    shape: str
    check: str = ""
    is_list: bool = False
    is_closed: bool = False
    spans: bool = False
    """The value may run over a comma: "Camden, London"."""


class Language(Protocol):
    """One language, as the statement patterns see it."""

    code: str
    lexicon: Lexicon

    def to_regex(self, template: str) -> str:
        """The regular expression of the literal part of a template."""
        ...

    def roles(self) -> Mapping[str, str]:
        """The words for relatives and pets, with the name of the role."""
        ...

    def parse_person(self, words: str, known_names: Mapping[str, str]) -> Person | None:
        """The person that the words of a `{person}` slot mean, None if it is not certain."""
        ...

    def check_value(self, check: str, words: str) -> str:
        """The value that the words of a slot give, trimmed; empty if they are no such value."""
        ...

    def split_values(self, words: str) -> list[str]:
        """The values of a list."""
        ...

    def continue_subject(self, clause: str, previous: str) -> str:
        """The clause with the subject of the clause before it, where it has none of its own."""
        ...

    def resolve_pronoun(self, clause: str, person: str) -> str:
        """The clause with a person in place of the first "he" or "she"."""
        ...


class Lexicon:
    """The contents of a `lexicon.toml`."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.macros: dict[str, str] = dict(table["macros"])
        self.person: str = table["person"]["pattern"]
        self.role: str = table["person"]["role"]
        self.slots = {
            name: Slot(
                shape=slot["shape"],
                check=slot.get("check", ""),
                is_list=slot.get("list", False),
                is_closed=slot.get("closed", False),
                spans=slot.get("spans", False),
            )
            for name, slot in table["slots"].items()
        }
        self.attribute_statements: tuple[str, ...] = tuple(table["attributes"]["statements"])
        self._clauses: dict[str, str] = dict(table["clauses"])
        self._lists: dict[str, str] = dict(table["lists"])
        self._words: dict[str, frozenset[str]] = {}

    @cached_property
    def boundary(self) -> re.Pattern[str]:
        """What separates clauses."""
        return self._compile("boundary")

    @cached_property
    def skip(self) -> re.Pattern[str]:
        """Words of sentences that are no plain statements: conditions, wishes, jokes, things of the past."""
        return self._compile("skip")

    @cached_property
    def task(self) -> re.Pattern[str]:
        """A request to work on a text; what follows it is that text and no statement of the user."""
        return self._compile("task")

    @cached_property
    def quote(self) -> re.Pattern[str]:
        """Quoted words."""
        return self._compile("quote")

    @cached_property
    def tag(self) -> re.Pattern[str]:
        """A question at the end that puts the statement before it in doubt: "right?"."""
        return self._compile("tag")

    @cached_property
    def also(self) -> re.Pattern[str]:
        """Words that add a value instead of replacing one."""
        return self._compile("also")

    @cached_property
    def now(self) -> re.Pattern[str]:
        """Words that tell what holds now, unlike before."""
        return self._compile("now")

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """Words before a statement that do not change it."""
        return self._compile("opening")

    @cached_property
    def introduction(self) -> re.Pattern[str]:
        """A name and an age after a comma: "I'm Dana, 34"."""
        return self._compile("introduction")

    def trailing(self, *, closed: bool) -> re.Pattern[str]:
        """Words after a statement that do not change it."""
        return self._trailing_closed if closed else self._trailing

    @cached_property
    def _trailing(self) -> re.Pattern[str]:
        return self._compile("trailing")

    @cached_property
    def _trailing_closed(self) -> re.Pattern[str]:
        return re.compile(
            (self._clauses["trailing"] + self._clauses["closing"]).replace("\n", ""), re.IGNORECASE
        )

    def words(self, name: str, *, optional: bool = False) -> frozenset[str]:
        """A word list; a hyphen in the file stands for a blank or a hyphen. `optional`: it may be missing."""
        if name not in self._words:
            listed = (self._lists.get(name, "") if optional else self._lists[name]).split()
            self._words[name] = frozenset((*listed, *(word.replace("-", " ") for word in listed)))
        return self._words[name]

    def _compile(self, key: str) -> re.Pattern[str]:
        return re.compile(self._clauses[key].replace("\n", ""), re.IGNORECASE)


def load_lexicon(code: str) -> Lexicon:
    """Read the lexicon of a language package."""
    source = files(f"thinkback.language.{code}").joinpath("lexicon.toml").read_text("utf-8")
    return Lexicon(tomllib.loads(source))


@cache
def load_language(code: str) -> Language:
    """The language of this code, loaded on first use.

    Raises:
        KeyError: there is no such language.
    """
    return cast(Language, import_module(LANGUAGE_MODULES[code]).create_language())
