"""The word lists in words.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from thinkback.language.tokens import said_terms


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists as sets: search terms (`fillers`, `negations`, `time_words`) or words; and a pattern."""

    function_words: frozenset[str]
    pronouns: frozenset[str]
    identity_relations: frozenset[str]
    naming_relations: frozenset[str]
    fillers: frozenset[str]
    negations: frozenset[str]
    time_words: frozenset[str]
    forget_requests: re.Pattern[str]


@cache
def word_lists() -> WordLists:
    """Load the lists once."""
    data = tomllib.loads(files("thinkback.think").joinpath("words.toml").read_text("utf-8"))
    return WordLists(
        function_words=frozenset(data["function_words"].split()),
        pronouns=frozenset(data["pronouns"].split()),
        identity_relations=frozenset(data["identity_relations"]),
        naming_relations=frozenset(data["naming_relations"]),
        fillers=said_terms(data["fillers"]),
        negations=said_terms(data["negations"]),
        time_words=said_terms(data["time_words"]),
        forget_requests=re.compile("|".join(data["forget_requests"]), re.IGNORECASE),
    )
