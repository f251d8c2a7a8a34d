"""Splits English sentences into clauses and strips fillers, contractions, time expressions and negation."""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions
from thinkback.language.en.lexicon import NAME, is_symptom
from thinkback.language.kinship import KIN_EN, alternation_pattern
from thinkback.language.rules import Clause
from thinkback.language.sentences import Sentence

_I = re.IGNORECASE
_FILLERS = re.compile(
    "(?:(?:well|so|and|but|oh|hi|hey|hello|hi there|actually|in fact|by the way|btw|also|yes|yeah"
    "|yep|no(?! more )|nope|sure|ok|okay|honestly|to be honest|tbh|ngl|currently|now|nowadays|these days"
    "|right now|as for me|you know|fyi|for the record|i mean|sorry|correction|update|good news|guess what"
    "|unfortunately|luckily|sadly|anyway|personally|because|then|lately|recently|of late|morning"
    "|good morning|evening|good evening|big news|quick update|news|fun fact|finally|oops|my bad|my mistake"
    "|weirdly|surprisingly|funny enough|long story short|anyways|meanwhile|at last|hobbies\\?|wait no|wait"
    "|great|thanks|thank you|ah|hmm|just so you know|to correct myself|of course|besides|plus|too|cos|cuz|coz"
    "|lol|haha|hahaha|ugh|omg|wow|right|alas|me|oh right|oh well|one more thing|another thing|side note"
    "|quick note|random|unrelated|for context|context|background|heads up|ps|p\\.s\\.?|tmi|not gonna lie"
    "|believe it or not|to be fair|speaking of which|on another note|on the bright side|on the plus side"
    "|in the end|in other news|funny thing|funny story|thing is|the thing is|the truth is|truth is"
    "|turns out(?: that)?|it turns out(?: that)?|turned out(?: that)?|as it turns out|apparently|officially"
    "|confession|between us|between you and me|confession time|scratch that|wait scratch that|edit|sigh"
    "|yay|woohoo|whew|phew|ha|man|dude|bro|mate|guys|hello sir|sir|madam|dear|hello again|hi again|hiya|yo"
    "|as of (?:now|today|yesterday|this (?:week|month|morning)|last (?:week|month))|since you asked|if"
    " you must know"
    "|in my case|as you know|as i said|like i said|as mentioned|kind of|kinda|basically|literally|obviously"
    "|technically|seriously|fortunately|thankfully|amazingly|incidentally|interestingly|oddly enough|still"
    "|i'd say|i would say|on a personal note|quick one|quick intro|intro|about me|bit of background"
    "|some background|alright"
    "|first of all|first off|second|secondly|lastly|also yes|yeah no|no wait)[\\s,:!.…-]+"
    r"|(?:please\s+|kindly\s+|pls\s+)?(?:remember|note|keep in mind|don't forget|you should know|just so"
    r" you know|i "
    "should (?:mention|say|add)|i forgot to (?:mention|say|tell you)|did i mention|i might have mentioned"
    "|i wanted to tell you|let me tell you|for your information|i meant(?: to "
    r"say)?)(?:\s+that)?[\s,:]+){1,5}",
    _I,
)
_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), full)
    for pattern, full in (
        (r"\b(?:I'm|im)\b", "I am"), (r"\bname's\b", "name is"), (r"\bI've\b|\bive\b", "I have"),
        (r"\b(he|she|who|it|that)'s (?=been\b|got\b|had\b)", r"\1 has "), (r"\b(he|she|who|it"
            r"|that)'s\b", r"\1 is"),
        (r"\b(he)s\b|\b(she)s\b", r"\1\2 is"), (r"\b(we|they)'re\b", r"\1 are"), (r"\b(we|they)'ve\b",
            r"\1 have"),
        (r"\b(I|we|he|she|they)'ll\b", r"\1 will"), (r"\b(can)(?:'t|not|t)\b", r"\1 not"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had)n't\b", r"\1 not"),
        (r"\b(do|does|did|is|was|have|has)nt\b", r"\1 not"), (r"\bgonna\b", "going to"),
        (r"(?<=[a-z])'s (?=(?:an?|called|named|in|at|from|not|allergic|now|still|also|currently|working"
            r"|living"
         r"|studying|retired|moved|vegan|vegetarian|pregnant|married"
         r"|divorced|diabetic|coeliac|celiac|the|up to|down to|only|about)\b|\d)", " is "),
        (r"(?<=[a-z])'s (?=(?:been|got|just)\b)", " has "), (r"\bwe are\b", "we am"), (r"\s=\s", " is "),
    )
)  # fmt: skip
_TOPIC_PHRASE = re.compile(
    r"(?:for|at|in|on|as for|when it comes to|with|during|over|after|since|instead of) (?!my (?:dreams?"
    r"|head|past"
    r"|novel|story"
    r"|game|next)|the "
    r"(?:dream|story|novel|game|movie|film|book|song|past|beginning))(?:[\w'-]+ ){0,3}?[\w'-]+,?\s+"
    r"(?=(?:I|I'm|im|I've|we|we're|we've)\s|my (?:blood|heart|resting|bp|pulse|weight|cholesterol|rent"
    r"|salary|budget"
    r"|commute|dose|boss|manager|favou?rite)\b)",
    _I,
)
ALLERGY_FINDING = (
    r"(?:the|my|our) (?:[\w-]+ )?(?:doctors?|hospital|clinic|gp|nurse|allergist|specialist|consultant|lab"
    r"|(?:blood |skin )?tests?|results) (?:have |has )?(?:say|says|said|told me|found|found out|showed?|shows"
    r"|confirmed?|discovered)(?: that)? (?=I(?:'m| am) (?:\w+ )?allergic\b)"
)
"""Reported speech that counts as a fact: a doctor or a test found an allergy of the user."""
_LEARNED_THAT = re.compile(
    r"(?:I(?:'ve| have)? (?:(?:just|now|only|since) )*(?:remember|remembered|realised|realized|learnt|learned"
    r"|discovered|found out)(?: (?:just|only))?(?: (?:now|today|yesterday|recently))?(?: that)?"
    r"|(?:my [\w-]+|[A-Z][\w-]+) (?:just )?reminded me(?: that)?) (?=I(?:'m| am|'ve| have| had)\b)"
    rf"|{ALLERGY_FINDING}",
    _I,
)
"""Openings such as "I just found out that" before a statement about oneself."""
_NEVER_THOUGHT = re.compile(
    r"(?:never thought|can't believe) I'd (?:ever )?(?:say|admit|do) (?:this|that|it),?(?: but)?\s+", _I
)
_CLEFT = re.compile(
    r"it(?:'s| is| was) (?P<o>[^,]{1,40}?),? (?:that |which |who )?I(?P<verb>'m| am| have|'ve)?"
    r" (?P<rest>[^,]+?)"
    r"(?P<tail>,\s*not .+)?\Z",
    _I | re.S,
)
_NOW_ADVERBS = "(?:just |finally |also |recently |officially |actually |still |now |currently |already )*"
_MISSING_SUBJECT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), aux)
    for pattern, aux in (
        (rf"{_NOW_ADVERBS}(?:been|lived in|worked at|worked for)\b(?! there| meaning| wondering| thinking)",
            "I have"),
        (rf"{_NOW_ADVERBS}(?:living in|working (?:at|as|for|in)|studying|majoring in|allergic to|based in"
         r"|originally from|diagnosed with|taking \d|learning|training (?:as|to be)|not an?|no longer an?)\b",
         "I am"),
        (rf"{_NOW_ADVERBS}born (?:in|on|and)\b", "I was"),
        (rf"{_NOW_ADVERBS}(?:moved|started|joined|bought|adopted|quit|got|ran|went|visited|switched"
         rf"|settled|turned \d"
         "|turned (?:twenty|thirty|forty|fifty|sixty)|landed|grew up|no longer|used to|finished|won|gave"
         " up|stopped"
         "|broke|booked|met|graduated|dropped|relocated|ended up|became|named|saw|watched|left|changed"
         "|signed up"
         "|live in|work (?:at|as|for|in)|can(?:'t|not| not|t) (?:stand|eat|have)|(?:don't|do not|dont|never)"
         r" (?:eat|drink|like|smoke)|weigh|speak|am|have)\b"
         r"(?! (?:it|that|this|you|them|me)\b)", "I"),
        (r"(?:hate|love|prefer|adore)\b(?! (?:it|that|this|you|to|how|the|your|them|me|from|is|was)\b)", "I"),
    )
)  # fmt: skip


