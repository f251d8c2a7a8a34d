"""Comparison of extracted triples with KdConv's annotated facts (docs/decisions/0010).

The relation synonyms are used for matching only. An attribute that is not in the table is matched by its own
name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from thinkback import Thought
from thinkback_lab.datasets.kdconv import Exchange, Fact

MIN_PARTIAL_LENGTH = 8  # shorter values must be equal, or one must contain the other
MIN_CHARACTER_F1 = 0.5
_PUNCTUATION = re.compile(r"[\W_]+")
_NAMESAKE_NOTE = re.compile(r"[(（][^()（）]*[)）]\s*\Z")


def normalise_text(words: str) -> str:
    return _PUNCTUATION.sub("", unicodedata.normalize("NFKC", words).casefold())


def normalise_name(name: str) -> str:
    """Normalise a name without its disambiguation: 恋恋笔记本（美国2004年…爱情片） becomes 恋恋笔记本."""
    return normalise_text(_NAMESAKE_NOTE.sub("", name.strip())) or normalise_text(name)


def same_value(gold: str, extracted: str) -> bool:
    """Whether two values are equal, one contains the other, or long texts without digits share half their
    characters.

    Wrong dates and numbers share most characters with the right ones, so they get no partial credit.
    """
    expected, actual = normalise_text(gold), normalise_text(extracted)
    if not expected or not actual:
        return False
    if expected == actual or (
        min(len(expected), len(actual)) >= 2 and (actual in expected or expected in actual)
    ):
        return True
    if min(len(expected), len(actual)) < MIN_PARTIAL_LENGTH or any(
        character.isdigit() for character in expected + actual
    ):
        return False
    return character_f1(expected, actual) >= MIN_CHARACTER_F1


def character_f1(one: str, other: str) -> float:
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other))


_RELATION_SYNONYMS = {
    "birthday, was born on, born on, date of birth, birth date, 生日, 出生日期, 出生于": "出生日期",
    "was born in, birthplace, born in, comes from, is from, 出生地, 出生在, 出生于, 来自": "出生地 祖籍",
    "nationality, comes from, is from, country, 国籍, 来自": "国籍",
    "works as, occupation, profession, job, is, 职业, 是": "职业",
    "graduated from, studies at, alma mater, studied at, 毕业于, 毕业院校, 就读于": "毕业院校",
    "is named, goes by, english name, also known as, is called, alias, name, 别名, 又名, 叫": (
        "别名 其它译名 外文名称 中文名 中文名称 本名"
    ),
    "height, is tall, 身高": "身高",
    "likes, hobby, 爱好, 喜欢": "爱好 特长",
    "directed by, is directed by, director, 导演, 执导": "导演 MV导演",
    "starring, stars, actor, lead actor, cast, 主演, 出演": "主演 特别客串",
    "writer, written by, screenwriter, 编剧": "编剧",
    "produced by, producer, 制片人, 制作人": "制片人 制作人",
    "released, was released on, release date, released on, released in, 上映, 上映时间, 发行时间, 发行": (
        "上映时间 发行时间 出品时间"
    ),
    "released in, region, produced in, country, 制片地区, 发行地区": "制片地区 发行地区",
    "genre, type, is, style, 类型, 风格, 是": "类型 音乐风格",
    "duration, length, runtime, 片长, 时长": "片长 歌曲时长 专辑时长",
    "language, in language, 语言": "对白语言 专辑语言 歌曲语言 语言",
    "box office, grossed, 票房": "票房 全球票房 全美累计票房",
    "budget, cost, 成本": "制片成本 制作成本",
    "representative work, notable work, known for, works, work, 代表作, 代表作品, 作品": (
        "代表作品 代表作 主要作品"
    ),
    "won, award, awards, received, achievement, was awarded, 获得, 获奖, 奖项, 成就": (
        "主要成就 主要奖项 获得奖项"
    ),
    "singer, sung by, artist, performed by, original singer, 演唱, 原唱, 歌手": (
        "专辑歌手 歌曲原唱 演唱者 主唱 翻唱"
    ),
    "composer, composed by, 作曲, 谱曲": "谱曲",
    "lyricist, lyrics by, 作词, 填词": "填词",
    "arranger, arranged by, 编曲": "编曲",
    "album, is on album, belongs to, 专辑": "所属专辑",
    "number of tracks, tracks, has tracks, 曲目, 收录": "曲目数量",
    "label, record label, published by, company, agency, works at, 公司, 唱片公司": (
        "唱片公司 经纪公司 出品公司 发行公司"
    ),
    "founded, was founded in, established, 成立, 成立时间": "成立时间",
    "address, is located in, located in, is located at, location, is in, 地址, 位于, 在": "地址 总部地点",
    "phone number, phone, telephone, 电话, 电话号码": "电话",
    "ticket, ticket price, tickets, price, admission, costs, 门票, 票价": "门票",
    "opening hours, open, is open, open from, opens, 开放时间, 开放": "开放时间",
    "suggested duration, visit duration, recommended duration, takes, 游玩时间, 建议游玩时间": "建议游玩时间",
    "nearby, is near, near, nearby attraction, next to, recommended, 附近, 周边, 周边景点, 附近景点": (
        "周边景点"
    ),
}
_SYNONYMS_BY_ATTRIBUTE: dict[str, set[str]] = {}
for _ours, _theirs in _RELATION_SYNONYMS.items():
    for _attribute in _theirs.split():
        _SYNONYMS_BY_ATTRIBUTE.setdefault(normalise_text(_attribute), set()).update(
            normalise_text(word) for word in _ours.split(",")
        )


def same_relation(attribute: str, relation: str) -> bool:
    """Whether a relation means a KdConv attribute: by the synonyms, or if one name contains the other."""
    gold, extracted = normalise_text(attribute), normalise_text(relation)
    if gold == extracted or extracted in _SYNONYMS_BY_ATTRIBUTE.get(gold, ()):
        return True
    return min(len(gold), len(extracted)) >= 2 and (gold in extracted or extracted in gold)


PROSE_ATTRIBUTE = "Information"  # contains paragraphs instead of a value


@dataclass(frozen=True, slots=True)
class ExtractedTriple:
    """One object of one thought."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Counts by one criterion: correct and wrong extracted triples, and gold facts found."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    gold: int = 0
    said: int = 0  # gold facts whose own turn contains both name and value
    said_found: int = 0

    def __add__(self, other: MatchCounts) -> MatchCounts:
        return MatchCounts(
            self.right + other.right,
            self.wrong + other.wrong,
            self.found + other.found,
            self.gold + other.gold,
            self.said + other.said,
            self.said_found + other.said_found,
        )

    @property
    def figures(self) -> dict[str, Any]:
        precision, recall = _ratio(self.right, self.right + self.wrong), _ratio(self.found, self.gold)
        both = (precision or 0.0) + (recall or 0.0)
        return {
            "precision": precision,
            "recall": recall,
            "f1": 2 * (precision or 0.0) * (recall or 0.0) / both if both else 0.0,
            "recall_said": _ratio(self.said_found, self.said),
            "right": self.right,
            "wrong": self.wrong,
            "found": self.found,
            "gold": self.gold,
            "said": self.said,
        }


