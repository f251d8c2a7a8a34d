"""Parser for English relation chains: "my sister's husband", "the boss of Tom", "the one who sings".

One pass over the words of a query, with a look at a few words before and after.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.language.kinship import ROLE_QUALIFIERS
from thinkback.language.names import USER
from thinkback.language.relation_chain import (
    PRONOUN,
    UNKNOWN_PERSON,
    ChainLink,
    DescriptionLink,
    IsKnownName,
    NameLink,
    RelationChain,
    RelationStep,
    english_step,
)
from thinkback.language.tokens import STOP_WORDS

_LATIN_LETTERS = "A-Za-z\u00c0-\u024f"
_WORD = re.compile(f"[{_LATIN_LETTERS}0-9]+(?:['’.-][{_LATIN_LETTERS}0-9]+)*['’]?")
_IN_LAW = re.compile(r"(?<=\w) in law\b", re.IGNORECASE)
_OWNERS = {"my": USER, "our": USER, "his": PRONOUN, "her": PRONOUN, "their": PRONOUN}
_FILLER_WORDS = "best good old dear close new oldest youngest only eldest"
_FILLERS = frozenset(_FILLER_WORDS.split())
_PERSON_WORDS = "person one guy man woman girl boy lady someone somebody anyone people"
_PERSON_NOUNS = frozenset(_PERSON_WORDS.split())
_RELATIVE_PRONOUNS = frozenset(("who", "that", "which"))
_PLACE_PREPOSITIONS = frozenset(("in", "from", "at"))
_ACTIVITY_VERB = re.compile(r"(?:work|live|study|studie|go|reside|attend)(?:s|es|ing|ed)?\Z")
_AMBIGUOUS_NAME_WORDS = """
    will may mark rose grace hope joy faith bill art rich june april august sunny angel max gene pat sue
    dawn olive ruby amber iris lily daisy ivy jade pearl frank ray drew chase chance hunter jack rob don"""
_AMBIGUOUS_NAMES = frozenset(_AMBIGUOUS_NAME_WORDS.split())
"""Names that are also words; in lower case, or as the first word of a query, they are words."""
_MAX_NAME_WORDS = 4
_MAX_CLAUSE_WORDS = 8


class _Word(NamedTuple):
    text: str
    lower: str
    start: int
    end: int
    is_possessive: bool


def find_english_chains(text: str, known: IsKnownName) -> list[RelationChain]:
    """Find the chains of a text, in order and without overlaps."""
    text = _IN_LAW.sub("-in-law", text)
    words = [_parse_word(match) for match in _WORD.finditer(text)]
    parser = _ChainParser(text, words, known)
    chains: list[RelationChain] = []
    at = 0
    while at < len(words):
        chain, following = parser.parse_chain(at)
        if chain is not None:
            chains.append(chain)
        at = following
    return chains


def _parse_word(match: re.Match[str]) -> _Word:
    written = match[0].replace("’", "'")
    word = written[:-2] if written[-2:] in ("'s", "'S") else written.removesuffix("'")
    return _Word(word, word.lower(), match.start(), match.start() + len(word), word != written)


class _ChainParser:
    """Parses the chains of one query."""

    def __init__(self, text: str, words: list[_Word], known: IsKnownName) -> None:
        self._text = text
        self._words = words
        self._known = known

    def parse_chain(self, at: int) -> tuple[RelationChain | None, int]:
        """Parse the chain that starts at word `at`, if any; also return the index of the next word."""
        parsed = self._parse_possessive(at) or self._parse_indefinite(at)
        if parsed is None:
            return None, at + 1
        head, links, end = parsed
        if end < len(self._words) and (description := self._parse_clause(end)):
            links = (*links, description)
        first, steps, end = self._parse_preceding_steps(at, end)
        return RelationChain(self._words[first].start, self._words[end - 1].end, head, (*links, *steps)), end

    def _parse_possessive(self, at: int) -> tuple[str, tuple[ChainLink, ...], int] | None:
        """Parse "my sister", "Anna's husband" or a name: (head, links, index of the next word)."""
        word = self._words[at]
        if word.lower in _OWNERS and not word.is_possessive:
            links, end = self._parse_links(at + 1)
            return (_OWNERS[word.lower], links, end) if links else None
        if count := self._count_name_words(at):
            end = at + count
            links, end = self._parse_links(end) if self._words[end - 1].is_possessive else ((), end)
            return self._name_key(at, count), links, end
        return None

    def _parse_indefinite(self, at: int) -> tuple[str, tuple[ChainLink, ...], int] | None:
        """Parse "a friend of mine" or "the person who lives in Oslo"; "the friend who ..." is the user's."""
        if at + 2 >= len(self._words):
            return None
        word, following = self._words[at].lower, self._words[at + 1].lower
        if following == "of" and self._words[at + 2].lower in ("mine", "ours"):
            mine = english_step(word)
            return (USER, (mine,), at + 3) if mine is not None and mine.role else None
        if word in _PERSON_NOUNS and following in _RELATIVE_PRONOUNS:
            return UNKNOWN_PERSON, (), at + 1
        step = (
            english_step(word)
            if following in _RELATIVE_PRONOUNS or following in _PLACE_PREPOSITIONS
            else None
        )
        return (USER, (step,), at + 1) if step is not None and step.role else None

    def _parse_links(self, at: int) -> tuple[tuple[ChainLink, ...], int]:
        """Parse steps while the last word is possessive, and names next to them."""
        links: list[ChainLink] = []
        while at < len(self._words):
            step, after = self._parse_step(at)
            if step is None:
                break
            links.append(step)
            if step.role and (description := self._parse_adjective(at, after)):
                links.append(description)
            at = after
            if step.role and not self._words[at - 1].is_possessive and (count := self._count_name_words(at)):
                links.append(NameLink(self._name_key(at, count)))
                at += count
            if not self._words[at - 1].is_possessive:
                break
        return tuple(links), at

    def _parse_step(self, at: int) -> tuple[RelationStep | None, int]:
        qualifier = ""
        for index in range(at, min(at + 3, len(self._words))):
            word = self._words[index].lower
            if word in ROLE_QUALIFIERS:
                qualifier = ROLE_QUALIFIERS[word]
            elif step := english_step(word, qualifier):
                allowed = step.role or index == at  # "my old company" is another company
                return (step, index + 1) if allowed else (None, at)
            elif index > at or self._words[index].is_possessive:
                break
        return None, at

    def _parse_adjective(self, at: int, after: int) -> DescriptionLink | None:
        """Read an adjective as a description: "my vegetarian colleague" is vegetarian."""
        word = self._words[at]
        if after - at < 2 or word.lower in ROLE_QUALIFIERS or word.lower in _FILLERS:
            return None
        return DescriptionLink(f"is {word.text}", word.start)

    def _parse_clause(self, at: int) -> DescriptionLink | None:
        """Parse the description after a person: "who lives in Oslo", "in Oslo"."""
        word = self._words[at]
        adjacent = self._text[self._words[at - 1].end : word.start].isspace()  # no comma or 's between them
        first = at + 1 if word.lower in _RELATIVE_PRONOUNS else at
        if (
            not adjacent
            or first >= len(self._words)
            or (first == at and word.lower not in _PLACE_PREPOSITIONS)
        ):
            return None
        last = self._words[min(first + _MAX_CLAUSE_WORDS, len(self._words)) - 1]
        start = self._words[first].start
        return DescriptionLink(self._text[start : last.end], start)

    def _parse_preceding_steps(self, first: int, end: int) -> tuple[int, tuple[RelationStep, ...], int]:
        """Parse "the husband of" or "the company where ... works": (first word, steps, end)."""
        steps: list[RelationStep] = []
        if step := self._parse_place(first, end):
            before = first - 1 if english_step(self._words[first - 1].lower) else first - 2
            return before, (step,), end + 1
        at = first
        while at >= 2:
            before = at - 1 if self._words[at - 1].lower != "the" else at - 2
            if before < 1 or self._words[before].lower != "of":
                break
            qualifier = ROLE_QUALIFIERS.get(self._words[before - 2].lower, "") if before > 1 else ""
            step = english_step(self._words[before - 1].lower, qualifier)
            if step is None:
                break
            steps.append(step)
            at = before - 2 if qualifier else before - 1
        return at, tuple(steps), end

    def _parse_place(self, first: int, end: int) -> RelationStep | None:
        if end >= len(self._words) or not _ACTIVITY_VERB.match(self._words[end].lower):
            return None
        for before in (first - 1, first - 2):
            if before < 0:
                return None
            word = self._words[before].lower
            step = english_step(word)
            if step is not None and step.relations:
                return step
            if word not in ("where", "that", "which"):
                return None
        return None

    def _count_name_words(self, at: int) -> int:
        """The number of words of the known name that starts here; 0 for none."""
        if at >= len(self._words):
            return 0
        word = self._words[at]
        is_word = word.lower in _AMBIGUOUS_NAMES or word.lower in STOP_WORDS
        if is_word and not word.is_possessive and not (word.text[0].isupper() and at > 0):
            return 0
        counts = range(min(_MAX_NAME_WORDS, len(self._words) - at), 0, -1)
        return next((count for count in counts if self._known(self._name_key(at, count))), 0)

    def _name_key(self, at: int, count: int) -> str:
        return (
            self._text[self._words[at].start : self._words[at + count - 1].end].casefold().replace("’", "'")
        )
