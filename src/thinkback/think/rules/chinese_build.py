"""What a Chinese rule has matched -> readings, in the words and the script they were said in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thinkback.text.numbers import number
from thinkback.text.people.kin import PETS_ZH
from thinkback.text.people.names import USER
from thinkback.think.rules.chinese_openings import KIN, NOT_GIVEN
from thinkback.think.rules.chinese_words import destination, is_dose, is_name, is_place, listed, trim
from thinkback.think.rules.rule import Reading, Rule
from thinkback.think.vocabulary import FAVOURITES_ZH

_FAVOURITES = {word: name for name, word in FAVOURITES_ZH.items()}
_ATTRIBUTES_ZH = {
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
_VERBS_ZH = {"吃": "eats", "喝": "drinks"}
_ACTS_ZH = {"吃": "food", "喝": "drink"}


def built(rule: Rule, groups: dict[str, str], subject: str) -> Iterator[Reading]:
    value = trim(groups["o"])
    objects = listed(value) if rule.split else (value,)
    good = tuple(item for item in objects if item and (not rule.accept or rule.accept(item)))
    if not good or len(good) < len(objects) or (rule.place and not is_place(good[0])):
        return
    if rule.relation == "is aged":
        good = (str(number(good[0])),)
    if rule.relation == "went to":
        good = (destination(good[0]),)
    if groups.get("drug") and groups.get("amount"):
        if not is_dose(groups["drug"], groups["amount"]):
            return
        good = (f"{groups['drug']}{groups['amount']}",)
    what = groups.get("what", "")
    names = {"what": _ATTRIBUTES_ZH.get(what, _FAVOURITES.get(what, what))}
    names["verb"] = _VERBS_ZH.get(groups.get("verb", ""), "")
    names["act"] = _ACTS_ZH.get(groups.get("act", ""), "")
    names["kin"] = KIN.get(groups.get("kin", ""), "")
    relation = rule.relation.format(**names)
    yield Reading(rule.name, subject, relation, good, rule.negated, rule.ended, rule.kind, rule.say)
    if rule.also and groups.get("also"):
        yield Reading(rule.name, subject, rule.also, (trim(groups["also"]),), rule.negated, rule.ended)


def who_is_who(word: str, name: str, *, owner: str = USER, denied: bool = False) -> Reading:
    """Who is who, in the very word that was said: 姐姐 is not 妹妹, though both are sisters."""
    said = word not in PETS_ZH and not word.isascii() and not denied
    say = f"{{s}}的{word}是{{o}}" if said else ""
    rule = "my kin" if owner == USER else "their kin"
    return Reading(rule, owner, f"has {KIN.get(word, word)}", (name,), denied, say=say)


def owned(word: str) -> str:
    return f"{USER}'s {KIN[word]}" if word.isascii() else f"用户的{word}"


def kin_of(subject: str) -> tuple[str, str]:
    """(whose, what) a subject is by its words: 用户的妹妹 the user's sister, 陈刚的妻子 his wife."""
    for mark in ("的", "'s "):
        owner, _, word = subject.rpartition(mark)
        if owner and word in KIN:
            return (USER if owner in ("用户", USER) else owner), word
    return "", ""


def is_given(name: str) -> bool:
    return is_name(name) and not NOT_GIVEN.match(name)


def as_written(reading: Reading, plain: str, text: str) -> Reading:
    """The names and objects in the script they were written in."""
    if plain == text:
        return reading

    def written(words: str) -> str:
        at = plain.find(words)
        return words if at < 0 else text[at : at + len(words)]

    return replace(reading, subject=written(reading.subject), objects=tuple(map(written, reading.objects)))
