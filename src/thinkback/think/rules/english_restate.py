"""English wordings of a change, put as the plain statement that they mean.

"They raised my rent to $1,350", "Bergen is my home now" and "I no longer use A; write to B" say what "my rent
is $1,350" says. Here such words become that statement, and the ordinary tables decide whether it says
something: a wording is learnt once for all relations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thinkback.text.people.kin import KIN_EN, PETS_EN, longest_first
from thinkback.think.amendment import EVERYTHING
from thinkback.think.rules.english_parts import DOSE, MONEY, WEIGHT
from thinkback.think.rules.english_words import NAME, is_medicine

_I = re.IGNORECASE
_X = r"(?P<x>[a-z][\w'-]*(?: [\w'-]+){0,3}?)"
_END = (
    r"(?=,(?!\d{3})|[;!?()]|\.?\Z|\s[-—–]+\s| (?:and|but|so|because|which|since|as|starting|now|nowadays"
    r"|these days|today|instead|this|last|yesterday|from|thanks|effective|at the moment|currently)\b)"
)
_REST = rf"(?:[^,;!?()]|,(?=\d{{3}}))*?){_END}"
_VALUE = rf"(?P<b>[\w$€£¥+]{_REST}"
_NAMED = rf"(?P<b>(?!I\b)(?:an? )?[$€£¥+]?\s?[A-Z\d]{_REST}"
_FIGURE = rf"(?P<b>(?:about |around |roughly )?[$€£¥+]?\s?\d{_REST}"
_UP = r"(?: up| down| back)?"
_FROM = r"(?: from (?:[^,;]|,(?=\d)){1,30}?)?"
_NEW = r"(?:new |current |latest |updated |main |primary |official )*"
_NOW = r"(?:now |currently |actually |just |recently |finally |officially |also )*"
_MOVED = (
    r"(?:raised|increased|bumped|upped|put|hiked|pushed|lowered|reduced|cut|dropped|changed|updated|switched"
    r"|set|adjusted|renewed|extended|shortened|doubled|halved|slashed|trimmed|knocked|brought|revised|moved)"
)
_WENT = (
    r"(?:went|gone|changed|moved|switched|rose|risen|fell|fallen|dropped|jumped|climbed|increased|decreased"
    r"|shrank|shrunk|grew|grown|improved|shortened|lengthened|come)"
)
_I_HAVE = rf"\b(?:I|[Ww]e)(?:'ve| have)? {_NOW}"
_PUT = r"(?:moved|put|switched|transferred|assigned|upgraded|bumped)"
_PHONE = r"\+?\d[\d\s().-]{4,20}\d"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_CONTACT = rf"(?P<b>{_EMAIL}|{_PHONE})"
_VERB = (
    r"(?P<v>use|drive|take|drink|eat|play|live in|work at|work for|work as|study|attend|bank with|support"
    r"|wear)"
)
_BEFORE = r"(?:\A|(?<=[:;,.!—–-] )|(?<=and )|(?<=but )|(?<=so )|(?<=now )|(?<=days ))"
_OR_SO = r"(?:[,;]| and| -| —| but)+ (?:now )?"
_NOBODY = r"(?!(?:It|That|This|There|He|She|What|Who|My|The|Here)\b)"
_NOT_AT_ALL = re.compile(
    r"(?:\bnot|n't|\bnever|\bnearly|\balmost|\bto|\bbe|\bbeing|\bnobody|\bno one|\bwill|'ll|\bcan|\bmay"
    r"|\bshould|\bmust|'d|\bwould|\bcould|\bnone)(?: (?:yet|just|even|have|been|also|ever|they|you))?\s*\Z",
    _I,
)


@dataclass(frozen=True, slots=True)
class _Wording:
    """A pattern, the statement it means, and words of which the sentence has one if the pattern fits."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    plain: str


def _row(needs: str, pattern: str, plain: str = "my {x} is {b}", flags: int = 0) -> _Wording:
    return _Wording(tuple(needs.split("|")), re.compile(pattern, flags), plain)