def strip_fillers(text: str) -> str:
    """Remove greetings and hedges at the start of a clause ("hi, well, to be honest, ...")."""
    lead = None if _ME_AND.match(text) else _FILLERS.match(text)
    body = _ME_AND.sub("we ", text[lead.end() :] if lead else text, count=1)
    body = _NEVER_THOUGHT.sub("", body, count=1) if _NEVER_THOUGHT.match(body) else body
    return _LEARNED_THAT.sub("", body, count=1) if _LEARNED_THAT.match(body) else body


def strip_lead_in(text: str) -> str:
    """Remove fillers, topic phrases ("as for work, ...") and clefts before the statement."""
    body = strip_fillers(text)
    body = _TOPIC_PHRASE.sub("", body, count=1) if _TOPIC_PHRASE.match(body) else body
    return _CLEFT.sub(_undo_cleft, body) if _CLEFT.match(body) else body


_ME_AND = re.compile(
    r"me and (?:my )?[\w']+(?: [\w']+){0,2}? (?=(?:just |both |have |are |also )?(?:live|moved|have|are"
    r"|got|work|love|like|went"
    r"|bought|adopted|hate|own|speak|play)\b)",
    _I,
)


def expand_contractions(text: str) -> str:
    """Expand contractions: "I'm" -> "I am", "rent's 900" -> "rent is 900"."""
    if "'" not in text and not _BARE_CONTRACTION.search(text):
        return text
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


