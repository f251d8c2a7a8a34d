"""Items of a summary as text: one bounded line each, and when two of them say the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

from thinkback.text.tokens import count_tokens, fold, terms

ITEM_TOKENS = 96
_EDGE = re.compile(
    r"^[\s\"'“”‘’「」『』（）()，。,.;；:：!！、*-]+|[\s\"'“”‘’「」『』（）()，。,.;；:：!！、*-]+$"
)
_ARTICLE = re.compile(
    r"^(?:the|a|an|any|any more|anymore|more|using|having|that|this|those|these|some)\s+", re.I
)
_TAIL = re.compile(
    r"\s+(?:anymore|any more|at all|for now|now|either|options?|please|again)$|[了啦吧的]$", re.I
)


def one_line(text: str, most: int = ITEM_TOKENS) -> str:
    """The text on one line, cut with an ellipsis where it is longer than an item may be."""
    line = " ".join(text[: most * 8].split())
    if count_tokens(line) <= most and len(text) <= most * 8:
        return line
    while count_tokens(line) >= most:
        line = line[: max(1, int(len(line) * 0.95) - 1)]
    return f"{line.rstrip()}…"


def plain(text: str) -> str:
    """The text as two spellings of it are compared."""
    return _EDGE.sub("", fold(" ".join(text.split())))


def option(text: str) -> str:
    """The name of an option without what surrounds it: `the Redis option` is `Redis`."""
    name = _EDGE.sub("", " ".join(text.split()))
    for _ in range(2):
        name = _EDGE.sub("", _TAIL.sub("", _ARTICLE.sub("", name)))
    return name


class Named:
    """What a text names: an option's words, all of them, or its name as it is written."""

    def __init__(self, text: str) -> None:
        self._plain = plain(text)
        self._terms = frozenset(terms(text))

    def __contains__(self, name: str) -> bool:
        wanted = frozenset(terms(name))
        return wanted <= self._terms if wanted else bool(plain(name)) and plain(name) in self._plain


def covered(item: str, others: Iterable[str]) -> float:
    """The largest share of the item's words that one other item holds."""
    wanted = set(terms(item))
    if not wanted:
        return 0.0
    return max((len(wanted & set(terms(other))) / len(wanted) for other in others), default=0.0)
