"""Words and search terms of a text, and number words, in English and Chinese."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.language.text_cache import cache_words
from thinkback.language.writing_systems import CJK, EMOJI, INDIC, TO_SIMPLIFIED, UNSPACED

_ONES_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES_EN = [*_ONES_WORDS.split(), "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS_EN = _TENS_WORDS.split()
_VALUES_EN = {"a": 1, "an": 1, "a couple of": 2, "couple": 2}
_VALUES_EN |= {word: value for value, word in enumerate(_ONES_EN)}
_VALUES_EN |= {word: 10 * (value + 2) for value, word in enumerate(_TENS_EN)}

NUMBER_PATTERN_EN = (
    rf"(?:\d{{1,4}}|an?(?: couple of)?|(?:{'|'.join(_TENS_EN)})(?:[- ](?:{'|'.join(_ONES_EN[1:10])}))?"
    rf"|{'|'.join(sorted(_ONES_EN, key=len, reverse=True))})"
)
NUMBER_PATTERN_ZH = "(?:\\d{1,4}|[一二两三四五六七八九十百千零〇]{1,7})"

_DIGITS_ZH = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS_ZH = {"十": 10, "百": 100, "千": 1000}


def parse_english_number(words: str) -> int:
    """The value of a match of `NUMBER_PATTERN_EN`: digits, "twelve", "forty-two", "a couple of"."""
    text = words.lower()
    if text.isdigit():
        return int(text)
    if text in _VALUES_EN:
        return _VALUES_EN[text]
    tens, _, ones = text.replace("-", " ").partition(" ")
    if tens in _TENS_EN and ones in _VALUES_EN:
        return _VALUES_EN[tens] + _VALUES_EN[ones]
    raise InvalidInput(f"{words!r} is not a number")


def parse_chinese_number(words: str) -> int:
    """The value of a match of `NUMBER_PATTERN_ZH`: digits, 三, 十二, 一百零五, or 二〇一九."""
    if words.isdecimal():
        return int(words)
    if not any(unit in words for unit in _UNITS_ZH):
        return int("".join(str(_DIGITS_ZH[c]) for c in words))
    total, digit = 0, 0
    for character in words:
        if character in _UNITS_ZH:
            total += (digit or 1) * _UNITS_ZH[character]
            digit = 0
        else:
            digit = _DIGITS_ZH[character]
    return total + digit


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
    rf"|(?:(?![{UNSPACED}])[^\W\d_]|[{INDIC}])(?:(?![{UNSPACED}])[^\W_]|[{INDIC}])*"
    rf"(?:'(?:(?![{UNSPACED}])[^\W\d_])+)*"
    rf"|[{EMOJI}]"
)

_stemmer_lock = threading.Lock()


def _build_folding_table() -> dict[int, str | None]:
    """Map traditional characters to simplified ones and Latin letters with diacritics to plain letters.

    Combining marks and joiners are dropped.
    """
    table: dict[int, str | None] = dict(TO_SIMPLIFIED)
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
_FOLDED_CHARACTER = re.compile(f"[{''.join(map(chr, _FOLDING_TABLE))}]")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    """Imported late because Snowball loads all its languages, which would slow down `import thinkback`."""
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache_words(1 << 16)
def stem(word: str) -> str:
    """The English stem of one lower-case ASCII word (thread-safe)."""
    with _stemmer_lock:  # the stemmer keeps state between calls
        return str(_stemmer().stemWord(word))


@cache_words(1 << 16)
def _word_term(word: str) -> str:
    """The term of one ASCII token; empty for a stop word."""
    if word in STOP_WORDS:
        return ""
    if word[0].isdigit():
        return word.replace(",", "")
    return stem(word)


def fold_text(text: str) -> str:
    """Normalise a text for matching: NFKC, lower case, no Latin diacritics, simplified Chinese."""
    if text.isascii():
        return text.lower()
    normal = unicodedata.normalize("NFKC", text).lower()
    # translating is slower than searching
    return normal.translate(_FOLDING_TABLE) if _FOLDED_CHARACTER.search(normal) else normal


def extract_terms(text: str) -> list[str]:
    """Return the search terms of a text, in order and with repetitions.

    >>> extract_terms("I have moved to 巴黎")
    ['move', '巴', '巴黎', '黎']
    """
    if text.isascii():
        words = _ASCII_TOKEN.findall(text.lower())
        return [term for token in words if (term := _ascii_term(token))]
    result: list[str] = []
    for token in _TOKEN.findall(fold_text(text)):
        if token.isascii():
            if term := _ascii_term(token):
                result.append(term)
        elif _UNSPACED_CHARACTER.match(token):
            _add_unspaced_terms(token, result)
        else:
            result.append(token)
    return result


def said_terms(text: str) -> frozenset[str]:
    """The terms of a text; in Chinese single characters, because pairs change with every phrasing."""
    return frozenset(term for term in extract_terms(text) if term.isascii() or len(term) == 1)


def _ascii_term(token: str) -> str:
    return token if len(token) > MAX_WORD_CHARACTERS else _word_term(token)


def _add_unspaced_terms(run: str, result: list[str]) -> None:
    """Append unigrams (no function characters) and bigrams (at least one other character) of a run."""
    previous = ""
    previous_functional = True
    for character in run:
        functional = character in FUNCTION_CHARACTERS
        if previous and not (previous_functional and functional):
            result.append(previous + character)
        if not functional:
            result.append(character)
        previous, previous_functional = character, functional


def count_tokens(text: str) -> int:
    """Estimate the number of LLM tokens: 4 characters per token, 1.5 for CJK scripts."""
    if text.isascii():
        return (len(text) + 3) // 4
    cjk = sum(map(len, _CJK_RUN.findall(text)))
    return (cjk * 8 + (len(text) - cjk) * 3 + 11) // 12
