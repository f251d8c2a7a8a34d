"""Turns what the user said about themselves into words to the user: "my sister" -> "your sister".

    I moved to Lyon                 -> you moved to Lyon
    The user's sister is Anna.      -> your sister is Anna.
    我女朋友叫小雨                  -> 你女朋友叫小雨

A sentence that speaks to the assistant or quotes somebody is not rewritten: "I told you" would become "you
told you". Nor is one in which the user exaggerates or runs themselves down: "I'm dead" is not said back.
"""

from __future__ import annotations

import re

from thinkback.language.writing_systems import has_han

_ADDRESSES_EN = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b|[\"“”]", re.IGNORECASE)
_ADDRESSES_ZH = re.compile('[你您“”"「」]')
_DELICATE_EN = re.compile(
    r"\b(?:dead|dying|die|kill\w*|suicid\w*|stupid|idiot\w*|dumb|ugly|fat|useless|worthless|loser|screwed|hate"
    r"|fuck\w*|shit\w*|damn\w*|crap|pathetic|insane|crazy|mad)\b",
    re.IGNORECASE,
)
_DELICATE_ZH = re.compile("死|笨|蠢|傻|胖|丑|没用|废物|疯|崩溃|妈的|靠$")
_WORDS = {
    "i": "you",
    "i'm": "you're",
    "im": "you're",
    "i've": "you've",
    "ive": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "we're": "you're",
    "we've": "you've",
    "weve": "you've",
    "we'd": "you'd",
    "we'll": "you'll",
    "us": "you",
    "our": "your",
    "ours": "yours",
    "ourselves": "yourselves",
    "am": "are",
}
_FIRST_PERSON = re.compile(  # Chinese characters may stand directly beside it: 我my advisor
    r"(?<![a-z0-9_'])(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")(?![a-z0-9_'])",
    re.IGNORECASE,
)
_FIRST_PERSON_ZH = re.compile("用户|[我俺咱]")
_WITHOUT_SUBJECT = re.compile(r"\Aam\b(?! i\b)", re.IGNORECASE)
_I_WAS = re.compile(r"\b(I) was(n't|nt)?\b|\bwas (I)\b", re.IGNORECASE)
# within a sentence: "the kindergarten My First Skool"
_NAME_WITH_FIRST_PERSON = re.compile(r"(?<=[^\s.!?。！？])[ \t]*(?<![A-Za-z'])((?:My|Our|Me|We)) (?=[A-Z])")
_TIME_OF_DAY = re.compile(r"\d ?am\b", re.IGNORECASE)
_USER_VERB = re.compile(
    r"\b[Tt]he user (?:(?P<adverb>also|now|still|usually|often|always) )?(?P<verb>[a-z']+)"
)
_USER_EN = re.compile(r"\b[Tt]he user\b")
_USER_POSSESSIVE = re.compile(r"\b[Tt]he user['’]s\b")
_IRREGULAR = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
    "goes": "go",
}


def to_second_person(sentence: str) -> str | None:
    """The sentence as said to the user; None if it cannot be rewritten safely."""
    text = sentence.replace("’", "'")
    if has_han(text) and not _USER_EN.search(text):
        if _ADDRESSES_ZH.search(text) or _DELICATE_ZH.search(text):
            return None
        text = _FIRST_PERSON_ZH.sub("你", text)
    if _ADDRESSES_EN.search(text) or _DELICATE_EN.search(text):
        return None
    text = _WITHOUT_SUBJECT.sub("you are", text)
    text = _USER_VERB.sub(_second_person_verb, _USER_POSSESSIVE.sub("your", text))
    text = _USER_EN.sub("you", text)
    text = _I_WAS.sub(
        lambda match: f"were {match[3]}" if match[3] else f"{match[1]} were{match[2] or ''}", text
    )
    kept_times = {match.end() for match in _TIME_OF_DAY.finditer(text)}
    kept_names = {match.start(1) for match in _NAME_WITH_FIRST_PERSON.finditer(text)}
    return _FIRST_PERSON.sub(
        lambda match: (
            match[0]
            if match.end() in kept_times or match.start() in kept_names or match[0] == "US"
            else _WORDS[match[0].lower()]
        ),
        text,
    )


def _plural_was(match: re.Match[str]) -> str:
    return f"were {match[3]}" if match[3] else f"{match[1]} were{match[2] or ''}"


def _second_person_verb(match: re.Match[str]) -> str:
    adverb = f"{match['adverb']} " if match["adverb"] else ""
    return f"you {adverb}{_plain_verb(match['verb'])}"


def _plain_verb(verb: str) -> str:
    """The verb as after "you": "lives" -> "live"."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
