"""Names of people, places and other things in plain sentences, found without a model.

A word counts as a name by its spelling and by what stands around it anywhere in the same memory: "Answered"
at the start of a sentence is no name, "Gil" is one because another sentence has "my Gil". Chinese has no
capital letters: a name needs a surname, a title (杜老师) or an introduction (女儿周敏) at least once.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import NamedTuple

from thinkback.language.kinship import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH
from thinkback.language.names import SURNAMES
from thinkback.language.protocol import load_language
from thinkback.language.tokens import FUNCTION_CHARACTERS, STOP_WORDS
from thinkback.language.writing_systems import has_han


class NameMention(NamedTuple):
    """A name in a sentence, and whether its bearer seems to be a person (or a pet)."""

    name: str
    is_person: bool


def find_proper_names(texts: Sequence[str]) -> list[tuple[NameMention, ...]]:
    """The names in each of the texts, which belong to one memory: each is evidence for the others.

    >>> find_proper_names(["Answered Gil today.", "My son Gil moved to Porto."])[1]
    (NameMention(name='Gil', is_person=True), NameMention(name='Porto', is_person=False))
    """
    latin = _find_latin(texts)
    han = _find_han([text if has_han(text) else "" for text in texts])
    return [tuple(dict.fromkeys((*one, *other))) for one, other in zip(latin, han, strict=True)]


@cache
def _words(language: str, name: str) -> frozenset[str]:
    text = files("thinkback.language").joinpath("proper_names.toml").read_text("utf-8")
    return frozenset(tomllib.loads(text)[language][name].split())


# --- Latin letters ---------------------------------------------------------------------------------------

_LATIN_WORD = re.compile(r"[^\W\d_](?:[\w]|[’'-](?=\w))*")
_CONTRACTION = re.compile(r"(?:['’](?:s|ll|d|ve|re|m|t))\Z")
_STARTS_SENTENCE = re.compile(r"(?:\A|[.!?:;\n…—–]|[\"“”(\[>*•-]|[。！？：；，])\s*\Z")
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st)\. \Z", re.IGNORECASE)
_FIRST_NAME_VOTES = -3  # so much speaks for a common first name


class _Token(NamedTuple):
    word: str  # without a contraction
    start: int
    end: int
    is_initial: bool  # the first word of a sentence
    possessive: bool


def _tokens(text: str) -> tuple[_Token, ...]:
    found = []
    for match in _LATIN_WORD.finditer(text):
        word = bare = match.group()
        start, end = match.span()
        if "'" in word or "’" in word:
            bare = _CONTRACTION.sub("", word)
        is_initial = (
            word[0].isupper()
            and _STARTS_SENTENCE.search(text[max(0, start - 3) : start]) is not None
            and _ABBREVIATION.search(text[max(0, start - 6) : start]) is None
        )
        found.append(_Token(bare, start, end, is_initial, word[len(bare) :] in ("'s", "’s")))
    return tuple(found)


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


class _LatinEvidence:
    """What the texts of a memory say about each capitalised word."""

    def __init__(self, tokens: Iterable[Sequence[_Token]]) -> None:
        self.lower: set[str] = set()
        self.inside: Counter[str] = Counter()  # capitalised where it is not the first word
        self.count: Counter[str] = Counter()
        self.acting: set[str] = set()  # the first word, before a verb of people: "Beata said"
        for text in tokens:
            for token, following in zip_longest(text, text[1:]):
                if not _is_capitalised(token.word):
                    self.lower.add(token.word)
                    continue
                self.count[token.word] += 1
                if not token.is_initial:
                    self.inside[token.word] += 1
                elif following is not None and following.word in _words("en", "acts"):
                    self.acting.add(token.word)

    def is_name(self, token: _Token) -> bool:
        word = token.word
        low = word.lower()
        if low in STOP_WORDS or low in _words("en", "not_names") or low in KIN_EN or low in PETS_EN:
            return False
        if len(word) < 2 or not _is_capitalised(word):
            return False
        known = low in _lexicon("first_names") or low in _lexicon("places")
        if low in self.lower and not (known and self.inside[word]):
            return False
        if word.isupper():
            return self.count[word] > 1 and self.inside[word] > 0
        return known or self.inside[word] > 0 or word in self.acting


@cache
def _lexicon(name: str) -> frozenset[str]:
    return load_language("en").lexicon.words(name)


def _find_latin(texts: Sequence[str]) -> list[list[NameMention]]:
    tokenised = [_tokens(text) for text in texts]
    evidence = _LatinEvidence(tokenised)
    found = [list(_spans(text, tokens, evidence)) for text, tokens in zip(texts, tokenised, strict=True)]
    votes: Counter[str] = Counter()
    for tokens, spans in zip(tokenised, found, strict=True):
        for first, last in spans:
            votes[_name(tokens, first, last)] += _person_vote(tokens, first, last)
    return [
        [
            NameMention(name, _is_person(name, votes[name]))
            for name in (_name(tokens, first, last) for first, last in spans)
        ]
        for tokens, spans in zip(tokenised, found, strict=True)
    ]


def _spans(text: str, tokens: Sequence[_Token], evidence: _LatinEvidence) -> Iterator[tuple[int, int]]:
    """The first and last token of each name, with the title before it: "Mrs Tavares"."""
    index = 0
    while index < len(tokens):
        if not evidence.is_name(tokens[index]):
            index += 1
            continue
        first = last = index
        while (
            last + 1 < len(tokens)
            and not tokens[last].possessive
            and text[tokens[last].end : tokens[last + 1].start] == " "
            and _continues(tokens[last + 1], evidence)
        ):
            last += 1
        if _has_title(tokens, first):
            first -= 1
        yield first, last
        index = last + 1


def _continues(token: _Token, evidence: _LatinEvidence) -> bool:
    """Whether a capitalised word belongs to the name before it: "Church Street"."""
    low = token.word.lower()
    return _is_capitalised(token.word) and low not in STOP_WORDS and low not in _words("en", "not_names")


def _has_title(tokens: Sequence[_Token], first: int) -> bool:
    """Whether a title stands before the name that begins with this token."""
    before = tokens[first - 1] if first else None
    return (
        before is not None
        and _is_capitalised(before.word)
        and before.word.lower() in _words("en", "titles") | {"st"}
        and not before.possessive
        and tokens[first].start - before.end <= len(". ")
    )


def _name(tokens: Sequence[_Token], first: int, last: int) -> str:
    return " ".join(token.word for token in tokens[first : last + 1])


def _person_vote(tokens: Sequence[_Token], first: int, last: int) -> int:
    """Positive where the words around a name fit a person, negative where they fit a place or thing."""
    before = tokens[first - 1].word.lower() if first and not tokens[first].is_initial else ""
    after = tokens[last + 1].word.lower() if last + 1 < len(tokens) else ""
    vote = 0
    if before in KIN_EN or before in PETS_EN:
        vote += 4
    if before in _words("en", "before_thing"):
        vote -= 2
    elif before in _words("en", "before_person"):
        vote += 1
    if after in _words("en", "after_person") and not tokens[last].possessive:
        vote += 1
    if tokens[last].possessive:
        vote += 1
    return vote


def _is_person(name: str, votes: int) -> bool:
    words = name.lower().split()
    if name.lower() in _lexicon("places"):
        return False
    if words[0] in _words("en", "titles"):
        return True
    if name.isupper() or not name.replace(" ", "").replace("-", "").replace("'", "").isalpha():
        return False
    return votes > (_FIRST_NAME_VOTES if words[0] in _lexicon("first_names") else 0)


# --- Chinese -----------------------------------------------------------------------------------------------

_ALL_SURNAMES = SURNAMES + "方石任龙白文武康史毛雷段"
_HAN = "[\u4e00-\u9fff]"
_ROLES_ZH = KIN_ZH | PETS_ZH
_FULL_NAME_CHARACTERS = 3  # surname and two characters


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Words that are names by themselves: with a title, after a role, with 小 or 老."""
    titles = _alternation(_words("zh", "titles"))
    short_titles = "[姐哥叔婶姨嫂]"
    introductions = _alternation(_words("zh", "before_person") | frozenset(_ROLES_ZH))
    given = _given()
    full = f"[{_ALL_SURNAMES}]{given}{{1,2}}"
    return (
        re.compile(f"([{_ALL_SURNAMES}](?:{titles}))"),
        re.compile(f"(?<!{_HAN})({given}{{1,2}}{short_titles})(?!{short_titles})"),
        re.compile(f'(?:{introductions})[，,：:]?[“「"]?({full}|[小阿]{given}|({given})\\2)'),
        re.compile(f"([小老阿][{_ALL_SURNAMES}])(?!{_HAN}?[病家街路店])"),
        re.compile(f"(阿{given})"),
    )