_WORDINGS: tuple[_Wording, ...] = (
    # somebody changed it: "they raised my rent to B", "my rent was cut to B", "it went from A to B"
    _row(" to ", rf"\b{_MOVED}{_UP} (?P<p>my|our|the) {_X}{_FROM}{_UP} to {_FIGURE}", "{p} {x} is {b}"),
    _row(" to ", rf"\b(?:changed|switched|updated|set|renamed) (?:my|our) {_X}{_FROM} (?:over )?to {_VALUE}"),
    _row(" to ", rf"\A(?:[Pp]lease )?(?:[Uu]pdate|[Cc]hange|[Ss]et|[Ss]witch) my {_X}{_FROM} to {_VALUE}"),
    _row(" to | at ", rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_X}(?:'s| has| have)? (?:was|were|got|been|just got)"
         rf" {_NOW}{_MOVED}{_UP}{_FROM}{_UP} (?:to|at) {_VALUE}", "{p} {x} is {b}"),
    _row(" from ", rf"\b(?:[Mm]y|[Oo]ur) {_X}(?:'s| has| have)? {_NOW}{_WENT}{_UP} from [^,;]{{1,30}}?"
         rf" to {_VALUE}"),
    _row(" to | at ", rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_X}(?:'s| has| have)? {_NOW}(?:{_WENT}{_UP}(?: by"
         rf" [^,;]{{1,15}}?)?"
         rf" to|stands at|sits at) {_FIGURE}", "{p} {x} is {b}"),
    _row(" where I | who I ", rf"{_BEFORE}(?P<b>{NAME}) is {_NOW}wh(?:ere|o) I (?P<v>live|work|study"
         rf"|report to)\b",
         "I {v} {b}"),
    _row("changed|went|gone", rf"\b(?P<p>[Mm]y|[Oo]ur|[Tt]he) {_X}(?:'s| has| have)? {_NOW}(?:changed"
         rf"|(?:went|gone) (?:up|down))(?:[,;:]| -| —)+ (?:and )?(?:now )?(?:it(?:'s| is) )?{_NOW}{_NAMED}",
         "{p} {x} is {b}"),
    _row("used to be ", rf"\b(?:[Mm]y|[Oo]ur) {_X} used to be [^,;]{{1,40}}?[,;]? (?:and |but )?(?:now )?"
         rf"it(?:'s| is) {_NOW}{_VALUE}"),
    # it is another: "B is my home now", "it isn't A anymore, it's B", "B replaced A as my boss"
    _row(" my | our ", rf"{_BEFORE}(?P<b>{_NOBODY}[A-Z\d+$€£][^,;:!?()]{{0,40}}?)"
         rf"(?: is| are|'s) {_NOW}(?:my|our) {_NEW}{_X}{_END}"),
    _row("no longer|n't| not ", rf"\b(?:[Mm]y|[Oo]ur) {_X} (?:is no longer|isn't|is not) [^,;]{{1,40}}?"
         rf"(?: any ?more| any longer)?(?:[,;]| but| -| —)+ (?:now )?(?:it(?:'s| is) |that(?:'s| is) )?"
         rf"{_NOW}{_NAMED}"),
    _row(" as my | as our ", rf"{_BEFORE}(?P<b>{_NOBODY}\w[\w' .-]{{0,30}}?) (?:has |have )?{_NOW}(?:replaced"
         rf"|succeeded|(?:took|taken) over(?: from)?)(?: [\w' .-]{{1,30}}?)? as (?:my|our) {_NEW}{_X}{_END}"),
    _row("become my |became my ", rf"{_BEFORE}(?P<b>{_NOBODY}\w[\w' .-]{{0,30}}?) (?:has |have )?{_NOW}"
         rf"bec[oa]me my {_NEW}{_X}{_END}"),
    _row("replaced by ", rf"\breplaced by (?P<b>{NAME}) as (?:my|our) {_X}{_END}"),
    _row(" call | consider ", r"\bI(?:'d| would) (?:call|consider) (?P<b>[\w' -]{2,40}?) (?:to be )?my "
         rf"{_NEW}{_X}{_END}"),
    # a new one: "I have a new favourite book: B", "I changed my number, it's B", "New address: B"
    _row(" a new ", rf"\b(?:I|we)(?:'ve| have)? {_NOW}(?:got |have |found |bought )?an? new {_X}"
         rf"(?::|[,;] (?:and )?(?:it(?:'s| is)|called)| -| —) {_NOW}{_VALUE}", flags=_I),
    _row(": ", rf"\A(?:(?:here's )?my )?(?:new|latest|current|updated) {_X}(?: now)?: {_VALUE}", flags=_I),
    _row("it's |it is |that's |that is ", rf"(?:{_I_HAVE}(?:changed|switched|swapped)(?! (?:my|our) )"
         rf"|\b(?:[Cc]hanged?"
         rf"|[Uu]pdated?|[Ss]witched|[Rr]eplaced?|[Ss]wapped) (?:my|our)) {_X}(?:[,;:]| -| —| and| so)+"
         rf" (?:now )?(?:it|that)(?:'s| is)"
         rf" {_NOW}{_NAMED}"),
    _row("reading|measurement|result|numbers|figures|value", r"\b(?:my|today's|latest) (?:latest |last "
         r"|newest "
         r"|current |most recent |today's )*(?:reading|measurement|result|numbers|figures|value)s?(?: today"
         rf"| this morning)?(?::| is| was| -|,) {_X} (?:of |at |is |was )?{_FIGURE}", flags=_I),
    _row("'s |latest |last ", rf"(?:[Tt]his morning's|[Tt]oday's|[Ll]atest|[Mm]y latest) {_X}(?: was| is"
         rf"|:) {_FIGURE}"),
    _row(": ", rf"\b[Mm]y {_X}(?: today| this morning| now)?: {_FIGURE}"),
    # the verb stays, what it takes is another: "I no longer drive a Golf; it's a Tesla now"
    _row("no longer|do not|don't", rf"\b(?:I|[Ww]e) (?:no longer|don't|do not) {_VERB} (?P<a>[^,;.]{{1,40}}?)"
         rf"(?: any ?more| any longer)?(?:[,;]| -| —| but)+ (?:now )?(?:it(?:'s| is) |in |at )?{_NOW}"
         rf"{_NAMED}", "I {v} {b}"),
    _row("moved out of ", rf"{_I_HAVE}moved out of [^,;]{{1,30}}? (?:and )?(?:into|to) (?P<b>{NAME}){_END}",
         "I moved to {b}"),
    _row("moved |live at ", rf"{_I_HAVE}(?:moved (?:in)?to|live at) (?P<b>\d+\w? {NAME}){_END}",
         "my address is {b}"),
    _row(" to a new ", rf"{_I_HAVE}(?:moved|switched|went|changed) to a new (?:company|employer|job|firm)[,:]"
         rf" (?:at )?(?P<b>{NAME}){_END}", "I work at {b}"),
    _row("I'm |I am ", rf"\bI(?: no longer live| don't live|'m no longer| am no longer| left|'ve left)"
         rf"(?: in)? {NAME}(?: any ?more)?{_OR_SO}I(?:'m| am) {_NOW}in (?P<b>{NAME}){_END}", "I live in {b}"),
    _row(" these days| nowadays", rf"\bI(?:'m| am) {_NOW}in (?P<b>{NAME}) (?:these days|nowadays)\b",
         "I live in {b}"),
    _row("I'm |I am ", r"\bI(?: no longer work| don't work|'m no longer| am no longer| left|'ve left)"
         rf"(?: at| for| with)? {NAME}(?: any ?more)?{_OR_SO}I(?:'m| am) {_NOW}(?:at|with)"
         rf" (?P<b>{NAME}){_END}", "I work at {b}"),
    _row(" me", rf"(?<![\w'-])(?P<b>{NAME}) (?:has |have )?{_NOW}(?:hired|employed|poached|headhunted) me"
         r"(?! (?:to|for|as (?:her|his|their))\b)", "I joined {b}"),
    # how I can be reached
    _row(" me ", r"\b(?:(?:you can|you could|please|just) )*(?:reach|call|text|ring|phone|message|e-?mail"
         rf"|contact|write to) me {_NOW}(?:on|at|under|via) (?:my \w+ )?{_CONTACT}", "{contact} {b}", _I),
    _row(" now| instead", rf"\b(?:use|call|text|dial|ring|email|write to) {_CONTACT},? (?:from now on"
         r"|instead)\b",
         "{contact} {b}", _I),
    _row("no longer use ", rf"\bno longer use (?:{_EMAIL}|{_PHONE})(?:[,;.]| -| —)+ (?:now |please )*"
         rf"(?:use |write to |it's |it is |call |e-?mail me at ){_CONTACT}", "{contact} {b}", _I),
    _row(" number| email| mail", rf"(?:\bmy|{_I_HAVE}(?:got |have )?a) new (?:(?:phone|mobile|cell|work"
         rf"|home) )?"
         rf"(?:number|e-?mail(?: address)?)(?:,|:| -)? (?:is )?{_CONTACT}", "{contact} {b}", _I),
    _row("old |previous ", rf"\bmy (?:old|previous) (?:number|e-?mail|address)\b[^.;]{{0,40}}?[,;] "
         rf"(?:please )?(?:use|call|text|write to) {_CONTACT}", "{contact} {b}", _I),
    _row("@", rf"(?P<b>{_EMAIL}) is (?:now )?my {_NEW}{_X}{_END}", "my email is {b}"),
    # none at all: "I have no drug allergies", "I take no medicine"
    _row("allerg", rf"(?:{_I_HAVE}(?:got )?|\A(?:no,? )?)no (?:known )?(?P<b>drug|medicine|medication|food)"
         r" allerg(?:y|ies)\b", "I am not allergic to any {b}", _I),
    _row("allerg", rf"(?:{_I_HAVE}(?:got )?|\A(?:no,? )?)no (?:known )?allerg(?:y|ies) to (?:any )?"
         r"(?P<b>drug|medicine|medication|food)s?\b", "I am not allergic to any {b}", _I),
    _row("allerg", rf"(?:{_I_HAVE}(?:got )?no (?:known )?|\A(?:no,? )?no (?:known )?"
         r"|\bI(?:'m| am) not allergic to )(?P<b>allerg(?:y|ies)|anything)"
         r"(?=[.,;!]|\Z| (?:at all|so far|that I know of))",
         "I am not allergic to any substance", _I),
    _row(" no ", r"\bI(?:'m| am)? (?:currently |now )?(?:take|taking|on|use) no (?:regular )?"
         r"(?P<b>medicine|medication|tablet|pill)s?\b", "I do not take any {b}", _I),
    # readings and rooms
    _row(" raise to | rise to ", rf"{_I_HAVE}[a-z ]{{0,20}}?(?:pay )?(?:raise|rise) to (?P<b>{MONEY})",
         "my salary is {b}"),
    _row(" me ", rf"\b(?:put|started|switched|moved|has|have) me (?:back |up |down )?(?:on|to|onto)"
         rf" (?P<b>{DOSE} (?:of )?[a-z][\w-]+)", "I take {b}"),
    _row("instead of ", rf"\bI(?:'m| am)? {_NOW}see(?:ing)? (?P<b>Dr\.? {NAME})(?: now)? instead of"
         rf" (?P<a>Dr\.? {NAME})", "my doctor is {b}"),
    _row("weighed ", r"\bweighed (?:myself|in)\b[\w ]{0,25}?(?::|,| -| —| at| and (?:it was|it's|i'm|i was))"
         rf" (?P<b>\d[\d.,]* ?{WEIGHT})\b", "I weigh {b}", _I),
    _row("scale", r"\b(?:the|my) (?:bathroom )?scales? (?:now )?(?:says?|said|shows?|showed|reads?|put me at)"
         rf" (?P<b>\d[\d.,]* ?{WEIGHT})\b", "I weigh {b}", _I),
    _row("room |seat |locker ", rf"(?:\b{_PUT} (?:me|us)|{_I_HAVE}(?:been |was |were |got )?{_PUT}) (?:in"
         rf"|to|into)"
         r" (?P<x>room|seat|locker)(?: number| no\.?)? (?P<b>[A-Z]?\d+[A-Za-z]?)\b", "my {x} number is {b}"),
    _row("room |seat |locker ", r"\bI(?:'m| am) (?:now |currently |staying )*in (?P<x>room|seat|locker)"
         r"(?: number| no\.?)? (?P<b>[A-Z]?\d+[A-Za-z]?)\b", "my {x} number is {b}"),
)  # fmt: skip

