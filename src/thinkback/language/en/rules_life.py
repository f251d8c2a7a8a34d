"""English rules for daily life: health, tastes, habits, events, plans and possessions."""

from __future__ import annotations

from thinkback.language.en.lexicon import (
    BE,
    BECAME,
    DOSE,
    HAVE,
    MARITAL_STATUSES,
    NAME,
    WEIGHT_UNIT,
    is_appointment,
    is_condition,
    is_deniable_symptom,
    is_diet,
    is_drink,
    is_food,
    is_language,
    is_medicine,
    is_ownable,
    is_symptom,
    is_trait,
    is_treatment,
)
from thinkback.language.rules import Rule, english_rule
from thinkback.language.tokens import NUMBER_PATTERN_EN

_APPROXIMATELY = "(?:about |around |almost |roughly |nearly |just |only |exactly )?"
_TAKING = (
    f"(?:takes?|{BE} (?:taking|on|back on|now on|up to|down to)|have been (?:taking|on|put on|prescribed"
    f"|given)"
    "|has been (?:taking|on|put on|prescribed|given)|(?:have |has )?started(?: on| taking)?"
    "|(?:was|got) (?:put on|prescribed|given|started on)|have to take|has to take|went on|inject|injects"
    "|(?:have been|has been|was|got) (?:switched|moved) to)"
)
_TAKEN_FOR = (
    r"(?: (?:for|against|because of|before|after|on \w+days?|at (?:night|bedtime|breakfast|lunch|dinner|noon"
    r"|\d)|in the (?:morning|evening|afternoon|night)s?)(?: .+)?)?"
)
_HAD = "(?:have |has )?had(?: an?| any| the| both)?"
_TO_HAVE = "(?: to (?:have|take|use|start|swallow|inject))?(?: an?| the| any| more| this| that)*"
_WILL_NOT = "(?:(?:do|does) not want|will (?:not|never) (?:have|take|accept|use|agree to))"
_INJURED = "(?:bad|dodgy|busted|torn|broken|fractured|sprained|slipped|herniated|frozen|trick|bum|weak)"
_BODY_PART = (
    "(?:back|knee|shoulder|hip|ankle|wrist|elbow|neck|disc|toe|foot|rib|tendon|ligament|meniscus|heart"
    "|hand|arm"
    "|leg)"
)

