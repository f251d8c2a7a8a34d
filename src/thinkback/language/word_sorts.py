"""Known words of one sort: two towns, two jobs, two first names.

    find_same_sort("we're off to Crete", "Malta")   ["Crete"]

The sorts are word lists of the language packages.
"""

from __future__ import annotations

import re
from functools import cache

from thinkback.language.protocol import LANGUAGE_MODULES, load_language

_SORTS = (
    ("first_names",),
    ("places", "regions"),
    ("jobs",),
    ("languages",),
    ("nationalities",),
    ("conditions",),
    ("medicines",),
    ("foods", "food_words"),
    ("diets",),
    ("activities",),
    ("vehicles",),
)


def find_same_sort(text: str, value: str) -> list[str]:
    """The words of a text that are of the same sort as a value, and not the value itself."""
    found: dict[str, None] = {}
    for names in _SORTS:
        words, pattern = _load_sort(names)
        if value.lower() in words:
            found.update(dict.fromkeys(match[0] for match in pattern.finditer(text)))
    return [word for word in found if word.lower() != value.lower()]


def is_known_as_other(value: str, sort: str) -> bool:
    """Whether a value is a known word of other sorts only: Canada is no first name, Jordan is one."""
    lowered = value.lower()
    sorts = [names for names in _SORTS if lowered in _load_sort(names)[0]]
    return bool(sorts) and not any(sort in names for names in sorts)


@cache
def _load_sort(names: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    lexicons = [load_language(code).lexicon for code in LANGUAGE_MODULES]
    words = frozenset(
        word.lower() for lexicon in lexicons for name in names for word in lexicon.words(name, optional=True)
    )
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    latin = "|".join(re.escape(word) for word in longest_first if word.isascii())
    other = "|".join(re.escape(word) for word in longest_first if not word.isascii())
    parts = [rf"\b(?:{latin})\b" if latin else "", f"(?:{other})" if other else ""]
    return words, re.compile("|".join(filter(None, parts)), re.IGNORECASE)
