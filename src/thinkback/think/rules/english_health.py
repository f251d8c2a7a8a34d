"""English rules for body and health: allergies, conditions, medicines and their doses, measures."""

from __future__ import annotations

from thinkback.think.rules.english_parts import BE, DOSE, HAVE, WEIGHT, rule
from thinkback.think.rules.english_words import (
    MARITAL,
    is_absent,
    is_condition,
    is_language,
    is_medicine,
    is_symptom,
    is_treatment,
)
from thinkback.think.rules.rule import Rule

_ABOUT = "(?:about |around |almost |roughly |nearly |just |only |exactly )?"
_ON = (
    f"(?:takes?|{BE} (?:taking|on|back on|now on|up to|down to)|have been (?:taking|on|put on|prescribed"
    f"|given)"
    "|has been (?:taking|on|put on|prescribed|given)|(?:have |has )?started(?: on| taking)?"
    "|(?:was|got) (?:put on|prescribed|given|started on)|have to take|has to take|went on|inject|injects"
    "|(?:have been|has been|was|got) (?:switched|moved) to)"
)
_FOR = (
    r"(?: (?:for|against|because of|before|after|on \w+days?|at (?:night|bedtime|breakfast|lunch|dinner|noon"
    r"|\d)|in the (?:morning|evening|afternoon|night)s?)(?: .+)?)?"
)
_HAD = "(?:have |has )?had(?: an?| any| the| both)?"
_TO_HAVE = "(?: to (?:have|take|use|start|swallow|inject))?(?: an?| the| any| more| this| that)*"
_WILL_NOT = "(?:(?:do|does) not want|will (?:not|never) (?:have|take|accept|use|agree to))"
_HURT = "(?:bad|dodgy|busted|torn|broken|fractured|sprained|slipped|herniated|frozen|trick|bum|weak)"
_PART = (
    "(?:back|knee|shoulder|hip|ankle|wrist|elbow|neck|disc|toe|foot|rib|tendon|ligament|meniscus|heart"
    "|hand|arm"
    "|leg)"
)

