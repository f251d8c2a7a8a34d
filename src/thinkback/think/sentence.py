"""A triple -> its sentence, in English or Chinese: what is embedded, shown and recalled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from thinkback.text.language import language
from thinkback.text.people.kin import EITHER_ZH, KIN_ZH, PERSON_ZH
from thinkback.text.people.names import USER
from thinkback.text.scripts import has_han
from thinkback.think.relations import relation_of

_ARTICLED = re.compile(r"(?:an?|the|my|his|her|their|one|two|three)\s", re.I)


_APART = re.compile(rf"(?P<name>.+) \((?P<role>{USER}'s .+)\)")
_NAMED = (" (", "（")
_ROLES_ZH = {name: word for word, name in reversed((KIN_ZH | PERSON_ZH).items())} | EITHER_ZH
_PLURAL = re.compile(r"'s (\w+) is\b")


def _plural(match: re.Match[str]) -> str:
    kin = match[1]
    if kin == "child":
        return "'s children are"
    return f"'s {kin[:-2] + 'ves' if kin == 'wife' else kin + ('es' if kin.endswith('s') else 's')} are"


_SEVERAL = re.compile(
    rf"{USER}'s (?:\w+ )?(?:(?:grand)?parents|parents-in-law|in-laws|children|kids|twins)\Z"
)
_VERB = re.compile(r"(?<=\{s\} )(?P<adverb>no longer )?(?P<verb>\w+)")
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def _agreeing(template: str) -> str:
    """The user's parents live in, not lives in."""

    def several(match: re.Match[str]) -> str:
        verb = match["verb"]
        bare = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
        return (match["adverb"] or "") + _VERBS.get(verb, bare)

    return _VERB.sub(several, template, count=1)


def language_of(sentence: str) -> str:
    """zh or en: the language new sentences about the same thing are said in."""
    return "zh" if language(sentence) == "zh" else "en"


def join(objects: Sequence[str], *, lang: str, negated: bool = False) -> str:
    """tea, coffee and jazz; in a denial "or"; 茶、咖啡和爵士乐."""
    if len(objects) < 2:
        return "".join(objects)
    if lang == "zh":
        return "、".join(objects[:-1]) + "和" + objects[-1]
    return ", ".join(objects[:-1]) + (" or " if negated else " and ") + objects[-1]


def with_article(noun: str) -> str:
    """an actor, a director; nothing before a noun that has one, or is Chinese."""
    if _ARTICLED.match(noun) or has_han(noun):
        return noun
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun


def subject_in(subject: str, lang: str) -> str:
    """How a subject opens a sentence: The user, The user's sister, Anna; 用户, 用户的妹妹."""
    if told_apart := _APART.fullmatch(subject):
        role = subject_in(told_apart["role"], lang)
        return f"{told_apart['name']}（{role}）" if lang == "zh" else f"{told_apart['name']} (t{role[1:]})"
    if lang == "zh":
        owner, mark, role = subject.rpartition("'s ")
        if mark and (owner == USER or role in _ROLES_ZH):
            return f"{subject_in(owner, lang)}的{_ROLES_ZH.get(role, role)}"
        return "用户" if subject == USER else subject
    if subject == USER or subject.startswith(f"{USER}'s "):
        return f"The {subject}"
    return subject


def naming(sentence: str, subject: str, others: Sequence[str]) -> str:
    """The sentence with the subject's other names behind it: Anna (the user's sister) lives in Rome."""
    lang = language_of(sentence)
    opening = subject_in(subject, lang)
    if not others or not sentence.startswith(opening) or sentence[len(opening) :].startswith(_NAMED):
        return sentence
    called = [subject_in(name, lang) for name in others]
    if lang == "zh":
        return f"{opening}（{'、'.join(called)}）{sentence[len(opening) :]}"
    listed = ", ".join(f"t{name[1:]}" if name.startswith("The ") else name for name in called)
    return f"{opening} ({listed}){sentence[len(opening) :]}"


def compose(
    subject: str,
    relation: str,
    objects: Sequence[str],
    *,
    negated: bool = False,
    ended: bool = False,
    lang: str = "en",
    template: str = "",
) -> str:
    """One sentence with every object. `ended` says "no longer"; `template` overrides the relation's words."""
    known = relation_of(relation)
    listed = [with_article(o) for o in objects] if known.article and lang == "en" else list(objects)
    said = template or _template(relation, negated=negated, ended=ended, lang=lang)
    if lang == "en" and _SEVERAL.match(subject):
        said = _agreeing(said)
    if len(objects) > 1 and lang == "en" and known.kind == "relationship":
        said = _PLURAL.sub(_plural, said)
    whole = said.replace("{s}", subject_in(subject, lang), 1).replace(
        "{o}", join(listed, lang=lang, negated=negated)
    )
    if lang == "zh":
        return whole + "。"
    return whole[:1].upper() + whole[1:] + "."


def _template(relation: str, *, negated: bool, ended: bool, lang: str) -> str:
    known = relation_of(relation)
    if not negated:
        return known.zh if lang == "zh" else known.en
    if not ended:
        return known.zh_not if lang == "zh" else known.en_not
    if lang == "zh":
        if "是{o}" in known.zh:
            return known.zh.replace("是{o}", "不再是{o}")
        return known.zh.replace("{s}", "{s}不再", 1)
    return (
        known.en.replace("{s}'s", "{s}'s former", 1)
        if "{s}'s" in known.en
        else known.en.replace("{s} ", "{s} no longer ", 1)
    )
