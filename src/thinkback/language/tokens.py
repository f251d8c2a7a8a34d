"""Text -> search terms, the same for indexing and asking: English stems, numbers, CJK unigrams and bigrams.

The design (decision 2) found that FTS5's own tokenisers miss Chinese words; stems plus character unigrams
and bigrams found all. Everything here is linear in the text and needs no model.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Any

from thinkback.language.scripts import CJK, EMOJI, INDIC, UNSPACED
from thinkback.language.zh.traditional import to_simplified

_STOP_WORDS = """
    a about above after again all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
    each few for from further get got had hadn't has hasn't have haven't having he he'd he'll he's her here
    hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself
    just let's me more most my myself no nor not now of off on once only or other our ours ourselves out over
    own please really same shall she she'd she'll she's should shouldn't so some such than that that'd that's
    the their theirs them themselves then there there's these they they'd they'll they're they've this those
    through to too under until up us very was wasn't we we'd we'll we're we've were weren't what what's when
    where where's which while who who's whom whose why will with won't would wouldn't yes you you'd you'll
    you're you've your yours yourself yourselves"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

FUNCTION_CHARACTERS = frozenset(
    "的了是我你您他她它们們在有和就不也都很吗嗎呢吧啊呀哦嗯这這那个個么麼着著与與及之而于於把被让讓给給对"
    "對从從到说說要会會能可以还還又再才只但或没沒"
)

MAX_WORD_CHARACTERS = 40

_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_CJK_RUN = re.compile(f"[{CJK}]+")
_ASCII_TOKEN = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[a-z][a-z0-9]*(?:'[a-z]+)*")
_TOKEN = re.compile(
    rf"[{UNSPACED}]+"
    r"|\d+(?:[.,:]\d+)*"
    rf"|(?:(?![{UNSPACED}])[^\W\d_]|[{INDIC}])(?:(?![{UNSPACED}])[^\W_]|[{INDIC}])*(?:'(?:(?![{UNSPACED}])[^\W\d_])+)*"
    rf"|[{EMOJI}]"
)

_stemmer_lock = threading.Lock()


def _build_folding_table() -> dict[int, str | None]:
    """Latin letters with diacritics -> plain letters; marks of Latin, Hebrew and Arabic -> nothing."""
    table: dict[int, str | None] = {}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        plain = "".join(c for c in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(c))
        if plain != chr(code):
            table[code] = plain.lower()
    table.update(
        {ord(k): v for k, v in {"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "đ": "d", "ł": "l"}.items()}
    )
    table.update({ord("ı"): "i", ord("ð"): "d", ord("þ"): "th", 0x2019: "'", 0xFF07: "'"})
    table.update(dict.fromkeys((*range(0x300, 0x370), *range(0x591, 0x5BE), *range(0x64B, 0x660))))
    table.update(dict.fromkeys((0x200B, 0x200C, 0x200D, 0xFE0E, 0xFE0F)))
    return table


_FOLDING_TABLE = _build_folding_table()


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    """Snowball imports every language it knows; `import thinkback` must not pay for that."""
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The English stem of one lower-case ASCII word. The stemmer keeps state, so one thread at a time."""
    with _stemmer_lock:
        return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1 << 16)
def _word_term(word: str) -> str:
    """The term of one ASCII token; empty for a stop word."""
    if word in STOP_WORDS:
        return ""
    if word[0].isdigit():
        return word.replace(",", "")
    return stem(word)


def fold_text(text: str) -> str:
    """Lower case, compatibility forms unified (NFKC), Latin diacritics dropped, Chinese simplified."""
    if text.isascii():
        return text.lower()
    return to_simplified(unicodedata.normalize("NFKC", text).lower().translate(_FOLDING_TABLE))


def extract_terms(text: str) -> list[str]:
    """The search terms of a text, in order, with repeats."""
    if text.isascii():
        found = _ASCII_TOKEN.findall(text.lower())
        return [term for token in found if (term := _ascii_term(token))]
    out: list[str] = []
    for token in _TOKEN.findall(fold_text(text)):
        if token.isascii():
            if term := _ascii_term(token):
                out.append(term)
        elif _UNSPACED_CHARACTER.match(token):
            _add_unspaced_terms(token, out)
        else:
            out.append(token)
    return out


def _ascii_term(token: str) -> str:
    return token if len(token) > MAX_WORD_CHARACTERS else _word_term(token)


def _add_unspaced_terms(run: str, out: list[str]) -> None:
    """Unigrams without function characters, and bigrams that are not made of them alone."""
    last = ""
    last_functional = True
    for character in run:
        functional = character in FUNCTION_CHARACTERS
        if last and not (last_functional and functional):
            out.append(last + character)
        if not functional:
            out.append(character)
        last, last_functional = character, functional


def count_tokens(text: str) -> int:
    """About how many tokens an LLM reads: 4 characters a token, 1.5 where the script is CJK."""
    if text.isascii():
        return (len(text) + 3) // 4
    cjk = sum(map(len, _CJK_RUN.findall(text)))
    return (cjk * 8 + (len(text) - cjk) * 3 + 11) // 12
