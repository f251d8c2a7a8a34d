"""English rules for work and study: posts, employers, trades, subjects, schools, and leaving them."""

from __future__ import annotations

from thinkback.think.rules.english_parts import BE, BECAME, HAVE, MONEY, rule
from thinkback.think.rules.english_words import NAME, is_firm, is_job, is_name, is_school, is_subject
from thinkback.think.rules.rule import Rule

_GOT = "(?:have |has )?(?:got|gotten|found|landed|started|took|taken|have|has|accepted|scored)"
_JOB = "(?:job|position|role|gig|post|internship|apprenticeship)"
_STUDYING = (
    f"(?:stud(?:y|ies)|{BE} (?:studying|majoring in)|majors? in|majoring in|have been studying"
    "|has been studying)"
)
_DEGREE = (
    r"(?:an? |my |his |her )?(?:[\w'-]+ )?(?:degree|masters?|master's|bachelors?|bachelor's|phd|PhD|doctorate"
    "|diploma|MSc|BSc|MA|BA|MBA|minor|major|A-levels?|course)"
)
_BUSINESS = (
    "business|shop|store|café|cafe|bakery|restaurant|company|agency|studio|salon|farm|startup|start-up"
    "|practice|clinic|podcast|blog|channel|bar|pub|gym|nursery|bookshop|bookstore|brewery|garage|hotel|hostel"
    "|charity|food truck|firm|newsletter"
)
_ABOUT = "(?:about |around |roughly |almost |nearly |only |just |exactly |over )?"
_EACH = r"(?:,? (?:(?:an?|per|each|every) (?:year|month|week|hour|annum)|annually|yearly|monthly|weekly))?"
_CLASSES = "(?:class|classes|lessons?|courses?|workshops?)"