@cache
def _repeated_patterns() -> tuple[re.Pattern[str], ...]:
    """Words that are names if the memory has them more than once."""
    roles = _alternation(frozenset(_ROLES_ZH) | _words("zh", "before_person"))
    given = _given()
    return (
        re.compile(f'(?:{roles})[“「"]?({given}{{2}})(?=[”」"，。、 {"".join(_followers())}])'),
        re.compile(f"(?=([{SURNAMES}]{given}{{1,2}}))"),
        re.compile(f"(小{given})"),
        re.compile(f"(({given})\\2)"),
    )


def _alternation(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _given() -> str:
    """A character that given names are made of."""
    excluded = "".join(_words("zh", "not_given")) + "".join(FUNCTION_CHARACTERS)
    return f"[^\\W\\da-zA-Z_{excluded}]"


def _find_han(texts: Sequence[str]) -> list[list[NameMention]]:
    joined = "\n".join(texts)
    lexicon = load_language("zh").lexicon
    places = lexicon.words("places")
    excluded = _words("zh", "not_names") | _words("zh", "before_person") | _words("zh", "titles")
    excluded |= frozenset(_ROLES_ZH) | places | lexicon.words("jobs")
    repeated = {found[1] for pattern in _repeated_patterns() for found in pattern.finditer(joined)}
    names = _standing_alone(repeated - excluded, joined)
    names |= {found[1] for pattern in _patterns() for found in pattern.finditer(joined)}
    names = _trimmed(names - excluded, joined) - excluded
    finder = _WordFinder(names | places)
    return [[NameMention(word, word in names) for word in finder.find(text)] for text in texts]


class _WordFinder:
    """Finds the words of a set in unspaced text."""

    def __init__(self, words: AbstractSet[str]) -> None:
        self._words = words
        self._sizes: dict[str, list[int]] = {}  # by first character, longest first
        for first, size in sorted({(word[0], -len(word)) for word in words}):
            self._sizes.setdefault(first, []).append(-size)

    def find(self, text: str) -> Iterator[str]:
        """The words in a text, the longest one at each place."""
        end = 0
        for start, character in enumerate(text):
            if start < end:
                continue
            for size in self._sizes.get(character, ()):
                if text[start : start + size] in self._words:
                    end = start + size
                    yield text[start:end]
                    break


def _standing_alone(words: AbstractSet[str], text: str) -> set[str]:
    """Those of the words that occur several times, with different characters before and after them."""
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for size in {len(word) for word in words}:
        for start in range(len(text) - size + 1):
            word = text[start : start + size]
            if word in words:
                before.setdefault(word, set()).add(text[start - 1 : start])
                after.setdefault(word, set()).add(text[start + size : start + size + 1])
    return {word for word in before if len(before[word]) > 1 and len(after[word]) > 1}


def _trimmed(names: AbstractSet[str], text: str) -> set[str]:
    """Names without a last character that does not belong to them: 周敏带 is 周敏 where 周敏 occurs alone."""
    long = {
        name
        for name in names
        if len(name) == _FULL_NAME_CHARACTERS
        and name[0] in _ALL_SURNAMES
        and name[1:] not in _words("zh", "titles")
    }
    following: dict[str, set[str]] = {}
    short_names = {name[:2] for name in long}
    for start in range(len(text) - 1):
        if text[start : start + 2] in short_names:
            following.setdefault(text[start : start + 2], set()).add(text[start + 2 : start + 3])
    shortened = {
        name[:2] if len(following[name[:2]]) > 1 or name[2] in _followers() else name for name in long
    }
    return {*(names - long), *shortened}


@cache
def _followers() -> frozenset[str]:
    return frozenset(word[0] for word in _words("zh", "after_person"))
