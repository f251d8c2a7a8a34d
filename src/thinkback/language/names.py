"""Names as keys: normalised spelling, and phonetic similarity across scripts.

The store keys its alias table by `normalise_name` (entity resolution of TiM). The user is always "user" (I,
my, 我, 用户), and relatives have one name in both languages: "my mom" and 我妈妈 are "user's mother".
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

from thinkback.language.kinship import (
    KIN_EN,
    KIN_ZH,
    PETS_EN,
    PETS_ZH,
    SPECIFIC_ROLES_ZH,
    alternation_pattern,
)
from thinkback.language.text_cache import cache_words
from thinkback.language.writing_systems import has_han

USER = "user"
SURNAMES = (
    "王李张刘陈杨赵周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余潘杜戴"
    "夏钟汪田姜范姚谭廖邹熊陆郝孔崔邱秦顾侯邵孟黄高马金江钱尹黎乔贺赖龚倪严牛温芦章鲁葛毕聂焦向欧柳齐尚施"
    "季"
)
"""Common Chinese surnames of one character that rarely start another word."""

_SPACES = re.compile(r"\s+")
_EDGE_PUNCTUATION = " \t\n.,;:!?\"'“”‘’。，！？；：、「」『』《》()（）"
_ARTICLES = re.compile(r"\A(?:(?:the|an?)\s)+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)'s?\Z")
_USER_WORDS = frozenset(
    ("i", "me", "my", "mine", "myself", "user", "我", "俺", "咱", "本人", "我自己", "自己", "用户")
)
_USER_POSSESSIVE_EN = re.compile(r"(?:my|the user's|users'?)\s(?=\S)")
_USER_KIN_ZH = re.compile(f"(?:我|俺|咱|用户)(?:的|家的?)?({alternation_pattern(KIN_ZH | PETS_ZH)})")
_USER_KIN_EN = re.compile(
    rf"({USER}'s )(?:(older|elder|big|younger|little) )?({alternation_pattern(KIN_EN)})"
)
_ROLE_MENTION = re.compile(
    rf"\bmy (?:(?:older|elder|big|younger|little) )?(?:{alternation_pattern(KIN_EN | PETS_EN)})\b"
    f"|(?:我|俺|咱)(?:的|家的?)?(?:{alternation_pattern(KIN_ZH | PETS_ZH)})",
    re.IGNORECASE,
)
_AGE_PREFIXES = {
    "older": "older ",
    "elder": "older ",
    "big": "older ",
    "younger": "younger ",
    "little": "younger ",
}


@cache_words(16384)
def normalise_name(name: str) -> str:
    """Normalise case, width, articles, possessives and punctuation; the user and relatives have fixed names.

    >>> normalise_name("My little sister"), normalise_name("the Netherlands")
    ("user's younger sister", 'netherlands')
    """
    current = name
    for _ in range(8):  # each pass removes one layer of punctuation or possessives
        normalised = _normalise_once(current)
        if normalised == current:
            break
        current = normalised
    return current


def _normalise_once(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    spaced = _SPACES.sub(" ", folded)
    bare = spaced.strip(_EDGE_PUNCTUATION) or spaced.strip()
    bare = _POSSESSIVE.sub("", _ARTICLES.sub("", bare, count=1))
    if bare in _USER_WORDS:
        return USER
    if kin_zh := _USER_KIN_ZH.fullmatch(bare):
        return f"{USER}'s {SPECIFIC_ROLES_ZH.get(kin_zh[1], kin_zh[1])}"
    possessed = (
        _USER_POSSESSIVE_EN.sub(f"{USER}'s ", bare, count=1) if _USER_POSSESSIVE_EN.match(bare) else bare
    )
    if kin := _USER_KIN_EN.fullmatch(possessed):
        return kin[1] + _AGE_PREFIXES.get(kin[2] or "", "") + KIN_EN[kin[3]]
    return possessed


def find_user_roles(words: str) -> list[str]:
    """The user's relatives and pets that a text mentions by role: "user's older sister"."""
    return list(dict.fromkeys(normalise_name(found[0]) for found in _ROLE_MENTION.finditer(words)))


_NOT_A_LETTER = re.compile(r"[^a-z]")
_PINYIN_FINAL_LETTERS = frozenset("aeiouvngr")  # last letters of pinyin syllables


def is_han_name(name: str) -> bool:
    """Whether a name contains Chinese characters."""
    return has_han(name)


@cache_words(4096)
def phonetic_key(name: str) -> str:
    """The Latin letters of a name, with pinyin for Chinese characters: 安娜 and Anna are both "anna"."""
    letters = name.casefold()
    if is_han_name(name):
        from pypinyin import lazy_pinyin  # takes 0.25 s to import

        letters = "".join(lazy_pinyin(letters))
    return _NOT_A_LETTER.sub("", letters)


def may_be_pinyin(name: str) -> bool:
    """Whether a Latin name could be a Chinese one in pinyin; a cheap test before comparing sounds."""
    return name[-1:].casefold() in _PINYIN_FINAL_LETTERS and all(word.isalpha() for word in name.split())


def phonetic_similarity(one: str, other: str) -> float:
    """Similarity of the sound of two names, from 0 to 1 (identical)."""
    first, second = phonetic_key(one), phonetic_key(other)
    if not first or not second:
        return 0.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()
