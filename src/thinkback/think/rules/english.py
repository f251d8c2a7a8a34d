"""The English tables: what is said of a subject (PREDICATES) and of a possession (ATTRIBUTES).

A predicate is read after its subject, time, adverbs and negation are taken off, in verbs of first or third
person: "live in Paris", "is allergic to nuts". The first rule that matches decides.
"""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.kin import KIN_EN, PETS_EN, longest_first
from thinkback.text.numbers import NUMBER_EN
from thinkback.think.rules.english_words import (
    MARITAL,
    NAME,
    TRAITS,
    is_concrete,
    is_condition,
    is_engagement,
    is_job,
    is_language,
    is_name,
)
from thinkback.think.rules.rule import Rule

_BE = r"(?:am|is|are)"
_HAVE = r"(?:have got|has got|have|has)"
_COUNT = rf"(?:an?|{NUMBER_EN}|no|some|several|many)"
_KIN = rf"(?:{longest_first(KIN_EN)})"
_PET = rf"(?:{longest_first(PETS_EN)})"
_UNIT_W = r"(?:kgs?|kilos?|kilograms?|lbs?|pounds?|stones?)"
_MODS = (
    "(?:(?:older|younger|elder|big|little|twin|best|new|close|old|good|step|half|pet|eldest|youngest"
    "|small|cute) )*"
)


def _rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    return Rule(name, re.compile(pattern + r"\Z", re.DOTALL), relation, **options)


def _is_trait(words: str) -> bool:
    bare = re.sub(r"^an? ", "", words.lower())
    return bare in TRAITS or words.lower() in TRAITS


_EVENT_VERBS = (
    "went to|visited|bought|attended|adopted|graduated from|flew to|travell?ed to|met with|met"
    "|sold|won|broke(?! up)"
)
_DATED_VERBS = (
    "saw|watched|got|finished|started|ran|lost|joined|passed|celebrated|received|cooked|baked|read"
    "|ate at|ate|had"
    "|took|played|hosted|completed|signed up for|booked|made|called|hiked|climbed|went"
)
_BASE = {
    "going": "go", "flying": "fly", "traveling": "travel", "travelling": "travel", "moving": "move",
        "meeting": "meet",
    "visiting": "visit", "getting": "get", "starting": "start", "having": "have", "seeing": "see",
        "leaving": "leave",
    "attending": "attend", "hosting": "host", "taking": "take", "running": "run",
}  # fmt: skip
_DOING = "|".join(_BASE)
_INFINITIVE = (
    "visit|see|meet|start|buy|move|travel|go|fly|get|have|take|attend|run|host|leave|celebrate"
    "|graduate|begin|join|sell"
)

