"""Mentions in a query: persons named by relations, and known objects of a clause with their relation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from thinkback.language.en.chains import find_english_chains
from thinkback.language.relation_chain import IsKnownName, RelationChain
from thinkback.language.writing_systems import has_han
from thinkback.language.zh.chains import find_chinese_chains

_HOME_RELATIONS = ("lives in",)
_WORKPLACE_RELATIONS = ("works at",)
_OCCUPATION_RELATIONS = ("works as", "is", "diet")
_LIKING_RELATIONS = ("likes",)
_ORIGIN_RELATIONS = ("comes from", "was born in", "grew up in")
_SCHOOL_RELATIONS = ("studies at",)
_COUPLE_RELATIONS = ("has partner", "has husband", "has wife", "has fiance")

_RELATION_WORDS_EN: dict[tuple[str, ...], str] = {
    _HOME_RELATIONS: "lives in/lives at/live in/is living in/is based in/resides in/moved to/has moved to/in"
    "/stays in",
    _WORKPLACE_RELATIONS: "works at/works for/works with/is working at/is working for/is employed by"
    "/is employed at/at",
    _OCCUPATION_RELATIONS: "is/is a/is an/is the/works as/is working as/became",
    _LIKING_RELATIONS: "likes/loves/enjoys/is into/is fond of/is a fan of/likes to/loves to",
    _ORIGIN_RELATIONS: "comes from/is from/was born in/grew up in/from/originates from",
    _SCHOOL_RELATIONS: "studies at/goes to/attends/is studying at/studies in",
    ("studies", "learns"): "studies/is studying/learns/is learning/majors in",
    _COUPLE_RELATIONS: "is married to/is engaged to/married",
    ("is allergic to",): "is allergic to/has an allergy to/can't eat",
    ("speaks",): "speaks/can speak",
    ("plays",): "plays/can play",
    ("has condition",): "has/suffers from/is diagnosed with",
    ("has",): "has/owns/has got",
    ("is afraid of",): "is afraid of/is scared of/fears",
    ("went to",): "went to/visited/has been to/travelled to/traveled to/flew to",
    ("graduated from", "studied at"): "graduated from/studied at/went to",
    ("runs",): "runs/owns",
}
_RELATION_WORDS_ZH: dict[tuple[str, ...], str] = {
    _HOME_RELATIONS: "住在 住 在住 居住在 定居 定居在 在居住 搬到 搬到了 在 在生活",
    _WORKPLACE_RELATIONS: "在工作 在上班 在任职 就职于 工作于 在做事 在 任职于",
    _OCCUPATION_RELATIONS: "当 是 做 是个 是一名 是一个 是位 当了 在当",
    _LIKING_RELATIONS: "喜欢 爱 喜爱 热爱 爱吃 爱喝 爱看 爱好 很喜欢 最喜欢 特别喜欢",
    _ORIGIN_RELATIONS: "来自 是人 老家在 家乡在 从来 出生在 在长大 在出生",
    _SCHOOL_RELATIONS: "在读书 在上学 在念书 就读于 在读 上 在学习",
    ("studies", "learns"): "学 学习 在学 读 主修 念",
    _COUPLE_RELATIONS: "和结婚 跟结婚 嫁给 嫁给了 娶了",
    ("is allergic to",): "对过敏",
    ("speaks",): "会说 会讲 说 讲",
    ("plays",): "玩 打 弹 拉 会弹 会拉 踢",
    ("has condition",): "患 患有 得了 有",
    ("has",): "有 养 养了",
    ("is afraid of",): "怕 害怕",
    ("went to",): "去 去了 去过",
    ("drives",): "开",
    ("eats",): "吃",
    ("drinks",): "喝",
}
_TRAILING_ARTICLE = re.compile(r"(?:\s(?:the|an?|my|our|his|her))?\s*\Z")
_OPTIONAL_CHARACTERS_ZH = re.compile("[也都还现最近正目前很那这个一只名位的]")


def _relations_by_words(
    table: dict[tuple[str, ...], str], separator: str | None
) -> dict[str, frozenset[str]]:
    result: dict[str, frozenset[str]] = {}
    for relations, words in table.items():
        for word in words.split(separator):
            result[word] = result.get(word, frozenset()) | frozenset(relations)
    return result


_RELATIONS_BY_WORDS_EN = _relations_by_words(_RELATION_WORDS_EN, "/")
_RELATIONS_BY_WORDS_ZH = _relations_by_words(_RELATION_WORDS_ZH, None)


def expresses_relation_en(words: str, relation: str) -> bool:
    """Whether an English clause with these words before its object states the relation."""
    clause = _TRAILING_ARTICLE.sub("", " ".join(words.lower().replace("’", "'").split()))
    return clause == relation or relation in _RELATIONS_BY_WORDS_EN.get(clause, ())


def expresses_relation_zh(words: str, relation: str) -> bool:
    """Whether a Chinese clause, given without its object, states the relation."""
    clause = words.replace(" ", "")
    core = _OPTIONAL_CHARACTERS_ZH.sub("", clause)
    return any(relation in _RELATIONS_BY_WORDS_ZH.get(key, ()) for key in (clause, core))


_WORD = re.compile('[^\\s,.;:!?()"]+')
_MAX_VERB_WORDS = 5  # before the object
_MAX_OBJECT_WORDS = 5
_MAX_OBJECT_CHARACTERS = 12
_MAX_CLAUSE_CHARACTERS = 24

RelationTest = Callable[[str], bool]
"""Whether the clause states this relation of the object."""


def find_objects(clause: str, known: Callable[[str], bool]) -> Iterator[tuple[str, RelationTest, int]]:
    """Find known objects of a clause: (case-folded object, test of its relation, end position).

    Of objects with the same start, the longest comes first: "New York City" before "New York".
    """
    if has_han(clause):
        yield from _find_objects_zh(clause[-_MAX_CLAUSE_CHARACTERS:], known)
        return
    words = list(_WORD.finditer(clause))
    for first in range(1, min(_MAX_VERB_WORDS + 1, len(words))):
        for last in range(min(first + _MAX_OBJECT_WORDS, len(words)) - 1, first - 1, -1):
            start, end = words[first].start(), words[last].end()
            item = clause[start:end].casefold().removesuffix("'s")
            if known(item):
                yield item, partial(expresses_relation_en, clause[:start]), end


def _find_objects_zh(clause: str, known: Callable[[str], bool]) -> Iterator[tuple[str, RelationTest, int]]:
    for size in range(min(_MAX_OBJECT_CHARACTERS, len(clause)), 0, -1):
        for start in range(len(clause) - size + 1):
            item = clause[start : start + size].casefold()
            if known(item):
                yield (
                    item,
                    partial(expresses_relation_zh, clause[:start] + clause[start + size :]),
                    start + size,
                )


_MAX_QUERY_CHARACTERS = 300


def find_chains(text: str, known: IsKnownName) -> list[RelationChain]:
    """Find the phrases of a query that name a person by relations; `known` tests for known names."""
    query = text[:_MAX_QUERY_CHARACTERS]
    return find_chinese_chains(query, known) if has_han(query) else find_english_chains(query, known)
