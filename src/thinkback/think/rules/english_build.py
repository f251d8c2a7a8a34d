"""A matched English rule -> its readings: the objects cut out and checked, then its second relation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.text.people.kin import KIN_EN, PETS_EN
from thinkback.think.relations import relation_of
from thinkback.think.rules.english import base_verb
from thinkback.think.rules.english_cut import (
    listed,
    trim,
    trim_language,
    trim_place,
    trim_played,
    trim_work,
    usable,
)
from thinkback.think.rules.english_words import is_place
from thinkback.think.rules.rule import Reading, Rule

_ARTICLE = re.compile(r"^(?:an?|the) ")


def kin_of(match: re.Match[str]) -> dict[str, str]:
    """The groups of a match, a word for a relative or a pet as the relation calls it."""
    groups = {key: value for key, value in match.groupdict().items() if value is not None}
    if "kin" in groups:
        groups["kin"] = (KIN_EN | PETS_EN)[groups["kin"]]
    if "doing" in groups:
        groups["base"] = base_verb(groups["doing"])
    return groups


def built(rule: Rule, match: re.Match[str], subject: str) -> Iterator[Reading]:
    """The readings of one matched rule; none if an object is no object."""
    groups = kin_of(match)
    longest = 12 if rule.kind == "event" or rule.dated or rule.relation == "plans to" else 8
    objects = _objects(rule, groups["o"])
    good = tuple(item for item in objects if usable(item, longest) and (not rule.accept or rule.accept(item)))
    if not good or len(good) < len(objects) or (rule.place and not is_place(good[0])):
        return
    relation = rule.relation.format(**groups)
    if relation_of(relation).article or rule.relation == "plays":
        good = tuple(_ARTICLE.sub("", item) for item in good)
    if "base" in groups:
        good = (f"{groups['base']} {good[0]}",)
    say = rule.say if rule.say and "{than}" not in rule.say and "{base}" not in rule.say else ""
    if "{than}" in rule.say:
        say = rule.say.replace("{than}", trim(groups["than"]))
    if "verb" in groups and rule.kind == "event":
        say = "{s} " + groups["verb"] + " {o}"
    left = (groups["than"],) if "than" in groups and not rule.say else ()
    yield Reading(
        rule.name, subject, relation, good, rule.negated, rule.ended, rule.kind, say, instead_of=left
    )
    if rule.also and groups.get("also") and usable(second := trim_work(trim(groups["also"]))):
        yield Reading(rule.name, subject, rule.also, (second,), rule.negated, rule.ended)


def _objects(rule: Rule, words: str) -> tuple[str, ...]:
    value = trim(trim_place(words)) if rule.place else trim(words)
    if rule.relation in ("works at", "studies"):
        value = trim_work(value)
    objects = listed(value) if rule.split else (value,)
    if rule.relation in ("plays", "speaks"):
        objects = tuple(trim_played(item) for item in objects)
    return tuple(trim_language(item) for item in objects) if rule.relation == "speaks" else objects
