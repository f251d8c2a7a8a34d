"""English rules for what is said of a possession: my name is ..., the rent is ..., her birthday is ..."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_EN
from thinkback.think.belongings import BELONGINGS
from thinkback.think.rules.english_parts import MONEY, WEIGHT, rule
from thinkback.think.rules.english_words import NAME, is_language, is_name
from thinkback.think.rules.rule import Rule

_AGE = "(?:new |current |latest |actual |usual |own |real |home |work |old |main )*"
_ABOUT = "(?:about |around |now |only |roughly |exactly |still |actually |just |at )*"
_FOR_NOW = "(?:definitely |probably |now |still |currently |always |easily |hands down |basically )*"
_BELONGING = "|".join(sorted((*BELONGINGS, "usual", "coffee order"), key=len, reverse=True))
_RATE = r"(?:/(?!mo|w|y|d\b|day|hr|hour|p)[A-Za-zµμ]{1,3}\b)?"
_FIGURE = (
    r"(?P<o>(?:[$€£¥]\s?)?[A-Z]?\d[\d.,:/]*(?:\s?(?:%|(?!(?:an?|per|which|now|from|since|at|in|on|after"
    r"|this|today|when|and"
    rf"|but|so|for|or|with|as)\b)[A-Za-zµμ]+{_RATE}))?)(?:\s.*|,.*|/.*)?"
)
"""A number and its unit, without what else is told of it: "1,240 pounds a month"."""

ATTRIBUTES: tuple[Rule, ...] = (
    rule("english name", rf"english name is (?P<o>{NAME})", "english name", accept=is_name),
    rule("anniversary", r"(?:wedding )?anniversary is (?:on )?(?P<o>.*\d.*)", "anniversary"),
    rule("is on",
        r"(?P<o>(?:[\w'-]+ ){0,2}(?:appointment|exam|interview|surgery|flight|wedding|meeting|check-?up"
        r"|operation|viva|defence|defense|scan|recital|hearing|test|due date"
        "|graduation|deadline|concert|anniversary|presentation|marathon)(?: for (?:my|the|our) [\\w ]+?)?)"
        " (?:is|was|will be)(?: scheduled| set| due)?(?: at .+| in .+)?", "has appointment", dated=True),
    rule("surname", rf"(?:last name|surname|family name) is (?P<o>{NAME})", "surname", accept=is_name),
    rule("nickname", rf"nickname is (?P<o>{NAME})", "goes by", accept=is_name),
    rule("name", r"(?:full |first |real |given )?names? (?:is|are)(?: now| actually)? (?P<o>.+)",
        "is named"),
    rule("age", rf"age is (?P<o>{NUMBER_EN})", "is aged"),
    rule("birthday", r"(?:birthday|birth date|date of birth|bday|b-day) is (?:on )?(?P<o>.+)", "birthday"),
    rule("phone",
        f"{_AGE}(?:phone|mobile|cell|telephone|cellphone|contact|whatsapp)?(?: ?(?:number|no\\.?))? is "
        r"(?P<o>\+?[\d][\d\s().-]{4,20}\d)", "phone number"),
    rule("email", rf"{_AGE}e-?mail(?: address| id)? is (?P<o>\S+@\S+\.\w+)", "email"),
    rule("weight", rf"weight(?: now| today)? is {_ABOUT}(?P<o>\d[\d.,]* ?{WEIGHT})", "weighs"),
    rule("height", rf"height is {_ABOUT}(?P<o>\d.*)", "height"),
    rule("number",
        rf"(?:new |current |latest |actual |home |monthly |yearly |annual )*(?P<what>blood type|blood"
        rf" group|shoe size"
        rf"|salary|address) is {_ABOUT}(?P<o>.+)", "{what}"),
    rule("sized", r"(?P<what>shoe size|ring size|shirt size|dress size|blood type|blood group) "
        r"(?P<o>[\dABO][\w.+-]{0,3}(?: (?:positive|negative))?)(?:,.*)?", "{what}"),
    rule("figure",
        f"(?:new |current |latest |actual |home |monthly |weekly |yearly |annual |resting"
        f" )*(?P<what>rent|gpa|GPA|budget|mortgage|blood pressure"
        "|heart rate|bmi|BMI|cholesterol|blood sugar|commute|room number|seat number|locker number"
        "|flight number|credit score|HbA1c|hba1c|A1C|a1c|personal best|PB|pb|bus pass|electricity bill"
        "|phone bill"
        "|daily step goal|step count|reading goal|savings goal|target weight|goal weight|handicap|pension"
        r"|bp|BP|pulse)(?: reading| level| count)?(?: in [\w ]+| for [\w ]+)? (?:is|costs(?: me)?"
        r"|takes(?: me)?) "
        rf"{_ABOUT}{_FIGURE}", "{what}"),
    rule("lasts", rf"{_AGE}(?P<what>commute)(?: to [\w ]+)? (?:is|takes(?: me)?) {_ABOUT}"
        r"(?P<o>(?:(?:half )?an?|[a-z-]+) (?:hours?|minutes?)(?: and an? (?:half|quarter))?)(?: .*)?",
        "{what}"),
    rule("measured",
        "(?:latest |resting |last |most recent |morning |evening |fasting )*(?P<what>blood pressure"
        "|heart rate"
        "|cholesterol|blood sugar|hba1c|HbA1c|A1C|a1c|bmi|BMI|bp|BP|pulse)(?: reading| level| levels)?"
        rf" (?:was|were|came in at|measured) {_ABOUT}{_FIGURE}", "{what}"),
    rule("home",
        r"(?:home|home city|city)(?: for me| base| these days| now)? is (?:now |currently )?(?:in )?"
        rf"(?P<o>{NAME})",
        "lives in", place=True),
    rule("job at", rf"{_AGE}job is (?:at|with) (?P<o>[A-Z].*)", "works at"),
    rule("job",
        r"(?:current |new |day )?(?:job|occupation|profession) is (?:an? |being an? |to be an? )?(?P<o>.+)",
        "works as"),
    rule("major", r"major is (?P<o>.+)", "studies"),
    rule("employer", rf"{_AGE}(?:employer|workplace|company) is (?P<o>[A-Z].*)", "works at"),
    rule("school", rf"{_AGE}(?:school|university|college|uni) is (?P<o>[A-Z].*)", "studies at"),
    rule("pay", rf"{_AGE}(?:pay|wages?|income|take-home pay) is {_ABOUT}(?P<o>{MONEY})(?: .*)?", "salary"),
    rule("room", r"(?:hotel )?room is (?:now )?(?:number |no\.? )?(?P<o>[A-Z]?\d+[A-Za-z]?)", "room number"),
    rule("hometown", r"home ?town is (?P<o>.+)", "comes from", place=True),
    rule("tongue", r"(?:native language|mother tongue|first language) is (?P<o>.+)",
        "speaks", accept=is_language),
    rule("hobby",
        r"(?:main |favou?rite |new |current )?(?:hobb(?:y|ies)|obsession|passion) (?:is|are|include|includes)"
        r" (?P<o>(?!getting |becoming |growing ).+)", "likes", split=True),
    rule("favourite",
        r"(?:current |new |absolute )?(?:all[- ]time )?(?:favou?rite|fave|fav|go-to)"
        r" (?P<what>(?!is\b)\w+(?: (?!is\b|are\b|now\b|these\b|right\b)\w+)?)"
        rf"(?: now| these days| right now| currently| of all time| so far| at the moment)? (?:is|are)"
        rf" {_FOR_NOW}(?P<o>.+)",
        "favourite {what}"),
    rule("habit", r"(?P<what>usual order|coffee order|usual|star sign|pronouns|nationality|religion|editor)"
        rf"(?: now| these days| nowadays)? (?:is|are) {_FOR_NOW}(?P<o>(?!in\b|at\b|on\b|not\b|so\b|too\b"
        rf"|very\b)[\w].*)", "{what}"),
    rule("bank", rf"{_AGE}bank is (?P<o>{NAME})", "banks with"),
    rule("belonging",
        rf"{_AGE}(?P<what>{_BELONGING})(?: now| these days| nowadays)?"
        rf" (?:is|are) {_FOR_NOW}(?P<o>(?:(?:an?|the) |[A-Z\d])[\w].*)",
        "{what}"),
)  # fmt: skip
