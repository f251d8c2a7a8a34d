"""People in a Chinese sentence: references of 她, 他 and omitted subjects, and relationships."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from thinkback.language.en.lexicon import word_set
from thinkback.language.kinship import INDEFINITE_ROLES_ZH, KIN_ZH, alternation_pattern
from thinkback.language.rules import ExtractedFact
from thinkback.language.zh.lexicon import BARE_NAME, FULL_NAME, is_bare_name, is_full_name
from thinkback.language.zh.rules import kin_fact, relative_subject

_FEMALE_KIN = word_set(
    """
    mother sister wife girlfriend daughter aunt niece grandmother granddaughter mother-in-law sister-in-law
    daughter-in-law
    """
)
_MALE_KIN = word_set(
    """
    father brother husband boyfriend son uncle nephew grandfather grandson father-in-law brother-in-law
    son-in-law
    """
)
_PRONOUN_BY_KIN = dict.fromkeys(_FEMALE_KIN, "她") | dict.fromkeys(_MALE_KIN, "他")


@dataclass(frozen=True, slots=True)
class MentionContext:
    """The people mentioned in an earlier turn (`kin`: person -> kin word), and the turns before it."""

    people: tuple[str, ...]
    kin: dict[str, str]
    previous: MentionContext | None = None

    def resolve_pronoun(self, pronoun: str) -> str:
        """The only person that a pronoun can refer to; empty if there are several or none."""
        candidates = {each for each in self.people if self._pronoun_of(each) in ("", pronoun)}
        if len(candidates) == 1:
            return candidates.pop()
        return self.previous.resolve_pronoun(pronoun) if not candidates and self.previous else ""

    def _pronoun_of(self, person: str) -> str:
        """她 or 他 for a relative of known gender, otherwise empty."""
        word = self.kin.get(person, person.removeprefix("用户的"))
        return _PRONOUN_BY_KIN.get(KIN_ZH.get(word, word), "")


_RULES_WITHOUT_SUBJECT = frozenset(
    (
        "kin named",
        "moved",
        "joined",
        "weight changed",
        "number changed",
        "will",
        "appointment",
        "bought",
        "milestone",
        "took to",
        "went with",
        "went anyway",
        "stopped drug",
        "quit eating",
        "gave up",
        "gave up smoking",
        "quit smoking",
        "quit drinking",
        "dose",
        "earns",
        "speaks it",
        "prescribed",
        "not allergic",
        "refuses",
    )
)
"""Rules that describe the user even if the clause has no subject."""
_RULES_WITH_TIME = _RULES_WITHOUT_SUBJECT | frozenset(
    (
        "lives",
        "works at",
        "works as at",
        "works in",
        "works as",
        "learns",
        "studies at",
        "on drug",
        "likes",
        "eats",
        "number",
        "favourite",
        "most",
        "keen on",
        "gone off",
        "changed to",
        "takes none",
        "weighs",
        "speaks",
        "allergic",
    )
)
"""Rules that describe the user if a clause without a subject starts with a time or "now"."""
_NEW_CONTACT = re.compile("的?新(?:的)?(?:家的?)?(?:手机|电话|号|邮箱|地址|住址)|手机号")
"""New contact details are the user's, and so is a mobile number: an institution has none."""
_ENDING_RULES = ("quit", "takes", "gave", "stopped", "not allergic")
"""Rules whose negation is a statement about the user; prefixes of rule names."""


def is_about_user(fact: ExtractedFact, text: str, *, has_time: bool) -> bool:
    """Whether a fact from a clause without a subject is about the user.

    `has_time`: the clause starts with a time or "now".
    """
    is_personal = fact.rule in (_RULES_WITH_TIME if has_time else _RULES_WITHOUT_SUBJECT) or bool(
        _NEW_CONTACT.match(text)
    )
    if not is_personal or text.startswith("是"):
        return False
    return not fact.negated or fact.ended or fact.rule.startswith(_ENDING_RULES)


