"""An English sentence -> clauses, and a predicate -> the same without adverbs and negation."""

from __future__ import annotations

import re

from thinkback.text.kin import KIN_EN, longest_first
from thinkback.text.sentences import Sentence
from thinkback.think.rules.english_words import NAME
from thinkback.think.rules.rule import Clause

_VERB = (
    "(?:(?:live|work|studie|stud|ha[sv]e?|love|like|enjoy|hate|dislike|prefer|speak|own|play|drink"
    "|eat|use|take|need|wear)s?|studies|study"
    r"|am|is|moved|bought|went|visited|started|joined|got|adopted|don't|doesn't|do not|does not|used to|no"
    r" longer|quit"
    r"|stopped)"
)
_SPLIT = re.compile(
    r"(?:\s*[,;:]|\s+[-—]+)\s*(?:(?i:and|but|so|because|although|though|while|also|then|plus|yet)\s+)*"
        r"(?=(?i:I|I'm|I've|im|my|we|our|he|she|he's|she's|his|her)\b|[A-Z][\w-]+(?:'s \w+)? (?:is"
        rf"|lives|works|likes|loves|has|hates)\b|{_VERB}\s+\w)"
    r"|\s+and\s+(?:about |around )?(?=\d[\d.,' ]*\s?(?:cm|m|metres?|meters?|feet|foot|ft)\b[\w\s]* tall\b)"
    r"|\s+(?i:and|but|so|because|although|though|while)\s+(?i:also\s+|then\s+|now\s+|currently\s+)*"
        r"(?=(?i:I|I'm|I've|im|my|we|our|he|she|he's|she's|his|her)\b(?!\s+\w+\Z)|[A-Z][\w-]+ (?:is"
        rf"|lives|works|likes|loves|has|hates)\b|{_VERB}\s+\w)"
)  # fmt: skip
_ADVERB = re.compile(
    "(?:currently|now|still|also|really|just|always|usually|often|recently|actually|absolutely"
    "|totally|especially"
    r"|mostly|only|already|both|particularly|mainly|truly|finally|simply|definitely|originally|even)\s+",
    re.I,
)
_NEGATION = re.compile(
    r"(?P<aux>am|is|are|have|has)?\s*(?P<neg>(?:do|does) not|no longer|never|not)\s+"
    r"(?:(?P<be>am|is|are)\s+)?(?:really |actually |even |particularly )?(?P<rest>.+)",
    re.S,
)
_ANYMORE = re.compile(r"\s+(?:any ?more|any longer)\b")
_USED_TO = re.compile(r"used to (?P<rest>(?!it|the|being).+)", re.S)
_STOPPED = re.compile(
    r"(?:have |has )?(?:stopped|quit|gave up|given up) (?P<verb>\w+)ing\b(?P<rest>.*)", re.S
)
_STEMS = {
    "work": "work",
    "liv": "live",
    "eat": "eat",
    "drink": "drink",
    "play": "play",
    "study": "study",
    "tak": "take",
}
_STEMS |= {"smok": "smoke", "driv": "drive", "lik": "like", "learn": "learn", "attend": "attend"}


_APPOSITION = re.compile(rf"\b[Mm]y (?:\w+ )?(?:{longest_first(KIN_EN)}), {NAME},")


def clauses(sentence: Sentence) -> list[Clause]:
    """The parts of a sentence that have a verb of their own."""
    text = sentence.text.replace("’", "'").replace("，", ",")
    text = _APPOSITION.sub(lambda match: match.group().replace(",", " "), text)  # same length: spans hold
    out: list[Clause] = []
    start = 0
    for cut in (*_SPLIT.finditer(text), None):
        end = cut.start() if cut else len(text)
        body = text[start:end]
        shift = len(body) - len(body.lstrip())
        if body.strip():
            first = sentence.start + start + shift
            out.append(Clause(body.strip().rstrip(".!…。！"), first, first + len(body.strip())))
        start = cut.end() if cut else end
    return out


def polarity(text: str) -> tuple[str, bool, bool]:
    """(predicate without its negation, denied?, ended?)"""
    body, ended = _adverbs(text), False
    if _ANYMORE.search(body):
        body, ended = _ANYMORE.sub("", body), True
    if used := _USED_TO.match(body):
        return re.sub(r"^be ", "is ", used["rest"]), True, True
    if (stopped := _STOPPED.match(body)) and stopped["verb"] in _STEMS:
        return _STEMS[stopped["verb"]] + stopped["rest"], True, True
    if negated := _NEGATION.match(body):
        verb = f"{negated['aux'] or negated['be']} " if negated["aux"] or negated["be"] else ""
        return _adverbs(verb + negated["rest"]), True, ended or negated["neg"] == "no longer"
    return body, False, False


def _adverbs(text: str) -> str:
    body = text.strip()
    for _ in range(3):
        body = _ADVERB.sub("", body, count=1) if _ADVERB.match(body) else body
    return re.sub(
        r"^(am|is|are|have|has) (?:currently|now|still|also|really|just|actually|already|recently) ",
        r"\1 ",
        body,
    )
