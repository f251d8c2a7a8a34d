"""English rules for identity: relatives, homes, names, ages, work, study and personal attributes."""

from __future__ import annotations

from thinkback.language.attributes import POSSESSIONS
from thinkback.language.en.lexicon import (
    BE,
    BECAME,
    COUNT,
    HAVE,
    KIN,
    MODIFIERS,
    MONEY,
    NAME,
    PET,
    WEIGHT_UNIT,
    is_employer,
    is_job,
    is_language,
    is_name,
    is_not_school,
    is_school,
    is_school_subject,
)
from thinkback.language.rules import Rule, english_rule
from thinkback.language.tokens import NUMBER_PATTERN_EN

_DIRECTION = "(?: back| over| out| up| down| across)?"
_DWELLING = "(?:flat|apartment|house|place|condo|studio|home|bungalow|cottage|farm|loft|dorm)"
_MOVED_HOME = "(?:moved|relocated|shifted|emigrated|immigrated|transferred|ended up moving|moving)"

KIN_RULES: tuple[Rule, ...] = (
    english_rule("is my kin", rf"is (?:my|our) {MODIFIERS}(?P<kin>{KIN}|{PET})", "has {kin}"),
    english_rule("is their kin",
        rf"is (?:(?P<o>{NAME})(?:'s|(?<=s)') |my (?P<mine>{MODIFIERS}{KIN})'s"
        rf" )(?P<mods>{MODIFIERS})(?P<kin>{KIN})"
        r"(?:,? (?:and|from|in|at|since|who|by|on) .*|, .*)?", "has {kin}"),
    english_rule("is kin of",
        rf"is (?:the|an?) (?P<mods>{MODIFIERS})(?P<kin>{KIN}) (?:of|to) (?:(?P<o>{NAME})|my"
        rf" (?P<mine>{MODIFIERS}{KIN}))"
        r"(?:'s)?(?:, .*)?", "has {kin}"),
    english_rule("kin named",
        f"{HAVE} {COUNT} {MODIFIERS}(?P<kin>{KIN}|{PET})s?(?:,| named| called| whose names? (?:is|are)"
        f"|:|,? (?:his|her|its|the) name is) (?P<o>{NAME}.*)", "has {kin}", is_list=True, accept=is_name),
    english_rule("pet got",
        f"(?:have |has )?(?:adopted|got|gotten|bought|rescued|took in|welcomed|picked up) an? {MODIFIERS}"
        f"(?:[\\w-]+ )?(?P<kin>{PET})(?:,? (?:named|called)|,| and named (?:him|her|it)| and called "
        f"(?:him|her|it)|,? (?:his|her|its|the) name is) (?P<o>{NAME})(?:,.*)?", "has {kin}", accept=is_name),
    english_rule("pet christened",
        f"(?:have |has )?(?:named|called|christened) (?:the|our|my) {MODIFIERS}(?P<kin>{PET})"
        f" (?P<o>{NAME})(?: .*|,.*)?",
        "has {kin}", accept=is_name),
    english_rule("kin counted",
        f"{HAVE} (?P<o>{COUNT} {MODIFIERS}(?:{KIN}|{PET}|children|siblings?|pets?)s?(?: and {COUNT} "
        f"{MODIFIERS}(?:{KIN}|{PET})s?)*)", "has", is_list=True, kind="relationship"),
)  # fmt: skip

