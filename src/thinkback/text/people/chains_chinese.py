"""Chinese phrases that name somebody in steps: 我妹妹的丈夫, 王伟的公司, 住在奥斯陆的那个朋友.

Chinese has no blanks, so names are looked up at every character, the longest first; names in Latin letters
stand in Chinese queries too.
"""

from __future__ import annotations

import re

from thinkback.text.people.chain import (
    ANYONE,
    ATTRIBUTES,
    THEY,
    Called,
    Chain,
    Known,
    Link,
    Told,
    chinese_step,
)
from thinkback.text.people.kinship import ROLES_ZH
from thinkback.text.people.names import USER
from thinkback.text.scripts import HAN


def _longest_first(words: set[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_PLACE = _longest_first({word for word in ATTRIBUTES if not word.isascii()})
_KIN = _longest_first(set(ROLES_ZH))
_LONG_KIN = _longest_first({word for word in ROLES_ZH if len(word) > 1})
_OWNER = re.compile("(?P<me>我们?|俺|咱们?)|(?P<they>[他她它])")
_DOING = "(?:所?(?:工作|上班|任职|就读|读书|上学|居住|生活|住|在))?"
_STEP = re.compile(f"(?:的|家的?|养的)?(?:(?P<kin>{_KIN})|{_DOING}的?(?P<place>{_PLACE})(?![同时期毕生里]))")
_STEP_OF_NAMED = re.compile(
    f"(?:的|家的|养的)(?P<kin>{_KIN})|(?P<long>{_LONG_KIN})|{_DOING}的?(?P<place>{_PLACE})(?![同时期毕生里])"
)
_SEGMENT = re.compile(f"[{HAN}A-Za-z\u00c0-\u024f0-9 '·.-]+")
_VERB = re.compile("住|工作|上班|喜欢|爱|当|做|是|养|会|说|讲|过敏|来自|学|读|打|弹|玩|开|去|在|患|怕")
_ONE = re.compile(
    "的[那这]?一?[个位名只]?(?:我的?)?"
    f"(?:(?P<kin>{_LONG_KIN})|人|女孩|男孩|女人|男人|女生|男生|姑娘|小伙子?|家伙)(?!们)"
)
_LEAD = re.compile("(?:请问|你|还|记得|知道|告诉我|那个|那|我的?|咱们?的?|关于)*")
_LATIN = "A-Za-z\u00c0-\u024f"
_LATIN_NAME = re.compile(f"[{_LATIN}][{_LATIN}0-9'’.-]*(?: [{_LATIN}][{_LATIN}0-9'’.-]*){{0,3}}")
_MOST = 6  # characters of a name


def chinese_chains(text: str, known: Known) -> list[Chain]:
    """Descriptions first, as they tell more, then the others in order; one may lie within another."""
    owned: list[Chain] = []
    at = 0
    while at < len(text):
        chain = _owned(text, at, known)
        if chain is not None:
            owned.append(chain)
        at = chain.end if chain is not None else at + 1
    return [*_described(text, known), *owned]


def _described(text: str, known: Known) -> list[Chain]:
    """住在奥斯陆的那个朋友, 在华为工作的人: a clause with a verb, 的, and whom it tells of."""
    found: list[Chain] = []
    for segment in _SEGMENT.finditer(text):
        begin = segment.start()
        for one in _ONE.finditer(text, begin, segment.end()):
            lead = _LEAD.match(text, begin, one.start())
            start = lead.end() if lead else begin
            clause = text[start : one.start()]
            if _VERB.search(clause):
                step = (chinese_step(one["kin"]),) if one["kin"] else ()
                links, end = _links(text, one.end(), known)
                head = USER if step else ANYONE
                found.append(Chain(start, end, head, (*step, Told(clause, start), *links)))
    return found


def _owned(text: str, at: int, known: Known) -> Chain | None:
    """我妹妹, 她老公, 安娜的丈夫, or a name alone."""
    if owner := _OWNER.match(text, at):
        links, end = _links(text, owner.end(), known, _STEP)
        return Chain(at, end, USER if owner["me"] else THEY, links) if links else None
    if name := _name(text, at, known):
        links, end = _links(text, at + len(name), known)
        return Chain(at, end, name.casefold(), links)
    return None


def _links(
    text: str, at: int, known: Known, first: re.Pattern[str] = _STEP_OF_NAMED
) -> tuple[tuple[Link, ...], int]:
    """Step after step, and names said beside them; after a name, one character alone is no step: 王伟妈."""
    links: list[Link] = []
    pattern = first
    while step := pattern.match(text, at):
        links.append(chinese_step(next(word for word in step.groups() if word)))
        at = step.end()
        if name := _name(text, at, known):
            links.append(Called(name.casefold()))
            at += len(name)
        pattern = _STEP_OF_NAMED
    return tuple(links), at


def _name(text: str, at: int, known: Known) -> str:
    """The longest known name that begins here; one of a single Han character is none."""
    if latin := _LATIN_NAME.match(text, at):
        words = latin[0].split(" ")
        tries = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        within = at > 0 and text[at - 1].isascii() and text[at - 1].isalnum()
        return "" if within else next((name for name in tries if known(name.casefold())), "")
    lengths = range(min(_MOST, len(text) - at), 1, -1)
    return next((text[at : at + size] for size in lengths if known(text[at : at + size])), "")
