"""Chinese, Japanese and Korean without a vocabulary: weighted character uni- and bigrams, hashed with a sign.

Two function characters in a row say nothing and are left out, one of them makes a bigram weak: in 128
dimensions collisions are what costs, so what carries no meaning must not take part in them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from thinkback.text.traditional import simplified

RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")

UNIGRAM = 0.8
WEAK_BIGRAM = 0.3
FUNCTION = frozenset(
    "的了是我你他她它们这那在有和也都就不很吗呢吧啊么什怎个一着过到说要会能可以还没对去来好得地把被让给与及或但因为所如果"
)


def grams(text: str) -> Iterator[tuple[str, float]]:
    """Every character and pair of neighbours in the CJK runs of a text, with its weight."""
    for run in RUN.findall(simplified(text)):
        for i, char in enumerate(run):
            if char not in FUNCTION:
                yield char, UNIGRAM
            pair = run[i : i + 2]
            empty = sum(c in FUNCTION for c in pair)
            if len(pair) == 2 and empty < 2:
                yield pair, WEAK_BIGRAM if empty else 1.0


def slot(feature: str, dim: int) -> tuple[int, float]:
    """Where a feature is counted and with which sign: signed hashing keeps inner products unbiased."""
    code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
    return code % dim, 1.0 if code >> 31 else -1.0
