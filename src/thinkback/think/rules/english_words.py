"""English words that rules need to know, and how an object is cut out of the rest of a clause."""

from __future__ import annotations

import re

from thinkback.text.kin import KIN_EN

_I = re.IGNORECASE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_JOBS = """doctor nurse teacher engineer lawyer chef cook vet programmer student scientist pilot artist
 musician accountant architect professor writer actor director designer farmer electrician
 plumber dentist therapist photographer journalist consultant researcher developer barista
 waiter waitress firefighter paramedic pharmacist psychologist surgeon translator librarian
 secretary cashier clerk mechanic carpenter policeman soldier judge model dancer singer
 freelancer manager ceo cto cfo founder intern analyst editor producer administrator
 physician physicist chemist biologist mathematician economist historian tutor coach nanny
 guard driver technician officer cop baker butcher barber hairdresser actress painter
 sculptor poet novelist entrepreneur salesperson postdoc trainer operator receptionist
 radiologist veterinarian nutritionist"""
JOBS = _set(_JOBS)
_JOB_ENDS = re.compile(
    r"(?:ologist|iatrist|grapher|therapist|engineer|assistant|specialist|worker|keeper|smith)\Z"
)
_LANGUAGES = """english french german spanish italian portuguese chinese mandarin cantonese japanese korean
 russian arabic hebrew hindi urdu bengali turkish dutch swedish norwegian danish finnish
 polish czech greek thai vietnamese indonesian malay swahili ukrainian hungarian romanian
 latin tamil punjabi persian farsi tagalog catalan irish welsh asl"""
LANGUAGES = _set(_LANGUAGES)
_NATIONS = """american british english french german spanish italian portuguese chinese japanese korean
 russian canadian australian indian mexican brazilian dutch swedish norwegian danish finnish
 polish czech greek thai vietnamese irish scottish welsh turkish egyptian nigerian kenyan
 argentinian colombian ukrainian swiss austrian belgian hungarian taiwanese singaporean
 malaysian indonesian filipino iranian israeli pakistani"""
_TRAITS = """vegetarian vegan pescatarian diabetic left-handed right-handed introvert extrovert
 introverted extroverted retired unemployed self-employed pregnant christian catholic muslim
 buddhist hindu jewish atheist agnostic bilingual colorblind deaf blind dyslexic autistic
 nearsighted lactose- intolerant smoker celiac"""
TRAITS = _set(_NATIONS) | _set(_TRAITS) | {"lactose intolerant", "gluten intolerant", "color blind", "a twin"}
MARITAL = _set("married single divorced engaged widowed separated")
_CONDITIONS = """diabetes asthma hypertension cancer adhd add depression anxiety migraine migraines arthritis
 epilepsy insomnia eczema psoriasis anemia gout ocd ptsd hypothyroidism pneumonia scoliosis
 tinnitus vertigo"""
CONDITIONS = _set(_CONDITIONS)
_CONDITION_ENDS = re.compile(
    r"(?:disease|syndrome|disorder|blood pressure|cholesterol|cancer|itis|diabetes)\Z"
)
_NOT_NAMES = """i i'm i've my the a an this that these those there here it it's he she we they you your his
 her our their what who where when why how which yes no not and but so or if then also well
 ok okay oh hi hey hello thanks thank please sorry actually today yesterday tomorrow monday
 tuesday wednesday thursday friday saturday sunday january february march april june july
 august september october november december everyone everything nothing something someone
 nobody life love work school home dinner lunch breakfast music one two fine great good sure
 ready happy sad tired sick late early back done single married glad afraid aware busy bored
 all most some many both lately recently nowadays currently anyway btw morning evening
 finally honestly luckily sadly unfortunately meanwhile otherwise however never always once"""
NOT_NAMES = _set(_NOT_NAMES)
_VAGUE = """question questions problem problems idea ideas feeling look time dream cold doubt chance
 minute moment favor favour request plan lot bit few fever headache point hunch suggestion
 issue way thing things something fun reason choice hard difficult good bad nice great blast
 day week crush date go break seat nap meeting appointment exam test interview rest drink
 snack guess hangover little need memory conversation"""
VAGUE = _set(_VAGUE)
_PRONOUNS = """it that this them you him her these those one something anything everything nothing what me
 us myself yourself here there so more less much many him/her same others nobody someone
 anyone everyone"""
ENGAGEMENTS = _set("meeting appointment exam test interview date go")
PRONOUNS = _set(_PRONOUNS)

