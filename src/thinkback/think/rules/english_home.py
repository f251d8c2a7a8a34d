"""English rules for who somebody is and where: relatives, pets, homes, names, ages."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_EN
from thinkback.think.rules.english_parts import BE, COUNT, HAVE, KIN, MODS, PET, rule
from thinkback.think.rules.english_words import NAME, is_name, is_no_school
from thinkback.think.rules.rule import Rule

_WAY = "(?: back| over| out| up| down| across)?"
_DWELLING = "(?:flat|apartment|house|place|condo|studio|home|bungalow|cottage|farm|loft|dorm)"
_MOVED = "(?:moved|relocated|shifted|emigrated|immigrated|transferred|ended up moving|moving)"

WHO: tuple[Rule, ...] = (
    rule("is my kin", rf"is (?:my|our) {MODS}(?P<kin>{KIN}|{PET})", "has {kin}"),
    rule("is their kin",
        rf"is (?:(?P<o>{NAME})(?:'s|(?<=s)') |my (?P<mine>{MODS}{KIN})'s )(?P<mods>{MODS})(?P<kin>{KIN})"
        r"(?:,? (?:and|from|in|at|since|who|by|on) .*|, .*)?", "has {kin}"),
    rule("is kin of",
        rf"is (?:the|an?) (?P<mods>{MODS})(?P<kin>{KIN}) (?:of|to) (?:(?P<o>{NAME})|my (?P<mine>{MODS}{KIN}))"
        r"(?:'s)?(?:, .*)?", "has {kin}"),
    rule("kin named",
        f"{HAVE} {COUNT} {MODS}(?P<kin>{KIN}|{PET})s?(?:,| named| called| whose names? (?:is|are)"
        f"|:|,? (?:his|her|its|the) name is) (?P<o>{NAME}.*)", "has {kin}", split=True, accept=is_name),
    rule("pet got",
        f"(?:have |has )?(?:adopted|got|gotten|bought|rescued|took in|welcomed|picked up) an? {MODS}"
        f"(?:[\\w-]+ )?(?P<kin>{PET})(?:,? (?:named|called)|,| and named (?:him|her|it)| and called "
        f"(?:him|her|it)|,? (?:his|her|its|the) name is) (?P<o>{NAME})(?:,.*)?", "has {kin}", accept=is_name),
    rule("pet christened",
        f"(?:have |has )?(?:named|called|christened) (?:the|our|my) {MODS}(?P<kin>{PET})"
        f" (?P<o>{NAME})(?: .*|,.*)?",
        "has {kin}", accept=is_name),
    rule("kin counted",
        f"{HAVE} (?P<o>{COUNT} {MODS}(?:{KIN}|{PET}|children|siblings?|pets?)s?(?: and {COUNT} "
        f"{MODS}(?:{KIN}|{PET})s?)*)", "has", split=True, kind="relationship"),
)  # fmt: skip

WHERE: tuple[Rule, ...] = (
    rule("lives",
        f"(?:lives?|resides?|{BE} (?:living|based|located|residing|settled)|stays?){_WAY} in (?P<o>.+)",
        "lives in", place=True),
    rule("has lived",
        r"(?:have|has) (?:been (?:living|based)|lived) in (?P<o>.+?) (?:for|since) .+", "lives in",
            place=True),
    rule("has been living", r"(?:have|has) been (?:living|based) in (?P<o>.+)", "lives in", place=True),
    rule("has lived since", r"(?:have|has) lived in (?P<o>.+)", "lives in", place=True, dated=True),
    rule("moved into",
        rf"(?:(?:have|has) )?moved in(?:to)? (?:an?|my|our|the) (?:[\w-]+ ){{0,3}}?{_DWELLING} in"
        rf" (?P<o>[A-Z].+)",
        "lives in", place=True),
    rule("moved",
        rf"(?:(?:have|has) )?(?:ended up )?{_MOVED}{_WAY}(?: here)?(?: from [^,]+?)? to (?P<o>.+)",
        "lives in", place=True, accept=is_no_school),
    rule("settled",
        "(?:(?:have|has) )?(?:settled(?: down)?|ended up living|put down roots) in (?P<o>.+)",
        "lives in", place=True),
    rule("calls home", rf"calls? (?P<o>{NAME}) home", "lives in", place=True),
    rule("born and raised", r"(?:was|am|were) born(?: and (?:raised|bred))? in (?P<o>[^\d]+)",
        "was born in", place=True),
    rule("born on", r"was born (?:on |in )?(?P<o>(?:[\w,]+ ){0,3}\d[\w, ]*?)(?: in"
        r" (?P<also>[A-Z].*))?", "birthday",
        also="was born in"),
    rule("grew up", r"(?:grew up|was raised|was brought up) in (?P<o>.+)", "grew up in", place=True),
    rule("from", rf"(?:{BE}|comes?|hails?) (?:originally )?from (?P<o>.+)", "comes from", place=True),
    rule("lived", r"lived in (?P<o>.+)", "lived in", place=True),
)  # fmt: skip

NAMES: tuple[Rule, ...] = (
    rule("called", rf"{BE} (?:called|named) (?P<o>{NAME})", "is named", accept=is_name),
    rule("goes by", rf"goe?s? by (?P<o>{NAME})", "goes by", accept=is_name),
    rule("aged",
        rf"{BE} (?:about |almost |only |already |nearly )?(?P<o>(?!an?\b){NUMBER_EN})"
        r"(?: years?[- ]old| y/?o| years of age)?", "is aged"),
    rule("turned", rf"(?:have |has )?turned (?P<o>(?!an?\b){NUMBER_EN})", "is aged"),
    rule("is name", rf"am (?P<o>{NAME})", "is named", accept=is_name),
    rule("renamed", rf"(?:have |has )?changed (?:my|his|her) name to (?P<o>{NAME})",
        "is named", accept=is_name),
    rule("married to", rf"(?:{BE}|got|was) (?:married|engaged) to (?P<o>{NAME})", "has partner",
        accept=is_name),
    rule("married", rf"(?:(?:have|has) )?(?:married|wed) (?P<o>{NAME})", "has partner", accept=is_name),
    rule("works for one",
        r"(?:works?|is working) (?:for|under) (?P<o>(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\.? [A-Z][\w'-]*)",
        "has boss", accept=is_name),
    rule("reports to", rf"reports? to (?P<o>{NAME})", "has boss", accept=is_name),
)  # fmt: skip