PLACE_RULES: tuple[Rule, ...] = (
    english_rule("lives",
        f"(?:lives?|resides?|{BE} (?:living|based|located|residing|settled)|stays?){_DIRECTION} in (?P<o>.+)",
        "lives in", needs_place=True),
    english_rule("has lived",
        r"(?:have|has) (?:been (?:living|based)|lived) in (?P<o>.+?) (?:for|since) .+", "lives in",
            needs_place=True),
    english_rule("has been living", r"(?:have|has) been (?:living|based) in (?P<o>.+)", "lives in",
        needs_place=True),
    english_rule("has lived since", r"(?:have|has) lived in (?P<o>.+)", "lives in", needs_place=True,
        needs_time=True),
    english_rule("moved into",
        rf"(?:(?:have|has) )?moved in(?:to)? (?:an?|my|our|the) (?:[\w-]+ ){{0,3}}?{_DWELLING} in"
        rf" (?P<o>[A-Z].+)",
        "lives in", needs_place=True),
    english_rule("moved",
        rf"(?:(?:have|has) )?(?:ended up )?{_MOVED_HOME}{_DIRECTION}(?: here)?(?: from [^,]+?)? to (?P<o>.+)",
        "lives in", needs_place=True, accept=is_not_school),
    english_rule("settled",
        "(?:(?:have|has) )?(?:settled(?: down)?|ended up living|put down roots) in (?P<o>.+)",
        "lives in", needs_place=True),
    english_rule("calls home", rf"calls? (?P<o>{NAME}) home", "lives in", needs_place=True),
    english_rule("born and raised", r"(?:was|am|were) born(?: and (?:raised|bred))? in (?P<o>[^\d]+)",
        "was born in", needs_place=True),
    english_rule("born on", r"was born (?:on |in )?(?P<o>(?:[\w,]+ ){0,3}\d[\w, ]*?)(?: in"
        r" (?P<also>[A-Z].*))?", "birthday",
        second_relation="was born in"),
    english_rule("grew up", r"(?:grew up|was raised|was brought up) in (?P<o>.+)", "grew up in",
        needs_place=True),
    english_rule("from", rf"(?:{BE}|comes?|hails?) (?:originally )?from (?P<o>.+)", "comes from",
        needs_place=True),
    english_rule("lived", r"lived in (?P<o>.+)", "lived in", needs_place=True),
)  # fmt: skip

NAME_RULES: tuple[Rule, ...] = (
    english_rule("called", rf"{BE} (?:called|named) (?P<o>{NAME})", "is named", accept=is_name),
    english_rule("goes by", rf"goe?s? by (?P<o>{NAME})", "goes by", accept=is_name),
    english_rule("aged",
        rf"{BE} (?:about |almost |only |already |nearly )?(?P<o>(?!an?\b){NUMBER_PATTERN_EN})"
        r"(?: years?[- ]old| y/?o| years of age)?", "is aged"),
    english_rule("turned", rf"(?:have |has )?turned (?P<o>(?!an?\b){NUMBER_PATTERN_EN})", "is aged"),
    english_rule("is name", rf"am (?P<o>{NAME})", "is named", accept=is_name),
    english_rule("renamed", rf"(?:have |has )?changed (?:my|his|her) name to (?P<o>{NAME})",
        "is named", accept=is_name),
    english_rule("married to", rf"(?:{BE}|got|was) (?:married|engaged) to (?P<o>{NAME})", "has partner",
        accept=is_name),
    english_rule("married", rf"(?:(?:have|has) )?(?:married|wed) (?P<o>{NAME})", "has partner",
        accept=is_name),
    english_rule("works for one",
        r"(?:works?|is working) (?:for|under) (?P<o>(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\.? [A-Z][\w'-]*)",
        "has boss", accept=is_name),
    english_rule("reports to", rf"reports? to (?P<o>{NAME})", "has boss", accept=is_name),
)  # fmt: skip

_GOT_JOB = "(?:have |has )?(?:got|gotten|found|landed|started|took|taken|have|has|accepted|scored)"
_JOB_NOUN = "(?:job|position|role|gig|post|internship|apprenticeship)"
_STUDYING = (
    f"(?:stud(?:y|ies)|{BE} (?:studying|majoring in)|majors? in|majoring in|have been studying"
    "|has been studying)"
)
_DEGREE_NAME = (
    r"(?:an? |my |his |her )?(?:[\w'-]+ )?(?:degree|masters?|master's|bachelors?|bachelor's|phd|PhD|doctorate"
    "|diploma|MSc|BSc|MA|BA|MBA|minor|major|A-levels?|course)"
)
_BUSINESS_NOUN = (
    "business|shop|store|café|cafe|bakery|restaurant|company|agency|studio|salon|farm|startup|start-up"
    "|practice|clinic|podcast|blog|channel|bar|pub|gym|nursery|bookshop|bookstore|brewery|garage|hotel|hostel"
    "|charity|food truck|firm|newsletter"
)
_APPROXIMATELY = "(?:about |around |roughly |almost |nearly |only |just |exactly |over )?"
_PAY_PERIOD = (
    r"(?:,? (?:(?:an?|per|each|every) (?:year|month|week|hour|annum)|annually|yearly|monthly|weekly))?"
)
_CLASSES = "(?:class|classes|lessons?|courses?|workshops?)"