HEALTH_RULES: tuple[Rule, ...] = (
    english_rule("allergic",
        rf"(?:{BE} |became )?(?:severely |very |also |super |quite |mildly |badly |deathly )*"
        "allergic to (?P<o>.+)", "is allergic to", is_list=True),
    english_rule("allergy to", rf"(?:{HAVE}|developed|have developed) an? (?:\w+ )?allergy to (?P<o>.+)",
        "is allergic to", is_list=True),
    english_rule("allergy", rf"{HAVE} an? (?:severe |bad |mild |serious |nasty )?(?P<o>\w+) allergy",
        "is allergic to"),
    english_rule("weighs", rf"weighs? (?:in at )?{_APPROXIMATELY}(?P<o>\d[\d.,]* ?{WEIGHT_UNIT})", "weighs"),
    english_rule("weighs now",
        rf"(?:{BE} )?(?:(?:back )?(?:down to|up to|to|at) )?{_APPROXIMATELY}(?P<o>\d[\d.,]*"
        rf" ?{WEIGHT_UNIT})", "weighs"),
    english_rule("weighs then", rf"(?:(?:have |has )?(?:gone|went|dropped|climbed|crept|got|gotten|slimmed)"
        rf"(?: from \d[\d.,]*(?: ?{WEIGHT_UNIT})?)?(?: back)?(?: up| down)? to|weighed(?: in at)?)"
        rf" {_APPROXIMATELY}"
        rf"(?P<o>\d[\d.,]* ?{WEIGHT_UNIT})", "weighs"),
    english_rule("feet", rf"(?:{BE} )?{_APPROXIMATELY}(?P<o>\d'\s?\d{{1,2}})(?:\"|'')?(?: tall)?", "height"),
    english_rule("tall",
        rf"(?:{BE} )?{_APPROXIMATELY}(?P<o>\d[\d.,' ]*(?:cm|m|meters?|metres?|feet|foot|ft|\"|in"
        r"|inches)?(?: ?\d+(?: ?(?:in|inches|\"))?)?) tall", "height"),
    english_rule("grown", r"(?:have |has )?(?:grown|shot up) to (?P<o>\d[\d.,]* ?(?:cm|m|metres?|meters?|feet"
        r"|ft))", "height"),
    english_rule("diagnosed",
        rf"(?:(?:was|have been|has been|got|{BE}|have just been) diagnosed with|suffers? from"
        r"|(?:have|has) been living with|(?:live|lives|am living) with) (?P<o>.+)", "has condition",
        is_list=True, accept=is_condition),
    english_rule("diagnosed as", rf"(?:(?:was|have been|has been|got|{BE}|have just been) diagnosed with"
        rf"|suffers? from)"
        r" (?P<o>.+)", "has condition", is_list=True),
    english_rule("no condition", rf"{HAVE} no (?:known )?(?P<o>.+)", "has condition", is_list=True,
        negated=True, accept=is_deniable_symptom),
    english_rule("had condition then", rf"{_HAD} (?P<o>.+)", "had condition", needs_time=True, kind="event",
        accept=is_condition),
    english_rule("had condition", rf"{_HAD} (?P<o>.+?)(?: in the \w+)?", "had condition", is_list=True,
        accept=is_condition),
    english_rule("measured", rf"(?:{HAVE}|{BE} (?:having|running)|runs?) (?:an? )?(?P<o>(?:[a-z]+ )?(?:fever"
        r"|temperature)(?:,| of| at)? \d[\d.]*(?: ?(?:°[CF]?|degrees|C|F))?)", "has condition"),
    english_rule("condition", rf"{HAVE} (?:an? )?(?P<o>.+)", "has condition", is_list=True,
        accept=is_condition),
    english_rule("feels", rf"(?:{BE} (?:experiencing|having|suffering from|getting)|experiences?|gets?"
        r"|(?:have|has) been (?:experiencing|having|suffering from|getting)|have|has|suffers? from)"
        r" (?:an? |some )?(?P<o>.+)", "has condition", is_list=True, accept=is_symptom),
    english_rule("hurt", rf"(?:{HAVE}|got) (?P<o>an? {_INJURED} {_BODY_PART})", "has condition"),
    english_rule("takes dose", rf"{_TAKING} (?:an? |my |the )?(?P<o>(?:[\w-]+ ){{1,2}}?{DOSE})(?:[\s,].*)?",
        "takes"),
    english_rule("takes dose of", rf"{_TAKING} (?P<o>{DOSE} (?:of )?[\w-]+)(?:[\s,].*)?", "takes"),
    english_rule("takes instead",
        rf"{_TAKING} (?P<o>.+?)(?: now)?,? instead of (?:an? |the |my )?(?P<than>.+)", "takes", is_list=True,
        accept=is_medicine),
    english_rule("takes", rf"{_TAKING} (?P<o>.+?){_TAKEN_FOR}", "takes", is_list=True, accept=is_medicine),
    english_rule("no more", r"no more (?P<o>.+)", "takes", negated=True, ended=True, accept=is_medicine),
    english_rule("refuses", rf"refuses?{_TO_HAVE} (?P<o>.+)", "refuses", is_list=True, accept=is_treatment,
        template="{s} refuses {o}"),
    english_rule("will not", rf"{_WILL_NOT}{_TO_HAVE} (?P<o>.+)", "refuses", is_list=True,
        accept=is_treatment),
    english_rule("came off", r"(?:came off|am off|is off|went off|have stopped|has stopped|stopped"
        r"|have come off|has come off) (?P<o>.+)", "takes", negated=True, ended=True, accept=is_medicine),
    english_rule("speaks",
        rf"(?:can |{BE} able to )?speaks? (?:fluent |some |a little |basic |decent |good |passable "
        rf"|conversational )?"
        "(?P<o>.+)", "speaks", is_list=True, accept=is_language),
    english_rule("fluent", rf"{BE} (?:fluent|native|proficient|conversational) in (?P<o>.+)",
        "speaks", is_list=True, accept=is_language),
    english_rule("marital",
        rf"(?:{BE}|got) (?:now |happily |recently |newly )?(?P<o>{'|'.join(sorted(MARITAL_STATUSES))})",
        "marital status"),
)  # fmt: skip

_VERY = r"(?:really |very |quite |big |huge |massive |such an? |so |super |pretty |totally |just |a bit )*"
_CERTAINTY_ADVERBS = (
    "(?:definitely |probably |now |still |currently |always |easily |hands down |has to be )*"
)
_GAVE_UP = (
    "(?:have |has )?(?:gave up|given up|gone off|went off|cut out|quit|stopped eating|stopped drinking"
    "|sworn off"
    "|swore off|came off|knocked)"
)

_SPORT = (
    "(?:hot |power |vinyasa )?(?:yoga|pilates|crossfit|karate|judo|jiu[- ]jitsu|bjj|taekwondo|tai chi"
    "|aikido|kickboxing|boxing"
    "|zumba|ballet|spinning|parkour|gymnastics|martial arts|weightlifting|powerlifting|triathlons?"
    "|improv|stand-?up"
    "|pottery|calligraphy|ceramics|meditation)"
)