WORK: tuple[Rule, ...] = (
    rule("student at", rf"{BE} an? (?P<o>(?:[\w-]+ )?student) (?:at|of) (?P<also>.+)", "works as", also=
        "studies at"),
    rule("works as",
            f"(?:works?|(?:{BE} )?(?:working|employed|training|retraining|freelancing|underpaid|overworked"
            "|underappreciated|moonlighting)|ha(?:ve|s) been working|serves?|moonlights?|freelances?"
            "|makes? (?:a|my|his|her|their) living|(?:got|was|has been|have been) hired|(?:have )?qualified"
            "|(?:have )?retrained|(?:have )?started(?: working)?|started out|earns? (?:my|his|her) living) as"
            " (?:an? |the )?(?P<o>.+?)(?: (?:at|for|with) (?P<also>.+))?",
        "works as", split=True, also="works at"),
    rule("is aged job",
        rf"{BE} an? (?P<also>\d{{1,2}})[- ]year[- ]old (?P<o>.+?)(?: (?:from|in|based) .+)?",
        "works as", also="is aged", accept=is_job),
    rule("is job",
        f"(?:{BECAME}|turned into|trained to be|trained as|retrained to be) (?:an?|the|one of the) "
        "(?P<o>.+?)(?: (?:at|for|with) (?P<also>[A-Z].*|the .+|an? .+))?"
        "(?:,? (?:based )?(?:in|from|here in|over in|near|by trade|by training|by profession|by day"
        "|on)\\b.*)?",
        "works as", split=True, also="works at", accept=is_job),
    rule("is bare job", f"{BE} (?P<o>[a-z-]+)(?: (?:at|for|with) (?P<also>[A-Z].*|the .+|an? .+))?",
        "works as", also="works at", accept=is_job),
    rule("promoted",
        "(?:got|was|have been|has been|just got) (?:promoted|bumped up) to (?:an? |the )?(?P<o>.+?)"
        "(?: (?:at|for|with) (?P<also>[A-Z].*))?", "works as", also="works at", accept=is_job),
    rule("got job",
        f"{_GOT} (?:an?|the|my|my first) (?:new )?{_JOB} as an? (?P<o>.+?)(?: (?:at|for|with) "
        "(?P<also>.+))?", "works as", also="works at", accept=is_job),
    rule("started school",
        "(?:have |has )?(?:just )?(?:started|began|starts|is|go|goes)(?: school)? (?:at|to) (?P<o>(?:the"
        " )?(?:[A-Z][\\w'.-]* )+"
        "(?:Primary|Elementary|School|High|Secondary|College|University|Nursery|Kindergarten|Academy"
        "|Uni)\\b.*)",
        "studies at"),
    rule("started at",
        "(?:have |has )?(?:just )?(?:started|begun|began)(?: working| work| a new job| my new job)?"
        " (?:at|with|for) (?P<o>[A-Z].*?)(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    rule("reports to", rf"(?:reports?|{BE} reporting|answers?)(?: directly| straight)? to (?P<o>{NAME})",
        "has boss",
        accept=is_name),
    rule("pays", rf"(?:pays?|{BE} paying|(?:have|has) to pay) {_ABOUT}(?P<o>{MONEY}){_EACH} (?:in|for|of|as)"
        r" (?:my |our |the |his |her )?(?:monthly )?(?P<what>rent|mortgage)(?: .*)?", "{what}"),
    rule("pays rent", rf"(?:pays?|{BE} paying) {_ABOUT}(?P<o>{MONEY}){_EACH} (?P<what>rent)(?: .*)?",
        "{what}"),
    rule("earns", rf"(?:earns?|{BE} earning|{BE} paid|gets? paid|takes? home|{BE} on an? salary of) {_ABOUT}"
        rf"(?P<o>{MONEY}){_EACH}(?: (?:before|after) tax)?", "salary"),
    rule("makes money", rf"(?:makes?|{BE} (?:making|on)) {_ABOUT}(?P<o>{MONEY})"
        r",? (?:(?:an?|per|each|every) (?:year|month|annum)|annually|yearly|monthly)", "salary"),
    rule("hired by", "(?:got|was|have been|has been) hired (?:by|at) (?P<o>[A-Z].*)", "works at"),
    rule("poached", "(?:got|was|have been|has been) (?:poached|headhunted|recruited|taken on) by"
        " (?P<o>[A-Z].*)",
        "works at"),
    rule("new job", f"{_GOT} (?:an?|the|my) new {_JOB},? (?:it is |it's )?(?:at|with)"
        " (?P<o>.+?)(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    rule("job at",
        rf"{_GOT} (?:an?|the) (?:new )?{_JOB} (?:at|with) (?P<o>.+?)"
        "(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    rule("joined as", rf"(?:have |has )?joined (?P<o>{NAME}) as (?:an? |the |their (?:new )?)(?P<also>.+)",
        "works at", also="works as"),
    rule("joined", rf"(?:have |has )?joined (?P<o>{NAME})(?: (?:instead|now))?", "works at", accept=is_firm),
    rule("shift at",
        rf"{HAVE} (?:my|an?|the) (?:[\w-]+ )?shift at (?P<o>(?:the |an? )?[\w' ]+?)(?: at \d.*)?",
        "works at"),
    rule("works at",
            f"(?:works?|(?:{BE} )?(?:working|employed)|started working|ha(?:ve|s) (?:been working"
            f"|worked)|interns?"
            f"|{BE} interning|{BE} (?:an intern|a temp|temping)|temps) (?:over |out |down )?(?:at|for"
            "|by) (?P<o>(?!home|night|least|free|myself|a living|years|the weekend|\\d|hours|tips|now).+?)"
            "(?: as (?:an? |the )?(?P<also>.+))?", "works at", also="works as"),
    rule("is at",
        rf"{BE} (?:with|at) (?P<o>(?:an? |the )(?:[\w-]+ ){{0,2}}?(?:startup|start-up|company|firm"
        rf"|agency|consultancy|bank"
        r"|nonprofit|non-profit|charity|lab)(?: (?:called|named) [A-Z]\w+)?)", "works at"),
    rule("works in",
        f"(?:works?|{BE} working|ha(?:ve|s) been working) in (?P<o>(?:IT|HR|PR|QA|UX|AI|tech|finance"
        f"|marketing"
        "|sales|retail|hospitality|healthcare|education|advertising|logistics|insurance|banking|construction"
        "|publishing|law|media|accounting|customer (?:service|support)|real estate|cyber ?security"
        "|software|data science|engineering|catering|procurement|consulting|biotech|pharma))"
        "(?: (?:at|for) (?P<also>.+))?", "works in", also="works at"),
    rule("teaches", f"(?:teach|teaches|{BE} teaching|taught) (?P<o>(?!me|you|him|her|them|us|at|my"
        f"|in\\b)[\\w ]+?)(?: (?:at|in) (?P<also>.+))?",
        "teaches", also="works at", accept=is_subject),
    rule("volunteers", f"(?:volunteers?|{BE} volunteering|have been volunteering) (?:at|for|with)"
        f" (?P<o>.+)", "volunteers at"),
    rule("runs",
        rf"(?:runs?|{BE} running|opened|set up|started) (?P<o>(?:an?|my own|our own|his own|her own|the)"
        rf" (?:[\w'-]+ ){{0,3}}(?:{_BUSINESS}))(?: .*)?", "runs"),
    rule("quit job at",
        "(?:quit|left|lost|resigned from|was (?:fired|laid off|let go) from|handed in (?:my|his|her) notice)"
        " (?:my |his |her )?(?:job )?(?:at|with) (?P<o>.+?)(?: and .+)?", "works at",
        negated=True, ended=True),
    rule("quit job as", r"(?:quit|left|lost|resigned from) (?:my |his |her )?job as an? (?P<o>.+)",
        "works as", negated=True, ended=True),
    rule("resigned", r"(?:resigned|got (?:fired|laid off|let go)|was (?:fired|laid off|let go)) from"
        r" (?P<o>[A-Z].*)", "works at", negated=True, ended=True),
    rule("left for",
        rf"(?:have |has )?(?:left|quit) (?P<than>{NAME}) (?:for|to join|to work (?:at|for)) (?P<o>{NAME})",
        "works at"),
    rule("quit firm", rf"(?:have |has )?quit (?P<o>{NAME})", "works at", negated=True, ended=True,
        accept=is_firm),
)  # fmt: skip

