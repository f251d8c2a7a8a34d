"""All Chinese rules in matching order, and how a matched rule is built into facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thinkback.language.kinship import PETS_ZH
from thinkback.language.names import USER
from thinkback.language.numbers import parse_chinese_number
from thinkback.language.relation_table import FAVOURITE_NOUNS_ZH
from thinkback.language.rules import ExtractedFact, Rule
from thinkback.language.zh import (
    rules_life,
    rules_profile,
)
from thinkback.language.zh.clauses import KIN_BY_WORD, NOT_GIVEN_NAME
from thinkback.language.zh.lexicon import (
    is_dose,
    is_name,
    is_place,
    split_list,
    strip_trip_purpose,
    trim_value,
)

ALL_RULES: tuple[Rule, ...] = (
    *rules_profile.HOME_RULES,
    *rules_profile.WORK_RULES,
    *rules_life.TASTE_RULES,
    *rules_life.HEALTH_RULES,
    *rules_life.TRAIT_RULES,
    *rules_life.POSSESSION_RULES,
    *rules_life.EVENT_RULES,
)
"""The first that matches decides."""

_FAVOURITE_BY_NOUN_ZH = {word: name for name, word in FAVOURITE_NOUNS_ZH.items()}
_ATTRIBUTE_BY_NOUN_ZH = {
    "血压": "blood pressure",
    "血型": "blood type",
    "鞋码": "shoe size",
    "月薪": "salary",
    "工资": "salary",
    "薪水": "salary",
    "年薪": "salary",
    "房租": "rent",
    "租金": "rent",
    "预算": "budget",
    "房贷": "mortgage",
    "心率": "heart rate",
    "血糖": "blood sugar",
    "绩点": "gpa",
    "GPA": "gpa",
    "房间号": "room number",
    "座位号": "seat number",
    "航班号": "flight number",
    "尿酸": "uric acid",
    "学号": "student id",
    "工号": "employee id",
    "会员号": "membership number",
    "卧推": "bench press",
    "深蹲": "squat",
    "硬拉": "deadlift",
}
_RELATION_BY_VERB_ZH = {"吃": "eats", "喝": "drinks"}
_FAVOURITE_BY_VERB_ZH = {"吃": "food", "喝": "drink"}


def build_facts(rule: Rule, groups: dict[str, str], subject: str) -> Iterator[ExtractedFact]:
    value = trim_value(groups["o"])
    objects = split_list(value) if rule.is_list else (value,)
    good = tuple(item for item in objects if item and (not rule.accept or rule.accept(item)))
    if not good or len(good) < len(objects) or (rule.needs_place and not is_place(good[0])):
        return
    if rule.relation == "is aged":
        good = (str(parse_chinese_number(good[0])),)
    if rule.relation == "went to":
        good = (strip_trip_purpose(good[0]),)
    if groups.get("drug") and groups.get("amount"):
        if not is_dose(groups["drug"], groups["amount"]):
            return
        good = (f"{groups['drug']}{groups['amount']}",)
    what = groups.get("what", "")
    names = {"what": _ATTRIBUTE_BY_NOUN_ZH.get(what, _FAVOURITE_BY_NOUN_ZH.get(what, what))}
    names["verb"] = _RELATION_BY_VERB_ZH.get(groups.get("verb", ""), "")
    names["act"] = _FAVOURITE_BY_VERB_ZH.get(groups.get("act", ""), "")
    names["kin"] = KIN_BY_WORD.get(groups.get("kin", ""), "")
    relation = rule.relation.format(**names)
    yield ExtractedFact(
        rule.name, subject, relation, good, rule.negated, rule.ended, rule.kind, rule.template
    )
    if rule.second_relation and groups.get("also"):
        yield ExtractedFact(
            rule.name, subject, rule.second_relation, (trim_value(groups["also"]),), rule.negated, rule.ended
        )


def kin_fact(word: str, name: str, *, owner: str = USER, denied: bool = False) -> ExtractedFact:
    """Who is who, in the very word that was said: 姐姐 is not 妹妹, though both are sisters."""
    said = word not in PETS_ZH and not word.isascii() and not denied
    say = f"{{s}}的{word}是{{o}}" if said else ""
    rule = "my kin" if owner == USER else "their kin"
    return ExtractedFact(rule, owner, f"has {KIN_BY_WORD.get(word, word)}", (name,), denied, template=say)


def relative_subject(word: str) -> str:
    return f"{USER}'s {KIN_BY_WORD[word]}" if word.isascii() else f"用户的{word}"


def split_kin_subject(subject: str) -> tuple[str, str]:
    """(whose, what) a subject is by its words: 用户的妹妹 the user's sister, 陈刚的妻子 his wife."""
    for mark in ("的", "'s "):
        owner, _, word = subject.rpartition(mark)
        if owner and word in KIN_BY_WORD:
            return (USER if owner in ("用户", USER) else owner), word
    return "", ""


def is_given_name(name: str) -> bool:
    return is_name(name) and not NOT_GIVEN_NAME.match(name)


def restore_script(reading: ExtractedFact, simplified_text: str, original_text: str) -> ExtractedFact:
    """The names and objects in the script they were written in."""
    if simplified_text == original_text:
        return reading

    def written(words: str) -> str:
        at = simplified_text.find(words)
        return words if at < 0 else original_text[at : at + len(words)]

    return replace(reading, subject=written(reading.subject), objects=tuple(map(written, reading.objects)))