_BARE_CONTRACTION = re.compile(
    r"\b(?:im|ive|hes|shes|dont|doesnt|didnt|isnt|wasnt|cant|cannot|havent|hasnt|gonna|we are)\b|=", _I
)


def add_missing_subject(text: str) -> str:
    """Add the "I" that is missing in a casual fragment: "moved to Leeds" -> "I moved to Leeds"."""
    for pattern, aux in _MISSING_SUBJECT:
        if pattern.match(text):
            return f"{aux} {text[:1].lower()}{text[1:]}"
    return text


def _undo_cleft(match: re.Match[str]) -> str:
    """Rewrite "it's cashews I'm allergic to" as "I'm allergic to cashews"."""
    return f"I{match['verb'] or ''} {match['rest']} {match['o']}{match['tail'] or ''}"


_FUTURE_VERB = re.compile(
    r"\b(?:will|going to|planning to|plans? to)\b|(?:'ll|\b(?:am|is|are|'m|'re|'s) (?!been)\w+ing)\b|'m"
    r" \w+ing\b"
)
_PAST_VERB = re.compile(
    r"(?:went|was|had|got|\w+ed|bought|met|saw|ate|ran|won|broke|sold|took|made|read|flew|lost)\b"
)
_AT_THE_WEEKEND = re.compile(r"(?:at|on|over) the weekend\Z", re.I)
_HABIT = re.compile(
    r"(?:I|we|they|he|she|my \w+|[A-Z]\w+) (?:(?:always|often|only|usually|mostly|sometimes|just) )?"
    r"(?:drink|eat|smoke|vape|play|take|do|work|run|cook|bake|swim|cycle|sleep|watch|read|use|love"
    r"|like|enjoy)"
    r"(?:e?s)?\b"
)
_HAS_HAD = re.compile(
    r"\b(?P<have>have|has|'ve|'s) had (?P<o>[\w' -]{2,40}?)(?=,? (?:since|for (?:ages"
    r"|a (?:long )?(?:time|while)|(?:[\w-]+ ){1,3}?(?:years|months|weeks|decades)))\b)",
    re.I,
)
_SINCE = re.compile(r"\bsince\s*\Z", re.I)
_TIME_PREPOSITION = re.compile(r"(?:\A|\s)(?:from|as of|starting|beginning|back|since)\s*\Z", re.I)
_DATE_VALUE = re.compile(
    r"\b(?:(?:birthday|bday|anniversary)(?: is|'s)|born|anniversary is|date of birth is|birth date is)"
    r"(?: on| in)?\Z"
)


def find_times(text: str, now: datetime) -> list[TimeExpression]:
    """All time expressions of a text; ambiguous ones are read as past if the verbs are in the past tense."""
    return find_time_expressions(
        text, now, past=bool(_PAST_VERB.search(text)) and not _FUTURE_VERB.search(text)
    )


def take_time(body: str, now: datetime) -> tuple[str, TimeExpression | None, str]:
    """Remove the time expression from a clause.

    Returns (clause without it, time expression or None, its words). A date that is itself a value ("my
    birthday is May 6") stays.
    """
    for when in find_times(body, now):
        start, end = when.span
        before, after = _TIME_PREPOSITION.sub("", body[:start]).rstrip(" ,"), body[end:].lstrip(" ,")
        if _DATE_VALUE.search(before) or (_AT_THE_WEEKEND.match(body[start:end]) and _HABIT.match(body)):
            continue
        if not before or not after.strip(" .!,") or len(after.split()) <= 6:
            comma = "," if body[end:].lstrip().startswith(",") else ""
            remaining = f"{before}{comma} {after}" if before and after else before or after
            since = "since " if _SINCE.search(body[:start]) else ""
            return remaining.strip(), when, since + body[start:end]
    return body, None, ""


