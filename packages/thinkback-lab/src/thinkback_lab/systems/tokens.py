"""The words of a text as the baselines count them: English stems, and of Chinese single characters and pairs.

They are the laboratory's own, so that a baseline does not profit from thinkback's reading of a text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from threading import local

import snowballstemmer

from thinkback_lab.text import CHINESE_RANGES, contains_chinese

_TOKEN = re.compile(rf"[{CHINESE_RANGES}]+|[^\W_{CHINESE_RANGES}]+")
_thread_state = local()  # a stemmer keeps its word while it works on it: one a thread


def tokenize(text: str) -> list[str]:
    """In order, repetitions kept; of 爱吃面 爱, 吃, 面, 爱吃 and 吃面."""
    found: list[str] = []
    for piece in _TOKEN.findall(text.casefold()):
        if contains_chinese(piece):
            found += piece
            found += (one + other for one, other in pairwise(piece))
        else:
            found.append(_stem(piece))
    return found


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    if not hasattr(_thread_state, "stemmer"):
        _thread_state.stemmer = snowballstemmer.stemmer("english")
    stem: str = _thread_state.stemmer.stemWord(word)
    return stem