_LATIN_NAME = "[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?"
_RELATED_NAME = f"(?:{FULL_NAME}|[小阿老][\u4e00-\u9fff]|{_LATIN_NAME})"
_KIN_WORDS = alternation_pattern(KIN_ZH)
_MY_KIN = f"(?:我|俺|咱)们?家?的?(?P<mine>{_KIN_WORDS})"
_RELATIVE_OWNER = f"(?:{_MY_KIN}|(?P<owner>{_RELATED_NAME}))"
_KIN_MODIFIERS = (
    "(?:(?:亲|大|小|二|三|老|新|好|最好的?|前|同班|高中|大学|初中|小学|公司|单位|部门|直属|顶头|多年的?|现任"
    "|双胞胎){0,2})"
)
_NOW_ADVERBS = "(?:就|也|还|现在|正|正好|其实|已经|一直)*"
_IS_KIN = re.compile(
    f"(?P<name>{_RELATED_NAME}) ?{_NOW_ADVERBS}(?:是|成了|成为了?) ?{_RELATIVE_OWNER} ?的{_KIN_MODIFIERS}"
    f"(?P<kin>{_KIN_WORDS})(?:了|之一)?"
)
_KIN_IS = re.compile(
    f"{_RELATIVE_OWNER} ?的{_KIN_MODIFIERS}(?P<kin>{_KIN_WORDS}){_NOW_ADVERBS}"
    f"(?:是|叫做?|名叫|名字叫|的名字[叫是]) ?(?P<name>{_RELATED_NAME})"
)
_MARRIED = re.compile(
    f"{_RELATIVE_OWNER} ?{_NOW_ADVERBS}(?:和|跟|与|同) ?(?P<name>{_RELATED_NAME}) ?{_NOW_ADVERBS}"
    "(?:结婚|结了婚|成婚|领证|领了证|订婚|订了婚)(?:了|的)?"
)
_MUTUAL_KIN = {
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
_MUTUAL_KIN_BY_WORD = {word: kin for kin, words in _MUTUAL_KIN.items() for word in words.split()}
_MUTUAL_RELATIONSHIP = re.compile(
    f"(?P<one>{_RELATED_NAME}) ?(?:和|跟|与|同) ?(?P<other>{_RELATED_NAME})"
    f" ?(?:他们|她们|俩|两人|两个人)?{_NOW_ADVERBS}是"
    f"{_KIN_MODIFIERS}(?P<word>{alternation_pattern(_MUTUAL_KIN_BY_WORD)})(?:关系)?(?:了)?"
)
_RELATIONSHIP_HINT = re.compile("[是的婚证]")
_OWNED_KIN = re.compile(f"的{_KIN_MODIFIERS}(?P<kin>{_KIN_WORDS})(?!们)")
_NAMED_OWNER = re.compile(f"(?P<owner>{_RELATED_NAME})(?=的{_KIN_MODIFIERS}(?:{_KIN_WORDS}))")
_IS_CALLED = re.compile(
    f"{_NOW_ADVERBS}(?:是|叫做?|名叫|的名字[叫是]) ?(?P<name>{_RELATED_NAME}|{BARE_NAME})"
)


class Relationship(NamedTuple):
    """A relationship between two people, and the person that the following clauses are about."""

    fact: ExtractedFact
    person: str


class RelativeOf(NamedTuple):
    """A relative of somebody, the rest of the clause, and the relationship if the name is given."""

    person: str
    rest: str
    facts: tuple[ExtractedFact, ...] = ()


def find_relationship(text: str) -> Relationship | None:
    """The relationship in a clause that states nothing else: 李娜是王强的妹妹, 王强和李伟是同事."""
    if not _RELATIONSHIP_HINT.search(text):
        return None
    if match := _IS_KIN.fullmatch(text) or _KIN_IS.fullmatch(text) or _MARRIED.fullmatch(text):
        owner, name = _relationship_owner(match), match["name"]
        if not owner or not _is_person_name(name) or name == owner:
            return None
        if match.re is _MARRIED:
            return Relationship(kin_fact("伴侣", name, owner=owner), owner)
        return Relationship(kin_fact(match["kin"], name, owner=owner), name)
    if (
        (match := _MUTUAL_RELATIONSHIP.fullmatch(text))
        and _is_person_name(match["one"])
        and _is_person_name(match["other"])
    ):
        kin, template = _MUTUAL_KIN_BY_WORD[match["word"]], f"{{s}}和{{o}}是{match['word']}"
        return Relationship(
            ExtractedFact("their kin", match["one"], f"has {kin}", (match["other"],), template=template),
            match["one"],
        )
    return None


def read_relative_of(subject: str, rest: str) -> RelativeOf | None:
    """Read 的丈夫叫王强 after the subject 用户的妹妹.

    Returns the relative that the clause is about, and the relationship if the clause only gives the name.
    """
    match = _OWNED_KIN.match(rest)
    if not match or KIN_ZH[match["kin"]] in INDEFINITE_ROLES_ZH:
        return None
    after = rest[match.end() :]
    if (called := _IS_CALLED.fullmatch(after)) and _is_person_name(called["name"]):
        return RelativeOf(called["name"], "", (kin_fact(match["kin"], called["name"], owner=subject),))
    return RelativeOf(f"{subject}的{match['kin']}", after)


def find_kin_owner(text: str) -> str:
    """The person at the start of a clause about a relative: 陈刚 in 陈刚的妻子在医院工作."""
    match = _NAMED_OWNER.match(text)
    return match["owner"] if match and _is_person_name(match["owner"]) else ""


def _relationship_owner(match: re.Match[str]) -> str:
    """The owner in a match: a relative of the user, or a named person."""
    if match["mine"]:
        return relative_subject(match["mine"])
    return match["owner"] if _is_person_name(match["owner"]) else ""


def _is_person_name(name: str) -> bool:
    """Whether the characters are a person's name."""
    return name.isascii() or is_full_name(name) or is_bare_name(name)