TASTE_RULES: tuple[Rule, ...] = (
    english_rule("fan",
        f"(?:{BECAME} )?(?:an? )?{_VERY}(?:into|fond of|crazy about|keen on|passionate about|mad about"
        "|interested in|fans? of|obsessed with|hooked on|addicted to|partial to|sucker for|nuts about) "
        "(?P<o>.+)", "likes", is_list=True),
    english_rule("got into",
        rf"(?:have |has )?(?:gotten|got|took up|taken up|fell in love with|fallen in love with)(?: {_VERY})?"
        r" ?(?:into )?(?<=(?:into|n up|k up|with) )(?P<o>(?!an?\b|the\b|my\b|trouble|bed\b|Uni)[^A-Z].*)",
        "likes", is_list=True),
    english_rule("loves", r"(?:loves?|adores?|ca(?:n not|n't) get enough of) (?P<o>.+)", "likes",
        is_list=True, template="{s} loves {o}"),
    english_rule("likes", r"(?:likes?|enjoys?) (?P<o>.+)", "likes", is_list=True),
    english_rule("hates", r"(?:hates?|detests?|loathes?|despises?|can ?not (?:stand|bear|abide)) (?P<o>.+)",
        "likes", is_list=True, negated=True, template="{s} hates {o}"),
    english_rule("dislikes", r"dislikes? (?P<o>.+)", "likes", is_list=True, negated=True),
    english_rule("prefers to", r"prefers? (?P<o>.+?) (?:to|over|rather than) (?P<than>.+)", "prefers",
        template="{s} prefers {o} to {than}"),
    english_rule("prefers", r"prefers? (?P<o>.+)", "prefers", is_list=True),
)  # fmt: skip

HABIT_RULES: tuple[Rule, ...] = (
    english_rule("gave up drink", rf"{_GAVE_UP} (?P<o>[\w ]+)", "drinks", negated=True, ended=True,
        accept=is_drink),
    english_rule("gave up food", rf"{_GAVE_UP} (?P<o>[\w ]+)", "eats", negated=True, ended=True,
        accept=is_food),
    english_rule("switched drink",
        r"(?:have |has )?(?:switched|changed|gone|went|moved|converted|swapped)(?: over)?(?: from"
        r" (?P<than>[\w ]+?))? to (?P<o>[\w ]+)",
        "drinks", accept=is_drink),
    english_rule("switched tool",
        rf"(?:have |has )?(?:switched|changed|converted|migrated)(?: over)?(?: from (?P<than>{NAME}))?"
        rf" to (?P<o>{NAME})(?: .*)?",
        "uses"),
    english_rule("does", rf"(?:do|does|{BE} doing|have been doing|has been doing|started(?: doing)?|took up"
        rf"|practi[cs]es?) (?P<o>{_SPORT})(?: .*)?",
        "does"),
    english_rule("turned to a diet", f"(?:have |has )?(?:gone|went|turned|{BE} going) (?P<o>[\\w-]+)", "is",
        accept=is_diet),
    english_rule("trait", rf"{BECAME} (?P<o>.+)", "is", accept=is_trait),
    english_rule("retired", r"(?:have |has )?(?P<o>retired)", "is"),
    english_rule("smokes", r"(?P<o>smokes?)", "smokes", template="{s} smokes"),
    english_rule("has smoked", r"(?:have|has) been (?P<o>smoking)(?: .*)?", "smokes", template="{s} smokes"),
    english_rule("vapes", r"(?P<o>vapes?)", "vapes", template="{s} vapes"),
    english_rule("can not eat", r"can ?not (?:eat|have|do|tolerate) (?P<o>.+)", "eats", is_list=True,
        negated=True, accept=is_food),
    english_rule("consumes",
        r"(?P<verb>eats?|drinks?|drives?) (?P<o>(?!lunch|dinner|breakfast|out\b|to\b|too\b|and\b|like\b"
        r"|them\b"
        r"|about\b|through\b|past\b|home\b|around\b|in\b|on\b|at\b|as\b|up\b).+)",
        "{verb}", is_list=True),
    english_rule("plays",
        r"(?:plays?|ha(?:ve|s) been playing) (?P<o>(?!with|along|around|a role|it\b|by\b|dumb|games"
        r"|tricks|nice|safe|the (?:fool|field|game|victim|lottery)).+)", "plays", is_list=True),
    english_rule("writes in",
        r"(?:(?:mostly |mainly |only )*(?:codes?|programs?)(?: mostly| mainly| only)?|writes?"
        r" (?:everything|all (?:of )?my code"
        r"|most of my code|my code|code|it all)) in (?P<o>[A-Z].*)", "uses", is_list=True),
    english_rule("uses",
        rf"(?:uses?|{BE} using|have been using|has been using|{BE} on) (?P<o>{NAME})(?: (?:for"
        rf"|as|at) .*)?", "uses"),
    english_rule("banks with", rf"(?:banks?|{BE} banking|{BE} a customer) (?:with|at|of) (?P<o>{NAME})",
        "banks with"),
    english_rule("collects", r"collects? (?P<o>(?!my|the|him|her|it|them|you).+)", "collects", is_list=True),
    english_rule("supports", rf"(?:supports?|roots? for) (?P<o>{NAME})", "supports"),
    english_rule("keeps animals",
        r"(?:keeps?|breeds?|raises?) (?P<o>(?:bees|chickens|hens|ducks|goats|sheep|pigs|horses|cows"
        r"|alpacas|llamas"
        r"|rabbits|pigeons|quails?|geese|snakes|reptiles|tropical fish))\b.*", "keeps"),
    english_rule("afraid", rf"(?:{BE} )?(?:very |really |so |a bit |terribly |absolutely )*"
        "(?:afraid|scared|terrified|frightened|petrified) of (?P<o>.+)", "is afraid of", is_list=True),
)  # fmt: skip