NAME = r"[A-Z][\w'-]*(?:\s+(?:de|van|von|der|da|al|bin)\s+[A-Z][\w'-]*|\s+[A-Z][\w'-]*){0,3}"
_TAIL = re.compile(
    r"(?:\s*[,;:(]\s*(?:not|and not|but|which|who|so|because|since|though|although|where|right now"
    "|too|by the way"
    r"|actually|haha|lol|thanks|though|you know|especially|like|or|as|it|nice|and (?:it|the|this|there))\b"
    r"|\s+and (?:it|there|had|saw|ran|read|shot|met|went|will|\w+ed)\b"
    r"|\s+(?:because|since|so that|so|but|when|whenever|while|although|though|which|who|where|until|if|unless"
    r"|as long as|even|except|instead|for now|rather than|whose)\b"
    r"|\s+[-—]+\s|\s*\().*\Z",
    _I | re.S,
)
_LATE_ADVERB = re.compile(
    r"[,\s]+(?:now|nowadays|currently|these days|right now|at the moment|at present|too|also|as well|a lot"
    r"|very much|so much|again|though|actually|lately|recently|anymore|any more|any longer|already|together"
    "|most of all|the most|more than anything|every (?:day|morning|evening|night|week|weekend"
    "|year)|all the time"
    r"|for (?:about |over |almost )?(?:\w+ )?(?:years?|months?|weeks?|days?)|for a (?:living|while|long time)"
    "|now and then|sometimes|from time to time|by the way|haha|lol|please|with my family|with all "
    r"my heart)\Z",
    _I,
)
_AND = re.compile(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|as well as|&)\s+(?:also\s+)?", _I)
_ONE_THING = re.compile(
    r"\b(?:rock and roll|mac and cheese|fish and chips|salt and pepper|bread and butter|black and "
    "white|pros and cons"
    r"|arts and crafts|R&B|hide and seek|[A-Z]\w+ & [A-Z]\w+)\b",
    _I,
)
_ASIDE = re.compile(
    r"\s*,\s*(?:(?:I|it|they|that|this|there|he|she|we|you|my|our|his|her|its|their|your|got|been|had|have"
    r"|has|was"
    r"|were|is|are|am|just|always|never|ever|can't|cannot|couldn't|don't|doesn't|didn't|won't|makes?|made"
    r"|even|almost"
    r"|hence|thank|ugh|yay|finally|still|best|worst|no|yes|hope|love|new|been|every|once|since|after"
    r"|before|long"
    r"|sorry|if|can|could|please|rather|mainly|mostly|near|next|close|in an?|in the|with|for|from|at|on|by"
    r"|due"
    r"|thanks|give|tell|show|recommend|let)\b|(?:it|that|they)'(?:s|re)\b).*\Z",
    _I | re.S,
)
_HAN_ASIDE = re.compile("(?<![\u4e00-\u9fff])\\s*[,;，；]\\s*[\u4e00-\u9fff].*\\Z", re.S)
_PLACE_TAIL = re.compile(
    r"\s+(?:with|for|over|near|after|before|during|from|thanks|next|together|to be|to work|to study|and)\s.*"
    r"|,\s*(?![A-Z])\S+\s+\S.*",
    re.S,
)
_WORK_TAIL = re.compile(
    r",\s*(?![A-Z])\S+\s+\S.*|\s+(?:in|on|near|for|over|with) (?:the|an?|my|our)\s.*", re.S
)
_QUANTIFIED = re.compile(
    r"(?:also |and )?(?:fluent|some|basic|broken|conversational|decent|good|a (?:little|tiny )?(?: ?bit"
    r"|little)(?: of)?)\s+",
    _I,
)
_EDGE = " \t\n.,;:!?…~*"
_WHOLE_QUOTE = re.compile('["“\'‘]([^"“”]+)["”\'’]')
_MY = re.compile(r"\b(my|our)\b", _I)


_EXAMPLES = re.compile(r"\b(?:such as|like|including)\b")
_VERBS = """read travel cook swim run play watch listen write draw paint sing dance hike eat drink bake
 go take make learn study ski ride sleep focus shop fish climb jog walk garden knit meditate"""
VERBS = _set(_VERBS)


def is_engagement(words: str) -> bool:
    """Something one has at a time: an exam, a meeting; not a question."""
    return (VAGUE - ENGAGEMENTS).isdisjoint(words.lower().split())


def is_name(words: str) -> bool:
    """Capitalised words that name somebody, as far as spelling tells."""
    parts = words.split()
    return (
        bool(re.fullmatch(NAME, words))
        and parts[0].lower() not in NOT_NAMES | TRAITS
        and "I" not in parts[1:]
    )


