"""An English statement -> readings: clauses, their subjects, time and negation taken off, then the tables.

Coreference is the simplest that is safe: "she" is the one woman (or person of unknown sex) that this turn has
named so far, else the one of the turns just before; "there" is the one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.text.people.kin import INDEFINITE, KIN_EN, PETS_EN
from thinkback.text.people.names import USER
from thinkback.text.sentences import Sentence
from thinkback.think.rules.english import ATTRIBUTES, KINDRED, PREDICATES
from thinkback.think.rules.english_build import built, kin_of
from thinkback.think.rules.english_clauses import agrees, clauses, polarity
from thinkback.think.rules.english_cut import late, trim
from thinkback.think.rules.english_knowledge import known
from thinkback.think.rules.english_lead import bare, spelt_out, unled, with_subject
from thinkback.think.rules.english_loose import loose
from thinkback.think.rules.english_people import Cast, mentions, pet_in, places
from thinkback.think.rules.english_profile import profiled
from thinkback.think.rules.english_restate import restated
from thinkback.think.rules.english_ties import several, tied
from thinkback.think.rules.english_time import lasting, timed, times
from thinkback.think.rules.english_words import NAME, is_name, is_plain_name
from thinkback.think.rules.rule import Clause, Reading

_PARENT = re.compile(
    r"(?P<kin>Mum|Mom|Mummy|Mommy|Mama|Dad|Daddy|Papa|Grandma|Grandpa|Granny|Nana)(?='s\s|\s+[a-z])"
)
_NOT_THAT = re.compile(
    r"(?:,|\s)\s*(?:and |but )?not (?P<o>(?!only|just|sure|a |really|too|very|any|ever|yet|at|in"
    r"|with|have |take |want |accept |use |agree )[^,;.]{1,40})\Z",
    re.I,
)
_NOW = re.compile(
    r"\b(?:(?:has |have )?(?:just )?(?:changed|gone up|gone down|risen|dropped|went up|went down"
    r"|increased|switched"
    r"|goes up|goes down|rises|is going up|is going down|came back|came out|came down|came up|crept up"
    r"|jumped|fell|is up|is down)"
    r" (?:to|at|as)(?: be)?"
    r"|is (?:now|actually|currently|really|in fact)|has (?:always |now )?been|became|reads)\b"
)
_THE_FIGURE = re.compile(
    r"(?:the |our )?(?=(?:monthly )?(?:rent|mortgage|electricity bill|phone bill|shoe size|blood (?:type"
    r"|group)"
    r"|wedding anniversary|anniversary|usual order|viva|commute|home(?= (?:is|for me|base|now|these)\b))\b)",
    re.I,
)
_VISIT = re.compile(r"\s+(?:appointment|visit|check-?up)\b")
_ACTED = re.compile(r"(?:I|we) (?:finally |just |also |have |have just )?\w+(?:ed|t|ve|ft|it)\b", re.I)
_CATENATIVE = re.compile(
    r"\b(?:to|trying|try|want|need|should|must|can|could|will|let|hope|would|keep|about|love|like|enjoy)\b",
    re.I,
)
_FINITE = re.compile(r"(?:moved|started|joined|bought|adopted|quit|got)\b")
_CALL_ME = re.compile(
    "(?:(?:you can|please|just|everyone|everybody|people|friends|they|my friends) )*[Cc]alls? me "
    rf"(?P<o>{NAME})\b"
)
_BASED = re.compile(
    rf"(?:over |up |down |out |back )?in (?P<o>{NAME})(?=,| (?:is|has|was|just|got|works?|lives?|runs?"
    rf"|who|says)\b)"
)
_LOOSE_PLACE = frozenset(("moved", "settled", "moved into"))
_TIES = frozenset(("is their kin", "is kin of"))
_PASSING = frozenset(
    ("boss", "landlord", "girlfriend", "boyfriend", "partner", "roommate", "doctor", "therapist")
)
_CAPITAL = re.compile("[A-Z]")
_WHO = re.compile(r"(?:the one |and |but )?(?:who|that)\s+(?=\S)", re.I)
_PRONOUN = re.compile(r"(he|she|his|her|they)\s+(?=\S)", re.I)
_THERE = re.compile(
    r"(?P<verb>(?:live|lives|living|moved|relocated|moving|stay|stays|settled)(?: back| out)?) there\b"
)


@dataclass(slots=True)
class Reader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    before: Cast | None = None
    subject: str = ""
    dated: bool = False
    cast: Cast = field(init=False)
    _ends: dict[int, str] = field(default_factory=dict)  # where in the sentence the name of a person ends
    _explicit: bool = False
    _cased: bool = False  # whether the writer uses capital letters
    _pet: str = ""  # the kind that was spoken of last: "got a puppy! named him Rex"
    _profile: str = ""  # whose labels follow: "Name: Eva Holm", then "Occupation: welder"

    def __post_init__(self) -> None:
        self.cast = Cast(self.people, before=self.before)

    def read(self, sentence: Sentence, about: str = "") -> Iterator[tuple[Clause, Reading]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self._cased = bool(_CAPITAL.search(sentence.text))
        restatements = list(self._restated(sentence))
        self.subject = about
        named, ties = list(self.named(sentence)), list(self._tied(sentence))
        rest = _without(sentence, [*(clause for clause, _ in restatements), *(clause for clause, _ in ties)])
        readings = [*named, *ties, *restatements, *known(sentence)]
        if not any(reading.kind == "knowledge" for _, reading in readings):
            readings += [*self._clauses(rest), *loose(rest)]
        told = profiled(sentence.text, self._profile) if not readings or self._profile else None
        if told and not readings:
            readings = [(Clause(sentence.text, *sentence[1:]), reading) for reading in told.readings]
        self._profile = told.owner if told else ""
        yield from sorted(
            readings, key=lambda read: read[0].start
        )  # a later word may bring an earlier up to date
        self.cast.places.extend(places(sentence.text))
        self._pet = pet_in(sentence.text) or self._pet

    def _restated(self, sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
        """What the sentence says in the wording of a change; its time may stand anywhere in it."""
        taken: list[Clause] = []
        for found in restated(sentence.text.replace("’", "'")):
            start, end = sentence.start + found.start, sentence.start + found.end
            if any(start < each.end and each.start < end for each in taken):
                continue
            clause = Clause(sentence.text[found.start : found.end], start, end)
            for reading in list(self._clause(Clause(found.plain, start, end), opens=False)):
                taken.append(clause)
                yield clause, self._then(replace(reading, instead_of=found.instead_of), sentence.text)

    def _then(self, reading: Reading, text: str) -> Reading:
        """The reading with the time that its sentence names elsewhere."""
        named = [] if reading.when else times(text, self.now)
        return replace(reading, when=named[0], when_said=text[slice(*named[0].span)]) if named else reading

    def _clauses(self, sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
        acted = False
        opens = True  # nothing but a word or two was said so far: "heya, moved to Leeds"
        for clause in clauses(sentence):
            if acted and not self.subject and _FINITE.match(clause.text):
                self.subject = USER  # "I handed in my notice and started at Bosch"
            self._explicit = False
            readings = list(self._clause(clause, opens=opens))
            opens = opens and not readings and len(clause.text.split()) <= 2
            wrong = _NOT_THAT.search(clause.text.rstrip(" .!"))
            for reading in readings:
                named = (late(wrong["o"]),) if wrong and not reading.negated else ()
                yield clause, replace(reading, instead_of=reading.instead_of or named)
            carried = self._explicit and self.subject and not _CATENATIVE.search(clause.text)
            if (not readings and not carried) or (readings and readings[-1].relation == "plans to"):
                self.subject = ""  # "I try to sleep and eat well": what follows need not be a fact
            acted = bool(_ACTED.match(bare(clause.text)))

    def named(self, sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
        """Whom the sentence names by their roles, wherever in it they stand."""
        self._ends = {}
        for mention in mentions(sentence.text, self._pet):
            self.cast.meet(mention.name, mention.kin)
            start, end = sentence.start + mention.start, sentence.start + mention.end
            self._ends[end] = mention.name
            clause = Clause(sentence.text[mention.start : mention.end], start, end)
            kin = (KIN_EN | PETS_EN)[mention.kin]
            yield clause, Reading("my kin", USER, f"has {kin}", (mention.name,))
            if mention.trade:
                yield clause, Reading("trade", mention.name, "works as", (mention.trade,))

    def _tied(self, sentence: Sentence) -> Iterator[tuple[Clause, Reading]]:
        """Who is what to somebody who is named, beside what the sentence says."""
        for tie in tied(sentence.text.replace("’", "'")):
            start, end = sentence.start + tie.start, sentence.start + tie.end
            if tie.name:
                self.cast.meet(tie.name, tie.reading.relation.removeprefix("has "))
            yield Clause(sentence.text[tie.start : tie.end].strip(" ,"), start, end), tie.reading

    def _clause(self, clause: Clause, *, opens: bool) -> Iterator[Reading]:
        body, when, said = timed(lasting(unled(clause.text)), self.now)
        self.dated = when is not None and not said.startswith("since ")  # when it began, not when it was
        body = spelt_out(bare(body))
        if called := _CALL_ME.match(body):
            if is_name(called["o"]):
                yield Reading("call me", USER, "goes by", (called["o"],))
            return
        if opens and not self.subject:
            body = spelt_out(with_subject(body))
        for reading in self._subject(body, clause):
            yield replace(reading, when=when, when_said=said)

    def _subject(self, body: str, clause: Clause) -> Iterator[Reading]:
        """Find whom the clause speaks of; what follows is the predicate."""
        if first := re.match(r"(?:I|we)\s+(?=\S)", body, re.I):
            self.subject, self._explicit = USER, True
            yield from self._predicate(USER, body[first.end() :])
        elif mine := re.match(r"(?:my|our)\s+", body, re.I):
            yield from self._mine(body[mine.end() :])
        elif parent := _PARENT.match(body):
            yield from self._mine(parent["kin"].lower() + body[parent.end() :])
        elif pronoun := _PRONOUN.match(body):
            yield from self._pronoun(pronoun[1].lower(), body[pronoun.end() :])
        elif who := _WHO.match(body):
            if person := self._just_named(clause):
                self.subject, self._explicit = person, True
                yield from self._predicate(person, body[who.end() :])
        elif owner := re.match(rf"({NAME})'s\s+", body):
            if is_name(owner[1]):
                yield from self._theirs(owner[1], body[owner.end() :])
        elif figure := _THE_FIGURE.match(body):
            yield from self._attribute(USER, body[figure.end()].lower() + body[figure.end() + 1 :])
        elif (named := re.match(rf"({NAME})\s+(?=[a-z])", body)) and is_name(named[1]):
            readings = list(self._predicate(named[1], body[named.end() :]))
            if readings:
                self._meet(named[1])
            yield from readings
        elif self.subject and agrees(self.subject == USER, body):
            yield from self._predicate(self.subject, body)

    def _pronoun(self, pronoun: str, rest: str) -> Iterator[Reading]:
        if person := self.cast.whom(pronoun):
            self.subject, self._explicit = person, True
            yield from (
                self._theirs(person, rest) if pronoun in ("his", "her") else self._predicate(person, rest)
            )
        else:
            self.subject = ""

    def _just_named(self, clause: Clause) -> str:
        """Whom "who" speaks of: the one whose name stands right before."""
        return next((name for end, name in self._ends.items() if 0 <= clause.start - end <= 3), "")

    def _mine(self, rest: str) -> Iterator[Reading]:
        """my sister (Anna) lives ..., my sister's name is ..., my name is ..."""
        kindred = KINDRED.match(rest)
        if not kindred or _VISIT.match(rest, kindred.end()):
            self.subject = ""
            yield from self._attribute(USER, rest)
            return
        kin = kindred["kin"]
        relation = f"has {(KIN_EN | PETS_EN).get(kin, '')}".strip()
        after = rest[kindred.end() :]
        unnamed = f"{USER}'s {kindred['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            further = after[owned.end() :]
            kept = KINDRED.match(further)
            yield from self._theirs(unnamed, further) if kept else self._attribute(unnamed, further, relation)
            return
        name = re.match(rf",?\s+\(?({NAME})[,)]?(?=\s|\Z)", after)
        if name and is_name(name[1]):
            self.subject, self._explicit = name[1], True
            told = after[name.end() :].strip()
            if based := _BASED.match(told):
                yield Reading("based", name[1], "lives in", (based["o"],))
            yield from self._predicate(name[1], told[based.end() :].strip() if based else told)
            return
        is_called = re.match(
            rf"(is|are|was) (?:now |actually |currently )?(?:called |named )?({NAME})\Z", late(after)
        )
        if is_called and is_called[1] == "was" and (self.dated or KIN_EN.get(kin) in _PASSING):
            self.subject = ""  # who it was then: somebody else may be it now
            return
        if is_called and is_name(is_called[2]):
            self._meet(is_called[2], kin)
            yield Reading("kin is", USER, relation, (is_called[2],))
            return
        if KIN_EN.get(kin) in INDEFINITE and "best" not in kindred["mods"]:
            self.subject = ""
            return
        self._meet(unnamed, kin)
        yield from self._predicate(unnamed, after.strip())

    def _theirs(self, owner: str, rest: str) -> Iterator[Reading]:
        """Anna's husband (Erik) works ..., Anna's husband is Erik, Anna's birthday is ..."""
        if all_of_them := several(owner, late(rest)):
            yield all_of_them
            return
        kindred = KINDRED.match(rest)
        if not kindred or _VISIT.match(rest, kindred.end()):
            yield from self._attribute(owner, rest)
            return
        kin, after = kindred["kin"], rest[kindred.end() :]
        unnamed = f"{owner}'s {kindred['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            yield from self._theirs(unnamed, after[owned.end() :])
            return
        called = re.match(rf"is (?:now |actually )?(?:called |named )?({NAME})\Z", late(after))
        if called and is_name(called[1]) and kin in KIN_EN | PETS_EN:
            self._meet(called[1], kin)
            yield Reading("their kin", owner, f"has {(KIN_EN | PETS_EN)[kin]}", (called[1],))
        elif KIN_EN.get(kin) not in INDEFINITE and kin not in PETS_EN:
            self._meet(unnamed, kin)
            yield from self._predicate(unnamed, after.strip())
        else:
            self.subject = ""

    def _meet(self, person: str, kin: str = "") -> None:
        self.cast.meet(person, kin)
        self.subject, self._explicit = person, True

    def _attribute(self, owner: str, rest: str, kin: str = "") -> Iterator[Reading]:
        if "'s " in owner and not kin:
            kin = f"has {(KIN_EN | PETS_EN).get(owner.rpartition(' ')[2], '')}"
        whole = late(_NOW.sub("is", rest.strip(), count=1)) or rest
        for said in dict.fromkeys((whole, late(whole.partition(", ")[0]))):
            if readings := list(self._attributed(owner, said, kin)):
                yield from readings
                return

    def _attributed(self, owner: str, said: str, kin: str) -> Iterator[Reading]:
        for rule in ATTRIBUTES:
            match = rule.pattern.match(said)
            if match and (self.dated or not rule.dated):
                value = trim(match["o"]).split(",")[0] if rule.name == "name" else trim(match["o"])
                if rule.name == "name" and not (is_name(value) or is_plain_name(value)):
                    return
                if rule.name == "name" and kin:
                    self._meet(value, kin.removeprefix("has "))
                    yield Reading("kin's name", owner.rpartition("'s ")[0], kin, (value,))
                    return
                if rule.name == "name" and value != owner:
                    yield Reading(rule.name, owner, rule.relation, (value,))
                elif rule.name != "name":
                    yield from built(rule, match, owner)
                return

    def _predicate(self, subject: str, text: str) -> Iterator[Reading]:
        body, denied, ended = polarity(self._placed(text))
        head = body.partition(", ")[0]
        for words in dict.fromkeys((body, late(body), late(head))):
            readings = list(self._ruled(subject, words, denied, ended))
            if readings:
                yield from readings
                return

    def _placed(self, text: str) -> str:
        """ "moved there" with the place that is meant, if one can be."""
        if (found := _THERE.search(text)) and (place := self.cast.where()):
            way = "to" if found["verb"].startswith(("mov", "reloc")) else "in"
            return f"{text[: found.start()]}{found['verb']} {way} {place}{text[found.end() :]}"
        return text

    def _ruled(self, subject: str, body: str, denied: bool, ended: bool) -> Iterator[Reading]:
        for rule in PREDICATES:
            match = rule.pattern.match(body)
            if not match or (denied and rule.negated) or (rule.dated and not self.dated):
                continue
            if rule.name == "is my kin":
                relation = rule.relation.format(**kin_of(match))
                yield Reading(rule.name, USER, relation, (subject,), negated=denied)
                return
            if rule.name in _TIES:
                groups = match.groupdict()
                owner = f"{USER}'s {groups['mine']}" if groups["mine"] else groups["o"]
                if not denied and (groups["mine"] or is_name(owner)):
                    say = f"{{s}}'s {groups['mods']}{groups['kin']} is {{o}}"
                    yield Reading(
                        rule.name, owner, rule.relation.format(**kin_of(match)), (subject,), say=say
                    )
                return
            readings = list(built(rule, match, subject))
            if rule.name in _LOOSE_PLACE and self._cased and readings and readings[0].objects[0].islower():
                continue  # "I moved to decaf": who writes capitals writes them in names
            if (
                rule.name in ("kin named", "pet got", "pet christened")
                and readings
                and len(readings[0].objects) == 1
            ):
                self.cast.meet(readings[0].objects[0], match["kin"])
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              say="" if denied else reading.say)  # fmt: skip
            if readings:
                return


def _without(sentence: Sentence, read: list[Clause]) -> Sentence:
    """The sentence with blanks for what was read of it: the same length, so spans hold."""
    text = sentence.text
    for clause in read:
        start, end = clause.start - sentence.start, clause.end - sentence.start
        text = text[:start] + " " * (end - start) + text[end:]
    return sentence._replace(text=text)
