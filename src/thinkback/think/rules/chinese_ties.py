"""Who is what to whom where neither is the user: 李娜是王强的妹妹, 王强的妻子叫赵敏, 王强和李伟是同事.

A clause that says nothing else is a tie (`tied`); one that goes on with somebody's relative speaks of that
one (`their`): 王强的妻子在医院工作.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.text.people.kin import INDEFINITE_ZH, KIN_ZH, longest_first
from thinkback.think.rules.chinese_build import owned, who_is_who
from thinkback.think.rules.chinese_names import BARE_NAME, FULL_NAME, is_bare_name, is_full_name
from thinkback.think.rules.rule import Reading

_LATIN = "[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?"
_GIVEN = f"(?:{FULL_NAME}|[小阿老][\u4e00-\u9fff]|{_LATIN})"
_KIN = longest_first(KIN_ZH)
_MINE = f"(?:我|俺|咱)们?家?的?(?P<mine>{_KIN})"
_WHOSE = f"(?:{_MINE}|(?P<owner>{_GIVEN}))"
_WHICH = (
    "(?:(?:亲|大|小|二|三|老|新|好|最好的?|前|同班|高中|大学|初中|小学|公司|单位|部门|直属|顶头|多年的?|现任"
    "|双胞胎){0,2})"
)
_NOW = "(?:就|也|还|现在|正|正好|其实|已经|一直)*"
_IS_KIN = re.compile(
    f"(?P<name>{_GIVEN}) ?{_NOW}(?:是|成了|成为了?) ?{_WHOSE} ?的{_WHICH}(?P<kin>{_KIN})(?:了|之一)?"
)
_KIN_IS = re.compile(
    f"{_WHOSE} ?的{_WHICH}(?P<kin>{_KIN}){_NOW}(?:是|叫做?|名叫|名字叫|的名字[叫是]) ?(?P<name>{_GIVEN})"
)
_WED = re.compile(
    f"{_WHOSE} ?{_NOW}(?:和|跟|与|同) ?(?P<name>{_GIVEN}) ?{_NOW}"
    "(?:结婚|结了婚|成婚|领证|领了证|订婚|订了婚)(?:了|的)?"
)
_MUTUAL = {
    "colleague": "同事 搭档 工友",
    "partner": "夫妻 两口子 夫妇 情侣 恋人 一对 一对夫妻 一对情侣",
    "friend": "朋友 好友 好朋友 闺蜜 发小 哥们 死党 老朋友",
    "classmate": "同学 同桌 校友",
    "sibling": "兄妹 姐弟 亲兄妹 亲姐弟 兄弟姐妹",
    "brother": "兄弟 亲兄弟",
    "sister": "姐妹 亲姐妹",
    "neighbour": "邻居",
    "roommate": "室友 舍友",
    "cousin": "表兄弟 表姐妹 堂兄弟 堂姐妹 表亲",
    "son": "父子 母子",
    "daughter": "父女 母女",
}
_EACH_OTHER = {word: kin for kin, words in _MUTUAL.items() for word in words.split()}
_BOTH = re.compile(
    f"(?P<one>{_GIVEN}) ?(?:和|跟|与|同) ?(?P<other>{_GIVEN}) ?(?:他们|她们|俩|两人|两个人)?{_NOW}是"
    f"{_WHICH}(?P<word>{longest_first(_EACH_OTHER)})(?:关系)?(?:了)?"
)
_HINT = re.compile("[是的婚证]")
_THEIR = re.compile(f"的{_WHICH}(?P<kin>{_KIN})(?!们)")
_SOMEBODYS = re.compile(f"(?P<owner>{_GIVEN})(?=的{_WHICH}(?:{_KIN}))")
_CALLED = re.compile(f"{_NOW}(?:是|叫做?|名叫|的名字[叫是]) ?(?P<name>{_GIVEN}|{BARE_NAME})")


class Tie(NamedTuple):
    """A tie, and whom what follows speaks of."""

    reading: Reading
    person: str


class Theirs(NamedTuple):
    """Somebody's relative, what is said of this one, and the tie if the name is told."""

    person: str
    rest: str
    readings: tuple[Reading, ...] = ()


def tied(text: str) -> Tie | None:
    """The tie that a clause tells, if it tells nothing else."""
    if not _HINT.search(text):
        return None
    if found := _IS_KIN.fullmatch(text) or _KIN_IS.fullmatch(text) or _WED.fullmatch(text):
        owner, name = _owner(found), found["name"]
        if not owner or not _is_person(name) or name == owner:
            return None
        if found.re is _WED:
            return Tie(who_is_who("伴侣", name, owner=owner), owner)
        return Tie(who_is_who(found["kin"], name, owner=owner), name)
    if (found := _BOTH.fullmatch(text)) and _is_person(found["one"]) and _is_person(found["other"]):
        kin, say = _EACH_OTHER[found["word"]], f"{{s}}和{{o}}是{found['word']}"
        return Tie(Reading("their kin", found["one"], f"has {kin}", (found["other"],), say=say), found["one"])
    return None


def their(subject: str, rest: str) -> Theirs | None:
    """用户的妹妹 + 的丈夫叫王强: whom a clause goes on to, and his name if it says no more."""
    found = _THEIR.match(rest)
    if not found or KIN_ZH[found["kin"]] in INDEFINITE_ZH:
        return None
    after = rest[found.end() :]
    if (called := _CALLED.fullmatch(after)) and _is_person(called["name"]):
        return Theirs(called["name"], "", (who_is_who(found["kin"], called["name"], owner=subject),))
    return Theirs(f"{subject}的{found['kin']}", after)


def whose(text: str) -> str:
    """Whose relative a clause opens with: 陈刚的妻子在医院工作 with that of 陈刚."""
    found = _SOMEBODYS.match(text)
    return found["owner"] if found and _is_person(found["owner"]) else ""


def _owner(found: re.Match[str]) -> str:
    if found["mine"]:
        return owned(found["mine"])
    return found["owner"] if _is_person(found["owner"]) else ""


def _is_person(name: str) -> bool:
    return name.isascii() or is_full_name(name) or is_bare_name(name)