def to_present_state(body: str) -> str:
    """Rewrite "I have had asthma since 2015" in the present tense: "I have asthma since 2015"."""
    match = _HAS_HAD.search(body)
    if not match or not is_symptom(match["o"]):
        return body
    return f"{body[: match.end('have')]} {body[match.start('o') :]}"


_CLAUSE_VERB = (
    "(?:(?:live|work|studie|stud|ha[sv]e?|love|like|enjoy|hate|dislike|prefer|speak|own|play|drink"
    "|eat|use|take|need|wear|weigh|drive|run)s?|studies|study"
    r"|am|is|was|moved|bought|went|visited|started|joined|got|adopted|don't|doesn't|do not|does not|used"
    r" to|no"
    r" longer|quit|stopped|majoring|switched|settled|became|can't|cannot|gave|named|left|ended up|graduated"
    r"|dropped|hates|loves|currently|recently|working|living|studying|allergic|obsessed|terrified"
    r"|afraid|scared)"
)
_CLAUSE_SUBJECT = (
    r"(?i:I|I'm|I've|im|ive|my|we|we're|we've|our|he|she|he's|she's|hes|shes|his|her|they|they're|who|who's"
    r"|the one who|the one who's|people call|everyone calls|friends call|everybody calls)\b"
)
_NAMED_SUBJECT = (
    r"[A-Z][\w-]+(?:'s \w+)? (?:is|lives|works|likes|loves|has|hates|plays|speaks|drinks|eats|studies|moved"
    r"|just|got)\b"
)
_CONJUNCTION = (
    "(?i:and|but|so|because|although|though|while|also|then|plus|yet|cos|cuz|coz|since|as|except|or)"
)
_CLAUSE_BORDER = re.compile(
    rf"(?:\s*[,;:(]|\s+[-—–]+|\s*[—–]+|\.\.+)\s*(?:{_CONJUNCTION}\s+)*"
        r"(?i:also\s+|then\s+|now\s+|actually\s+|btw\s+|yeah\s+|honestly\s+|me\s+|as of \w+\s+)*"
        rf"(?={_CLAUSE_SUBJECT}|{_NAMED_SUBJECT}|(?!like\b){_CLAUSE_VERB}\s+\w)"
    r"|\s+and\s+(?:about |around )?(?=\d[\d.,' ]*\s?(?:cm|m|metres?|meters?|feet|foot|ft)\b[\w\s]* tall\b)"
    r"|\s+and\s+(?=(?:about |around )?\d[\d.,]*\s?(?:kg|kilos?|lbs?|pounds)\b)"
    r"|\s*\)[\s,]*"
    r"|[,;]\s*(?:and |but )?(?=no more [a-z])"
    r"|[,;]\s*(?=(?i:shoe size|blood type|blood group|ring size)\b)"
    r"|(?<!the one)\s+(?=(?i:who|who's)\s+(?!knows))"
    r"|(?<!\b[Mm]e)\s+(?i:and|but|so|because|although|though|while|cos|cuz|coz|as|since|where|plus|&)\s+"
        r"(?i:(?:it )?turns out\s+(?:that\s+)?"
        r"|also\s+|then\s+|now\s+|currently\s+|yeah\s+|actually\s+|honestly\s+|as of \w+\s+|these"
        r" days\s+)*"
        rf"(?={_CLAUSE_SUBJECT}(?!\s+\w+\Z)|{_NAMED_SUBJECT}|{_CLAUSE_VERB}\s+\w)"
)  # fmt: skip
_LEADING_ADVERB = re.compile(
    "(?:currently|now|still|also|really|just|always|usually|often|recently|actually|absolutely"
    "|totally|especially"
    r"|mostly|only|already|both|particularly|mainly|truly|finally|simply|definitely|originally|even"
    r"|officially"
    r"|permanently|happily|temporarily|basically|technically|proudly|lately|kinda|sorta|literally"
    r"|mostly|since"
    r"|once)\s+",
    re.I,
)
_NEGATION = re.compile(
    r"(?!(?:do|does) not want )(?P<aux>am|is|are|have|has)?\s*(?P<neg>(?:do|does) not|no longer|never|not)\s+"
    r"(?:(?P<be>am|is|are)\s+)?(?:really |actually |even |particularly )?(?P<rest>.+)",
    re.S,
)
_ANYMORE = re.compile(r"\s+(?:any ?more|any longer)\b")
_USED_TO = re.compile(r"used to (?P<rest>(?!it|the|being).+)", re.S)
_WAS_ONCE = re.compile(
    r"was (?P<rest>(?:an? )(?!bit|little|lot|while|long|good|bad|great|huge|terrible|nice).+)", re.S
)
_STOPPED_DOING = re.compile(
    r"(?:have |has )?(?:stopped|quit|gave up|given up|packed in) (?P<verb>\w+)ing\b(?P<rest>.*)", re.S
)
_STEMS = {
    "work": "work",
    "liv": "live",
    "eat": "eat",
    "drink": "drink",
    "play": "play",
    "study": "study",
    "tak": "take",
}
_STEMS |= {
    "smok": "smoke",
    "driv": "drive",
    "lik": "like",
    "learn": "learn",
    "attend": "attend",
    "vap": "vape",
}
_STEMS |= {"us": "use", "speak": "speak", "lov": "love"}