WORK_RULES: tuple[Rule, ...] = (
    english_rule("student at", rf"{BE} an? (?P<o>(?:[\w-]+ )?student) (?:at|of) (?P<also>.+)", "works as",
        second_relation="studies at"),
    english_rule("works as",
            f"(?:works?|(?:{BE} )?(?:working|employed|training|retraining|freelancing|underpaid|overworked"
            "|underappreciated|moonlighting)|ha(?:ve|s) been working|serves?|moonlights?|freelances?"
            "|makes? (?:a|my|his|her|their) living|(?:got|was|has been|have been) hired|(?:have )?qualified"
            "|(?:have )?retrained|(?:have )?started(?: working)?|started out|earns? (?:my|his|her) living) as"
            " (?:an? |the )?(?P<o>.+?)(?: (?:at|for|with) (?P<also>.+))?",
        "works as", is_list=True, second_relation="works at"),
    english_rule("is aged job",
        rf"{BE} an? (?P<also>\d{{1,2}})[- ]year[- ]old (?P<o>.+?)(?: (?:from|in|based) .+)?",
        "works as", second_relation="is aged", accept=is_job),
    english_rule("is job",
        f"(?:{BECAME}|turned into|trained to be|trained as|retrained to be) (?:an?|the|one of the) "
        "(?P<o>.+?)(?: (?:at|for|with) (?P<also>[A-Z].*|the .+|an? .+))?"
        "(?:,? (?:based )?(?:in|from|here in|over in|near|by trade|by training|by profession|by day"
        "|on)\\b.*)?",
        "works as", is_list=True, second_relation="works at", accept=is_job),
    english_rule("is bare job", f"{BE} (?P<o>[a-z-]+)(?: (?:at|for|with) (?P<also>[A-Z].*|the .+|an? .+))?",
        "works as", second_relation="works at", accept=is_job),
    english_rule("promoted",
        "(?:got|was|have been|has been|just got) (?:promoted|bumped up) to (?:an? |the )?(?P<o>.+?)"
        "(?: (?:at|for|with) (?P<also>[A-Z].*))?", "works as", second_relation="works at", accept=is_job),
    english_rule("got job",
        f"{_GOT_JOB} (?:an?|the|my|my first) (?:new )?{_JOB_NOUN} as an? (?P<o>.+?)(?: (?:at|for|with) "
        "(?P<also>.+))?", "works as", second_relation="works at", accept=is_job),
    english_rule("started school",
        "(?:have |has )?(?:just )?(?:started|began|starts|is|go|goes)(?: school)? (?:at|to) (?P<o>(?:the"
        " )?(?:[A-Z][\\w'.-]* )+"
        "(?:Primary|Elementary|School|High|Secondary|College|University|Nursery|Kindergarten|Academy"
        "|Uni)\\b.*)",
        "studies at"),
    english_rule("started at",
        "(?:have |has )?(?:just )?(?:started|begun|began)(?: working| work| a new job| my new job)?"
        " (?:at|with|for) (?P<o>[A-Z].*?)(?: as (?:an? |the )?(?P<also>.+))?", "works at",
        second_relation="works as"),
    english_rule("reports to",
        rf"(?:reports?|{BE} reporting|answers?)(?: directly| straight)? to (?P<o>{NAME})", "has boss",
        accept=is_name),
    english_rule("pays",
        rf"(?:pays?|{BE} paying|(?:have|has) to pay) {_APPROXIMATELY}(?P<o>{MONEY}){_PAY_PERIOD} (?:in"
        rf"|for|of|as)"
        r" (?:my |our |the |his |her )?(?:monthly )?(?P<what>rent|mortgage)(?: .*)?", "{what}"),
    english_rule("pays rent",
        rf"(?:pays?|{BE} paying) {_APPROXIMATELY}(?P<o>{MONEY}){_PAY_PERIOD} (?P<what>rent)(?: .*)?",
        "{what}"),
    english_rule("earns",
        rf"(?:earns?|{BE} earning|{BE} paid|gets? paid|takes? home|{BE} on an? salary of) {_APPROXIMATELY}"
        rf"(?P<o>{MONEY}){_PAY_PERIOD}(?: (?:before|after) tax)?", "salary"),
    english_rule("makes money", rf"(?:makes?|{BE} (?:making|on)) {_APPROXIMATELY}(?P<o>{MONEY})"
        r",? (?:(?:an?|per|each|every) (?:year|month|annum)|annually|yearly|monthly)", "salary"),
    english_rule("hired by", "(?:got|was|have been|has been) hired (?:by|at) (?P<o>[A-Z].*)", "works at"),
    english_rule("poached", "(?:got|was|have been|has been) (?:poached|headhunted|recruited|taken on) by"
        " (?P<o>[A-Z].*)",
        "works at"),
    english_rule("new job", f"{_GOT_JOB} (?:an?|the|my) new {_JOB_NOUN},? (?:it is |it's )?(?:at|with)"
        " (?P<o>.+?)(?: as (?:an? |the )?(?P<also>.+))?", "works at", second_relation="works as"),
    english_rule("job at",
        rf"{_GOT_JOB} (?:an?|the) (?:new )?{_JOB_NOUN} (?:at|with) (?P<o>.+?)"
        "(?: as (?:an? |the )?(?P<also>.+))?", "works at", second_relation="works as"),
    english_rule("joined as",
        rf"(?:have |has )?joined (?P<o>{NAME}) as (?:an? |the |their (?:new )?)(?P<also>.+)", "works at",
        second_relation="works as"),
    english_rule("joined", rf"(?:have |has )?joined (?P<o>{NAME})(?: (?:instead|now))?", "works at",
        accept=is_employer),
    english_rule("shift at",
        rf"{HAVE} (?:my|an?|the) (?:[\w-]+ )?shift at (?P<o>(?:the |an? )?[\w' ]+?)(?: at \d.*)?",
        "works at"),
    english_rule("works at",
            f"(?:works?|(?:{BE} )?(?:working|employed)|started working|ha(?:ve|s) (?:been working"
            f"|worked)|interns?"
            f"|{BE} interning|{BE} (?:an intern|a temp|temping)|temps) (?:over |out |down )?(?:at|for"
            "|by) (?P<o>(?!home|night|least|free|myself|a living|years|the weekend|\\d|hours|tips|now).+?)"
            "(?: as (?:an? |the )?(?P<also>.+))?", "works at", second_relation="works as"),
    english_rule("is at",
        rf"{BE} (?:with|at) (?P<o>(?:an? |the )(?:[\w-]+ ){{0,2}}?(?:startup|start-up|company|firm"
        rf"|agency|consultancy|bank"
        r"|nonprofit|non-profit|charity|lab)(?: (?:called|named) [A-Z]\w+)?)", "works at"),
    english_rule("works in",
        f"(?:works?|{BE} working|ha(?:ve|s) been working) in (?P<o>(?:IT|HR|PR|QA|UX|AI|tech|finance"
        f"|marketing"
        "|sales|retail|hospitality|healthcare|education|advertising|logistics|insurance|banking|construction"
        "|publishing|law|media|accounting|customer (?:service|support)|real estate|cyber ?security"
        "|software|data science|engineering|catering|procurement|consulting|biotech|pharma))"
        "(?: (?:at|for) (?P<also>.+))?", "works in", second_relation="works at"),
    english_rule("teaches", f"(?:teach|teaches|{BE} teaching|taught) (?P<o>(?!me|you|him|her|them|us|at|my"
        f"|in\\b)[\\w ]+?)(?: (?:at|in) (?P<also>.+))?",
        "teaches", second_relation="works at", accept=is_school_subject),
    english_rule("volunteers", f"(?:volunteers?|{BE} volunteering|have been volunteering) (?:at|for|with)"
        f" (?P<o>.+)", "volunteers at"),
    english_rule("runs",
        rf"(?:runs?|{BE} running|opened|set up|started) (?P<o>(?:an?|my own|our own|his own|her own|the)"
        rf" (?:[\w'-]+ ){{0,3}}(?:{_BUSINESS_NOUN}))(?: .*)?", "runs"),
    english_rule("quit job at",
        "(?:quit|left|lost|resigned from|was (?:fired|laid off|let go) from|handed in (?:my|his|her) notice)"
        " (?:my |his |her )?(?:job )?(?:at|with) (?P<o>.+?)(?: and .+)?", "works at",
        negated=True, ended=True),
    english_rule("quit job as", r"(?:quit|left|lost|resigned from) (?:my |his |her )?job as an? (?P<o>.+)",
        "works as", negated=True, ended=True),
    english_rule("resigned", r"(?:resigned|got (?:fired|laid off|let go)|was (?:fired|laid off|let go)) from"
        r" (?P<o>[A-Z].*)", "works at", negated=True, ended=True),
    english_rule("left for",
        rf"(?:have |has )?(?:left|quit) (?P<than>{NAME}) (?:for|to join|to work (?:at|for)) (?P<o>{NAME})",
        "works at"),
    english_rule("quit firm", rf"(?:have |has )?quit (?P<o>{NAME})", "works at", negated=True, ended=True,
        accept=is_employer),
)  # fmt: skip

