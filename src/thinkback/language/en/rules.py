"""The English rules in matching order, and the steps from a match to facts: trim, split, check, build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.language.en.lexicon import MODIFIERS, PRONOUNS, is_place, word_set
from thinkback.language.en.rules_life import (
    EVENT_RULES,
    HABIT_RULES,
    HEALTH_RULES,
    TASTE_RULES,
    base_verb,
)
from thinkback.language.en.rules_profile import (
    KIN_RULES,
    NAME_RULES,
    PLACE_RULES,
    STUDY_RULES,
    WORK_RULES,
)
from thinkback.language.kinship import KIN_EN, PETS_EN, alternation_pattern
from thinkback.language.relations import get_relation
from thinkback.language.rules import ExtractedFact, Rule

PREDICATE_RULES: tuple[Rule, ...] = (
    *KIN_RULES,
    *PLACE_RULES,
    *NAME_RULES,
    *WORK_RULES,
    *STUDY_RULES,
    *TASTE_RULES,
    *HEALTH_RULES,
    *HABIT_RULES,
    *EVENT_RULES,
)
"""Rules for the words after a subject; the first match decides."""

KIN_MENTION = re.compile(
    rf"(?P<mods>{MODIFIERS})"
    rf"(?P<kin>parents|grandparents|kids|children|{alternation_pattern(KIN_EN | PETS_EN)})\b"
)
"""A relative or pet after "my" or "Anna's"."""

_I = re.IGNORECASE
_SUBORDINATE_TAIL = re.compile(
    r"(?:\s*[,;:(]\s*(?:not|and not|but|which|who|so|because|since|though|although|where|right now"
    "|too|by the way"
    r"|actually|haha|lol|thanks|though|you know|especially|like|or|as|it|nice|and (?:it|the|this|there))\b"
    r"|\s+and (?:it|there|had|saw|ran|read|shot|met|went|will|\w+ed)\b"
    r"|\s+(?:because|since|so that|so|but|when|whenever|while|although|though|which|who|where|until|if|unless"
    r"|as long as|even|except|instead|for now|rather than|whose)\b"
    r"|\s+[-—]+\s|\s*\().*\Z",
    _I | re.S,
)
_TRAILING_ADVERB = re.compile(
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
_LIST_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|as well as|&)\s+(?:also\s+)?", _I)
_FIXED_PAIR = re.compile(
    r"\b(?:rock and roll|mac and cheese|fish and chips|salt and pepper|bread and butter|black and "
    "white|pros and cons"
    r"|arts and crafts|R&B|hide and seek|[A-Z]\w+ & [A-Z]\w+)\b",
    _I,
)
_COMMA_ASIDE = re.compile(
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
    r"\s+(?:in|with|for|at|on|to|every|when|around|by|during|as|after|together|pretty|quite|really|well|badly"
    r"|better|competitively|semi-|twice|once)\b.*",
    re.S,
)
_FLUENCY = re.compile(
    r"(?:also |and )?(?:fluent|some|basic|broken|conversational|decent|good|a (?:little|tiny )?(?: ?bit"
    r"|little)(?: of)?)\s+",
    _I,
)
_EDGE_CHARS = " \t\n.,;:!?…~*"
_WHOLE_QUOTE = re.compile('["“\'‘]([^"“”]+)["”\'’]')
_MY_OR_OUR = re.compile(r"\b(my|our)\b", _I)
_EXAMPLES = re.compile(r"\b(?:such as|like|including)\b")
ACTIVITY_VERBS = word_set(
    """
    read travel cook swim run play watch listen write draw paint sing dance hike eat drink bake go take make
    learn study ski ride sleep focus shop fish climb jog walk garden knit meditate
    """
)


def trim_value(words: str) -> str:
    """Remove subordinate clauses, trailing adverbs and punctuation from a value; "my" becomes "their"."""
    text = _HAN_ASIDE.sub("", _COMMA_ASIDE.sub("", _SUBORDINATE_TAIL.sub("", words))).strip(_EDGE_CHARS)
    for _ in range(3):
        shorter = _TRAILING_ADVERB.sub("", text).strip(_EDGE_CHARS)
        if shorter == text:
            break
        text = shorter
    if quoted := _WHOLE_QUOTE.fullmatch(text):
        text = quoted[1].strip(_EDGE_CHARS)
    return _MY_OR_OUR.sub("their", text)


def strip_trailing_adverbs(words: str) -> str:
    """Remove adverbs at the end of a clause: "86 kg now" -> "86 kg"."""
    return _TRAILING_ADVERB.sub("", words).strip(_EDGE_CHARS)


def trim_place(words: str) -> str:
    """Remove reason, time and company from a place: "Toronto for work" -> "Toronto"."""
    return _PLACE_TAIL.sub("", words).strip(_EDGE_CHARS)


def trim_employer(words: str) -> str:
    """Remove further details from an employer: "Shell in Rotterdam" -> "Shell"."""
    return _WORK_TAIL.sub("", words).strip(_EDGE_CHARS)


def trim_activity(words: str) -> str:
    """Remove where and how from a game, instrument or language: "the cello in an orchestra"."""
    return _PLAYED_TAIL.sub("", words).strip(_EDGE_CHARS)


def trim_language(words: str) -> str:
    """Remove the degree of fluency: "a bit of Portuguese" -> "Portuguese"."""
    return _FLUENCY.sub("", words, count=1)


_HAS_VERB = re.compile(r"\b(?:is|are|was|were|am|has|have|had|will|does|did|do|i'm|i|you|we|he|she)\b", _I)
"""A value with a verb of its own is a clause, not a value."""


def is_usable_value(words: str, max_words: int = 8) -> bool:
    """Whether trimmed words can be a value: not too long, no pronoun, no clause."""
    parts = words.lower().split()
    if (
        not parts
        or len(parts) > max_words
        or parts[0] in ("that", "how", "when", "your", "you", "if", "not", "and", "every", "each")
    ):
        return False
    if max_words <= 8 and _HAS_VERB.search(words):
        return False
    if "that" in parts or sum(words.count(quote) for quote in '"“”') % 2:
        return False
    return parts[0] not in PRONOUNS and (parts[-1] not in PRONOUNS or len(parts) > 2)


def split_list(words: str) -> tuple[str, ...]:
    """Split a list: "tea, coffee and jazz" gives three values.

    In "playing football and tennis" both values get the verb.
    """
    if _FIXED_PAIR.search(words) or _EXAMPLES.search(words):
        return (words,)
    parts = [part.strip(_EDGE_CHARS) for part in _LIST_SEPARATOR.split(words)]
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
    """Add the verb of the first list item to another item, unless it has its own."""
    first = part.partition(" ")[0]
    if first == "to" or first.endswith("ing") or (len(part.split()) > 2 and first not in ACTIVITY_VERBS):
        return part
    if first in ACTIVITY_VERBS:
        return f"to {part}" if verb.startswith("to ") else part
    return f"{verb} {part}"


_LEADING_ARTICLE = re.compile(r"^(?:an?|the) ")


def match_groups(match: re.Match[str]) -> dict[str, str]:
    """The named groups of a match, with kin words replaced by relation names and verbs by their base form."""
    groups = {key: value for key, value in match.groupdict().items() if value is not None}
    if "kin" in groups:
        groups["kin"] = (KIN_EN | PETS_EN)[groups["kin"]]
    if "doing" in groups:
        groups["base"] = base_verb(groups["doing"])
    return groups


def build_facts(rule: Rule, match: re.Match[str], subject: str) -> Iterator[ExtractedFact]:
    """Build the facts of a matched rule; none if any value is unusable."""
    groups = match_groups(match)
    max_words = 12 if rule.kind == "event" or rule.needs_time or rule.relation == "plans to" else 8
    candidates = _split_values(rule, groups["o"])
    values = tuple(
        item
        for item in candidates
        if is_usable_value(item, max_words) and (not rule.accept or rule.accept(item))
    )
    if not values or len(values) < len(candidates) or (rule.needs_place and not is_place(values[0])):
        return
    relation = rule.relation.format(**groups)
    if get_relation(relation).takes_article or rule.relation == "plays":
        values = tuple(_LEADING_ARTICLE.sub("", item) for item in values)
    if "base" in groups:
        values = (f"{groups['base']} {values[0]}",)
    template = "" if "{base}" in rule.template else rule.template
    if "{than}" in template:
        template = template.replace("{than}", trim_value(groups["than"]))
    if "verb" in groups and rule.kind == "event":
        template = "{s} " + groups["verb"] + " {o}"
    rejected = (groups["than"],) if "than" in groups and not rule.template else ()
    yield ExtractedFact(
        rule.name,
        subject,
        relation,
        values,
        rule.negated,
        rule.ended,
        rule.kind,
        template,
        instead_of=rejected,
    )
    if (
        rule.second_relation
        and groups.get("also")
        and is_usable_value(second := trim_employer(trim_value(groups["also"])))
    ):
        yield ExtractedFact(rule.name, subject, rule.second_relation, (second,), rule.negated, rule.ended)


def _split_values(rule: Rule, words: str) -> tuple[str, ...]:
    """The trimmed values in the words of the group `o`."""
    value = trim_value(trim_place(words)) if rule.needs_place else trim_value(words)
    if rule.relation in ("works at", "studies"):
        value = trim_employer(value)
    values = split_list(value) if rule.is_list else (value,)
    if rule.relation in ("plays", "speaks"):
        values = tuple(trim_activity(item) for item in values)
    return tuple(trim_language(item) for item in values) if rule.relation == "speaks" else values
