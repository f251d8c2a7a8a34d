"""English rules for tastes and habits: likes, dislikes, food, drink, tools, games, fears."""

from __future__ import annotations

from thinkback.think.rules.english_parts import BE, BECAME, rule
from thinkback.think.rules.english_words import NAME, is_diet, is_drink, is_food, is_trait
from thinkback.think.rules.rule import Rule

_VERY = r"(?:really |very |quite |big |huge |massive |such an? |so |super |pretty |totally |just |a bit )*"
_FOR_NOW = "(?:definitely |probably |now |still |currently |always |easily |hands down |has to be )*"
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

TASTES: tuple[Rule, ...] = (
    rule("fan",
        f"(?:{BECAME} )?(?:an? )?{_VERY}(?:into|fond of|crazy about|keen on|passionate about|mad about"
        "|interested in|fans? of|obsessed with|hooked on|addicted to|partial to|sucker for|nuts about) "
        "(?P<o>.+)", "likes", split=True),
    rule("got into",
        rf"(?:have |has )?(?:gotten|got|took up|taken up|fell in love with|fallen in love with)(?: {_VERY})?"
        r" ?(?:into )?(?<=(?:into|n up|k up|with) )(?P<o>(?!an?\b|the\b|my\b|trouble|bed\b|Uni)[^A-Z].*)",
        "likes", split=True),
    rule("loves", r"(?:loves?|adores?|ca(?:n not|n't) get enough of) (?P<o>.+)", "likes", split=True,
        say="{s} loves {o}"),
    rule("likes", r"(?:likes?|enjoys?) (?P<o>.+)", "likes", split=True),
    rule("hates", r"(?:hates?|detests?|loathes?|despises?|can ?not (?:stand|bear|abide)) (?P<o>.+)", "likes",
        split=True, negated=True, say="{s} hates {o}"),
    rule("dislikes", r"dislikes? (?P<o>.+)", "likes", split=True, negated=True),
    rule("prefers to", r"prefers? (?P<o>.+?) (?:to|over|rather than) (?P<than>.+)", "prefers", say=
        "{s} prefers {o} to {than}"),
    rule("prefers", r"prefers? (?P<o>.+)", "prefers", split=True),
)  # fmt: skip

HABITS: tuple[Rule, ...] = (
    rule("gave up drink", rf"{_GAVE_UP} (?P<o>[\w ]+)", "drinks", negated=True, ended=True, accept=is_drink),
    rule("gave up food", rf"{_GAVE_UP} (?P<o>[\w ]+)", "eats", negated=True, ended=True, accept=is_food),
    rule("switched drink",
        r"(?:have |has )?(?:switched|changed|gone|went|moved|converted|swapped)(?: over)?(?: from"
        r" (?P<than>[\w ]+?))? to (?P<o>[\w ]+)",
        "drinks", accept=is_drink),
    rule("switched tool",
        rf"(?:have |has )?(?:switched|changed|converted|migrated)(?: over)?(?: from (?P<than>{NAME}))?"
        rf" to (?P<o>{NAME})(?: .*)?",
        "uses"),
    rule("does", rf"(?:do|does|{BE} doing|have been doing|has been doing|started(?: doing)?|took up"
        rf"|practi[cs]es?) (?P<o>{_SPORT})(?: .*)?",
        "does"),
    rule("turned to a diet", f"(?:have |has )?(?:gone|went|turned|{BE} going) (?P<o>[\\w-]+)", "is",
        accept=is_diet),
    rule("trait", rf"{BECAME} (?P<o>.+)", "is", accept=is_trait),
    rule("retired", r"(?:have |has )?(?P<o>retired)", "is"),
    rule("smokes", r"(?P<o>smokes?)", "smokes", say="{s} smokes"),
    rule("has smoked", r"(?:have|has) been (?P<o>smoking)(?: .*)?", "smokes", say="{s} smokes"),
    rule("vapes", r"(?P<o>vapes?)", "vapes", say="{s} vapes"),
    rule("can not eat", r"can ?not (?:eat|have|do|tolerate) (?P<o>.+)", "eats", split=True, negated=True,
        accept=is_food),
    rule("consumes",
        r"(?P<verb>eats?|drinks?|drives?) (?P<o>(?!lunch|dinner|breakfast|out\b|to\b|too\b|and\b|like\b"
        r"|them\b"
        r"|about\b|through\b|past\b|home\b|around\b|in\b|on\b|at\b|as\b|up\b).+)",
        "{verb}", split=True),
    rule("plays", r"(?:plays?|ha(?:ve|s) been playing) (?P<o>(?!with|along|around|a role|it\b|by\b|dumb|games"
        r"|tricks|nice|safe|the (?:fool|field|game|victim|lottery)).+)", "plays", split=True),
    rule("writes in",
        r"(?:(?:mostly |mainly |only )*(?:codes?|programs?)(?: mostly| mainly| only)?|writes?"
        r" (?:everything|all (?:of )?my code"
        r"|most of my code|my code|code|it all)) in (?P<o>[A-Z].*)", "uses", split=True),
    rule("uses", rf"(?:uses?|{BE} using|have been using|has been using|{BE} on) (?P<o>{NAME})(?: (?:for"
        rf"|as|at) .*)?", "uses"),
    rule("banks with", rf"(?:banks?|{BE} banking|{BE} a customer) (?:with|at|of) (?P<o>{NAME})",
        "banks with"),
    rule("collects", r"collects? (?P<o>(?!my|the|him|her|it|them|you).+)", "collects", split=True),
    rule("supports", rf"(?:supports?|roots? for) (?P<o>{NAME})", "supports"),
    rule("keeps animals",
        r"(?:keeps?|breeds?|raises?) (?P<o>(?:bees|chickens|hens|ducks|goats|sheep|pigs|horses|cows"
        r"|alpacas|llamas"
        r"|rabbits|pigeons|quails?|geese|snakes|reptiles|tropical fish))\b.*", "keeps"),
    rule("afraid", rf"(?:{BE} )?(?:very |really |so |a bit |terribly |absolutely )*"
        "(?:afraid|scared|terrified|frightened|petrified) of (?P<o>.+)", "is afraid of", split=True),
)  # fmt: skip