STUDY_RULES: tuple[Rule, ...] = (
    english_rule("classes",
        f"(?:started|takes?|{BE} (?:taking|doing|going to)|signed up for|enrolled in|joined|have started"
        "|has started|began|go to|goes to|attends?) (?:an? |my |some |the )?"
        rf"(?P<o>(?!first|new|next|last|online|extra)(?:[\w-]+ ){{1,2}}{_CLASSES})(?: .*)?", "takes"),
    english_rule("changed major",
        r"(?:have |has )?(?:switched|changed|swapped)(?: my| his| her)? majors?(?: from (?P<than>[^,]+?))? to"
        r" (?P<o>.+)", "studies"),
    english_rule("changed subject",
        r"(?:have |has )?(?:switched|changed|swapped|transferred) (?:from|out of) (?P<than>[\w ]+?)"
        r" (?:to|into)"
        r" (?P<o>.+)", "studies", accept=is_school_subject),
    english_rule("dropped", "(?:have |has )?(?:dropped|ditched|gave up|quit|stopped studying) (?P<o>.+)",
        "studies", negated=True, ended=True, accept=is_school_subject),
    english_rule("degree both", rf"(?:{BE} )?(?:doing|doing|taking|started|finishing|pursuing|working on)"
        rf" {_DEGREE_NAME} (?:in|on)"
        r" (?P<o>[^,]+?) (?:at|from) (?P<also>.+)", "studies", second_relation="studies at"),
    english_rule("degree",
        rf"(?:{BE} )?(?:doing|taking|started|finishing|pursuing|working on) {_DEGREE_NAME} (?:in|on)"
        r" (?P<o>.+)", "studies"),
    english_rule("studies both",
        rf"{_STUDYING} (?P<o>(?!at |an? |the |some |my |this|that|it\b|ok|well|great|fine"
        r"|better|good)[^,]+?) at (?P<also>.+)", "studies", is_list=True, second_relation="studies at"),
    english_rule("studies at", rf"(?:(?:stud(?:y|ies)|{BE} studying|{BE} enrolled|(?:have |has )?enrolled) at"
        rf"|attends?) (?P<o>.+)",
        "studies at"),
    english_rule("goes to", rf"(?:go|goes|got into|{BE} going) (?:to )?(?P<o>(?:the )?[A-Z].*"
        r"(?:University|College|School|Uni|Academy|High|Tech|Institute)\b.*)", "studies at"),
    english_rule("changed school",
        r"(?:have |has )?(?:transferred|switched|changed|moved)(?: over)?(?: schools?| colleges?"
        r"| universit(?:y|ies))?"
        r"(?: from (?P<than>[^,]+?))? to (?P<o>.+)", "studies at", accept=is_school),
    english_rule("studies",
        f"(?:stud(?:y|ies)|{BE} (?:studying|learning|majoring in)|majoring in|majors? in|learns?"
        "|have been (?:learning|studying)|has been (?:learning|studying)|have started learning"
        "|started learning) (?P<o>(?!for|hard|from|and|together|with|to\\b|how\\b|a lot|more|so\\b).+)",
        "studies", is_list=True),
)  # fmt: skip

