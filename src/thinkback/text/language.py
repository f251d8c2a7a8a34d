"""Which language a text is in, by the share of its scripts: enough to choose rules and words, no model.

Latin script counts as English (`en`): thinkback has rules for English and Chinese only. A Latin word and
a Han character weigh the same, function words weigh three times, so "我用Python写code" is Chinese and
"I love 北京" is English.
"""

from __future__ import annotations

import re
from typing import Literal

from thinkback.text.scripts import HAN, HANGUL, KANA

Language = Literal["en", "zh", "ja", "ko", "ar", "he", "ru", "und"]

_SCRIPTS: tuple[tuple[Language, re.Pattern[str]], ...] = (
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
_SAMPLE = 2000


def language(text: str) -> Language:
    """The main language of a text; `und` when it holds no letter of a script we know."""
    sample = text[:_SAMPLE]
    weights: dict[Language, int] = {name: len(pattern.findall(sample)) for name, pattern in _SCRIPTS}
    if weights["ja"] and weights["ja"] * 5 >= weights["zh"]:
        weights["ja"] += weights["zh"]
        weights["zh"] = 0
    else:
        weights["ja"] = 0
    weights["en"] += 2 * len(_ENGLISH_WORD.findall(sample))
    weights["zh"] += 2 * len(_CHINESE_WORD.findall(sample)) if weights["zh"] else 0
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] else "und"
