"""How an English object is cut out of the rest of a clause, and told to be usable."""

from __future__ import annotations

import re

from thinkback.think.rules.english_words import PRONOUNS, word_set

_I = re.IGNORECASE
_TAIL = re.compile(
    r"(?:\s*[,;:(]\s*(?:not|and not|but|which|who|so|because|since|though|although|where|right now"
    "|too|by the way"
    r"|actually|haha|lol|thanks|though|you know|especially|like|or|as|it|nice|and (?:it|the|this|there))\b"
    r"|\s+and (?:it|there|had|saw|ran|read|shot|met|went|will|\w+ed)\b"
    r"|\s+(?:because|since|so that|so|but|when|whenever|while|although|though|which|who|where|until|if|unless"
    r"|as long as|even|except|instead|for now|rather than|whose)\b"
    r"|\s+[-—]+\s|\s*\().*\Z",
    _I | re.S,
)
_LATE_ADVERB = re.compile(
    r"[,\s]+(?:now|only|(?:at|on) (?:the )?weekends?"
    r"|nowadays|currently|these days|right now|at the moment|at present|too|also|as well|a lot"
    r"|very much|so much|again|though|actually|lately|recently|anymore|any more|any longer|already|together"
    "|most of all|the most|more than anything|every (?:single |other )?(?:day|morning|evening|night|week"
    "|weekend"
    "|year|month|\\w+day)|all the time|on \\w+days|(?:once|twice|three times|\\w+ times) an? (?:day|week"
    "|month|year)"
    "|(?:last|this|next) (?:spring|summer|autumn|fall|winter)|earlier this year|late last year|myself"
    "|instead|anyways?|you know|like at all|at all|tbh|honestly|actually|basically|btw|fyi|sadly|i think"
    "|i guess|yay|ugh"
    "|for ages|for good|full[- ]time|part[- ]time|so far|as of (?:now|today|yesterday)|by trade|nowadays"
    "|daily|nightly"
    "|in the end|after all|on the side|or so|like crazy|to bits|at heart|yet|back then|as a kid|once more|atm"
    r"|for (?:about |over |almost )?(?:\w+ )?(?:years?|months?|weeks?|days?)|for a (?:living|while|long time)"
    "|since (?:then|forever|like forever|\\w+|i was \\w+|my \\w+)|for as long as i can remember"
    "|now and then|sometimes|from time to time|by the way|haha|lol|please|with my family|with all "
    r"my heart)\Z",
    _I,
)
_AND = re.compile(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|as well as|&)\s+(?:also\s+)?", _I)
_ONE_THING = re.compile(
    r"\b(?:rock and roll|mac and cheese|fish and chips|salt and pepper|bread and butter|black and "
    "white|pros and cons"
    r"|arts and crafts|R&B|hide and seek|[A-Z]\w+ & [A-Z]\w+)\b",
    _I,
)
_ASIDE = re.compile(
    r"\s*,\s*(?:(?:I|it|they|that|this|there|he|she|we|you|my|our|his|her|its|their|your|got|been|had|have"
    r"|has|was"
    r"|were|is|are|am|just|always|never|ever|can't|cannot|couldn't|don't|doesn't|didn't|won't|makes?|made"
    r"|even|almost"
    r"|hence|thank|ugh|yay|finally|still|best|worst|no|yes|hope|love|new|been|every|once|since|after"
    r"|before|long"
    r"|sorry|if|can|could|please|rather|mainly|mostly|near|next|close|in an?|in the|with|for|from|at|on|by"
    r"|due"
    r"|thanks|give|tell|show|recommend|let|\w+ly|so|which|badly|like|not|only|whole|same|one|until|third|first|second"
    r"|plus|but|though|cos|bills|rare|down|up|of|back|out|over|under|despite|without|hands down|rainy"
    r"|honestly|tbh|lol|haha|surprisingly|to be|then|when|if|as)\b|(?:it|that|they)'(?:s|re)\b).*\Z",
    _I | re.S,
)
_HAN_ASIDE = re.compile("(?<![\u4e00-\u9fff])\\s*[,;，；]\\s*[\u4e00-\u9fff].*\\Z", re.S)
_PLACE_TAIL = re.compile(
    r"\s+(?:with|for|over|near|after|before|during|from|thanks|next|together|to be|to work|to study|and)\s.*"
    r"|,\s*(?![A-Z])\S+\s+\S.*",
    re.S,
)
_WORK_TAIL = re.compile(
    r",\s*(?![A-Z])\S+\s+\S.*|\s+(?:in|on|near|for|over|with) (?:the|an?|my|our)\s.*|\s+in [A-Z].*", re.S
)
_PLAYED_TAIL = re.compile(
    r"\s+(?:in|with|for|at|on|to|every|when|around|by|during|as|after|together|pretty|quite|really|well|badly|better"
    r"|competitively|semi-|twice|once)\b.*",
    re.S,
)
_QUANTIFIED = re.compile(
    r"(?:also |and )?(?:fluent|some|basic|broken|conversational|decent|good|a (?:little|tiny )?(?: ?bit"
    r"|little)(?: of)?)\s+",
    _I,
)
_EDGE = " \t\n.,;:!?…~*"
_WHOLE_QUOTE = re.compile('["“\'‘]([^"“”]+)["”\'’]')
_MY = re.compile(r"\b(my|our)\b", _I)


