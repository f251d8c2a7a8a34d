"""Names as keys: two spellings of one name normalise to the same string (TiM 001, entity resolution).

Stores key their alias table by it, so it lives below them; `think/resolve` builds on it. The user has one
name, `user`, whatever the language: I, my, 我, 用户; and "my mom", 我妈妈 are both "user's mother".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from thinkback.text.people.kin import KIN_EN, KIN_ZH, PERSON_ZH, PETS_EN, PETS_ZH, longest_first

USER = "user"
SURNAMES = (
    "王李张刘陈杨赵周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余潘杜戴"
    "夏钟汪田姜范姚谭廖邹熊陆郝孔崔邱秦顾侯邵孟黄高马金江钱尹黎乔贺赖龚倪严牛温芦章鲁葛毕聂焦向欧柳齐尚施"
    "季"
)
"""The common Chinese ones of one character that seldom begin another word."""

_SPACES = re.compile(r"\s+")
_EDGES = " \t\n.,;:!?\"'“”‘’。，！？；：、「」『』《》()（）"
_ARTICLES = re.compile(r"\A(?:(?:the|an?)\s)+(?=\S)")
_POSSESSIVE = re.compile(r"(?<=\w)'s?\Z")
_SELVES = frozenset(
    ("i", "me", "my", "mine", "myself", "user", "我", "俺", "咱", "本人", "我自己", "自己", "用户")
)
_MINE = re.compile(r"(?:my|the user's|users'?)\s(?=\S)")
_MINE_ZH = re.compile(f"(?:我|俺|咱|用户)(?:的|家的?)?({longest_first(KIN_ZH | PETS_ZH)})")
_KIN_EN = re.compile(rf"({USER}'s )(?:(older|elder|big|younger|little) )?({longest_first(KIN_EN)})")
_ROLE = re.compile(
    rf"\bmy (?:(?:older|elder|big|younger|little) )?(?:{longest_first(KIN_EN | PETS_EN)})\b"
    f"|(?:我|俺|咱)(?:的|家的?)?(?:{longest_first(KIN_ZH | PETS_ZH)})",
    re.IGNORECASE,
)
_AGES = {"older": "older ", "elder": "older ", "big": "older ", "younger": "younger ", "little": "younger "}


@lru_cache(maxsize=16384)
def normalise(name: str) -> str:
    """Case, width, articles, possessives and surrounding punctuation folded; the user and kin named once."""
    current = name
    for _ in range(8):  # each pass strips one layer; names have few
        folded = _once(current)
        if folded == current:
            break
        current = folded
    return current


def _once(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    spaced = _SPACES.sub(" ", folded)
    bare = spaced.strip(_EDGES) or spaced.strip()
    bare = _POSSESSIVE.sub("", _ARTICLES.sub("", bare, count=1))
    if bare in _SELVES:
        return USER
    if chinese := _MINE_ZH.fullmatch(bare):
        return f"{USER}'s {PERSON_ZH.get(chinese[1], chinese[1])}"
    mine = _MINE.sub(f"{USER}'s ", bare, count=1) if _MINE.match(bare) else bare
    if kin := _KIN_EN.fullmatch(mine):
        return kin[1] + _AGES.get(kin[2] or "", "") + KIN_EN[kin[3]]
    return mine


def roles_in(words: str) -> list[str]:
    """The user's people and pets that words speak of by what they are to him: "user's older sister"."""
    return list(dict.fromkeys(normalise(found[0]) for found in _ROLE.finditer(words)))