_DOSE = re.compile(
    r"\b[Mm]y (?:new |current |daily |usual |morning |evening )?(?:(?P<dose>dose|dosage) of )?"
    r"(?P<x>[a-z][\w-]+)(?P<dose2> dose| dosage)?(?:'s| has| have)? (?:is|was|got|been|went|gone)"
    rf"(?: now| just| only| currently)*(?: {_MOVED}{_UP}{_FROM}{_UP} (?:to|at)| (?:up|down) to)?(?: at)?"
    rf" (?P<b>{DOSE})"
)
_SURE_UNIT = re.compile(r"(?:mg|mcg|µg|ug|iu|units?)\Z", _I)
_CHANGED = re.compile(
    rf"(?P<y>){_I_HAVE}(?:changed|switched|swapped) (?P<x>[a-z]+?)s(?:[,;:]| -| —| and| so)+ (?:now )?"
    rf"(?:(?:I(?:'m| am)?|my new one is|it(?:'s| is)) )?{_NOW}(?:(?:see|seeing|go to|going to|use|using|have"
    rf"|with|at|bank with|attend) )?{_NAMED}"
)
_AT = {"live": "live in", "work": "work at", "study": "study at"}
_WHERE = {"job": "I work at {b}", "employer": "I work at {b}", "school": "I attend {b}"}
_WHERE |= {"college": "I attend {b}", "company": "I work at {b}", "universitie": "I attend {b}"}
_HIRED = (
    r"(?P<x>doctor|gp|GP|vet|lawyer|solicitor|accountant|barber|hairdresser|physio|coach|trainer|tutor|cleaner"
    r"|cardiologist|dermatologist)"
)
_NEW_ROLE = re.compile(
    rf"\b[Mm]y (?:new {_HIRED} is {_NOW}|{_HIRED.replace('<x>', '<y>')} is now )(?P<b>{NAME})"
)
_IS_NEW = re.compile(
    rf"(?<![\w'-])(?P<b>{NAME}) is (?:now )?my (?:new {_HIRED}\b|{_HIRED.replace('<x>', '<y>')} now\b)"
)
_A_ROLE = re.compile(rf"(?:\w+ ){{0,2}}(?:{longest_first(KIN_EN | PETS_EN)})s?\Z")
_HINT = re.compile(
    r"\b(?:my|our|me|myself|we|I|I'd|I'm|new|latest|today's|from now on|scales?|the rent|[Nn]o longer|use"
    r"|room|seat|allerg(?:y|ies))\b",
    _I,
)


