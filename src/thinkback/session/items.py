"""Items of a summary as text: one bounded line each, and when two of them say the same."""

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
    """The text on one line, cut with an ellipsis where it is longer than an item may be."""
    line = " ".join(text[: max_tokens * 8].split())
    if count_tokens(line) <= max_tokens and len(text) <= max_tokens * 8:
        return line
    while count_tokens(line) >= max_tokens:
        line = line[: max(1, int(len(line) * 0.95) - 1)]
    return f"{line.rstrip()}…"


def normalise_item(text: str) -> str:
    """The text as two spellings of it are compared."""
    return _EDGE_PUNCTUATION.sub("", fold_text(" ".join(text.split())))


def extract_option_name(text: str) -> str:
    """The name of an option without what surrounds it: `the Redis option` is `Redis`."""
    name = _EDGE_PUNCTUATION.sub("", " ".join(text.split()))
    for _ in range(2):
        name = _EDGE_PUNCTUATION.sub("", _TRAILING_WORDS.sub("", _LEADING_WORDS.sub("", name)))
    return name


class Mentions:
    """What a text names: an option's words, all of them, or its name as it is written."""

    def __init__(self, text: str) -> None:
        self._normalised = normalise_item(text)
        self._terms = frozenset(extract_terms(text))

    def __contains__(self, name: str) -> bool:
        wanted = frozenset(extract_terms(name))
        return (
            wanted <= self._terms
            if wanted
            else bool(normalise_item(name)) and normalise_item(name) in self._normalised
        )


def max_term_overlap(item: str, others: Iterable[str]) -> float:
    """The largest share of the item's words that one other item holds."""
    wanted = set(extract_terms(item))
    if not wanted:
        return 0.0
    return max((len(wanted & set(extract_terms(other))) / len(wanted) for other in others), default=0.0)