PREDICATES: tuple[Rule, ...] = (
    # who is who
    _rule("is my kin", rf"is (?:my|our) {_MODS}(?P<kin>{_KIN}|{_PET})", "has {kin}"),
    _rule("kin named",
        f"{_HAVE} {_COUNT} {_MODS}(?P<kin>{_KIN}|{_PET})s?(?:,| named| called| whose names? (?:is|are)"
        f"|:) (?P<o>{NAME}.*)", "has {kin}", split=True, accept=is_name),
    _rule("pet got",
        rf"(?:adopted|got|bought|rescued) an? {_MODS}(?P<kin>{_PET}) (?:named|called) (?P<o>{NAME})",
        "has {kin}"),
    _rule("kin counted",
        f"{_HAVE} (?P<o>{_COUNT} {_MODS}(?:{_KIN}|{_PET}|children|siblings?|pets?)s?(?: and {_COUNT} "
        f"{_MODS}(?:{_KIN}|{_PET})s?)*)", "has", split=True, kind="relationship"),
    # where
    _rule("lives", rf"(?:lives?|resides?|{_BE} (?:living|based|located|residing)) in (?P<o>.+)",
        "lives in", place=True),
    _rule("has lived",
        r"(?:have|has) (?:been living|lived) in (?P<o>.+?) (?:for|since) .+", "lives in", place=True),
    _rule("has been living", r"(?:have|has) been (?:living|based) in (?P<o>.+)", "lives in", place=True),
    _rule("has lived since", r"(?:have|has) lived in (?P<o>.+)", "lives in", place=True, dated=True),
    _rule("moved", r"(?:(?:have|has) )?(?:moved|relocated)(?: back| over)?(?: from [^,]+?)? to (?P<o>.+)",
        "lives in", place=True),
    _rule("born and raised", r"was born(?: and raised)? in (?P<o>[^\d]+)", "was born in", place=True),
    _rule("born on", r"was born (?:on|in) (?P<o>.*\d.*)", "birthday"),
    _rule("grew up", r"(?:grew up|was raised) in (?P<o>.+)", "grew up in", place=True),
    _rule("from", rf"(?:{_BE}|comes?) (?:originally )?from (?P<o>.+)", "comes from", place=True),
    _rule("lived", r"lived in (?P<o>.+)", "lived in", place=True),
    # name and age
    _rule("called", rf"{_BE} (?:called|named) (?P<o>{NAME})", "is named", accept=is_name),
    _rule("goes by", rf"goe?s? by (?P<o>{NAME})", "goes by", accept=is_name),
    _rule("aged", rf"{_BE} (?:about |almost |only )?(?P<o>{NUMBER_EN})(?: years?[- ]old| y/?o)?", "is aged"),
    _rule("turned", rf"(?:have |has )?turned (?P<o>{NUMBER_EN})", "is aged"),
    _rule("is name", rf"am (?P<o>{NAME})", "is named", accept=is_name),
    _rule("renamed", rf"(?:have |has )?changed (?:my|his|her) name to (?P<o>{NAME})",
        "is named", accept=is_name),
    _rule("married to", rf"{_BE} (?:married|engaged) to (?P<o>{NAME})", "has partner", accept=is_name),
    # work and study
    _rule("student at", rf"{_BE} an? (?P<o>(?:[\w-]+ )?student) (?:at|of) (?P<also>.+)", "works as", also=
        "studies at"),
    _rule("works as",
            f"(?:works?|{_BE} (?:working|employed)|ha(?:ve|s) been working|serves?) as (?:an? |the "
            ")?(?P<o>.+?)(?: (?:at|for|with) "
        "(?P<also>.+))?", "works as", split=True, also="works at"),
    _rule("is job",
        f"(?:{_BE}|became|have become|has become) an? (?P<o>.+?)(?: (?:at|for|with) (?P<also>[A-Z].*"
        "|the .+|an? .+))?(?: (?:based )?(?:in|from|here in)"
        " [A-Z].*)?", "works as", split=True, also="works at", accept=is_job),
    _rule("got job",
        "(?:got|found|landed|started|have|has) an? (?:new )?job as an? (?P<o>.+?)(?: (?:at|for|with) "
        "(?P<also>.+))?", "works as", also="works at", accept=is_job),
    _rule("started at",
        "(?:have |has )?(?:started|begun|began)(?: working| work| a new job| my new job)? (?:at|with|for) "
        "(?P<o>[A-Z].*)", "works at"),
    _rule("hired by", "(?:got|was|have been|has been) hired (?:by|at) (?P<o>[A-Z].*)", "works at"),
    _rule("new job", "(?:got|have|has|started|landed|found) an? new job,? (?:it is |it's )?(?:at|with)"
        " (?P<o>.+)",
        "works at"),
    _rule("job at",
        r"(?:got|found|landed|started|have|has) an? (?:new )?(?:job|position) (?:at|with) (?P<o>.+?)"
        "(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    _rule("works at",
            f"(?:works?|{_BE} (?:working|employed)|started working|ha(?:ve|s) been working) (?:at|for"
            "|by) (?P<o>(?!home|night"
        "|least).+?)(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    _rule("studies both",
        f"(?:stud(?:y|ies)|{_BE} (?:studying|majoring in)|majors? in) (?P<o>(?!at )[^,]+?) at "
        "(?P<also>.+)", "studies", split=True, also="studies at"),
    _rule("studies at", rf"(?:(?:stud(?:y|ies)|{_BE} studying) at|attends?) (?P<o>.+)", "studies at"),
    _rule("studies",
        f"(?:stud(?:y|ies)|{_BE} (?:studying|learning|majoring in)|majors? in|learns?) (?P<o>(?!for"
        r"|hard|from|and|together|with|to\b).+)", "studies", split=True),
    # tastes
    _rule("fan",
        f"{_BE} (?:an? )?(?:really |very |quite |big |huge |such an? )*(?:into|fond of|crazy about|keen "
        "on|passionate about|interested in|fan of|obsessed with) (?P<o>.+)", "likes", split=True),
    _rule("loves", r"(?:loves?|adores?) (?P<o>.+)", "likes", split=True, say="{s} loves {o}"),
    _rule("likes", r"(?:likes?|enjoys?) (?P<o>.+)", "likes", split=True),
    _rule("hates", r"(?:hates?|detests?|can ?not stand) (?P<o>.+)", "likes", split=True, negated=True, say=
        "{s} hates {o}"),
    _rule("dislikes", r"dislikes? (?P<o>.+)", "likes", split=True, negated=True),
    _rule("prefers to", r"prefers? (?P<o>.+?) (?:to|over|rather than) (?P<than>.+)", "prefers", say=
        "{s} prefers {o} to {than}"),
    _rule("prefers", r"prefers? (?P<o>.+)", "prefers", split=True),
    # body and health
    _rule("allergic", rf"{_BE} (?:severely |very |also )*allergic to (?P<o>.+)",
        "is allergic to", split=True),
    _rule("allergy to", rf"{_HAVE} an? (?:\w+ )?allergy to (?P<o>.+)", "is allergic to", split=True),
    _rule("allergy", rf"{_HAVE} an? (?:severe |bad |mild )?(?P<o>\w+) allergy", "is allergic to"),
    _rule("weighs", rf"weighs? (?:about |around |almost )?(?P<o>\d[\d.,]* ?{_UNIT_W})", "weighs"),
    _rule("tall",
        rf"(?:{_BE} )?(?:about |around )?(?P<o>\d[\d.,' ]*(?:cm|m|meters?|metres?|feet|foot|ft|\"|in"
        r"|inches)?(?: ?\d+(?: ?(?:in|inches|\"))?)?) tall", "height"),
    _rule("diagnosed", rf"(?:(?:was|have been|has been|got|{_BE}) diagnosed with|suffers? from) (?P<o>.+)",
        "has condition", split=True),
    _rule("condition", rf"{_HAVE} (?:an? )?(?P<o>.+)", "has condition", split=True, accept=is_condition),
    _rule("takes",
        rf"(?:takes?|{_BE} (?:taking|on)) (?P<o>(?:.* )?(?:\d+ ?mg.*|insulin|metformin|aspirin|ibuprofen"
        "|statins?|antidepressants|lisinopril|warfarin)(?: .*)?)", "takes", split=True),
    # traits
    _rule("speaks", rf"(?:can |{_BE} able to )?speaks? (?:fluent |some |a little |basic )?(?P<o>.+)",
        "speaks", split=True, accept=is_language),
    _rule("fluent", rf"{_BE} fluent in (?P<o>.+)", "speaks", split=True, accept=is_language),
    _rule("marital", rf"(?:{_BE}|got) (?:now |happily )?(?P<o>{'|'.join(sorted(MARITAL))})",
        "marital status"),
    _rule("trait", rf"(?:{_BE}|became) (?P<o>.+)", "is", accept=_is_trait),
    _rule("retired", r"(?:have |has )?(?P<o>retired)", "is"),
    _rule("smokes", r"(?P<o>smokes?)", "smokes", say="{s} smokes"),
    _rule("consumes",
        r"(?P<verb>eats?|drinks?|drives?) (?P<o>(?!lunch|dinner|breakfast|out\b|to\b|too\b|and\b).+)",
        "{verb}", split=True),
    _rule("plays", r"plays? (?P<o>.+)", "plays", split=True),
    _rule("afraid", rf"{_BE} (?:very |really |so |a bit |terribly )*(?:afraid|scared|terrified|frightened)"
        rf" of "
        "(?P<o>.+)", "is afraid of", split=True),
    # a new number
    _rule("got new number",
        "(?:got|have|has|have got|has got) an? new (?P<what>phone number|number|phone|e-?mail(?: address)?"
        "|address)"
        r"(?:,| -|:)? (?:and )?(?:it is|it's|which is|is)(?: now)?"
        r" (?P<o>\+?[\w][\w\s@().-]{3,40}\w)", "{what}"),
    # leaving a job; other changes come by negation ("no longer", "used to", "stopped")
    _rule("quit job at",
        "(?:quit|left|lost|resigned from|was (?:fired|laid off) from) (?:my |his |her )?(?:job )?(?:at"
        "|with) (?P<o>.+)", "works at", negated=True, ended=True),
    _rule("quit job as", r"(?:quit|left|lost|resigned from) (?:my |his |her )?job as an? (?P<o>.+)",
        "works as", negated=True, ended=True),
    _rule("resigned", r"(?:resigned|got (?:fired|laid off)|was (?:fired|laid off)) from (?P<o>[A-Z].*)",
        "works at", negated=True, ended=True),
    _rule("quit", r"(?:quit|gave up|given up) (?P<o>(?:my|his|her) job|\w+)", "quit"),
    # what happened and what is planned
    _rule("appointment", rf"{_HAVE} (?P<o>(?:an? |my |our )(?!lot).+)",
        "has appointment", dated=True, accept=is_engagement),
    _rule("happened", rf"(?:have |has )?(?P<verb>{_EVENT_VERBS}) (?P<o>.+)", "{verb}", kind="event"),
    _rule("happened then", rf"(?P<verb>{_DATED_VERBS}) (?P<o>.+)", "{verb}", kind="event", dated=True),
    _rule("plans", r"(?:plans?|(?:am|is|are) planning|intends?) (?:on |to )(?P<o>.+)", "plans to"),
    _rule("will",
        rf"(?:will|{_BE} (?:going|planning|about) to) (?P<o>(?:{_INFINITIVE})\b.*)", "plans to", dated=True),
    _rule("is doing", rf"{_BE} (?P<doing>{_DOING}) (?P<o>.+)", "plans to", dated=True, say=
        "{s} plans to {base} {o}"),
    # possession, last: almost anything can be had
    _rule("owns", rf"(?:{_HAVE}|owns?) (?P<o>(?:an? |{NUMBER_EN} |no ).+)", "has",
        split=True, accept=is_concrete),
)  # fmt: skip

