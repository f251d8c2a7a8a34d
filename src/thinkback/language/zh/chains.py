"""Parser for Chinese relation chains: 我妹妹的丈夫, 王伟的公司, 住在奥斯陆的那个朋友.

Chinese has no spaces, so names are looked up at every character, the longest first. Queries may also contain
names in Latin letters.
"""

from __future__ import annotations

import re

from thinkback.language.kinship import ROLES_ZH
from thinkback.language.names import USER
from thinkback.language.relation_chain import (
    ATTRIBUTE_RELATIONS,
    PRONOUN,
    UNKNOWN_PERSON,
    ChainLink,
    DescriptionLink,
    IsKnownName,
    NameLink,
    RelationChain,
    chinese_step,
)
from thinkback.language.writing_systems import HAN


def _alternation(words: set[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_ATTRIBUTE_WORD = _alternation({word for word in ATTRIBUTE_RELATIONS if not word.isascii()})
_KIN_WORD = _alternation(set(ROLES_ZH))
_LONG_KIN_WORD = _alternation({word for word in ROLES_ZH if len(word) > 1})
_OWNER = re.compile("(?P<me>我们?|俺|咱们?)|(?P<they>[他她它])")
_ACTIVITY_VERB = "(?:所?(?:工作|上班|任职|就读|读书|上学|居住|生活|住|在))?"
_STEP = re.compile(
    f"(?:的|家的?|养的)?(?:(?P<kin>{_KIN_WORD})|{_ACTIVITY_VERB}的?(?P<place>{_ATTRIBUTE_WORD})(?![同时期毕生里]))"
)
_STEP_AFTER_NAME = re.compile(
    f"(?:的|家的|养的)(?P<kin>{_KIN_WORD})|(?P<long>{_LONG_KIN_WORD})|{_ACTIVITY_VERB}的?(?P<place>{_ATTRIBUTE_WORD})(?![同时期毕生里])"
)
_SEGMENT = re.compile(f"[{HAN}A-Za-z\u00c0-\u024f0-9 '·.-]+")
_VERB = re.compile("住|工作|上班|喜欢|爱|当|做|是|养|会|说|讲|过敏|来自|学|读|打|弹|玩|开|去|在|患|怕")
_DESCRIBED_PERSON = re.compile(
    "的[那这]?一?[个位名只]?(?:我的?)?"
    f"(?:(?P<kin>{_LONG_KIN_WORD})|人|女孩|男孩|女人|男人|女生|男生|姑娘|小伙子?|家伙)(?!们)"
)
_LEADING_WORDS = re.compile("(?:请问|你|还|记得|知道|告诉我|那个|那|我的?|咱们?的?|关于)*")
_LATIN_LETTERS = "A-Za-z\u00c0-\u024f"
_LATIN_NAME = re.compile(
    f"[{_LATIN_LETTERS}][{_LATIN_LETTERS}0-9'’.-]*(?: [{_LATIN_LETTERS}][{_LATIN_LETTERS}0-9'’.-]*){{0,3}}"
)
_MAX_NAME_CHARACTERS = 6


def find_chinese_chains(text: str, known: IsKnownName) -> list[RelationChain]:
    """Find chains: first descriptions, which say more, then the others in order. They may overlap."""
    possessives: list[RelationChain] = []
    at = 0
    while at < len(text):
        chain = _parse_possessive(text, at, known)
        if chain is not None:
            possessives.append(chain)
        at = chain.end if chain is not None else at + 1
    return [*_find_descriptions(text, known), *possessives]


def _find_descriptions(text: str, known: IsKnownName) -> list[RelationChain]:
    """Find descriptions (a clause with a verb, 的 and a person): 住在奥斯陆的那个朋友, 在华为工作的人."""
    chains: list[RelationChain] = []
    for segment in _SEGMENT.finditer(text):
        begin = segment.start()
        for person in _DESCRIBED_PERSON.finditer(text, begin, segment.end()):
            lead = _LEADING_WORDS.match(text, begin, person.start())
            start = lead.end() if lead else begin
            clause = text[start : person.start()]
            if _VERB.search(clause):
                step = (chinese_step(person["kin"]),) if person["kin"] else ()
                links, end = _parse_links(text, person.end(), known)
                head = USER if step else UNKNOWN_PERSON
                chains.append(
                    RelationChain(start, end, head, (*step, DescriptionLink(clause, start), *links))
                )
    return chains


def _parse_possessive(text: str, at: int, known: IsKnownName) -> RelationChain | None:
    """Parse 我妹妹, 她老公, 安娜的丈夫 or a name alone."""
    if owner := _OWNER.match(text, at):
        links, end = _parse_links(text, owner.end(), known, _STEP)
        return RelationChain(at, end, USER if owner["me"] else PRONOUN, links) if links else None
    if name := _known_name(text, at, known):
        links, end = _parse_links(text, at + len(name), known)
        return RelationChain(at, end, name.casefold(), links)
    return None


def _parse_links(
    text: str, at: int, known: IsKnownName, first: re.Pattern[str] = _STEP_AFTER_NAME
) -> tuple[tuple[ChainLink, ...], int]:
    """Parse steps and the names next to them; after a name, a single character is no step (王伟妈)."""
    links: list[ChainLink] = []
    pattern = first
    while step := pattern.match(text, at):
        links.append(chinese_step(next(word for word in step.groups() if word)))
        at = step.end()
        if name := _known_name(text, at, known):
            links.append(NameLink(name.casefold()))
            at += len(name)
        pattern = _STEP_AFTER_NAME
    return tuple(links), at


def _known_name(text: str, at: int, known: IsKnownName) -> str:
    """The longest known name that starts here (at least two Han characters, or Latin words)."""
    if latin := _LATIN_NAME.match(text, at):
        words = latin[0].split(" ")
        tries = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        within = at > 0 and text[at - 1].isascii() and text[at - 1].isalnum()
        return "" if within else next((name for name in tries if known(name.casefold())), "")
    lengths = range(min(_MAX_NAME_CHARACTERS, len(text) - at), 1, -1)
    return next((text[at : at + size] for size in lengths if known(text[at : at + size])), "")
