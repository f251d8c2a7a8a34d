"""Text helpers for summary items: single lines of limited length, and comparison of items."""

from __future__ import annotations

import re
from collections.abc import Iterable

from thinkback.language.tokens import count_tokens, extract_terms, fold_text

MAX_ITEM_TOKENS = 96
_EDGE_PUNCTUATION = re.compile(
    r"^[\s\"'“”‘’「」『』（）()，。,.;；:：!！、*-]+|[\s\"'“”‘’「」『』（）()，。,.;；:：!！、*-]+$"
)
_LEADING_WORDS = re.compile(
    r"^(?:the|a|an|any|any more|anymore|more|using|having|that|this|those|these|some)\s+", re.I
)
_TRAILING_WORDS = re.compile(
    r"\s+(?:anymore|any more|at all|for now|now|either|options?|please|again)$|[了啦吧的]$", re.I
)


def truncate_to_line(text: str, max_tokens: int = MAX_ITEM_TOKENS) -> str:
    """Put a text on one line and cut it with an ellipsis if it has more than `max_tokens`."""
    line = " ".join(text[: max_tokens * 8].split())
    if count_tokens(line) <= max_tokens and len(text) <= max_tokens * 8:
        return line
    while count_tokens(line) >= max_tokens:
        line = line[: max(1, int(len(line) * 0.95) - 1)]
    return f"{line.rstrip()}…"


def normalise_item(text: str) -> str:
    """Return the form in which items are compared: folded, without punctuation at the edges."""
    return _EDGE_PUNCTUATION.sub("", fold_text(" ".join(text.split())))


def extract_option_name(text: str) -> str:
    """Return the name of an option without articles and fillers: "the Redis option" is "Redis"."""
    name = _EDGE_PUNCTUATION.sub("", " ".join(text.split()))
    for _ in range(2):
        name = _EDGE_PUNCTUATION.sub("", _TRAILING_WORDS.sub("", _LEADING_WORDS.sub("", name)))
    return name


class Mentions:
    """The names mentioned in a text: `"Redis" in Mentions("Let's use redis")` is true."""

    def __init__(self, text: str) -> None:
        self._normalised = normalise_item(text)
        self._terms = frozenset(extract_terms(text))

    def __contains__(self, name: str) -> bool:
        terms = frozenset(extract_terms(name))
        return (
            terms <= self._terms
            if terms
            else bool(normalise_item(name)) and normalise_item(name) in self._normalised
        )


def max_term_overlap(item: str, others: Iterable[str]) -> float:
    """Return the largest share of the item's terms that a single other item contains."""
    terms = set(extract_terms(item))
    if not terms:
        return 0.0
    return max((len(terms & set(extract_terms(other))) / len(terms) for other in others), default=0.0)