_ADJECTIVES = "(?:new |current |latest |actual |usual |own |real |home |work |old |main )*"
_VALUE_ADVERBS = "(?:about |around |now |only |roughly |exactly |still |actually |just |at )*"
_CERTAINTY_ADVERBS = (
    "(?:definitely |probably |now |still |currently |always |easily |hands down |basically )*"
)
_POSSESSION = "|".join(sorted((*POSSESSIONS, "usual", "coffee order"), key=len, reverse=True))
_PER_UNIT = r"(?:/(?!mo|w|y|d\b|day|hr|hour|p)[A-Za-zµμ]{1,3}\b)?"
_FIGURE = (
    r"(?P<o>(?:[$€£¥]\s?)?[A-Z]?\d[\d.,:/]*(?:\s?(?:%|(?!(?:an?|per|which|now|from|since|at|in|on|after"
    r"|this|today|when|and"
    rf"|but|so|for|or|with|as)\b)[A-Za-zµμ]+{_PER_UNIT}))?)(?:\s.*|,.*|/.*)?"
)
"""A number with its unit, without what follows: "1,240 pounds" of "1,240 pounds a month"."""

ATTRIBUTE_RULES: tuple[Rule, ...] = (
    english_rule("english name", rf"english name is (?P<o>{NAME})", "english name", accept=is_name),
    english_rule("anniversary", r"(?:wedding )?anniversary is (?:on )?(?P<o>.*\d.*)", "anniversary"),
    english_rule("is on",
        r"(?P<o>(?:[\w'-]+ ){0,2}(?:appointment|exam|interview|surgery|flight|wedding|meeting|check-?up"
        r"|operation|viva|defence|defense|scan|recital|hearing|test|due date"
        "|graduation|deadline|concert|anniversary|presentation|marathon)(?: for (?:my|the|our) [\\w ]+?)?)"
        " (?:is|was|will be)(?: scheduled| set| due)?(?: at .+| in .+)?", "has appointment", needs_time=True),
    english_rule("surname", rf"(?:last name|surname|family name) is (?P<o>{NAME})", "surname",
        accept=is_name),
    english_rule("nickname", rf"nickname is (?P<o>{NAME})", "goes by", accept=is_name),
    english_rule("name", r"(?:full |first |real |given )?names? (?:is|are)(?: now| actually)? (?P<o>.+)",
        "is named"),
    english_rule("age", rf"age is (?P<o>{NUMBER_PATTERN_EN})", "is aged"),
    english_rule("birthday", r"(?:birthday|birth date|date of birth|bday|b-day) is (?:on )?(?P<o>.+)",
        "birthday"),
    english_rule("phone",
        f"{_ADJECTIVES}(?:phone|mobile|cell|telephone|cellphone|contact|whatsapp)?(?: ?(?:number"
        f"|no\\.?))? is "
        r"(?P<o>\+?[\d][\d\s().-]{4,20}\d)", "phone number"),
    english_rule("email", rf"{_ADJECTIVES}e-?mail(?: address| id)? is (?P<o>\S+@\S+\.\w+)", "email"),
    english_rule("weight", rf"weight(?: now| today)? is {_VALUE_ADVERBS}(?P<o>\d[\d.,]* ?{WEIGHT_UNIT})",
        "weighs"),
    english_rule("height", rf"height is {_VALUE_ADVERBS}(?P<o>\d.*)", "height"),
    english_rule("number",
        rf"(?:new |current |latest |actual |home |monthly |yearly |annual )*(?P<what>blood type|blood"
        rf" group|shoe size"
        rf"|salary|address) is {_VALUE_ADVERBS}(?P<o>.+)", "{what}"),
    english_rule("sized", r"(?P<what>shoe size|ring size|shirt size|dress size|blood type|blood group) "
        r"(?P<o>[\dABO][\w.+-]{0,3}(?: (?:positive|negative))?)(?:,.*)?", "{what}"),
    english_rule("figure",
        f"(?:new |current |latest |actual |home |monthly |weekly |yearly |annual |resting"
        f" )*(?P<what>rent|gpa|GPA|budget|mortgage|blood pressure"
        "|heart rate|bmi|BMI|cholesterol|blood sugar|commute|room number|seat number|locker number"
        "|flight number|credit score|HbA1c|hba1c|A1C|a1c|personal best|PB|pb|bus pass|electricity bill"
        "|phone bill"
        "|daily step goal|step count|reading goal|savings goal|target weight|goal weight|handicap|pension"
        r"|bp|BP|pulse)(?: reading| level| count)?(?: in [\w ]+| for [\w ]+)? (?:is|costs(?: me)?"
        r"|takes(?: me)?) "
        rf"{_VALUE_ADVERBS}{_FIGURE}", "{what}"),
    english_rule("lasts",
        rf"{_ADJECTIVES}(?P<what>commute)(?: to [\w ]+)? (?:is|takes(?: me)?) {_VALUE_ADVERBS}"
        r"(?P<o>(?:(?:half )?an?|[a-z-]+) (?:hours?|minutes?)(?: and an? (?:half|quarter))?)(?: .*)?",
        "{what}"),
    english_rule("measured",
        "(?:latest |resting |last |most recent |morning |evening |fasting )*(?P<what>blood pressure"
        "|heart rate"
        "|cholesterol|blood sugar|hba1c|HbA1c|A1C|a1c|bmi|BMI|bp|BP|pulse)(?: reading| level| levels)?"
        rf" (?:was|were|came in at|measured) {_VALUE_ADVERBS}{_FIGURE}", "{what}"),
    english_rule("home",
        r"(?:home|home city|city)(?: for me| base| these days| now)? is (?:now |currently )?(?:in )?"
        rf"(?P<o>{NAME})",
        "lives in", needs_place=True),
    english_rule("job at", rf"{_ADJECTIVES}job is (?:at|with) (?P<o>[A-Z].*)", "works at"),
    english_rule("job",
        r"(?:current |new |day )?(?:job|occupation|profession) is (?:an? |being an? |to be an? )?(?P<o>.+)",
        "works as"),
    english_rule("major", r"major is (?P<o>.+)", "studies"),
    english_rule("employer", rf"{_ADJECTIVES}(?:employer|workplace|company) is (?P<o>[A-Z].*)", "works at"),
    english_rule("school", rf"{_ADJECTIVES}(?:school|university|college|uni) is (?P<o>[A-Z].*)",
        "studies at"),
    english_rule("pay",
        rf"{_ADJECTIVES}(?:pay|wages?|income|take-home pay) is {_VALUE_ADVERBS}(?P<o>{MONEY})(?: .*)?",
        "salary"),
    english_rule("room", r"(?:hotel )?room is (?:now )?(?:number |no\.? )?(?P<o>[A-Z]?\d+[A-Za-z]?)",
        "room number"),
    english_rule("hometown", r"home ?town is (?P<o>.+)", "comes from", needs_place=True),
    english_rule("tongue", r"(?:native language|mother tongue|first language) is (?P<o>.+)",
        "speaks", accept=is_language),
    english_rule("hobby",
        r"(?:main |favou?rite |new |current )?(?:hobb(?:y|ies)|obsession|passion) (?:is|are|include|includes)"
        r" (?P<o>(?!getting |becoming |growing ).+)", "likes", is_list=True),
    english_rule("favourite",
        r"(?:current |new |absolute )?(?:all[- ]time )?(?:favou?rite|fave|fav|go-to)"
        r" (?P<what>(?!is\b)\w+(?: (?!is\b|are\b|now\b|these\b|right\b)\w+)?)"
        rf"(?: now| these days| right now| currently| of all time| so far| at the moment)? (?:is|are)"
        rf" {_CERTAINTY_ADVERBS}(?P<o>.+)",
        "favourite {what}"),
    english_rule("habit",
        r"(?P<what>usual order|coffee order|usual|star sign|pronouns|nationality|religion|editor)"
        rf"(?: now| these days| nowadays)? (?:is|are) {_CERTAINTY_ADVERBS}(?P<o>(?!in\b|at\b|on\b"
        rf"|not\b|so\b|too\b"
        rf"|very\b)[\w].*)", "{what}"),
    english_rule("bank", rf"{_ADJECTIVES}bank is (?P<o>{NAME})", "banks with"),
    english_rule("belonging",
        rf"{_ADJECTIVES}(?P<what>{_POSSESSION})(?: now| these days| nowadays)?"
        rf" (?:is|are) {_CERTAINTY_ADVERBS}(?P<o>(?:(?:an?|the) |[A-Z\d])[\w].*)",
        "{what}"),
)  # fmt: skip
