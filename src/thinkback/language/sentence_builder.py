"""Writes a triple as an English or Chinese sentence with its date, and derives its validity period."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from thinkback.language.dates import TimeExpression, format_interval, format_start
from thinkback.language.kinship import GENERIC_ROLE_WORDS_ZH, KIN_ZH, SPECIFIC_ROLES_ZH
from thinkback.language.names import USER
from thinkback.language.relations import get_relation
from thinkback.language.writing_systems import detect_language, has_han
from thinkback.types import Kind

_HAS_DETERMINER = re.compile(r"(?:an?|the|my|his|her|their|one|two|three)\s", re.I)
_NAME_WITH_ROLE = re.compile(rf"(?P<name>.+) \((?P<role>{USER}'s .+)\)")
_ALIAS_OPENINGS = (" (", "（")
_ROLES_ZH = {
    name: word for word, name in reversed((KIN_ZH | SPECIFIC_ROLES_ZH).items())
} | GENERIC_ROLE_WORDS_ZH
_KIN_IS = re.compile(r"'s (\w+) is\b")


def _kin_are(match: re.Match[str]) -> str:
    """Plural of a kin attribute: "'s sister is" -> "'s sisters are"."""
    kin = match[1]
    if kin == "child":
        return "'s children are"
    return f"'s {kin[:-2] + 'ves' if kin == 'wife' else kin + ('es' if kin.endswith('s') else 's')} are"


_PLURAL_SUBJECT = re.compile(
    rf"{USER}'s (?:\w+ )?(?:(?:grand)?parents|parents-in-law|in-laws|children|kids|twins)\Z"
)
_VERB_AFTER_SUBJECT = re.compile(r"(?<=\{s\} )(?P<adverb>no longer )?(?P<verb>\w+)")
_PLURAL_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def _with_plural_verb(template: str) -> str:
    """Template with the verb in the plural: "The user's parents live in", not "lives in"."""

    def pluralise(match: re.Match[str]) -> str:
        verb = match["verb"]
        bare = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
        return (match["adverb"] or "") + _PLURAL_VERBS.get(verb, bare)

    return _VERB_AFTER_SUBJECT.sub(pluralise, template, count=1)


def sentence_language(sentence: str) -> str:
    """Language of a sentence, "zh" or "en"; a rebuilt sentence keeps it."""
    return "zh" if detect_language(sentence) == "zh" else "en"


def join_values(objects: Sequence[str], *, lang: str, negated: bool = False) -> str:
    """Join values to a list: "tea, coffee and jazz" ("or" if negated), 茶、咖啡和爵士乐."""
    if len(objects) < 2:
        return "".join(objects)
    if lang == "zh":
        return "、".join(objects[:-1]) + "和" + objects[-1]
    return ", ".join(objects[:-1]) + (" or " if negated else " and ") + objects[-1]


def add_article(noun: str) -> str:
    """Add "a" or "an" to an English noun that has no determiner."""
    if _HAS_DETERMINER.match(noun) or has_han(noun):
        return noun
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun


def subject_phrase(subject: str, lang: str) -> str:
    """The subject as the opening of a sentence: "The user's sister", "Anna", 用户的妹妹."""
    if named := _NAME_WITH_ROLE.fullmatch(subject):
        role = subject_phrase(named["role"], lang)
        return f"{named['name']}（{role}）" if lang == "zh" else f"{named['name']} (t{role[1:]})"
    if lang == "zh":
        owner, separator, role = subject.rpartition("'s ")
        if separator and (owner == USER or role in _ROLES_ZH):
            return f"{subject_phrase(owner, lang)}的{_ROLES_ZH.get(role, role)}"
        return "用户" if subject == USER else subject
    if subject == USER or subject.startswith(f"{USER}'s "):
        return f"The {subject}"
    return subject


def add_aliases(sentence: str, subject: str, aliases: Sequence[str]) -> str:
    """Add the other names of the subject: "Anna (the user's sister) lives in Rome." """
    lang = sentence_language(sentence)
    opening = subject_phrase(subject, lang)
    if (
        not aliases
        or not sentence.startswith(opening)
        or sentence[len(opening) :].startswith(_ALIAS_OPENINGS)
    ):
        return sentence
    phrases = [subject_phrase(name, lang) for name in aliases]
    if lang == "zh":
        return f"{opening}（{'、'.join(phrases)}）{sentence[len(opening) :]}"
    listed = ", ".join(f"t{name[1:]}" if name.startswith("The ") else name for name in phrases)
    return f"{opening} ({listed}){sentence[len(opening) :]}"


def compose_sentence(
    subject: str,
    relation: str,
    objects: Sequence[str],
    *,
    negated: bool = False,
    ended: bool = False,
    lang: str = "en",
    template: str = "",
) -> str:
    """Write a triple as one sentence that contains all values.

    `ended` adds "no longer" to a negated sentence. `template` replaces the template of the relation.
    """
    definition = get_relation(relation)
    values = [add_article(o) for o in objects] if definition.takes_article and lang == "en" else list(objects)
    pattern = template or _sentence_template(relation, negated=negated, ended=ended, lang=lang)
    if lang == "en" and _PLURAL_SUBJECT.match(subject):
        pattern = _with_plural_verb(pattern)
    if len(objects) > 1 and lang == "en" and definition.kind == "relationship":
        pattern = _KIN_IS.sub(_kin_are, pattern)
    sentence = pattern.replace("{s}", subject_phrase(subject, lang), 1).replace(
        "{o}", join_values(values, lang=lang, negated=negated)
    )
    if lang == "zh":
        return sentence + "。"
    return sentence[:1].upper() + sentence[1:] + "."


def _sentence_template(relation: str, *, negated: bool, ended: bool, lang: str) -> str:
    wording = get_relation(relation).wording(lang)
    if not negated:
        return wording.sentence
    if not ended:
        return wording.negated
    if lang == "zh":
        if "是{o}" in wording.sentence:
            return wording.sentence.replace("是{o}", "不再是{o}")
        return wording.sentence.replace("{s}", "{s}不再", 1)
    return (
        wording.sentence.replace("{s}'s", "{s}'s former", 1)
        if "{s}'s" in wording.sentence
        else wording.sentence.replace("{s} ", "{s} no longer ", 1)
    )


ValidFromTo = tuple[datetime | None, datetime | None]
"""(valid_from, valid_to); None where it is open."""


def validity_period(kind: Kind, when: TimeExpression | None, time_text: str = "") -> ValidFromTo:
    """Derive (valid_from, valid_to) of a thought from its time expression.

    An event lasts for the interval. A state starts with it ("moved last month"), or ends with it if
    `time_text` starts with "until" or "by".
    """
    if when is None:
        return None, None
    if kind in ("event", "dialogue"):
        return when.start, when.end
    if time_text.lower().startswith(("until", "by ")) or time_text.startswith("直到"):
        return None, when.end
    return when.start, None


def append_date(
    sentence: str,
    kind: Kind,
    when: TimeExpression | None,
    valid_from: datetime | None,
    *,
    negated: bool,
    lang: str,
) -> str:
    """Append the date to a sentence: when an event happened, or since when a state holds."""
    if when is None:
        return sentence
    if kind == "event":
        date = format_interval(when)
    elif valid_from and not negated:
        date = f"自{format_start(when)}" if lang == "zh" else f"since {format_start(when)}"
    else:
        return sentence
    return f"{sentence[:-1]}（{date}）。" if lang == "zh" else f"{sentence[:-1]} ({date})."