ATTRIBUTES: tuple[Rule, ...] = (
    _rule("english name", rf"english name is (?P<o>{NAME})", "english name", accept=is_name),
    _rule("is on",
        r"(?P<o>(?:[\w'-]+ ){0,2}(?:appointment|exam|interview|surgery|flight|wedding|meeting|check-?up"
        r"|operation"
        "|graduation|deadline|concert|anniversary|presentation|marathon)) (?:is|was|will be)(?: scheduled|"
        " set| due)?"
        "(?: at .+| in .+)?", "has appointment", dated=True),
    _rule("surname", rf"(?:last name|surname|family name) is (?P<o>{NAME})", "surname", accept=is_name),
    _rule("nickname", rf"nickname is (?P<o>{NAME})", "goes by", accept=is_name),
    _rule("name", r"(?:full |first |real |given )?names? (?:is|are)(?: now| actually)? (?P<o>.+)",
        "is named"),
    _rule("age", rf"age is (?P<o>{NUMBER_EN})", "is aged"),
    _rule("birthday", r"(?:birthday|birth date|date of birth) is (?:on )?(?P<o>.+)", "birthday"),
    _rule("phone",
        "(?:new )?(?:phone|mobile|cell|telephone|cellphone)(?: number)? is "
        r"(?P<o>\+?[\d][\d\s().-]{4,20}\d)", "phone number"),
    _rule("email", r"(?:new )?e-?mail(?: address)? is (?P<o>\S+@\S+\.\w+)", "email"),
    _rule("weight", rf"weight is (?:about |around |now )?(?P<o>\d[\d.,]* ?{_UNIT_W})", "weighs"),
    _rule("height", r"height is (?:about |around )?(?P<o>\d.*)", "height"),
    _rule("number",
        "(?:new |current |home |monthly |yearly |annual )*(?P<what>blood pressure|blood type|shoe size"
        "|salary|address) "
        "is (?:about |around |now )?(?P<o>.+)", "{what}"),
    _rule("figure",
        "(?:new |current |monthly |weekly |yearly |annual |resting )*(?P<what>rent|gpa|GPA|budget|mortgage"
        "|heart rate|bmi"
        "|BMI|cholesterol|blood sugar|commute|room number|seat number|locker number|flight number|credit"
        " score) is "
        r"(?:about |around |now |only )*(?P<o>(?:[$€£¥]\s?)?\d.*|[A-Z]?\d.*)", "{what}"),
    _rule("job",
        r"(?:current |new )?(?:job|occupation|profession) is (?:an? |being an? |to be an? )?(?P<o>.+)",
        "works as"),
    _rule("major", r"major is (?P<o>.+)", "studies"),
    _rule("hometown", r"home ?town is (?P<o>.+)", "comes from", place=True),
    _rule("tongue", r"(?:native language|mother tongue|first language) is (?P<o>.+)",
        "speaks", accept=is_language),
    _rule("hobby",
        r"(?:main |favou?rite )?hobb(?:y|ies) (?:is|are|include|includes) (?P<o>.+)", "likes", split=True),
    _rule("favourite",
        r"(?:all[- ]time )?favou?rite (?P<what>\w+(?: \w+)?) (?:is|are) (?:definitely |probably |now "
        "|still )?(?P<o>.+)", "favourite {what}"),
)  # fmt: skip

KINDRED = re.compile(
    rf"(?P<mods>{_MODS})(?P<kin>parents|grandparents|kids|children|{longest_first(KIN_EN | PETS_EN)})\b"
)


def base_verb(doing: str) -> str:
    """going -> go."""
    return _BASE[doing]