_NO_PLAIN_NAMES = "unknown secret hidden hard long common weird funny boring private mine important"
_PLAIN = NOT_NAMES | _set(_NO_PLAIN_NAMES)


def is_plain_name(word: str) -> bool:
    """One lower-case word after "my name is": many people type no capitals."""
    return bool(re.fullmatch(r"[a-z]{2,14}", word)) and word not in _PLAIN


def is_job(words: str) -> bool:
    head = words.lower().split(" of ")[0].split()[-1:] or [""]
    return (head[0] in JOBS or bool(_JOB_ENDS.search(head[0]))) and len(words.split()) <= 5


def is_language(words: str) -> bool:
    return words.lower().split()[-1] in LANGUAGES


def is_condition(words: str) -> bool:
    lowered = words.lower()
    return (lowered.split()[-1] in CONDITIONS or bool(_CONDITION_ENDS.search(lowered))) and len(
        words.split()
    ) <= 4


def is_concrete(words: str) -> bool:
    """Something one can have: not a question, an idea, a cold."""
    lowered = words.lower().split()
    return VAGUE.isdisjoint(lowered[:4]) and lowered[-1].rstrip("s") not in KIN_EN


def is_place(words: str) -> bool:
    """A place one lives in for good: "Paris, France", "the UK"; not "a small flat" nor "the city"."""
    first, _, rest = words.partition(" ")
    if first.lower() in ("a", "an", "my", "our", "another", "one", "two", "this", "that", "fear", "peace"):
        return False
    return first.lower() != "the" or rest[:1].isupper()


def trim(words: str) -> str:
    """The object without subordinate clauses, late adverbs and edges; "my" becomes "their"."""
    text = _HAN_ASIDE.sub("", _ASIDE.sub("", _TAIL.sub("", words))).strip(_EDGE)
    for _ in range(3):
        shorter = _LATE_ADVERB.sub("", text).strip(_EDGE)
        if shorter == text:
            break
        text = shorter
    if quoted := _WHOLE_QUOTE.fullmatch(text):
        text = quoted[1].strip(_EDGE)
    return _MY.sub("their", text)


def late(words: str) -> str:
    """Words without the adverbs that close a clause: "86 kg now" -> "86 kg"."""
    return _LATE_ADVERB.sub("", words).strip(_EDGE)


def trim_place(words: str) -> str:
    """A place without why, when and with whom: "Toronto for work", "Boston, in a tiny flat"."""
    return _PLACE_TAIL.sub("", words).strip(_EDGE)


def trim_work(words: str) -> str:
    """An employer without what else is told of it."""
    return _WORK_TAIL.sub("", words).strip(_EDGE)


def trim_language(words: str) -> str:
    """ "a bit of Portuguese" -> "Portuguese"."""
    return _QUANTIFIED.sub("", words, count=1)


def usable(words: str, longest: int = 8) -> bool:
    """Whether trimmed words can stand as an object."""
    parts = words.lower().split()
    if (
        not parts
        or len(parts) > longest
        or parts[0] in ("that", "how", "when", "your", "you", "if", "not", "and", "every", "each")
    ):
        return False
    if "that" in parts or sum(words.count(quote) for quote in '"“”') % 2:
        return False
    return parts[0] not in PRONOUNS and (parts[-1] not in PRONOUNS or len(parts) > 2)


def listed(words: str) -> tuple[str, ...]:
    """ "tea, coffee and jazz" -> three objects; "playing football and tennis" shares its verb."""
    if _ONE_THING.search(words) or _EXAMPLES.search(words):
        return (words,)
    parts = [part.strip(_EDGE) for part in _AND.split(words)]
    parts = [part for part in parts if part]
    if not parts:
        return ()
    head = re.match(r"(to\s+\w+|\w+ing)\s+\S", parts[0])
    if head and len(parts) > 1:
        rest = [_with_verb(part, head[1]) for part in parts[1:]]
        return (parts[0], *rest)
    if re.fullmatch(r"to\s+\w+", parts[0]):
        return (parts[0], *(part if part.startswith("to ") else f"to {part}" for part in parts[1:]))
    return tuple(parts)


def _with_verb(part: str, verb: str) -> str:
    """One more object of the same verb, unless it brings its own."""
    first = part.partition(" ")[0]
    if first == "to" or first.endswith("ing") or (len(part.split()) > 2 and first not in VERBS):
        return part
    if first in VERBS:
        return f"to {part}" if verb.startswith("to ") else part
    return f"{verb} {part}"
