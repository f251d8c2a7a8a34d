"""Tokens of the baselines: English stems, Chinese characters and character pairs.

Independent of thinkback, so that no baseline profits from its text analysis.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from threading import local

import snowballstemmer

from thinkback_lab.text import CHINESE_RANGES, contains_chinese

_TOKEN = re.compile(rf"[{CHINESE_RANGES}]+|[^\W_{CHINESE_RANGES}]+")
_thread_state = local()  # a stemmer is not thread-safe


def tokenize(text: str) -> list[str]:
    """Tokens in order, with repetitions; 爱吃面 gives 爱, 吃, 面, 爱吃 and 吃面."""
    tokens: list[str] = []
    for piece in _TOKEN.findall(text.casefold()):
        if contains_chinese(piece):
            tokens += piece
            tokens += (one + other for one, other in pairwise(piece))
        else:
            tokens.append(_stem(piece))
    return tokens


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    if not hasattr(_thread_state, "stemmer"):
        _thread_state.stemmer = snowballstemmer.stemmer("english")
    stem: str = _thread_state.stemmer.stemWord(word)
    return stem
