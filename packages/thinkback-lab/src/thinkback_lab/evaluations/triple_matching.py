"""Comparison of extracted triples with KdConv's annotated facts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from thinkback import Thought
from thinkback_lab.datasets.kdconv import Exchange, Fact

MIN_PARTIAL_LENGTH = 8  # characters: a shorter value must be said as it is, or one must hold the other
MIN_CHARACTER_F1 = 0.5
_PUNCTUATION = re.compile(r"[\W_]+")
_NAMESAKE_NOTE = re.compile(r"[(（][^()（）]*[)）]\s*\Z")


def normalise_text(words: str) -> str:
    return _PUNCTUATION.sub("", unicodedata.normalize("NFKC", words).casefold())


def normalise_name(name: str) -> str:
    """Without the note that tells namesakes apart: 恋恋笔记本（美国2004年…爱情片） is 恋恋笔记本."""
    return normalise_text(_NAMESAKE_NOTE.sub("", name.strip())) or normalise_text(name)


def same_value(gold: str, drawn: str) -> bool:
    """Equal, one inside the other (a list, a sentence), or, of long texts without figures, half the same.

    Dates and numbers share most of their characters with wrong ones, so they get no partial credit.
    """
    theirs, ours = normalise_text(gold), normalise_text(drawn)
    if not theirs or not ours:
        return False
    if theirs == ours or (min(len(theirs), len(ours)) >= 2 and (ours in theirs or theirs in ours)):
        return True
    if min(len(theirs), len(ours)) < MIN_PARTIAL_LENGTH or any(
        character.isdigit() for character in theirs + ours
    ):
        return False
    return character_f1(theirs, ours) >= MIN_CHARACTER_F1


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
    """Whether a relation says what a KdConv attribute says: by the table, or one name holds the other."""
    gold, drawn = normalise_text(attribute), normalise_text(relation)
    if gold == drawn or drawn in _SYNONYMS_BY_ATTRIBUTE.get(gold, ()):
        return True
    return min(len(gold), len(drawn)) >= 2 and (gold in drawn or drawn in gold)


PROSE_ATTRIBUTE = "Information"  # the attribute that holds paragraphs, not a value


@dataclass(frozen=True, slots=True)
class ExtractedTriple:
    """One object of one thought."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Counts by one criterion: drawn that are right or wrong, gold that is found."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    gold: int = 0
    said: int = 0  # gold whose own turn says both name and value
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
    """One dialogue: whole triples, pairs of subject and object, and what the gold says nothing about."""

    triple: MatchCounts = MatchCounts()
    pair: MatchCounts = MatchCounts()
    about_user: int = 0  # of the speakers: KdConv notes what they know, not who they are
    misattributed: int = 0  # facts of the world said of the user: wrong, in both tallies
    from_prose: int = 0  # found in a paragraph only: neither right nor wrong
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
    """Every thought the dialogue ever led to against the facts of its turns."""
    gold, prose, said = _gold_facts(exchanges)
    world, user = _extracted_triples(thoughts)
    stolen = {each for each in user if any(_same_but_subject(fact, each) for fact in gold)}
    loose = {each for each in world if any(same_pair(fact, each) for fact in prose)}
    pairs = {(fact, each) for fact in gold for each in world if same_pair(fact, each)}
    triples = {(fact, each) for fact, each in pairs if same_relation(fact.attrname, each.relation)}
    right = {each for _, each in pairs}
    counted = (world - (loose - right)) | stolen
    return DialogueMatch(
        triple=_count_matches(triples, gold, said, counted),
        pair=_count_matches(pairs, gold, said, counted),
        about_user=len(user - stolen),
        misattributed=len(stolen),
        from_prose=len(loose - right),
        wrong=tuple(sorted(counted - right, key=lambda each: (each.subject, each.relation, each.object))),
    )


def same_pair(fact: Fact, drawn: ExtractedTriple) -> bool:
    return normalise_name(fact.name) == normalise_name(drawn.subject) and same_value(
        fact.attrvalue, drawn.object
    )


def _same_but_subject(fact: Fact, drawn: ExtractedTriple) -> bool:
    return same_value(fact.attrvalue, drawn.object) and same_relation(fact.attrname, drawn.relation)


def _count_matches(
    matches: set[tuple[Fact, ExtractedTriple]], gold: set[Fact], said: set[Fact], drawn: set[ExtractedTriple]
) -> MatchCounts:
    found, right = {fact for fact, _ in matches}, {each for _, each in matches}
    return MatchCounts(len(right), len(drawn - right), len(found), len(gold), len(said), len(found & said))


def _gold_facts(exchanges: Sequence[Exchange]) -> tuple[set[Fact], set[Fact], set[Fact]]:
    """(facts with a value, facts in prose, those of the first whose own turn says name and value)"""
    gold: set[Fact] = set()
    prose: set[Fact] = set()
    said: set[Fact] = set()
    for exchange in exchanges:
        text = normalise_text(exchange.text)
        for fact in exchange.facts:
            (prose if fact.attrname == PROSE_ATTRIBUTE else gold).add(fact)
            if (
                fact.attrname != PROSE_ATTRIBUTE
                and normalise_name(fact.name) in text
                and normalise_text(fact.attrvalue) in text
            ):
                said.add(fact)
    return gold, prose, said


def _extracted_triples(thoughts: Iterable[Thought]) -> tuple[set[ExtractedTriple], set[ExtractedTriple]]:
    """(what is said of the world, what is said of the user); a denial is a relation of its own."""
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