STUDY: tuple[Rule, ...] = (
    rule("classes",
        f"(?:started|takes?|{BE} (?:taking|doing|going to)|signed up for|enrolled in|joined|have started"
        "|has started|began|go to|goes to|attends?) (?:an? |my |some |the )?"
        rf"(?P<o>(?!first|new|next|last|online|extra)(?:[\w-]+ ){{1,2}}{_CLASSES})(?: .*)?", "takes"),
    rule("changed major",
        r"(?:have |has )?(?:switched|changed|swapped)(?: my| his| her)? majors?(?: from (?P<than>[^,]+?))? to"
        r" (?P<o>.+)", "studies"),
    rule("changed subject",
        r"(?:have |has )?(?:switched|changed|swapped|transferred) (?:from|out of) (?P<than>[\w ]+?)"
        r" (?:to|into)"
        r" (?P<o>.+)", "studies", accept=is_subject),
    rule("dropped", "(?:have |has )?(?:dropped|ditched|gave up|quit|stopped studying) (?P<o>.+)",
        "studies", negated=True, ended=True, accept=is_subject),
    rule("degree both", rf"(?:{BE} )?(?:doing|doing|taking|started|finishing|pursuing|working on)"
        rf" {_DEGREE} (?:in|on)"
        r" (?P<o>[^,]+?) (?:at|from) (?P<also>.+)", "studies", also="studies at"),
    rule("degree", rf"(?:{BE} )?(?:doing|taking|started|finishing|pursuing|working on) {_DEGREE} (?:in|on)"
        r" (?P<o>.+)", "studies"),
    rule("studies both", rf"{_STUDYING} (?P<o>(?!at |an? |the |some |my |this|that|it\b|ok|well|great|fine"
        r"|better|good)[^,]+?) at (?P<also>.+)", "studies", split=True, also="studies at"),
    rule("studies at", rf"(?:(?:stud(?:y|ies)|{BE} studying|{BE} enrolled|(?:have |has )?enrolled) at"
        rf"|attends?) (?P<o>.+)",
        "studies at"),
    rule("goes to", rf"(?:go|goes|got into|{BE} going) (?:to )?(?P<o>(?:the )?[A-Z].*"
        r"(?:University|College|School|Uni|Academy|High|Tech|Institute)\b.*)", "studies at"),
    rule("changed school",
        r"(?:have |has )?(?:transferred|switched|changed|moved)(?: over)?(?: schools?| colleges?"
        r"| universit(?:y|ies))?"
        r"(?: from (?P<than>[^,]+?))? to (?P<o>.+)", "studies at", accept=is_school),
    rule("studies",
        f"(?:stud(?:y|ies)|{BE} (?:studying|learning|majoring in)|majoring in|majors? in|learns?"
        "|have been (?:learning|studying)|has been (?:learning|studying)|have started learning"
        "|started learning) (?P<o>(?!for|hard|from|and|together|with|to\\b|how\\b|a lot|more|so\\b).+)",
        "studies", split=True),
)  # fmt: skip