HEALTH: tuple[Rule, ...] = (
    rule("allergic", rf"(?:{BE} |became )?(?:severely |very |also |super |quite |mildly |badly |deathly )*"
        "allergic to (?P<o>.+)", "is allergic to", split=True),
    rule("allergy to", rf"(?:{HAVE}|developed|have developed) an? (?:\w+ )?allergy to (?P<o>.+)",
        "is allergic to", split=True),
    rule("allergy", rf"{HAVE} an? (?:severe |bad |mild |serious |nasty )?(?P<o>\w+) allergy",
        "is allergic to"),
    rule("weighs", rf"weighs? (?:in at )?{_ABOUT}(?P<o>\d[\d.,]* ?{WEIGHT})", "weighs"),
    rule("weighs now", rf"(?:{BE} )?(?:(?:back )?(?:down to|up to|to|at) )?{_ABOUT}(?P<o>\d[\d.,]*"
        rf" ?{WEIGHT})", "weighs"),
    rule("weighs then", rf"(?:(?:have |has )?(?:gone|went|dropped|climbed|crept|got|gotten|slimmed)"
        rf"(?: from \d[\d.,]*(?: ?{WEIGHT})?)?(?: back)?(?: up| down)? to|weighed(?: in at)?) {_ABOUT}"
        rf"(?P<o>\d[\d.,]* ?{WEIGHT})", "weighs"),
    rule("feet", rf"(?:{BE} )?{_ABOUT}(?P<o>\d'\s?\d{{1,2}})(?:\"|'')?(?: tall)?", "height"),
    rule("tall",
        rf"(?:{BE} )?{_ABOUT}(?P<o>\d[\d.,' ]*(?:cm|m|meters?|metres?|feet|foot|ft|\"|in"
        r"|inches)?(?: ?\d+(?: ?(?:in|inches|\"))?)?) tall", "height"),
    rule("grown", r"(?:have |has )?(?:grown|shot up) to (?P<o>\d[\d.,]* ?(?:cm|m|metres?|meters?|feet"
        r"|ft))", "height"),
    rule("diagnosed", rf"(?:(?:was|have been|has been|got|{BE}|have just been) diagnosed with|suffers? from"
        r"|(?:have|has) been living with|(?:live|lives|am living) with) (?P<o>.+)",
        "has condition", split=True, accept=is_condition),
    rule("diagnosed as", rf"(?:(?:was|have been|has been|got|{BE}|have just been) diagnosed with"
        rf"|suffers? from)"
        r" (?P<o>.+)", "has condition", split=True),
    rule("no condition", rf"{HAVE} no (?:known )?(?P<o>.+)", "has condition", split=True, negated=True,
        accept=is_absent),
    rule("had condition then", rf"{_HAD} (?P<o>.+)", "had condition", dated=True, kind="event",
        accept=is_condition),
    rule("had condition", rf"{_HAD} (?P<o>.+?)(?: in the \w+)?", "had condition", split=True,
        accept=is_condition),
    rule("measured", rf"(?:{HAVE}|{BE} (?:having|running)|runs?) (?:an? )?(?P<o>(?:[a-z]+ )?(?:fever"
        r"|temperature)(?:,| of| at)? \d[\d.]*(?: ?(?:°[CF]?|degrees|C|F))?)", "has condition"),
    rule("condition", rf"{HAVE} (?:an? )?(?P<o>.+)", "has condition", split=True, accept=is_condition),
    rule("feels", rf"(?:{BE} (?:experiencing|having|suffering from|getting)|experiences?|gets?"
        r"|(?:have|has) been (?:experiencing|having|suffering from|getting)|have|has|suffers? from)"
        r" (?:an? |some )?(?P<o>.+)", "has condition", split=True, accept=is_symptom),
    rule("hurt", rf"(?:{HAVE}|got) (?P<o>an? {_HURT} {_PART})", "has condition"),
    rule("takes dose", rf"{_ON} (?:an? |my |the )?(?P<o>(?:[\w-]+ ){{1,2}}?{DOSE})(?:[\s,].*)?", "takes"),
    rule("takes dose of", rf"{_ON} (?P<o>{DOSE} (?:of )?[\w-]+)(?:[\s,].*)?", "takes"),
    rule("takes instead", rf"{_ON} (?P<o>.+?)(?: now)?,? instead of (?:an? |the |my )?(?P<than>.+)", "takes",
        split=True, accept=is_medicine),
    rule("takes", rf"{_ON} (?P<o>.+?){_FOR}", "takes", split=True, accept=is_medicine),
    rule("no more", r"no more (?P<o>.+)", "takes", negated=True, ended=True, accept=is_medicine),
    rule("refuses", rf"refuses?{_TO_HAVE} (?P<o>.+)", "refuses", split=True, accept=is_treatment,
        say="{s} refuses {o}"),
    rule("will not", rf"{_WILL_NOT}{_TO_HAVE} (?P<o>.+)", "refuses", split=True, accept=is_treatment),
    rule("came off", r"(?:came off|am off|is off|went off|have stopped|has stopped|stopped"
        r"|have come off|has come off) (?P<o>.+)", "takes", negated=True, ended=True, accept=is_medicine),
    rule("speaks",
        rf"(?:can |{BE} able to )?speaks? (?:fluent |some |a little |basic |decent |good |passable "
        rf"|conversational )?"
        "(?P<o>.+)", "speaks", split=True, accept=is_language),
    rule("fluent", rf"{BE} (?:fluent|native|proficient|conversational) in (?P<o>.+)",
        "speaks", split=True, accept=is_language),
    rule("marital", rf"(?:{BE}|got) (?:now |happily |recently |newly )?(?P<o>{'|'.join(sorted(MARITAL))})",
        "marital status"),
)  # fmt: skip
