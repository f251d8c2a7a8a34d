"""Text functions without a model: Chinese characters, sentences, token counts."""

from __future__ import annotations

import re

CHINESE_RANGES = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # for use in a regex character class
_CHINESE = re.compile(f"[{CHINESE_RANGES}]")
_CJK_CHARACTER = re.compile(rf"[{CHINESE_RANGES}\u3000-\u303f\uff00-\uffef]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def contains_chinese(text: str) -> bool:
    return _CHINESE.search(text) is not None


def split_sentences(text: str) -> list[str]:
    """Split at English marks followed by a space, at Chinese marks, and at line ends."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def count_tokens(text: str) -> int:
    """Approximate token count: one per CJK character, one per four other characters."""
    signs = len(_CJK_CHARACTER.findall(text))
    return signs + -(-(len(text) - signs) // 4)


def printable_text(text: str) -> str:
    """Replace everything unprintable except line ends by spaces: control characters, direction marks,
    surrogates.
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)
