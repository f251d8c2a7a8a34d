"""Concepts with their words in several languages: `concept = "word word prefix* 词"` in a TOML file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

from thinkback.language.safety.normalise import plain_letters

UNSPACED = "\u0600-\u06ff\u0900-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # words are found anywhere
UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_FOLDED_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_START_LETTERS = 3  # of every prefix
_MAX_WORD_LETTERS = 24
_MAX_JOINED_LETTERS = 240  # of a sentence without spaces
_MIN_JOINED_LETTERS = 12


def fold(text: str) -> str:
    """Lower case without accents."""
    text = text.lower()
    if text.isascii():
        return text
    return unicodedata.normalize(
        "NFC",
        "".join(c for c in unicodedata.normalize("NFD", text) if not "\u0300" <= c <= "\u036f"),
    ).translate(_FOLDED_LETTERS)


class ConceptTable:
    """The concepts by word, by prefix, and by word of a script without spaces."""

    def __init__(self, concepts: Iterable[tuple[str, str]]) -> None:
        words: dict[str, list[str]] = {}
        prefixes: dict[str, list[str]] = {}
        unspaced: dict[str, list[str]] = {}
        for concept, listed in concepts:
            for word in dict.fromkeys(fold(plain_letters(listed)).split()):
                is_unspaced = UNSPACED_RUN.search(word) is not None
                target = prefixes if word.endswith("*") else unspaced if is_unspaced else words
                names = target.setdefault(word.rstrip("*"), [])
                if concept not in names:
                    names.append(concept)
        self.words = {word: tuple(names) for word, names in words.items()}
        self._prefixes: dict[str, list[tuple[str, tuple[str, ...]]]] = {}  # by their first letters
        for prefix, names in prefixes.items():
            self._prefixes.setdefault(prefix[:_START_LETTERS], []).append((prefix, tuple(names)))
        self._unspaced = {word: tuple(names) for word, names in unspaced.items()}
        self._lengths: dict[str, list[int]] = {}  # by first character, longest first
        for word in sorted(self._unspaced, key=len, reverse=True):
            if len(word) not in self._lengths.setdefault(word[0], []):
                self._lengths[word[0]].append(len(word))

    def of_word(self, word: str) -> tuple[str, ...]:
        """The concepts of a folded word between spaces; of its parts, if it is several words in one."""
        found = self.words.get(word, ())
        for prefix, names in self._prefixes.get(word[:_START_LETTERS], ()):
            if word.startswith(prefix):
                found = (*found, *(name for name in names if name not in found))
        if not found and len(word) > _MIN_JOINED_LETTERS:
            return self._inner_concepts(word[:_MAX_JOINED_LETTERS])
        return found

    def of_unspaced(self, run: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """(start, end, concepts) of the longest known words of a run of characters without spaces."""
        at = 0
        while at < len(run):
            for length in self._lengths.get(run[at], ()):
                names = self._unspaced.get(run[at : at + length])
                if names:
                    yield at, at + length, names
                    at += length - 1
                    break
            at += 1

    def _inner_concepts(self, word: str) -> tuple[str, ...]:
        """The concepts of words that are written together."""
        found: list[str] = []
        at = 0
        while at < len(word) - _START_LETTERS:
            rest = word[at:]
            prefixes = self._prefixes.get(rest[:_START_LETTERS], ())
            known = [(len(prefix), names) for prefix, names in prefixes if rest.startswith(prefix)]
            known += [
                (n, self.words[rest[:n]])
                for n in range(4, min(len(rest), _MAX_WORD_LETTERS) + 1)
                if rest[:n] in self.words
            ]
            length, names = max(known, default=(0, ()))
            if length > _START_LETTERS:
                found += names
            at += length if length > _START_LETTERS else 1
        return tuple(found)


def unspaced_stems(run: str) -> Iterator[str]:
    """The pairs of characters of a run, or its only character."""
    for one, other in pairwise(run):
        yield one + other
    if len(run) == 1:
        yield run
