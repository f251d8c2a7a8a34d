"""What an English sentence says of the user who is not its subject: "they bumped my insulin to 12 units"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.text.people.names import USER
from thinkback.text.sentences import Sentence
from thinkback.think.rules.english_parts import DOSE
from thinkback.think.rules.english_words import NAME, is_firm, is_job, is_medicine
from thinkback.think.rules.rule import Clause, Reading

_DOSED = re.compile(
    r"\b(?:bump(?:ed)?|raised?|upped|increased?|lowered|reduced?|cut|dropped|changed|doubled|switched|moved|adjusted"
    r"|titrated|taken|halved|went up|took)(?: (?:me )?(?:up|down))?(?: on)?"
    r" (?:my (?:dose of )?(?P<o>[a-z][\w-]+)|it"
    r"|the dose|that)(?: dose| dosage|"
    rf" prescription| tablets?)?(?: from {DOSE})? (?:back )?(?:up |down )?(?:to|at) (?P<dose>{DOSE})",
    re.I,
)
_DRUG = re.compile(rf"([a-z][a-z-]+),? (?:at )?{DOSE}", re.I)
_NOT = re.compile(r"\bnot\b|n't")
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
_HINT = re.compile(r"\b(?:my|me|it)\b| as an? ", re.I)


def loose(sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
    """Facts of the user wherever in a sentence they stand."""
    text = sentence.text.replace("’", "'")
    if not _HINT.search(text):
        return
    if (dosed := _DOSED.search(text)) and not _NOT.search(text[: dosed.start()][-12:]):
        drug = dosed["o"] or _last_dosed(text[: dosed.start()])
        if drug:
            yield _read(sentence, dosed, "takes", f"{drug} {dosed['dose']}")
    if put := _PUT_ON.search(text):
        drug, dose = put["a"] or put["b"], (put["dose"] or put["dose2"] or "").strip(" ,")
        if is_medicine(drug) or dose:
            yield _read(sentence, put, "takes", f"{drug} {dose}".strip())
    if (paid := _PAID_AS.search(text)) and is_job(paid["o"]):
        yield _read(sentence, paid, "works as", paid["o"])
    if (first := _FIRST_DAY.search(text)) and is_firm(first["o"]):
        yield _read(sentence, first, "works at", first["o"])
    if odd := _NOT_MY_THING.search(text):
        yield _read(sentence, odd, "likes", odd["o"], negated=True)
    if best := _FAVOURITE.search(text):
        yield _read(sentence, best, f"favourite {best['what'].lower()}", best["o"])


def _last_dosed(text: str) -> str:
    """The medicine that "it" means in "they upped it to 20 mg": the last that was named with a dose."""
    found = _DRUG.findall(text)
    return str(found[-1]) if found else ""


def _read(
    sentence: Sentence, match: re.Match[str], relation: str, value: str, *, negated: bool = False
) -> tuple[Clause, Reading]:
    start, end = sentence.start + match.start(), sentence.start + match.end()
    return Clause(match.group(), start, end), Reading("loose", USER, relation, (value.strip(),), negated)
