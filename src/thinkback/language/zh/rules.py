"""The Chinese rules in matching order, and how a matched rule becomes facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thinkback.language.kinship import PETS_ZH
from thinkback.language.names import USER
from thinkback.language.relation_templates import FAVOURITE_NOUNS_ZH
from thinkback.language.rules import ExtractedFact, Rule
from thinkback.language.tokens import parse_chinese_number
from thinkback.language.zh import rules_life, rules_profile
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
"""Rules for the words after a subject; the first match decides.

Predicates and attributes share one table, because Chinese drops 的 and 是 freely: 我的生日是5月6日,
我生日5月6日.
"""

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
    """Build the facts of a matched rule; none if any value is unusable."""
    value = trim_value(groups["o"])
    candidates = split_list(value) if rule.is_list else (value,)
    values = tuple(item for item in candidates if item and (not rule.accept or rule.accept(item)))
    if not values or len(values) < len(candidates) or (rule.needs_place and not is_place(values[0])):
        return
    if rule.relation == "is aged":
        values = (str(parse_chinese_number(values[0])),)
    if rule.relation == "went to":
        values = (strip_trip_purpose(values[0]),)
    if groups.get("drug") and groups.get("amount"):
        if not is_dose(groups["drug"], groups["amount"]):
            return
        values = (f"{groups['drug']}{groups['amount']}",)
    noun = groups.get("what", "")
    relation = rule.relation.format(
        what=_ATTRIBUTE_BY_NOUN_ZH.get(noun, _FAVOURITE_BY_NOUN_ZH.get(noun, noun)),
        verb=_RELATION_BY_VERB_ZH.get(groups.get("verb", ""), ""),
        act=_FAVOURITE_BY_VERB_ZH.get(groups.get("act", ""), ""),
        kin=KIN_BY_WORD.get(groups.get("kin", ""), ""),
    )
    yield ExtractedFact(
        rule.name, subject, relation, values, rule.negated, rule.ended, rule.kind, rule.template
    )
    if rule.second_relation and groups.get("also"):
        yield ExtractedFact(
            rule.name, subject, rule.second_relation, (trim_value(groups["also"]),), rule.negated, rule.ended
        )


def kin_fact(word: str, name: str, *, owner: str = USER, denied: bool = False) -> ExtractedFact:
    """The fact that `name` is a relative or pet of `owner`.

    The sentence keeps the exact word: 姐姐 (older sister) is not 妹妹 (younger sister).
    """
    keeps_word = word not in PETS_ZH and not word.isascii() and not denied
    template = f"{{s}}的{word}是{{o}}" if keeps_word else ""
    rule = "my kin" if owner == USER else "their kin"
    return ExtractedFact(
        rule, owner, f"has {KIN_BY_WORD.get(word, word)}", (name,), denied, template=template
    )


def relative_subject(word: str) -> str:
    """The subject of thoughts about an unnamed relative of the user."""
    return f"{USER}'s {KIN_BY_WORD[word]}" if word.isascii() else f"用户的{word}"


def split_kin_subject(subject: str) -> tuple[str, str]:
    """Split the subject of an unnamed relative into (owner, kin word): 陈刚的妻子 -> (陈刚, 妻子)."""
    for separator in ("的", "'s "):
        owner, _, word = subject.rpartition(separator)
        if owner and word in KIN_BY_WORD:
            return (USER if owner in ("用户", USER) else owner), word
    return "", ""


def is_given_name(name: str) -> bool:
    """Whether the characters after a kin word are a name (我妹妹小红), not the start of the predicate."""
    return is_name(name) and not NOT_GIVEN_NAME.match(name)


def restore_script(fact: ExtractedFact, simplified_text: str, original_text: str) -> ExtractedFact:
    """Restore the original characters of subject and values if the text is in Traditional Chinese."""
    if simplified_text == original_text:
        return fact

    def restore(words: str) -> str:
        start = simplified_text.find(words)
        return words if start < 0 else original_text[start : start + len(words)]

    return replace(fact, subject=restore(fact.subject), objects=tuple(map(restore, fact.objects)))
