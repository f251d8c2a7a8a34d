"""What the laboratory knows of a text without a model, alike for every memory: signs, sentences, cost."""

from __future__ import annotations

import re

CHINESE_RANGES = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Chinese characters, to stand in a regex's brackets
)
_CHINESE = re.compile(f"[{CHINESE_RANGES}]")
_CJK_CHARACTER = re.compile(rf"[{CHINESE_RANGES}\u3000-\u303f\uff00-\uffef]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def contains_chinese(text: str) -> bool:
    return _CHINESE.search(text) is not None


def split_sentences(text: str) -> list[str]:
    """An English mark ends one where a space follows, a Chinese mark and a line's end always."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def count_tokens(text: str) -> int:
    """What it costs a model, roughly and alike for all: a CJK sign one token, four letters one."""
    signs = len(_CJK_CHARACTER.findall(text))
    return signs + -(-(len(text) - signs) // 4)


def printable_text(text: str) -> str:
    """Others' words on our screen: what cannot be shown becomes a space; line ends stay.

    That is control characters, a turned direction, half of a character.
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)
