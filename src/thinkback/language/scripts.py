"""Unicode scripts: character ranges, cleaning of input text and language detection by script."""

from __future__ import annotations

import re
from typing import Literal

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
SOUTH_EAST_ASIAN = "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
CJK = HAN + KANA + HANGUL
UNSPACED = CJK + SOUTH_EAST_ASIAN
INDIC = "\u0900-\u0963\u0966-\u0dff"
EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"

_HAN_CHARACTER = re.compile(f"[{HAN}]")


def has_han(text: str) -> bool:
    return _HAN_CHARACTER.search(text) is not None


_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n|[\r\u0085\u2028\u2029]")


def clean_text(text: str) -> str:
    """NUL and lone surrogates -> U+FFFD, surrogate pairs joined, every kind of newline -> LF."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _NEWLINE.sub("\n", text.replace("\x00", "\ufffd"))


Language = Literal["en", "zh", "ja", "ko", "ar", "he", "ru", "und"]

_LANGUAGE_PATTERNS: tuple[tuple[Language, re.Pattern[str]], ...] = (
    ("en", re.compile("[A-Za-z\u00c0-\u024f]+")),
    ("zh", re.compile(f"[{HAN}]")),
    ("ja", re.compile(f"[{KANA}]")),
    ("ko", re.compile(f"[{HANGUL}]")),
    ("ar", re.compile("[\u0620-\u06ff]+")),
    ("he", re.compile("[\u05d0-\u05ea]+")),
    ("ru", re.compile("[\u0400-\u04ff]+")),
)
_ENGLISH_WORD = re.compile(r"\b(?:i|i'm|my|the|a|is|am|are|in|to|and|of|you|was|it)\b", re.IGNORECASE)
_CHINESE_WORD = re.compile("[的了是我你他她在有不吗呢吧们这那]")
_SAMPLE_CHARACTERS = 2000


def detect_language(text: str) -> Language:
    """The main language of a text; `und` when it holds no letter of a script we know."""
    sample = text[:_SAMPLE_CHARACTERS]
    weights: dict[Language, int] = {
        name: len(pattern.findall(sample)) for name, pattern in _LANGUAGE_PATTERNS
    }
    if weights["ja"] and weights["ja"] * 5 >= weights["zh"]:
        weights["ja"] += weights["zh"]
        weights["zh"] = 0
    else:
        weights["ja"] = 0
    weights["en"] += 2 * len(_ENGLISH_WORD.findall(sample))
    weights["zh"] += 2 * len(_CHINESE_WORD.findall(sample)) if weights["zh"] else 0
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] else "und"
