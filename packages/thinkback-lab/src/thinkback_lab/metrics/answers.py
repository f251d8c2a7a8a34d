"""Scores of an answer without a judge: anchors, shared words, and sentences that are retained in a text.

  anchor_map     share of a question's anchors that the answer contains; its mean is PerLTQA's MAP (Eq. 5)
  anchor_recall  the same for everything the reader was given
  correctness    TiM's labels by anchors: 1 all of them, 0.5 some, 0 none
  f1             words (in Chinese: characters) shared with the expected answer

An anchor matches regardless of case, width, apostrophes and spacing, but only as whole words and numbers: 8
is neither in 28 nor in 8.5, 十 is not in 二十.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from thinkback_lab.text import CHINESE_RANGES, split_sentences

_WORD = re.compile(rf"[{CHINESE_RANGES}]|[^\W_{CHINESE_RANGES}]+(?:'[^\W_{CHINESE_RANGES}]+)*")
_LETTER = re.compile(rf"[^\W_{CHINESE_RANGES}]")
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百千万亿]")
_FRACTION = re.compile(r"[.,]\d")
_CHINESE_SPACING = re.compile(rf"(?<=[{CHINESE_RANGES}]) | (?=[{CHINESE_RANGES}])")
_ARTICLES = frozenset(("a", "an", "the"))


def normalise_text(text: str) -> str:
    """Normalise width, case, apostrophes and spaces; remove spaces beside Chinese characters."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _CHINESE_SPACING.sub("", " ".join(plain.split()))


def contains_anchor(text: str, anchor: str) -> bool:
    """Whether the text contains the anchor as whole words."""
    needle, haystack = normalise_text(anchor), normalise_text(text)
    at = haystack.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        if not _is_inside_word(haystack, at) and not _is_inside_word(haystack, end):
            return True
        at = haystack.find(needle, at + 1)
    return False


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a word or number continues across position `at`."""
    before, after = text[max(at - 1, 0) : at], text[at : at + 1]
    if any(kind.match(before) and kind.match(after) for kind in (_LETTER, _NUMERAL)):
        return True
    fraction = before.isdigit() and _FRACTION.match(text, at)
    whole = after.isdigit() and at > 1 and text[at - 2].isdigit() and before in ".,"
    return bool(fraction or whole)


def anchor_share(text: str, anchors: Sequence[str]) -> float:
    """Share of the anchors that the text contains."""
    return sum(contains_anchor(text, anchor) for anchor in anchors) / len(anchors)


def correctness_label(share: float) -> float:
    return 1.0 if share == 1 else 0.5 if share > 0 else 0.0


def word_f1(answer: str, expected: str) -> float:
    """F1 of the words (with multiplicity) of both texts, without articles."""
    answer_words, expected_words = _count_words(answer), _count_words(expected)
    common = sum((answer_words & expected_words).values())
    if not common:
        return 0.0
    precision, recall = common / answer_words.total(), common / expected_words.total()
    return 2 * precision * recall / (precision + recall)


def _count_words(text: str) -> Counter[str]:
    return Counter(word for word in _WORD.findall(normalise_text(text)) if word not in _ARTICLES)


MIN_RETAINED_SHARE = 0.8
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN_WORD = re.compile(rf"[^\W\d_{CHINESE_RANGES}]+(?:'[^\W\d_{CHINESE_RANGES}]+)*")
_CHINESE_RUN = re.compile(rf"[{CHINESE_RANGES}]+")
_STOP_WORD_LIST = """
    a an the and or but so to of in on at for with by from as is are was were be been it its that this these
    those there i we you they he she my our your their his her do does did not no have has had will would can
    could should may must because since please let's let us don't doesn't didn't won't can't if then than just
    also only out rule"""
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
_CHINESE_STOP_CHARACTERS = frozenset("的了是我你在有和就不也都要把因为所以排除考虑")


def is_retained(text: str, lines: Iterable[str]) -> bool:
    """Whether every sentence of the text is contained in some line.

    A line contains a sentence if it has all of its numbers and at least 80% of its other words (in Chinese:
    of its character pairs). "not the tent because it leaks" is contained in "tent (it leaks)".
    """
    contents = [_numbers_and_words(line) for line in lines]
    return all(
        any(_sentence_is_in(_numbers_and_words(sentence), line) for line in contents)
        for sentence in split_sentences(text)
    )


def _sentence_is_in(sentence: tuple[set[str], set[str]], line: tuple[set[str], set[str]]) -> bool:
    numbers, words = sentence
    if not numbers <= line[0]:
        return False
    return len(words & line[1]) >= MIN_RETAINED_SHARE * len(words)


def _numbers_and_words(text: str) -> tuple[set[str], set[str]]:
    """Numbers and other words of a text."""
    plain = normalise_text(text)
    words = {word for word in _LATIN_WORD.findall(plain) if word not in _STOP_WORDS}
    for run in _CHINESE_RUN.findall(plain):
        pairs = {run[n : n + 2] for n in range(max(1, len(run) - 1))}
        words |= {pair for pair in pairs if not set(pair) & _CHINESE_STOP_CHARACTERS}
    return set(_NUMBER.findall(plain)), words
