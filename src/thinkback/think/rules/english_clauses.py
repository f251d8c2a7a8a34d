"""An English sentence -> clauses, and a predicate -> the same without adverbs and negation."""

from __future__ import annotations

import re

from thinkback.text.people.kin import KIN_EN, longest_first
from thinkback.text.sentences import Sentence
from thinkback.think.rules.english_words import NAME
from thinkback.think.rules.rule import Clause

_VERB = (
    "(?:(?:live|work|studie|stud|ha[sv]e?|love|like|enjoy|hate|dislike|prefer|speak|own|play|drink"
    "|eat|use|take|need|wear|weigh|drive|run)s?|studies|study"
    r"|am|is|was|moved|bought|went|visited|started|joined|got|adopted|don't|doesn't|do not|does not|used"
    r" to|no"
    r" longer|quit|stopped|majoring|switched|settled|became|can't|cannot|gave|named|left|ended up|graduated"
    r"|dropped|hates|loves|currently|recently|working|living|studying|allergic|obsessed|terrified|afraid|scared)"
)
_SUBJECT = (
    r"(?i:I|I'm|I've|im|ive|my|we|we're|we've|our|he|she|he's|she's|hes|shes|his|her|they|they're|who|who's"
    r"|the one who|the one who's|people call|everyone calls|friends call|everybody calls)\b"
)
_NAMED = (
    r"[A-Z][\w-]+(?:'s \w+)? (?:is|lives|works|likes|loves|has|hates|plays|speaks|drinks|eats|studies|moved"
    r"|just|got)\b"
)
_LINK = "(?i:and|but|so|because|although|though|while|also|then|plus|yet|cos|cuz|coz|since|as|except|or)"
_SPLIT = re.compile(
    rf"(?:\s*[,;:(]|\s+[-—–]+|\s*[—–]+|\.\.+)\s*(?:{_LINK}\s+)*"
        r"(?i:also\s+|then\s+|now\s+|actually\s+|btw\s+|yeah\s+|honestly\s+|me\s+|as of \w+\s+)*"
        rf"(?={_SUBJECT}|{_NAMED}|(?!like\b){_VERB}\s+\w)"
    r"|\s+and\s+(?:about |around )?(?=\d[\d.,' ]*\s?(?:cm|m|metres?|meters?|feet|foot|ft)\b[\w\s]* tall\b)"
    r"|\s+and\s+(?=(?:about |around )?\d[\d.,]*\s?(?:kg|kilos?|lbs?|pounds)\b)"
    r"|\s*\)[\s,]*"
    r"|[,;]\s*(?:and |but )?(?=no more [a-z])"
    r"|[,;]\s*(?=(?i:shoe size|blood type|blood group|ring size)\b)"
    r"|(?<!the one)\s+(?=(?i:who|who's)\s+(?!knows))"
    r"|(?<!\b[Mm]e)\s+(?i:and|but|so|because|although|though|while|cos|cuz|coz|as|since|where|plus|&)\s+"
        r"(?i:(?:it )?turns out\s+(?:that\s+)?"
        r"|also\s+|then\s+|now\s+|currently\s+|yeah\s+|actually\s+|honestly\s+|as of \w+\s+|these"
        r" days\s+)*"
        rf"(?={_SUBJECT}(?!\s+\w+\Z)|{_NAMED}|{_VERB}\s+\w)"
)  # fmt: skip
_ADVERB = re.compile(
    "(?:currently|now|still|also|really|just|always|usually|often|recently|actually|absolutely"
    "|totally|especially"
    r"|mostly|only|already|both|particularly|mainly|truly|finally|simply|definitely|originally|even|officially"
    r"|permanently|happily|temporarily|basically|technically|proudly|lately|kinda|sorta|literally|mostly|since"
    r"|once)\s+",
    re.I,
)
_NEGATION = re.compile(
    r"(?!(?:do|does) not want )(?P<aux>am|is|are|have|has)?\s*(?P<neg>(?:do|does) not|no longer|never|not)\s+"
    r"(?:(?P<be>am|is|are)\s+)?(?:really |actually |even |particularly )?(?P<rest>.+)",
    re.S,
)
_ANYMORE = re.compile(r"\s+(?:any ?more|any longer)\b")
_USED_TO = re.compile(r"used to (?P<rest>(?!it|the|being).+)", re.S)
_WAS = re.compile(
    r"was (?P<rest>(?:an? )(?!bit|little|lot|while|long|good|bad|great|huge|terrible|nice).+)", re.S
)
_STOPPED = re.compile(
    r"(?:have |has )?(?:stopped|quit|gave up|given up|packed in) (?P<verb>\w+)ing\b(?P<rest>.*)", re.S
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
_STEMS |= {
    "smok": "smoke",
    "driv": "drive",
    "lik": "like",
    "learn": "learn",
    "attend": "attend",
    "vap": "vape",
}
_STEMS |= {"us": "use", "speak": "speak", "lov": "love"}


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


_THIRD = re.compile(
    r"(?:lives|works|likes|loves|has|is|speaks|plays|eats|drinks|studies|hates|enjoys|prefers|owns|uses|takes|drives"
    r"|weighs|runs|needs|wears|does)\b"
)
_FIRST = re.compile(
    r"(?:live|work|like|love|have|am|speak|play|eat|drink|study|hate|enjoy|prefer|own|use|take|drive|weigh|run|need"
    r"|wear|do)\b"
)


def agrees(first_person: bool, predicate: str) -> bool:
    """Whether a verb can go with a subject not said again: in "I have a vet, lives in Leeds" it is not I."""
    return not (_THIRD if first_person else _FIRST).match(predicate)


def polarity(text: str) -> tuple[str, bool, bool]:
    """(predicate without its negation, denied?, ended?)"""
    body, ended = _adverbs(text), False
    if _ANYMORE.search(body):
        body, ended = _ANYMORE.sub("", body), True
    if used := _USED_TO.match(body):
        return re.sub(r"^be ", "is ", used["rest"]), True, True
    if was := _WAS.match(body):
        return f"is {was['rest']}", True, True
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
        r"^(am|is|are|have|has) (?:(?:currently|now|still|also|really|just|actually|already|recently"
        r"|officially|finally"
        r"|permanently|temporarily|basically|technically|mostly|only|since|both|happily) )+",
        r"\1 ",
        body,
    )