_EXAMPLES = re.compile(r"\b(?:such as|like|including)\b")
_VERBS = """read travel cook swim run play watch listen write draw paint sing dance hike eat drink bake
 go take make learn study ski ride sleep focus shop fish climb jog walk garden knit meditate"""
VERBS = word_set(_VERBS)


def trim(words: str) -> str:
    """The object without subordinate clauses, late adverbs and edges; "my" becomes "their"."""
    text = _HAN_ASIDE.sub("", _ASIDE.sub("", _TAIL.sub("", words))).strip(_EDGE)
    for _ in range(3):
        shorter = _LATE_ADVERB.sub("", text).strip(_EDGE)
        if shorter == text:
            break
        text = shorter
    if quoted := _WHOLE_QUOTE.fullmatch(text):
        text = quoted[1].strip(_EDGE)
    return _MY.sub("their", text)


def late(words: str) -> str:
    """Words without the adverbs that close a clause: "86 kg now" -> "86 kg"."""
    return _LATE_ADVERB.sub("", words).strip(_EDGE)


def trim_place(words: str) -> str:
    """A place without why, when and with whom: "Toronto for work", "Boston, in a tiny flat"."""
    return _PLACE_TAIL.sub("", words).strip(_EDGE)


def trim_work(words: str) -> str:
    """An employer without what else is told of it."""
    return _WORK_TAIL.sub("", words).strip(_EDGE)


def trim_played(words: str) -> str:
    """What one plays or speaks without where, how and with whom: "the cello in an orchestra"."""
    return _PLAYED_TAIL.sub("", words).strip(_EDGE)


def trim_language(words: str) -> str:
    """ "a bit of Portuguese" -> "Portuguese"."""
    return _QUANTIFIED.sub("", words, count=1)


_CLAUSE = re.compile(r"\b(?:is|are|was|were|am|has|have|had|will|does|did|do|i'm|i|you|we|he|she)\b", _I)
"""An object with a verb of its own is a clause that was read wrongly."""


def usable(words: str, longest: int = 8) -> bool:
    """Whether trimmed words can stand as an object."""
    parts = words.lower().split()
    if (
        not parts
        or len(parts) > longest
        or parts[0] in ("that", "how", "when", "your", "you", "if", "not", "and", "every", "each")
    ):
        return False
    if longest <= 8 and _CLAUSE.search(words):
        return False
    if "that" in parts or sum(words.count(quote) for quote in '"“”') % 2:
        return False
    return parts[0] not in PRONOUNS and (parts[-1] not in PRONOUNS or len(parts) > 2)


def listed(words: str) -> tuple[str, ...]:
    """ "tea, coffee and jazz" -> three objects; "playing football and tennis" shares its verb."""
    if _ONE_THING.search(words) or _EXAMPLES.search(words):
        return (words,)
    parts = [part.strip(_EDGE) for part in _AND.split(words)]
    parts = [part for part in parts if part]
    if not parts:
        return ()
    head = re.match(r"(to\s+\w+|\w+ing)\s+\S", parts[0])
    if head and len(parts) > 1:
        rest = [_with_verb(part, head[1]) for part in parts[1:]]
        return (parts[0], *rest)
    if re.fullmatch(r"to\s+\w+", parts[0]):
        return (parts[0], *(part if part.startswith("to ") else f"to {part}" for part in parts[1:]))
    return tuple(parts)


def _with_verb(part: str, verb: str) -> str:
    """One more object of the same verb, unless it brings its own."""
    first = part.partition(" ")[0]
    if first == "to" or first.endswith("ing") or (len(part.split()) > 2 and first not in VERBS):
        return part
    if first in VERBS:
        return f"to {part}" if verb.startswith("to ") else part
    return f"{verb} {part}"