@dataclass(frozen=True, slots=True)
class DialogueMatch:
    """One dialogue: matches of whole triples and of (subject, object) pairs, and what the gold does not
    cover.
    """

    triple: MatchCounts = MatchCounts()
    pair: MatchCounts = MatchCounts()
    about_user: int = 0  # about the speakers, whom KdConv does not annotate
    misattributed: int = 0  # facts about the world attributed to the user: wrong in both counts
    from_prose: int = 0  # found only in a paragraph: neither correct nor wrong
    wrong: tuple[ExtractedTriple, ...] = ()

    def __add__(self, other: DialogueMatch) -> DialogueMatch:
        return DialogueMatch(
            self.triple + other.triple,
            self.pair + other.pair,
            self.about_user + other.about_user,
            self.misattributed + other.misattributed,
            self.from_prose + other.from_prose,
            self.wrong + other.wrong,
        )


def match_dialogue(exchanges: Sequence[Exchange], thoughts: Iterable[Thought]) -> DialogueMatch:
    """Compare all thoughts of a dialogue, also retired ones, with the facts of its turns."""
    gold, prose, stated = _gold_facts(exchanges)
    world, user = _extracted_triples(thoughts)
    misattributed = {each for each in user if any(_same_but_subject(fact, each) for fact in gold)}
    in_prose = {each for each in world if any(same_pair(fact, each) for fact in prose)}
    pairs = {(fact, each) for fact in gold for each in world if same_pair(fact, each)}
    triples = {(fact, each) for fact, each in pairs if same_relation(fact.attrname, each.relation)}
    right = {each for _, each in pairs}
    counted = (world - (in_prose - right)) | misattributed
    return DialogueMatch(
        triple=_count_matches(triples, gold, stated, counted),
        pair=_count_matches(pairs, gold, stated, counted),
        about_user=len(user - misattributed),
        misattributed=len(misattributed),
        from_prose=len(in_prose - right),
        wrong=tuple(sorted(counted - right, key=lambda each: (each.subject, each.relation, each.object))),
    )


def same_pair(fact: Fact, extracted: ExtractedTriple) -> bool:
    return normalise_name(fact.name) == normalise_name(extracted.subject) and same_value(
        fact.attrvalue, extracted.object
    )


def _same_but_subject(fact: Fact, extracted: ExtractedTriple) -> bool:
    return same_value(fact.attrvalue, extracted.object) and same_relation(fact.attrname, extracted.relation)


def _count_matches(
    matches: set[tuple[Fact, ExtractedTriple]],
    gold: set[Fact],
    stated: set[Fact],
    extracted: set[ExtractedTriple],
) -> MatchCounts:
    found, right = {fact for fact, _ in matches}, {each for _, each in matches}
    return MatchCounts(
        len(right), len(extracted - right), len(found), len(gold), len(stated), len(found & stated)
    )


def _gold_facts(exchanges: Sequence[Exchange]) -> tuple[set[Fact], set[Fact], set[Fact]]:
    """Return (facts with a value, facts in prose, facts with a value that their own turn states)."""
    gold: set[Fact] = set()
    prose: set[Fact] = set()
    stated: set[Fact] = set()
    for exchange in exchanges:
        text = normalise_text(exchange.text)
        for fact in exchange.facts:
            (prose if fact.attrname == PROSE_ATTRIBUTE else gold).add(fact)
            if (
                fact.attrname != PROSE_ATTRIBUTE
                and normalise_name(fact.name) in text
                and normalise_text(fact.attrvalue) in text
            ):
                stated.add(fact)
    return gold, prose, stated


def _extracted_triples(thoughts: Iterable[Thought]) -> tuple[set[ExtractedTriple], set[ExtractedTriple]]:
    """Return (triples about the world, triples about the user); negated relations are separate."""
    world: set[ExtractedTriple] = set()
    user: set[ExtractedTriple] = set()
    for thought in thoughts:
        relation = f"not {thought.relation}" if thought.negated else thought.relation
        mine = thought.subject.casefold().split("'")[0] == "user"
        for item in thought.objects:
            (user if mine else world).add(ExtractedTriple(thought.subject, relation, item))
    return world, user


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
