"""What leads to an English statement and says nothing: greetings, hedges, "turns out", "on the bright side".

Also the other way round: contractions spelt out, clefts undone, and the subject that a casual fragment leaves
out ("moved to Leeds last week", "been vegan since May").
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
_LEAD = re.compile(
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
_TOPIC = re.compile(
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
FOUND = (
    r"(?:the|my|our) (?:[\w-]+ )?(?:doctors?|hospital|clinic|gp|nurse|allergist|specialist|consultant|lab"
    r"|(?:blood |skin )?tests?|results) (?:have |has )?(?:say|says|said|told me|found|found out|showed?|shows"
    r"|confirmed?|discovered)(?: that)? (?=I(?:'m| am) (?:\w+ )?allergic\b)"
)
"""Whose word on an allergy is no hearsay."""
_LEARNT = re.compile(
    r"(?:I(?:'ve| have)? (?:(?:just|now|only|since) )*(?:remember|remembered|realised|realized|learnt|learned"
    r"|discovered|found out)(?: (?:just|only))?(?: (?:now|today|yesterday|recently))?(?: that)?"
    r"|(?:my [\w-]+|[A-Z][\w-]+) (?:just )?reminded me(?: that)?) (?=I(?:'m| am|'ve| have| had)\b)"
    rf"|{FOUND}",
    _I,
)
"""How one came to know what one says of oneself."""
_SAYING = re.compile(
    r"(?:never thought|can't believe) I'd (?:ever )?(?:say|admit|do) (?:this|that|it),?(?: but)?\s+", _I
)
_CLEFT = re.compile(
    r"it(?:'s| is| was) (?P<o>[^,]{1,40}?),? (?:that |which |who )?I(?P<verb>'m| am| have|'ve)?"
    r" (?P<rest>[^,]+?)"
    r"(?P<tail>,\s*not .+)?\Z",
    _I | re.S,
)
_NOW = "(?:just |finally |also |recently |officially |actually |still |now |currently |already )*"
_BARE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), aux)
    for pattern, aux in (
        (rf"{_NOW}(?:been|lived in|worked at|worked for)\b(?! there| meaning| wondering| thinking)",
            "I have"),
        (rf"{_NOW}(?:living in|working (?:at|as|for|in)|studying|majoring in|allergic to|based in"
         r"|originally from|diagnosed with|taking \d|learning|training (?:as|to be)|not an?|no longer an?)\b",
         "I am"),
        (rf"{_NOW}born (?:in|on|and)\b", "I was"),
        (rf"{_NOW}(?:moved|started|joined|bought|adopted|quit|got|ran|went|visited|switched|settled|turned \d"
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


def unled(text: str) -> str:
    """A clause without greetings and hedges; when it was so, and on what occasion, still opens it."""
    lead = None if _ME_AND.match(text) else _LEAD.match(text)
    body = _ME_AND.sub("we ", text[lead.end() :] if lead else text, count=1)
    body = _SAYING.sub("", body, count=1) if _SAYING.match(body) else body
    return _LEARNT.sub("", body, count=1) if _LEARNT.match(body) else body


def bare(text: str) -> str:
    """A clause without all that only leads to it."""
    body = unled(text)
    body = _TOPIC.sub("", body, count=1) if _TOPIC.match(body) else body
    return _CLEFT.sub(_uncleft, body) if _CLEFT.match(body) else body


_ME_AND = re.compile(
    r"me and (?:my )?[\w']+(?: [\w']+){0,2}? (?=(?:just |both |have |are |also )?(?:live|moved|have|are"
    r"|got|work|love|like|went"
    r"|bought|adopted|hate|own|speak|play)\b)",
    _I,
)


def spelt_out(text: str) -> str:
    """A clause without contractions: "I'm", "rent's 900", "she's got"."""
    if "'" not in text and not _UNMARKED.search(text):
        return text
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


_UNMARKED = re.compile(
    r"\b(?:im|ive|hes|shes|dont|doesnt|didnt|isnt|wasnt|cant|cannot|havent|hasnt|gonna|we are)\b|=", _I
)


def with_subject(text: str) -> str:
    """A fragment with the "I" that its writer left out; the text itself if it is none."""
    for pattern, aux in _BARE:
        if pattern.match(text):
            return f"{aux} {text[:1].lower()}{text[1:]}"
    return text


def _uncleft(match: re.Match[str]) -> str:
    """ "it's cashews I'm allergic to, not walnuts" -> "I'm allergic to cashews, not walnuts"."""
    return f"I{match['verb'] or ''} {match['rest']} {match['o']}{match['tail'] or ''}"
