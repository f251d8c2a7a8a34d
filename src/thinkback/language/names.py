"""Names as keys: normalised spelling, and phonetic similarity across scripts."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache

from thinkback.language.kinship import (
    KIN_EN,
    KIN_ZH,
    PETS_EN,
    PETS_ZH,
    SPECIFIC_ROLES_ZH,
    alternation_pattern,
)
from thinkback.language.scripts import has_han

USER = "user"
SURNAMES = (
    "王李张刘陈杨赵周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余潘杜戴"
    "夏钟汪田姜范姚谭廖邹熊陆郝孔崔邱秦顾侯邵孟黄高马金江钱尹黎乔贺赖龚倪严牛温芦章鲁葛毕聂焦向欧柳齐尚施"
    "季"
)
"""The common Chinese ones of one character that seldom begin another word."""

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


@lru_cache(maxsize=16384)
def normalise_name(name: str) -> str:
    """Case, width, articles, possessives and surrounding punctuation folded; the user and kin named once."""
    current = name
    for _ in range(8):  # each pass strips one layer; names have few
        folded = _normalise_once(current)
        if folded == current:
            break
        current = folded
    return current


def _normalise_once(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    spaced = _SPACES.sub(" ", folded)
    bare = spaced.strip(_EDGE_PUNCTUATION) or spaced.strip()
    bare = _POSSESSIVE.sub("", _ARTICLES.sub("", bare, count=1))
    if bare in _USER_WORDS:
        return USER
    if chinese := _USER_KIN_ZH.fullmatch(bare):
        return f"{USER}'s {SPECIFIC_ROLES_ZH.get(chinese[1], chinese[1])}"
    mine = _USER_POSSESSIVE_EN.sub(f"{USER}'s ", bare, count=1) if _USER_POSSESSIVE_EN.match(bare) else bare
    if kin := _USER_KIN_EN.fullmatch(mine):
        return kin[1] + _AGE_PREFIXES.get(kin[2] or "", "") + KIN_EN[kin[3]]
    return mine


def find_user_roles(words: str) -> list[str]:
    """The user's people and pets that words speak of by what they are to him: "user's older sister"."""
    return list(dict.fromkeys(normalise_name(found[0]) for found in _ROLE_MENTION.finditer(words)))


_NOT_A_LETTER = re.compile(r"[^a-z]")
_PINYIN_FINAL_LETTERS = frozenset("aeiouvngr")  # what a syllable of pinyin ends with


def is_han_name(name: str) -> bool:
    """Whether a name is written in Chinese characters, at least in part."""
    return has_han(name)


@lru_cache(maxsize=4096)
def phonetic_key(name: str) -> str:
    """The letters of a name as it is said: pinyin for Chinese characters, the rest without marks."""
    spoken = name.casefold()
    if is_han_name(name):
        from pypinyin import lazy_pinyin  # a quarter of a second: only for those who write Chinese

        spoken = "".join(lazy_pinyin(spoken))
    return _NOT_A_LETTER.sub("", spoken)


def may_be_pinyin(name: str) -> bool:
    """Whether a name in Latin letters could be a Chinese one spelt out; cheap, to spare the rest."""
    return name[-1:].casefold() in _PINYIN_FINAL_LETTERS and all(word.isalpha() for word in name.split())


def phonetic_similarity(one: str, other: str) -> float:
    """Of two names, how much of their sound they share: 1 for the same."""
    first, second = phonetic_key(one), phonetic_key(other)
    if not first or not second:
        return 0.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()