_APPOSITION = re.compile(rf"\b[Mm]y (?:\w+ )?(?:{alternation_pattern(KIN_EN)}), {NAME},")


def split_clauses(sentence: Sentence) -> list[Clause]:
    """Split a sentence into parts that have a verb of their own."""
    text = sentence.text.replace("’", "'").replace("，", ",")
    text = _APPOSITION.sub(
        lambda match: match.group().replace(",", " "), text
    )  # keeps the length, so offsets stay valid
    out: list[Clause] = []
    start = 0
    for cut in (*_CLAUSE_BORDER.finditer(text), None):
        end = cut.start() if cut else len(text)
        body = text[start:end]
        shift = len(body) - len(body.lstrip())
        if body.strip():
            first = sentence.start + start + shift
            out.append(Clause(body.strip().rstrip(".!…。！"), first, first + len(body.strip())))
        start = cut.end() if cut else end
    return out


_THIRD_PERSON = re.compile(
    r"(?:lives|works|likes|loves|has|is|speaks|plays|eats|drinks|studies|hates|enjoys|prefers|owns"
    r"|uses|takes|drives"
    r"|weighs|runs|needs|wears|does)\b"
)
_FIRST_PERSON = re.compile(
    r"(?:live|work|like|love|have|am|speak|play|eat|drink|study|hate|enjoy|prefer|own|use|take|drive"
    r"|weigh|run|need"
    r"|wear|do)\b"
)


def verb_agrees(first_person: bool, predicate: str) -> bool:
    """Whether a verb fits an omitted subject: "lives in Leeds" does not fit "I"."""
    return not (_THIRD_PERSON if first_person else _FIRST_PERSON).match(predicate)


def take_negation(text: str) -> tuple[str, bool, bool]:
    """Remove the negation from a predicate.

    Returns (predicate, negated, ended), where ended means "no longer".
    """
    body, ended = _strip_adverbs(text), False
    if _ANYMORE.search(body):
        body, ended = _ANYMORE.sub("", body), True
    if formerly := _USED_TO.match(body):
        return re.sub(r"^be ", "is ", formerly["rest"]), True, True
    if was := _WAS_ONCE.match(body):
        return f"is {was['rest']}", True, True
    if (stopped := _STOPPED_DOING.match(body)) and stopped["verb"] in _STEMS:
        return _STEMS[stopped["verb"]] + stopped["rest"], True, True
    if negated := _NEGATION.match(body):
        verb = f"{negated['aux'] or negated['be']} " if negated["aux"] or negated["be"] else ""
        return _strip_adverbs(verb + negated["rest"]), True, ended or negated["neg"] == "no longer"
    return body, False, False


def _strip_adverbs(text: str) -> str:
    """Remove adverbs at the start of a predicate and after its auxiliary verb."""
    body = text.strip()
    for _ in range(3):
        body = _LEADING_ADVERB.sub("", body, count=1) if _LEADING_ADVERB.match(body) else body
    return re.sub(
        r"^(am|is|are|have|has) (?:(?:currently|now|still|also|really|just|actually|already|recently"
        r"|officially|finally"
        r"|permanently|temporarily|basically|technically|mostly|only|since|both|happily) )+",
        r"\1 ",
        body,
    )
