"""Whether something that was told still stands in a text: sentence by sentence, numbers without exception.

A sentence is kept where one line has its numbers, all of them, and four fifths of its other words: "not the
tent because it leaks" is kept by "tent (it leaks)". In Chinese, pairs of signs take the place of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from thinkback_lab.metrics.answers import folded
from thinkback_lab.text import HAN, sentences

ENOUGH = 0.8
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(rf"[^\W\d_{HAN}]+(?:'[^\W\d_{HAN}]+)*")
_RUN = re.compile(rf"[{HAN}]+")
_LITTLE_WORDS = """
    a an the and or but so to of in on at for with by from as is are was were be been it its that this these
    those there i we you they he she my our your their his her do does did not no have has had will would can
    could should may must because since please let's let us don't doesn't didn't won't can't if then than just
    also only out rule"""
_LITTLE = frozenset(_LITTLE_WORDS.split())
_LITTLE_HAN = frozenset("的了是我你在有和就不也都要把因为所以排除考虑")


def kept(told: str, lines: Iterable[str]) -> bool:
    """Whether every sentence of what was told stands in some line."""
    held = [_parts(line) for line in lines]
    return all(any(_held(_parts(sentence), line) for line in held) for sentence in sentences(told))


def _held(wanted: tuple[set[str], set[str]], line: tuple[set[str], set[str]]) -> bool:
    numbers, words = wanted
    if not numbers <= line[0]:
        return False
    return len(words & line[1]) >= ENOUGH * len(words)


def _parts(text: str) -> tuple[set[str], set[str]]:
    """The numbers and the other words of a text."""
    plain = folded(text)
    words = {word for word in _WORD.findall(plain) if word not in _LITTLE}
    for run in _RUN.findall(plain):
        pairs = {run[n : n + 2] for n in range(max(1, len(run) - 1))}
        words |= {pair for pair in pairs if not set(pair) & _LITTLE_HAN}
    return set(_NUMBER.findall(plain)), words