@dataclass(frozen=True, slots=True)
class Restated:
    """The words `text[start:end]`, put plainly, and what they say is so no more."""

    plain: str
    start: int
    end: int
    instead_of: tuple[str, ...] = ()


def restated(text: str) -> Iterator[Restated]:
    """What a sentence may say in a roundabout way, the surest first; the tables tell which of it is so."""
    if not _HINT.search(text):
        return
    for pattern in (_CHANGED, _NEW_ROLE, _IS_NEW):
        if (found := pattern.search(text)) and not _NOT_AT_ALL.search(text[: found.start()]):
            yield _another(found)
    if (dosed := _DOSE.search(text)) and (
        is_medicine(dosed["x"]) or ((dosed["dose"] or dosed["dose2"]) and _SURE_UNIT.search(dosed["b"]))
    ):
        yield Restated(f"I take {dosed['x']} {dosed['b']}", *dosed.span())
    for wording in _WORDINGS:
        found = wording.pattern.search(text) if any(word in text for word in wording.needs) else None
        if not found or _NOT_AT_ALL.search(text[: found.start()]):
            continue
        groups = {key: value.strip() for key, value in found.groupdict().items() if value}
        if _A_ROLE.match(groups.get("x", "")) and not _swaps_people(found):
            continue  # "I moved my sister to Leeds"
        if groups.get("v") in _AT:
            groups["v"] = _AT[groups["v"]]
        contact = "my email is" if "@" in groups["b"] else "my phone number is"
        before = (groups["a"],) if "a" in groups else ()
        yield Restated(wording.plain.format(contact=contact, **groups), *found.span(), before)


def _swaps_people(found: re.Match[str]) -> bool:
    """Whether a role is given to somebody else: "my boss isn't Laura anymore, it's Peter"."""
    return bool(
        re.search(
            r"no longer|n't|\bnot\b|changed[,;:]|replaced|took over|taken over|succeeded", found.group()
        )
    )


def _another(found: re.Match[str]) -> Restated:
    """ "I've changed doctors, I see Dr. Klein now": the one before is it no more, whoever that was."""
    what = (found["x"] or found["y"]).lower()
    plain = _WHERE.get(what, "my {x} is {b}").format(x=what, b=found["b"].strip())
    return Restated(plain, *found.span(), (EVERYTHING,))
