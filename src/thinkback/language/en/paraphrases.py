"""English wordings that state a fact indirectly, rewritten as the plain statement that the rules understand.

"They raised my rent to $1,350" and "Bergen is my home now" become "my rent is $1,350" and "my home is
Bergen". Each wording is written once for all relations; the rules decide whether the plain statement is a
fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thinkback.language.en.lexicon import DOSE, MONEY, NAME, WEIGHT_UNIT, is_employer, is_job, is_medicine
from thinkback.language.kinship import KIN_EN, PETS_EN, alternation_pattern
from thinkback.language.names import USER
from thinkback.language.relations import ALL_VALUES
from thinkback.language.rules import Clause, ExtractedFact
from thinkback.language.sentences import Sentence

_I = re.IGNORECASE
_TOPIC = r"(?P<x>[a-z][\w'-]*(?: [\w'-]+){0,3}?)"
_VALUE_END = (
    r"(?=,(?!\d{3})|[;!?()]|\.?\Z|\s[-—–]+\s| (?:and|but|so|because|which|since|as|starting|now|nowadays"
    r"|these days|today|instead|this|last|yesterday|from|thanks|effective|at the moment|currently)\b)"
)
_VALUE_REST = rf"(?:[^,;!?()]|,(?=\d{{3}}))*?){_VALUE_END}"
_VALUE = rf"(?P<b>[\w$€£¥+]{_VALUE_REST}"
_NAMED_VALUE = rf"(?P<b>(?!I\b)(?:an? )?[$€£¥+]?\s?[A-Z\d]{_VALUE_REST}"
_NUMBER_VALUE = rf"(?P<b>(?:about |around |roughly )?[$€£¥+]?\s?\d{_VALUE_REST}"
_DIRECTION = r"(?: up| down| back)?"
_FROM_OLD = r"(?: from (?:[^,;]|,(?=\d)){1,30}?)?"
_NEW_ADJECTIVES = r"(?:new |current |latest |updated |main |primary |official )*"
_NOW_ADVERBS = r"(?:now |currently |actually |just |recently |finally |officially |also )*"
_CHANGED_BY = (
    r"(?:raised|increased|bumped|upped|put|hiked|pushed|lowered|reduced|cut|dropped|changed|updated|switched"
    r"|set|adjusted|renewed|extended|shortened|doubled|halved|slashed|trimmed|knocked|brought|revised|moved)"
)
_CHANGED_ITSELF = (
    r"(?:went|gone|changed|moved|switched|rose|risen|fell|fallen|dropped|jumped|climbed|increased|decreased"
    r"|shrank|shrunk|grew|grown|improved|shortened|lengthened|come)"
)
_I_HAVE = rf"\b(?:I|[Ww]e)(?:'ve| have)? {_NOW_ADVERBS}"
_ASSIGNED = r"(?:moved|put|switched|transferred|assigned|upgraded|bumped)"
_PHONE = r"\+?\d[\d\s().-]{4,20}\d"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_CONTACT = rf"(?P<b>{_EMAIL}|{_PHONE})"
_VERB = (
    r"(?P<v>use|drive|take|drink|eat|play|live in|work at|work for|work as|study|attend|bank with|support"
    r"|wear)"
)
_CLAUSE_START = r"(?:\A|(?<=[:;,.!—–-] )|(?<=and )|(?<=but )|(?<=so )|(?<=now )|(?<=days ))"
_THEN = r"(?:[,;]| and| -| —| but)+ (?:now )?"
_NOT_A_PRONOUN = r"(?!(?:It|That|This|There|He|She|What|Who|My|The|Here)\b)"
_NEGATED_OR_PLANNED = re.compile(
    r"(?:\bnot|n't|\bnever|\bnearly|\balmost|\bto|\bbe|\bbeing|\bnobody|\bno one|\bwill|'ll|\bcan|\bmay"
    r"|\bshould|\bmust|'d|\bwould|\bcould|\bnone)(?: (?:yet|just|even|have|been|also|ever|they|you))?\s*\Z",
    _I,
)


@dataclass(frozen=True, slots=True)
class _Paraphrase:
    """A wording: its pattern and the plain statement.

    The text must contain one of `required_words`; this check is faster than the pattern.
    """

    required_words: tuple[str, ...]
    pattern: re.Pattern[str]
    plain: str


def _paraphrase(needs: str, pattern: str, plain: str = "my {x} is {b}", flags: int = 0) -> _Paraphrase:
    """Create a wording; `needs` are the required words, separated by "|"."""
    return _Paraphrase(tuple(needs.split("|")), re.compile(pattern, flags), plain)


_PARAPHRASES: tuple[_Paraphrase, ...] = (
    # somebody changed the value: "they raised my rent to B", "my rent was cut to B", "it went from A to B"
    _paraphrase(" to ",
        rf"\b{_CHANGED_BY}{_DIRECTION} (?P<p>my|our|the) {_TOPIC}{_FROM_OLD}{_DIRECTION} to {_NUMBER_VALUE}",
        "{p} {x} is {b}"),
    _paraphrase(" to ",
        rf"\b(?:changed|switched|updated|set|renamed) (?:my|our) {_TOPIC}{_FROM_OLD} (?:over )?to {_VALUE}"),
    _paraphrase(" to ",
        rf"\A(?:[Pp]lease )?(?:[Uu]pdate|[Cc]hange|[Ss]et|[Ss]witch) my {_TOPIC}{_FROM_OLD} to {_VALUE}"),
    _paraphrase(" to | at ",
        rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_TOPIC}(?:'s| has| have)? (?:was|were|got|been|just got)"
        rf" {_NOW_ADVERBS}{_CHANGED_BY}{_DIRECTION}{_FROM_OLD}{_DIRECTION} (?:to|at) {_VALUE}",
        "{p} {x} is {b}"),
    _paraphrase(" from ",
        rf"\b(?:[Mm]y|[Oo]ur) {_TOPIC}(?:'s| has| have)? {_NOW_ADVERBS}{_CHANGED_ITSELF}{_DIRECTION}"
        rf" from [^,;]{{1,30}}?"
        rf" to {_VALUE}"),
    _paraphrase(" to | at ",
        rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_TOPIC}(?:'s| has| have)?"
        rf" {_NOW_ADVERBS}(?:{_CHANGED_ITSELF}{_DIRECTION}(?: by"
        rf" [^,;]{{1,15}}?)?"
        rf" to|stands at|sits at) {_NUMBER_VALUE}", "{p} {x} is {b}"),
    _paraphrase(" where I | who I ",
        rf"{_CLAUSE_START}(?P<b>{NAME}) is {_NOW_ADVERBS}wh(?:ere|o) I (?P<v>live|work|study"
        rf"|report to)\b", "I {v} {b}"),
    _paraphrase("changed|went|gone",
        rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_TOPIC}(?:'s| has| have)? {_NOW_ADVERBS}(?:changed"
        rf"|(?:went|gone) (?:up|down))(?:[,;:]| -| —)+ (?:and )?(?:now )?(?:it(?:'s| is)"
        rf" )?{_NOW_ADVERBS}{_NAMED_VALUE}", "{p} {x} is {b}"),
    _paraphrase("used to be ",
        rf"\b(?:[Mm]y|[Oo]ur) {_TOPIC} used to be [^,;]{{1,40}}?[,;]? (?:and |but )?(?:now )?"
        rf"it(?:'s| is) {_NOW_ADVERBS}{_VALUE}"),
    # the value is another one: "B is my home now", "it isn't A anymore, it's B", "B replaced A as my boss"
    _paraphrase(" my | our ", rf"{_CLAUSE_START}(?P<b>{_NOT_A_PRONOUN}[A-Z\d+$€£][^,;:!?()]{{0,40}}?)"
         rf"(?: is| are|'s) {_NOW_ADVERBS}(?:my|our) {_NEW_ADJECTIVES}{_TOPIC}{_VALUE_END}"),
    _paraphrase("no longer|n't| not ",
        rf"\b(?:[Mm]y|[Oo]ur) {_TOPIC} (?:is no longer|isn't|is not) [^,;]{{1,40}}?"
        rf"(?: any ?more| any longer)?(?:[,;]| but| -| —)+ (?:now )?(?:it(?:'s| is) |that(?:'s| is) )?"
        rf"{_NOW_ADVERBS}{_NAMED_VALUE}"),
    _paraphrase(" as my | as our ",
        rf"{_CLAUSE_START}(?P<b>{_NOT_A_PRONOUN}\w[\w' .-]{{0,30}}?) (?:has |have )?{_NOW_ADVERBS}(?:replaced"
        rf"|succeeded|(?:took|taken) over(?: from)?)(?: [\w' .-]{{1,30}}?)? as (?:my|our)"
        rf" {_NEW_ADJECTIVES}{_TOPIC}{_VALUE_END}"),
    _paraphrase("become my |became my ",
        rf"{_CLAUSE_START}(?P<b>{_NOT_A_PRONOUN}\w[\w' .-]{{0,30}}?) (?:has |have )?{_NOW_ADVERBS}"
        rf"bec[oa]me my {_NEW_ADJECTIVES}{_TOPIC}{_VALUE_END}"),
    _paraphrase("replaced by ", rf"\breplaced by (?P<b>{NAME}) as (?:my|our) {_TOPIC}{_VALUE_END}"),
    _paraphrase(" call | consider ",
        r"\bI(?:'d| would) (?:call|consider) (?P<b>[\w' -]{2,40}?) (?:to be )?my "
        rf"{_NEW_ADJECTIVES}{_TOPIC}{_VALUE_END}"),
    # a new value: "I have a new favourite book: B", "I changed my number, it's B", "New address: B"
    _paraphrase(" a new ",
        rf"\b(?:I|we)(?:'ve| have)? {_NOW_ADVERBS}(?:got |have |found |bought )?an? new {_TOPIC}"
        rf"(?::|[,;] (?:and )?(?:it(?:'s| is)|called)| -| —) {_NOW_ADVERBS}{_VALUE}", flags=_I),
    _paraphrase(": ", rf"\A(?:(?:here's )?my )?(?:new|latest|current|updated) {_TOPIC}(?: now)?: {_VALUE}",
        flags=_I),
    _paraphrase("it's |it is |that's |that is ", rf"(?:{_I_HAVE}(?:changed|switched|swapped)(?! (?:my|our) )"
         rf"|\b(?:[Cc]hanged?"
         rf"|[Uu]pdated?|[Ss]witched|[Rr]eplaced?|[Ss]wapped) (?:my|our)) {_TOPIC}(?:[,;:]| -| —| and| so)+"
         rf" (?:now )?(?:it|that)(?:'s| is)"
         rf" {_NOW_ADVERBS}{_NAMED_VALUE}"),
    _paraphrase("reading|measurement|result|numbers|figures|value",
        r"\b(?:my|today's|latest) (?:latest |last "
        r"|newest "
        r"|current |most recent |today's )*(?:reading|measurement|result|numbers|figures|value)s?(?: today"
        rf"| this morning)?(?::| is| was| -|,) {_TOPIC} (?:of |at |is |was )?{_NUMBER_VALUE}", flags=_I),
    _paraphrase("'s |latest |last ",
        rf"(?:[Tt]his morning's|[Tt]oday's|[Ll]atest|[Mm]y latest) {_TOPIC}(?: was| is"
        rf"|:) {_NUMBER_VALUE}"),
    _paraphrase(": ", rf"\b[Mm]y {_TOPIC}(?: today| this morning| now)?: {_NUMBER_VALUE}"),
    # same verb, new value: "I no longer drive a Golf; it's a Tesla now"
    _paraphrase("no longer|do not|don't",
        rf"\b(?:I|[Ww]e) (?:no longer|don't|do not) {_VERB} (?P<a>[^,;.]{{1,40}}?)"
        rf"(?: any ?more| any longer)?(?:[,;]| -| —| but)+ (?:now )?(?:it(?:'s| is) |in |at )?{_NOW_ADVERBS}"
        rf"{_NAMED_VALUE}", "I {v} {b}"),
    _paraphrase("moved out of ",
        rf"{_I_HAVE}moved out of [^,;]{{1,30}}? (?:and )?(?:into|to) (?P<b>{NAME}){_VALUE_END}",
        "I moved to {b}"),
    _paraphrase("moved |live at ", rf"{_I_HAVE}(?:moved (?:in)?to|live at) (?P<b>\d+\w? {NAME}){_VALUE_END}",
         "my address is {b}"),
    _paraphrase(" to a new ",
        rf"{_I_HAVE}(?:moved|switched|went|changed) to a new (?:company|employer|job|firm)[,:]"
        rf" (?:at )?(?P<b>{NAME}){_VALUE_END}", "I work at {b}"),
    _paraphrase("I'm |I am ", rf"\bI(?: no longer live| don't live|'m no longer| am no longer| left|'ve left)"
        rf"(?: in)? {NAME}(?: any ?more)?{_THEN}I(?:'m| am) {_NOW_ADVERBS}in (?P<b>{NAME}){_VALUE_END}",
        "I live in {b}"),
    _paraphrase(" these days| nowadays",
        rf"\bI(?:'m| am) {_NOW_ADVERBS}in (?P<b>{NAME}) (?:these days|nowadays)\b", "I live in {b}"),
    _paraphrase("I'm |I am ", r"\bI(?: no longer work| don't work|'m no longer| am no longer| left|'ve left)"
         rf"(?: at| for| with)? {NAME}(?: any ?more)?{_THEN}I(?:'m| am) {_NOW_ADVERBS}(?:at|with)"
         rf" (?P<b>{NAME}){_VALUE_END}", "I work at {b}"),
    _paraphrase(" me",
        rf"(?<![\w'-])(?P<b>{NAME}) (?:has |have )?{_NOW_ADVERBS}(?:hired|employed|poached|headhunted) me"
        r"(?! (?:to|for|as (?:her|his|their))\b)", "I joined {b}"),
    # contact details
    _paraphrase(" me ",
        r"\b(?:(?:you can|you could|please|just) )*(?:reach|call|text|ring|phone|message|e-?mail"
        rf"|contact|write to) me {_NOW_ADVERBS}(?:on|at|under|via) (?:my \w+ )?{_CONTACT}", "{contact} {b}",
        _I),
    _paraphrase(" now| instead", rf"\b(?:use|call|text|dial|ring|email|write to) {_CONTACT},? (?:from now on"
         r"|instead)\b",
         "{contact} {b}", _I),
    _paraphrase("no longer use ", rf"\bno longer use (?:{_EMAIL}|{_PHONE})(?:[,;.]| -| —)+ (?:now |please )*"
         rf"(?:use |write to |it's |it is |call |e-?mail me at ){_CONTACT}", "{contact} {b}", _I),
    _paraphrase(" number| email| mail",
        rf"(?:\bmy|{_I_HAVE}(?:got |have )?a) new (?:(?:phone|mobile|cell|work"
        rf"|home) )?"
        rf"(?:number|e-?mail(?: address)?)(?:,|:| -)? (?:is )?{_CONTACT}", "{contact} {b}", _I),
    _paraphrase("old |previous ", rf"\bmy (?:old|previous) (?:number|e-?mail|address)\b[^.;]{{0,40}}?[,;] "
         rf"(?:please )?(?:use|call|text|write to) {_CONTACT}", "{contact} {b}", _I),
    _paraphrase("@", rf"(?P<b>{_EMAIL}) is (?:now )?my {_NEW_ADJECTIVES}{_TOPIC}{_VALUE_END}",
        "my email is {b}"),
    # nothing at all: "I have no drug allergies", "I take no medicine"
    _paraphrase("allerg",
        rf"(?:{_I_HAVE}(?:got )?|\A(?:no,? )?)no (?:known )?(?P<b>drug|medicine|medication|food)"
        r" allerg(?:y|ies)\b", "I am not allergic to any {b}", _I),
    _paraphrase("allerg", rf"(?:{_I_HAVE}(?:got )?|\A(?:no,? )?)no (?:known )?allerg(?:y|ies) to (?:any )?"
         r"(?P<b>drug|medicine|medication|food)s?\b", "I am not allergic to any {b}", _I),
    _paraphrase("allerg", rf"(?:{_I_HAVE}(?:got )?no (?:known )?|\A(?:no,? )?no (?:known )?"
         r"|\bI(?:'m| am) not allergic to )(?P<b>allerg(?:y|ies)|anything)"
         r"(?=[.,;!]|\Z| (?:at all|so far|that I know of))",
         "I am not allergic to any substance", _I),
    _paraphrase(" no ", r"\bI(?:'m| am)? (?:currently |now )?(?:take|taking|on|use) no (?:regular )?"
         r"(?P<b>medicine|medication|tablet|pill)s?\b", "I do not take any {b}", _I),
    # pay, doses, weight and rooms
    _paraphrase(" raise to | rise to ", rf"{_I_HAVE}[a-z ]{{0,20}}?(?:pay )?(?:raise|rise) to (?P<b>{MONEY})",
         "my salary is {b}"),
    _paraphrase(" me ", rf"\b(?:put|started|switched|moved|has|have) me (?:back |up |down )?(?:on|to|onto)"
         rf" (?P<b>{DOSE} (?:of )?[a-z][\w-]+)", "I take {b}"),
    _paraphrase("instead of ",
        rf"\bI(?:'m| am)? {_NOW_ADVERBS}see(?:ing)? (?P<b>Dr\.? {NAME})(?: now)? instead of"
        rf" (?P<a>Dr\.? {NAME})", "my doctor is {b}"),
    _paraphrase("weighed ",
        r"\bweighed (?:myself|in)\b[\w ]{0,25}?(?::|,| -| —| at| and (?:it was|it's|i'm|i was))"
        rf" (?P<b>\d[\d.,]* ?{WEIGHT_UNIT})\b", "I weigh {b}", _I),
    _paraphrase("scale",
        r"\b(?:the|my) (?:bathroom )?scales? (?:now )?(?:says?|said|shows?|showed|reads?|put me at)"
        rf" (?P<b>\d[\d.,]* ?{WEIGHT_UNIT})\b", "I weigh {b}", _I),
    _paraphrase("room |seat |locker ",
        rf"(?:\b{_ASSIGNED} (?:me|us)|{_I_HAVE}(?:been |was |were |got )?{_ASSIGNED}) (?:in"
        rf"|to|into)"
        r" (?P<x>room|seat|locker)(?: number| no\.?)? (?P<b>[A-Z]?\d+[A-Za-z]?)\b", "my {x} number is {b}"),
    _paraphrase("room |seat |locker ",
        r"\bI(?:'m| am) (?:now |currently |staying )*in (?P<x>room|seat|locker)"
        r"(?: number| no\.?)? (?P<b>[A-Z]?\d+[A-Za-z]?)\b", "my {x} number is {b}"),
)  # fmt: skip

_DOSE_CHANGE = re.compile(
    r"\b[Mm]y (?:new |current |daily |usual |morning |evening )?(?:(?P<dose>dose|dosage) of )?"
    r"(?P<x>[a-z][\w-]+)(?P<dose2> dose| dosage)?(?:'s| has| have)? (?:is|was|got|been|went|gone)"
    rf"(?: now| just| only| currently)*(?: {_CHANGED_BY}{_DIRECTION}{_FROM_OLD}{_DIRECTION} (?:to|at)"
    rf"| (?:up|down) to)?(?: at)? (?P<b>{DOSE})"
)
_SURE_UNIT = re.compile(r"(?:mg|mcg|µg|ug|iu|units?)\Z", _I)
_CHANGED_PROVIDER = re.compile(
    rf"(?P<y>){_I_HAVE}(?:changed|switched|swapped) (?P<x>[a-z]+?)s(?:[,;:]| -| —| and| so)+ (?:now )?"
    rf"(?:(?:I(?:'m| am)?|my new one is|it(?:'s| is)) )?{_NOW_ADVERBS}"
    rf"(?:(?:see|seeing|go to|going to|use|using|have|with|at|bank with|attend) )?{_NAMED_VALUE}"
)
_VERB_WITH_PREPOSITION = {"live": "live in", "work": "work at", "study": "study at"}
_PROVIDER_STATEMENTS = dict.fromkeys(("job", "employer", "company"), "I work at {b}") | dict.fromkeys(
    ("school", "college", "universitie"), "I attend {b}"
)
"""Statements for "I've changed jobs"; keys are plurals without their "s", hence "universitie"."""
_PROFESSIONAL = (
    r"(?P<x>doctor|gp|GP|vet|lawyer|solicitor|accountant|barber|hairdresser|physio|coach|trainer|tutor|cleaner"
    r"|cardiologist|dermatologist)"
)
_NEW_PROFESSIONAL = re.compile(
    rf"\b[Mm]y (?:new {_PROFESSIONAL} is {_NOW_ADVERBS}"
    rf"|{_PROFESSIONAL.replace('<x>', '<y>')} is now )(?P<b>{NAME})"
)
_IS_NEW_PROFESSIONAL = re.compile(
    rf"(?<![\w'-])(?P<b>{NAME}) is (?:now )?my (?:new {_PROFESSIONAL}\b"
    rf"|{_PROFESSIONAL.replace('<x>', '<y>')} now\b)"
)
_KIN_TOPIC = re.compile(rf"(?:\w+ ){{0,2}}(?:{alternation_pattern(KIN_EN | PETS_EN)})s?\Z")
_PARAPHRASE_HINT = re.compile(
    r"\b(?:my|our|me|myself|we|I|I'd|I'm|new|latest|today's|from now on|scales?|the rent|[Nn]o longer|use"
    r"|room|seat|allerg(?:y|ies))\b",
    _I,
)


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """The plain statement for `text[start:end]`, and the values that the text says are outdated."""

    plain: str
    start: int
    end: int
    instead_of: tuple[str, ...] = ()


def find_paraphrases(text: str) -> Iterator[PlainStatement]:
    """Find indirect wordings, the most reliable first; the rules decide which plain statements are facts."""
    if not _PARAPHRASE_HINT.search(text):
        return
    for pattern in (_CHANGED_PROVIDER, _NEW_PROFESSIONAL, _IS_NEW_PROFESSIONAL):
        if (match := pattern.search(text)) and not _NEGATED_OR_PLANNED.search(text[: match.start()]):
            yield _replacement(match)
    if (dosed := _DOSE_CHANGE.search(text)) and (
        is_medicine(dosed["x"]) or ((dosed["dose"] or dosed["dose2"]) and _SURE_UNIT.search(dosed["b"]))
    ):
        yield PlainStatement(f"I take {dosed['x']} {dosed['b']}", *dosed.span())
    for paraphrase in _PARAPHRASES:
        match = (
            paraphrase.pattern.search(text)
            if any(word in text for word in paraphrase.required_words)
            else None
        )
        if not match or _NEGATED_OR_PLANNED.search(text[: match.start()]):
            continue
        groups = {key: value.strip() for key, value in match.groupdict().items() if value}
        if _KIN_TOPIC.match(groups.get("x", "")) and not _swaps_people(match):
            continue  # a relative is no attribute: "I moved my sister to Leeds"
        if groups.get("v") in _VERB_WITH_PREPOSITION:
            groups["v"] = _VERB_WITH_PREPOSITION[groups["v"]]
        contact = "my email is" if "@" in groups["b"] else "my phone number is"
        rejected = (groups["a"],) if "a" in groups else ()
        yield PlainStatement(paraphrase.plain.format(contact=contact, **groups), *match.span(), rejected)


def _swaps_people(match: re.Match[str]) -> bool:
    """Whether the wording gives a role to somebody else: "my boss isn't Laura anymore, it's Peter"."""
    return bool(
        re.search(
            r"no longer|n't|\bnot\b|changed[,;:]|replaced|took over|taken over|succeeded", match.group()
        )
    )


def _replacement(match: re.Match[str]) -> PlainStatement:
    """The statement of "I've changed doctors, I see Dr. Klein now"; it replaces whatever was known before."""
    noun = (match["x"] or match["y"]).lower()
    plain = _PROVIDER_STATEMENTS.get(noun, "my {x} is {b}").format(x=noun, b=match["b"].strip())
    return PlainStatement(plain, *match.span(), (ALL_VALUES,))


_DOSE_CHANGED = re.compile(
    r"\b(?:bump(?:ed)?|raised?|upped|increased?|lowered|reduced?|cut|dropped|changed|doubled|switched|moved|adjusted"
    r"|titrated|taken|halved|went up|took)(?: (?:me )?(?:up|down))?(?: on)?"
    r" (?:my (?:dose of )?(?P<o>[a-z][\w-]+)|it"
    r"|the dose|that)(?: dose| dosage|"
    rf" prescription| tablets?)?(?: from {DOSE})? (?:back )?(?:up |down )?(?:to|at) (?P<dose>{DOSE})",
    re.I,
)
_DRUG_WITH_DOSE = re.compile(rf"([a-z][a-z-]+),? (?:at )?{DOSE}", re.I)
_NEGATION = re.compile(r"\bnot\b|n't")
_PUT_ON = re.compile(
    r"\b(?:put|started|got|has|have) me (?:back )?on (?:an? |some )?(?P<a>[a-z-]+(?: [a-z-]+)?)"
    rf"(?P<dose>,? {DOSE})?|\bprescribed me (?:some |an? )?(?P<b>[a-z-]+(?: [a-z-]+)?)(?P<dose2>,? {DOSE})?",
    re.I,
)
_FIRST_DAY = re.compile(
    rf"\bmy first (?:day|week|month) (?:at|with) (?P<o>{NAME})(?! (?:party|game|concert))"
)
_NOT_MY_THING = re.compile(
    r"\A(?:[\w ]{1,30}, )?(?P<o>[\w' -]{2,40}?) (?:(?:is|are)(?:n't| not) (?:really |exactly )?my"
    r" (?:thing|jam|cup of tea)"
    r"|(?:does|do)(?:n't| not) do it for me)\b",
    re.I,
)
_FAVOURITE = re.compile(
    r"(?:\A|[,;] )(?P<o>(?!(?:it|that|this|what|which|and|but|so)\b)[\w' -]{2,40}?) (?:is|are|has to be"
    r"|is still|is now|are now)"
    r" my (?:new |all[- ]time |absolute |current )*(?:favou?rite|fave) (?P<what>[a-z]+)\b(?=[ ,.!]|\Z)",
    re.I,
)
_PAID_AS = re.compile(
    r"\bI(?:'m| am) (?:\w+ )?(?:underpaid|overpaid|overworked|employed|paid|self-employed|burnt out) as an? "
    r"(?P<o>[a-z][\w-]*(?: [\w-]+){0,2}?)(?=[,.;!]|\Z| (?:and|but|at|in|for|so|with)\b)",
    re.I,
)
_INDIRECT_HINT = re.compile(r"\b(?:my|me|it)\b| as an? ", re.I)


def find_indirect_facts(sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
    """Find facts about the user in sentences with another subject: "they bumped my insulin to 12 units"."""
    text = sentence.text.replace("’", "'")
    if not _INDIRECT_HINT.search(text):
        return
    if (dose_change := _DOSE_CHANGED.search(text)) and not _NEGATION.search(
        text[: dose_change.start()][-12:]
    ):
        drug = dose_change["o"] or _last_dosed(text[: dose_change.start()])
        if drug:
            yield _indirect_fact(sentence, dose_change, "takes", f"{drug} {dose_change['dose']}")
    if prescription := _PUT_ON.search(text):
        drug, dose = (
            prescription["a"] or prescription["b"],
            (prescription["dose"] or prescription["dose2"] or "").strip(" ,"),
        )
        if is_medicine(drug) or dose:
            yield _indirect_fact(sentence, prescription, "takes", f"{drug} {dose}".strip())
    if (job := _PAID_AS.search(text)) and is_job(job["o"]):
        yield _indirect_fact(sentence, job, "works as", job["o"])
    if (employer := _FIRST_DAY.search(text)) and is_employer(employer["o"]):
        yield _indirect_fact(sentence, employer, "works at", employer["o"])
    if disliked := _NOT_MY_THING.search(text):
        yield _indirect_fact(sentence, disliked, "likes", disliked["o"], negated=True)
    if favourite := _FAVOURITE.search(text):
        yield _indirect_fact(sentence, favourite, f"favourite {favourite['what'].lower()}", favourite["o"])


def _last_dosed(text: str) -> str:
    """The medicine that "it" refers to in "they upped it to 20 mg": the last one named with a dose."""
    match = _DRUG_WITH_DOSE.findall(text)
    return str(match[-1]) if match else ""


def _indirect_fact(
    sentence: Sentence, match: re.Match[str], relation: str, value: str, *, negated: bool = False
) -> tuple[Clause, ExtractedFact]:
    """A fact about the user and the clause that states it."""
    start, end = sentence.start + match.start(), sentence.start + match.end()
    return Clause(match.group(), start, end), ExtractedFact(
        "loose", USER, relation, (value.strip(),), negated
    )
