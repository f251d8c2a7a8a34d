"""The character ranges of the scripts we tell apart, written once so that every pattern agrees.

`RUN` covers scripts written without spaces (Han, kana, Hangul, Thai, Lao, Khmer, Burmese). Hangul has
spaces, but its particles stick to the word, so character bigrams serve it better than whole words.
"""

from __future__ import annotations

import re

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
SOUTH_EAST_ASIAN = "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
CJK = HAN + KANA + HANGUL
RUN = CJK + SOUTH_EAST_ASIAN
INDIC = "\u0900-\u0963\u0966-\u0dff"
EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"

_HAN = re.compile(f"[{HAN}]")


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None