_EVENT_VERBS = (
    "went to(?! (?:bed|sleep|work|town|the (?:toilet|loo|bathroom)))|visited|bought|attended|adopted"
    "|graduated from|flew to|travell?ed to|met with|met"
    "|sold|won|broke(?! up)"
)
_DATED_VERBS = (
    "saw|watched|got|finished|started|ran|lost|joined|passed|celebrated|received|cooked|baked|read"
    "|ate at|ate|had|took|played|hosted|completed|signed up for|booked|made|called|hiked|climbed|went(?!"
    " (?:off|on|out|back|through|up|down|well|wrong|ahead|away))"
    "|delivered|fixed|painted|planted|sprained|tore|crashed|dropped|wrote|opened|launched|published|submitted"
)
_BASE_FORMS = {
    "going": "go", "flying": "fly", "traveling": "travel", "travelling": "travel", "moving": "move",
        "meeting": "meet",
    "visiting": "visit", "getting": "get", "starting": "start", "having": "have", "seeing": "see",
        "leaving": "leave",
    "attending": "attend", "hosting": "host", "taking": "take", "running": "run",
}  # fmt: skip
_PLANNED_VERBS = "|".join(_BASE_FORMS)
_INFINITIVE = (
    "visit|see|meet|start|buy|move|travel|go|fly|get|have|take|attend|run|host|leave|celebrate"
    "|graduate|begin|join|sell"
)

EVENT_RULES: tuple[Rule, ...] = (
    english_rule("got new number",
        "(?:got|have|has|have got|has got) an? new (?P<what>phone number|number|phone|e-?mail(?: address)?"
        "|address)"
        r"(?:,| -|:)? (?:and )?(?:it is|it's|which is|is)(?: now)?"
        r" (?P<o>\+?[\w][\w\s@().-]{3,40}\w)", "{what}"),
    english_rule("had done",
        r"(?:have |has )?(?:had|got|gotten) (?:an? |my |some |the )?"
        r"(?P<o>(?!(?:it|this|that|them|enough|work)\b)[\w' -]{2,40}?) (?:done|taken|carried out)",
        "had", kind="event", template="{s} had {o} done"),
    english_rule("quit", r"(?:quit|gave up|given up) (?P<o>(?:my|his|her) job|\w+)", "quit"),
    english_rule("appointment", rf"{HAVE} (?P<o>(?:an? |my |our )(?!lot).+)",
        "has appointment", needs_time=True, accept=is_appointment),
    english_rule("happened", rf"(?:have |has )?(?P<verb>{_EVENT_VERBS}) (?P<o>.+)", "{verb}", kind="event"),
    english_rule("happened then", rf"(?:have |has )?(?P<verb>{_DATED_VERBS}) (?P<o>.+)", "{verb}",
        kind="event", needs_time=True),
    english_rule("plans", r"(?:plans?|(?:am|is|are) planning|intends?) (?:on |to )(?P<o>.+)", "plans to"),
    english_rule("will", rf"(?:will|{BE} (?:going|planning|about) to) (?P<o>(?:{_INFINITIVE})\b.*)",
        "plans to", needs_time=True),
    english_rule("is doing", rf"{BE} (?P<doing>{_PLANNED_VERBS}) (?P<o>.+)", "plans to", needs_time=True,
        template="{s} plans to {base} {o}"),
    # Possession is last because its pattern is the widest.
    english_rule("owns", rf"(?:{HAVE}|owns?) (?P<o>(?:an? |{NUMBER_PATTERN_EN} |no ).+)", "has",
        is_list=True, accept=is_ownable),
)  # fmt: skip


def base_verb(participle: str) -> str:
    """Base form of a present participle: "going" -> "go"."""
    return _BASE_FORMS[participle]
