"""How a name sounds, so that it is known again in another script: 安娜 and Anna, 张伟 and Zhang Wei."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from thinkback.text.scripts import has_han

_LETTERS = re.compile(r"[^a-z]")
_LAST = frozenset("aeiouvngr")  # what a syllable of pinyin ends with


def is_han(name: str) -> bool:
    """Whether a name is written in Chinese characters, at least in part."""
    return has_han(name)


@lru_cache(maxsize=4096)
def sound(name: str) -> str:
    """The letters of a name as it is said: pinyin for Chinese characters, the rest without marks."""
    spoken = name.casefold()
    if is_han(name):
        from pypinyin import lazy_pinyin  # a quarter of a second: only for those who write Chinese

        spoken = "".join(lazy_pinyin(spoken))
    return _LETTERS.sub("", spoken)


def may_be_pinyin(name: str) -> bool:
    """Whether a name in Latin letters could be a Chinese one spelt out; cheap, to spare the rest."""
    return name[-1:].casefold() in _LAST and all(word.isalpha() for word in name.split())


def likeness(one: str, other: str) -> float:
    """Of two names, how much of their sound they share: 1 for the same."""
    first, second = sound(one), sound(other)
    if not first or not second:
        return 0.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()
