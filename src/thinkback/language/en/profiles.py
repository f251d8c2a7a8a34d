"""English profile lines ("Eva's occupation: welder") and statements about the world.

A profile line has one shape for all attributes: owner, noun, value. A noun that is not in
`language.attributes` is accepted only in an unambiguous form. Judgements ("Eva's education is impressive")
are no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.language.attributes import ATTRIBUTE_ALIASES, ATTRIBUTE_RELATIONS, Attribute
from thinkback.language.en.lexicon import NAME, is_name, word_set
from thinkback.language.en.rules import is_usable_value, split_list
from thinkback.language.names import USER
from thinkback.language.rules import Clause, ExtractedFact, ProfileLine, build_profile_fact
from thinkback.language.sentences import Sentence

_ATTRIBUTES_BY_NOUN: dict[str, Attribute] = {
    noun: each for each in (*ATTRIBUTE_ALIASES, *ATTRIBUTE_RELATIONS) for noun in each.english_nouns
}
_NOUN = "(?i:" + "|".join(sorted(_ATTRIBUTES_BY_NOUN, key=lambda noun: (-len(noun), noun))) + ")"
_KIND_NOUN = (
    "(?:colou?r|size|number|type|style|status|background|level|brand|group|title|rank|name|date|place|language"
    "|sign|instrument|subject|school|food|sport|team|drink|dish)"
)
_OPEN_NOUN = rf"[a-z]+(?: [a-z]+)? {_KIND_NOUN}"
_PROFILE_OWNER = rf"(?:(?P<mine>[Mm]y) |(?P<owner>{NAME})(?:'s|(?<=s)') )"
_NOUN_ADJECTIVES = "(?:current |main |full |general |overall |own |official )?"
_IS = r"(?: (?:is|are|includes?)(?: (?:currently|now|mainly|mostly))? |\s*[:：]\s*)"
_OWNER_ATTRIBUTE = re.compile(rf"{_PROFILE_OWNER}{_NOUN_ADJECTIVES}(?P<noun>{_NOUN}){_IS}(?P<o>\S.*)", re.S)
_ATTRIBUTE_OF_OWNER = re.compile(
    rf"[Tt]he (?P<noun>{_NOUN}) of (?P<owner>{NAME}) (?:is|are) (?P<o>\S.*)(?P<mine>)", re.S
)
_OTHER_ATTRIBUTE = re.compile(
    rf"{_PROFILE_OWNER}(?P<noun>{_OPEN_NOUN} is (?=\S)|[a-z]+(?: [a-z]+){{0,2}}\s*[:：] )(?P<o>\S.*)", re.S
)
_LABEL = re.compile(rf"[-*•\s]*(?P<noun>{_NOUN})\**\s*[:：]\**\s*(?P<o>\S.*)", re.S)
_NAME_LABEL = re.compile(rf"[-*•\s]*(?i:(?:full )?name)\**\s*[:：]\**\s*(?P<o>{NAME})[.,]?")
_HEADING = re.compile(rf"[#*\s]*(?P<o>{NAME})\**\s*[:：]?\**")
_NOT_VALUE_OPENINGS = word_set(
    "that how why what when where whether because if not no to in on at about so too as like by for from"
    " being getting becoming never always still all something nothing one it this there here just none"
    " of such up down over under more less better worse than going"
)
_JUDGEMENT_WORDS = word_set(
    "good great bad fine nice amazing awesome terrible awful impressive important interesting perfect"
    " poor weak strong excellent lovely okay ok wonderful deceiving growing waning fading rising"
    " increasing improving changing falling gone lost missing unknown private secret irrelevant"
    " different similar mine yours hers his theirs unclear unusual stunning striking beautiful"
    " limited broad wide varied many few best worst high low key everything expensive incomplete"
    " outdated wrong right correct due ready available over"
)
_DEGREES = word_set("very really so pretty quite too rather")
_AMBIGUOUS_NOUNS = word_set(
    "title reputation idol hero achievement award character features build looks strengths contact"
    " interest origin mobile phone skill talent education goal weakness faith passions specialty"
    " speciality expertise alias zodiac hobby interests sex"
)
"""Nouns that are no attribute after "my": "my character is level 40", "my phone is dead"."""
_MAX_VALUE_WORDS, _MAX_FREE_TEXT_WORDS = 8, 30
_EDGE_CHARS = " \t\n.;!*…"
_MY_OR_OUR = re.compile(r"\b(?:my|our)\b", re.I)


def read_profile_line(text: str, owner: str = "") -> ProfileLine:
    """Read one line of a profile.

    `owner` is the person that a label without a name ("Occupation: welder") describes.
    """
    plain = text.replace("’", "'").strip()
    match = _OWNER_ATTRIBUTE.fullmatch(plain) or _ATTRIBUTE_OF_OWNER.fullmatch(plain)
    if match or (match := _OTHER_ATTRIBUTE.fullmatch(plain)):
        noun = re.sub(r"(?: is|\s*[:：])\s*\Z", "", match["noun"]).lower()
        person = USER if match["mine"] else match["owner"]
        is_ambiguous = noun in _AMBIGUOUS_NOUNS or match.re is _OTHER_ATTRIBUTE
        if is_ambiguous if person == USER else not is_name(person):
            return ProfileLine((), "")
        return ProfileLine(_read_attribute(person, noun, match["o"]), person)
    if name := _NAME_LABEL.fullmatch(plain):
        return ProfileLine((), name["o"] if is_name(name["o"]) else "")
    if owner and (label := _LABEL.fullmatch(plain)):
        return ProfileLine(_read_attribute(owner, label["noun"].lower(), label["o"]), owner)
    heading = _HEADING.fullmatch(plain)
    return ProfileLine((), heading["o"] if heading and is_name(heading["o"]) else "")


def _read_attribute(owner: str, noun: str, words: str) -> tuple[ExtractedFact, ...]:
    """The fact of "owner's noun is words", if the words can be a value."""
    attribute = _ATTRIBUTES_BY_NOUN.get(noun)
    value = _MY_OR_OUR.sub("their", words.strip(_EDGE_CHARS))
    is_free_text = attribute is not None and attribute.is_free_text
    if not is_free_text:
        value = (
            value
            if attribute and attribute.is_list
            else re.split(r", (?:and|but|which|who|so)\b|;", value)[0]
        )
    values = split_list(value) if attribute is not None and attribute.is_list else (value,)
    if attribute is not None and attribute.relation == "works as":
        values = tuple(re.sub(r"\A(?:an?|the) ", "", each) for each in values)
    if not all(_is_value(each, is_free_text=is_free_text) for each in values):
        return ()
    fact = build_profile_fact(
        owner, noun, values, f"{{s}}'s {noun} {'are' if _is_plural(noun) else 'is'} {{o}}"
    )
    return () if fact is None else (fact,)


def _is_value(words: str, *, is_free_text: bool) -> bool:
    """Whether the words state a value, not a judgement or a question."""
    parts = words.lower().split()
    if not parts or parts[0] in _NOT_VALUE_OPENINGS or "?" in words:
        return False
    bare = [part.strip(",") for part in parts if part not in _DEGREES]
    if bare and bare[0] in _JUDGEMENT_WORDS and len(bare) <= 3:
        return False
    return len(parts) <= _MAX_FREE_TEXT_WORDS if is_free_text else is_usable_value(words, _MAX_VALUE_WORDS)


def _is_plural(noun: str) -> bool:
    """Whether a noun is a plural, by its ending."""
    return noun.endswith("s") and not noun.endswith(("ss", "us"))


_WORLD_ATTRIBUTE = (
    r"(?P<x>capital|population|currency|president|prime minister|king|queen|chancellor|mayor|founder|author"
    r"|director|composer|inventor|official language|largest city|head of state|area|highest mountain)"
)
_WORLD_SUBJECT = rf"(?P<s>(?:the )?{NAME})"
_WORLD_VALUE = (
    rf"(?P<o>(?:the )?{NAME}|\d+(?:[.,]\d+)*(?: (?:million|billion|km²|square kilometers|people))?)"
)
_WORLD_FACT = re.compile(
    rf"(?:[Tt]he )?{_WORLD_ATTRIBUTE}(?: city)? of {_WORLD_SUBJECT} is (?:now )?{_WORLD_VALUE}[.!]*"
)
_WORLD_FACT_REVERSED = re.compile(
    rf"(?P<o>{NAME}) is (?:now )?the {_WORLD_ATTRIBUTE}(?: city)? of {_WORLD_SUBJECT}[.!]*"
)
_LAB_MEASURE = (
    r"(?:count|levels?|rate|value|concentration|ratio|index|titre|titer|ha?emoglobin|creatinine|ferritin|TSH|LDL"
    r"|HDL|platelets|glucose|hematocrit|albumin|bilirubin|CRP|triglycerides)"
)
_LAB_UNIT = (
    r"(?:%|/[µμu]?[a-zA-Z]{1,3}|(?:m?mol|[mµμnp]?g|mcg|[mk]?U|IU|mEq|fl|cells)(?:/[a-zA-Zµμ]{1,4})?|bpm|mmHg)"
)
_LAB_VALUE = re.compile(
    rf"(?:[Tt]he )(?P<s>(?:[\w-]+ ){{0,4}}{_LAB_MEASURE}(?: in (?:the |my )?[\w -]{{2,40}}?)?) (?:is|was"
    rf"|came back (?:at|as)|came out at|reads) (?:now |about )?(?P<o>\d[\d.,]*\s?{_LAB_UNIT})(?![\w/])"
)


def find_world_facts(sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
    """Facts about countries, works and laboratory values; they are no facts about the user."""
    text = sentence.text.strip()
    clause = Clause(text, sentence.start, sentence.end)
    if (match := _WORLD_FACT.fullmatch(text) or _WORLD_FACT_REVERSED.fullmatch(text)) and is_name(
        match["s"].removeprefix("the ")
    ):
        template = f"The {match['x']} of {{s}} is {{o}}"
        fact = ExtractedFact("of", match["s"], match["x"], (match["o"],), kind="knowledge", template=template)
        yield clause, fact
    elif match := _LAB_VALUE.match(text):
        subject = match["s"].replace("my ", "the ")
        yield clause, ExtractedFact("measured", subject, "is", (match["o"].strip(),), kind="knowledge")
