"""Scores of an answer without a judge: anchors, shared words, and sentences that are retained in a text."""

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
    """One width, one case, one apostrophe; single spaces, and none beside a Chinese sign."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _CHINESE_SPACING.sub("", " ".join(plain.split()))


def contains_anchor(text: str, anchor: str) -> bool:
    """Whether `text` has the anchor."""
    wanted, inside = normalise_text(anchor), normalise_text(text)
    at = inside.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not _is_inside_word(inside, at) and not _is_inside_word(inside, end):
            return True
        at = inside.find(wanted, at + 1)
    return False


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a word or a number runs across the place before `text[at]`."""
    before, after = text[max(at - 1, 0) : at], text[at : at + 1]
    if any(kind.match(before) and kind.match(after) for kind in (_LETTER, _NUMERAL)):
        return True
    fraction = before.isdigit() and _FRACTION.match(text, at)
    whole = after.isdigit() and at > 1 and text[at - 2].isdigit() and before in ".,"
    return bool(fraction or whole)


def anchor_share(text: str, anchors: Sequence[str]) -> float:
    """The share of `anchors` that `text` says."""
    return sum(contains_anchor(text, anchor) for anchor in anchors) / len(anchors)


def correctness_label(share: float) -> float:
    return 1.0 if share == 1 else 0.5 if share > 0 else 0.0


def word_f1(answer: str, expected: str) -> float:
    """Words in common, counted as often as they occur in both; articles do not count."""
    ours, theirs = _count_words(answer), _count_words(expected)
    common = sum((ours & theirs).values())
    if not common:
        return 0.0
    precision, recall = common / ours.total(), common / theirs.total()
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


def is_retained(told: str, lines: Iterable[str]) -> bool:
    """Whether every sentence of what was told stands in some line."""
    held = [_numbers_and_words(line) for line in lines]
    return all(
        any(_sentence_is_in(_numbers_and_words(sentence), line) for line in held)
        for sentence in split_sentences(told)
    )


def _sentence_is_in(wanted: tuple[set[str], set[str]], line: tuple[set[str], set[str]]) -> bool:
    numbers, words = wanted
    if not numbers <= line[0]:
        return False
    return len(words & line[1]) >= MIN_RETAINED_SHARE * len(words)


def _numbers_and_words(text: str) -> tuple[set[str], set[str]]:
    """The numbers and the other words of a text."""
    plain = normalise_text(text)
    words = {word for word in _LATIN_WORD.findall(plain) if word not in _STOP_WORDS}
    for run in _CHINESE_RUN.findall(plain):
        pairs = {run[n : n + 2] for n in range(max(1, len(run) - 1))}
        words |= {pair for pair in pairs if not set(pair) & _CHINESE_STOP_CHARACTERS}
    return set(_NUMBER.findall(plain)), words
