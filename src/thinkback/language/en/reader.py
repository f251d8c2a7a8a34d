"""An English statement -> readings: clauses, their subjects, time and negation taken off, then the tables.

Coreference is the simplest that is safe: "she" is the one woman (or person of unknown sex) that this turn has
named so far, else the one of the turns just before; "there" is the one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.language.en.clauses import (
    add_missing_subject,
    expand_contractions,
    find_times,
    split_clauses,
    strip_fillers,
    strip_lead_in,
    take_negation,
    take_time,
    to_present_state,
    verb_agrees,
)
from thinkback.language.en.coreference import (
    MentionContext,
    find_named_people,
    find_places,
    find_relationships,
    last_pet,
    read_several_relatives,
)
from thinkback.language.en.lexicon import NAME, is_lowercase_name, is_name
from thinkback.language.en.paraphrases import find_indirect_facts, find_paraphrases
from thinkback.language.en.profiles import find_world_facts, read_profile_line
from thinkback.language.en.rules import (
    ATTRIBUTE_RULES,
    KIN_MENTION,
    PREDICATE_RULES,
    build_facts,
    match_groups,
    strip_trailing_adverbs,
    trim_value,
)
from thinkback.language.kinship import INDEFINITE_ROLES, KIN_EN, PETS_EN
from thinkback.language.names import USER
from thinkback.language.rules import Clause, ExtractedFact
from thinkback.language.sentences import Sentence

_PARENT_NAME = re.compile(
    r"(?P<kin>Mum|Mom|Mummy|Mommy|Mama|Dad|Daddy|Papa|Grandma|Grandpa|Granny|Nana)(?='s\s|\s+[a-z])"
)
_NOT_OLD_VALUE = re.compile(
    r"(?:,|\s)\s*(?:and |but )?not (?P<o>(?!only|just|sure|a |really|too|very|any|ever|yet|at|in"
    r"|with|have |take |want |accept |use |agree )[^,;.]{1,40})\Z",
    re.I,
)
_CHANGED_TO = re.compile(
    r"\b(?:(?:has |have )?(?:just )?(?:changed|gone up|gone down|risen|dropped|went up|went down"
    r"|increased|switched"
    r"|goes up|goes down|rises|is going up|is going down|came back|came out|came down|came up|crept up"
    r"|jumped|fell|is up|is down)"
    r" (?:to|at|as)(?: be)?"
    r"|is (?:now|actually|currently|really|in fact)|has (?:always |now )?been|became|reads)\b"
)
_OWN_ATTRIBUTE = re.compile(
    r"(?:the |our )?(?=(?:monthly )?(?:rent|mortgage|electricity bill|phone bill|shoe size|blood (?:type"
    r"|group)"
    r"|wedding anniversary|anniversary|usual order|viva|commute|home(?= (?:is|for me|base|now|these)\b))\b)",
    re.I,
)
_APPOINTMENT = re.compile(r"\s+(?:appointment|visit|check-?up)\b")
_USER_ACTION = re.compile(r"(?:I|we) (?:finally |just |also |have |have just )?\w+(?:ed|t|ve|ft|it)\b", re.I)
_CATENATIVE = re.compile(
    r"\b(?:to|trying|try|want|need|should|must|can|could|will|let|hope|would|keep|about|love|like|enjoy)\b",
    re.I,
)
_PAST_VERB = re.compile(r"(?:moved|started|joined|bought|adopted|quit|got)\b")
_CALL_ME = re.compile(
    "(?:(?:you can|please|just|everyone|everybody|people|friends|they|my friends) )*[Cc]alls? me "
    rf"(?P<o>{NAME})\b"
)
_BASED_IN = re.compile(
    rf"(?:over |up |down |out |back )?in (?P<o>{NAME})(?=,| (?:is|has|was|just|got|works?|lives?|runs?"
    rf"|who|says)\b)"
)
_MOVING_RULES = frozenset(("moved", "settled", "moved into"))
_RELATIONSHIP_RULES = frozenset(("is their kin", "is kin of"))
_CHANGEABLE_KIN = frozenset(
    ("boss", "landlord", "girlfriend", "boyfriend", "partner", "roommate", "doctor", "therapist")
)
_CAPITAL_LETTER = re.compile("[A-Z]")
_RELATIVE_PRONOUN = re.compile(r"(?:the one |and |but )?(?:who|that)\s+(?=\S)", re.I)
_PERSONAL_PRONOUN = re.compile(r"(he|she|his|her|they)\s+(?=\S)", re.I)
_MOVED_THERE = re.compile(
    r"(?P<verb>(?:live|lives|living|moved|relocated|moving|stay|stays|settled)(?: back| out)?) there\b"
)


@dataclass(slots=True)
class EnglishReader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    previous_mentions: MentionContext | None = None
    subject: str = ""
    has_time: bool = False
    mentions: MentionContext = field(init=False)
    _name_ends: dict[int, str] = field(
        default_factory=dict
    )  # where in the sentence the name of a person ends
    _has_explicit_subject: bool = False
    _uses_capitals: bool = False  # whether the writer uses capital letters
    _last_pet: str = ""  # the kind that was spoken of last: "got a puppy! named him Rex"
    _profile_owner: str = ""  # whose labels follow: "Name: Eva Holm", then "Occupation: welder"

    def __post_init__(self) -> None:
        self.mentions = MentionContext(self.people, previous=self.previous_mentions)

    def read(self, sentence: Sentence, default_subject: str = "") -> Iterator[tuple[Clause, ExtractedFact]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self._uses_capitals = bool(_CAPITAL_LETTER.search(sentence.text))
        restatements = list(self._read_paraphrases(sentence))
        self.subject = default_subject
        named, ties = list(self.read_names(sentence)), list(self._read_relationships(sentence))
        rest = _blank_out(
            sentence, [*(clause for clause, _ in restatements), *(clause for clause, _ in ties)]
        )
        readings = [*named, *ties, *restatements, *find_world_facts(sentence)]
        if not any(reading.kind == "knowledge" for _, reading in readings):
            readings += [*self._read_clauses(rest), *find_indirect_facts(rest)]
        told = (
            read_profile_line(sentence.text, self._profile_owner)
            if not readings or self._profile_owner
            else None
        )
        if told and not readings:
            readings = [(Clause(sentence.text, *sentence[1:]), reading) for reading in told.facts]
        self._profile_owner = told.owner if told else ""
        yield from sorted(
            readings, key=lambda read: read[0].start
        )  # a later word may bring an earlier up to date
        self.mentions.places.extend(find_places(sentence.text))
        self._last_pet = last_pet(sentence.text) or self._last_pet

    def _read_paraphrases(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """What the sentence says in the wording of a change; its time may stand anywhere in it."""
        taken: list[Clause] = []
        for found in find_paraphrases(sentence.text.replace("’", "'")):
            start, end = sentence.start + found.start, sentence.start + found.end
            if any(start < each.end and each.start < end for each in taken):
                continue
            clause = Clause(sentence.text[found.start : found.end], start, end)
            for reading in list(self._read_clause(Clause(found.plain, start, end), opens=False)):
                taken.append(clause)
                yield (
                    clause,
                    self._add_sentence_time(replace(reading, instead_of=found.instead_of), sentence.text),
                )

    def _add_sentence_time(self, reading: ExtractedFact, text: str) -> ExtractedFact:
        """The reading with the time that its sentence names elsewhere."""
        named = [] if reading.when else find_times(text, self.now)
        return replace(reading, when=named[0], time_text=text[slice(*named[0].span)]) if named else reading

    def _read_clauses(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        acted = False
        opens = True  # nothing but a word or two was said so far: "heya, moved to Leeds"
        for clause in split_clauses(sentence):
            if acted and not self.subject and _PAST_VERB.match(clause.text):
                self.subject = USER  # "I handed in my notice and started at Bosch"
            self._has_explicit_subject = False
            readings = list(self._read_clause(clause, opens=opens))
            opens = opens and not readings and len(clause.text.split()) <= 2
            wrong = _NOT_OLD_VALUE.search(clause.text.rstrip(" .!"))
            for reading in readings:
                named = (strip_trailing_adverbs(wrong["o"]),) if wrong and not reading.negated else ()
                yield clause, replace(reading, instead_of=reading.instead_of or named)
            carried = self._has_explicit_subject and self.subject and not _CATENATIVE.search(clause.text)
            if (not readings and not carried) or (readings and readings[-1].relation == "plans to"):
                self.subject = ""  # "I try to sleep and eat well": what follows need not be a fact
            acted = bool(_USER_ACTION.match(strip_lead_in(clause.text)))

    def read_names(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Whom the sentence names by their roles, wherever in it they stand."""
        self._name_ends = {}
        for mention in find_named_people(sentence.text, self._last_pet):
            self.mentions.add_person(mention.name, mention.kin)
            start, end = sentence.start + mention.start, sentence.start + mention.end
            self._name_ends[end] = mention.name
            clause = Clause(sentence.text[mention.start : mention.end], start, end)
            kin = (KIN_EN | PETS_EN)[mention.kin]
            yield clause, ExtractedFact("my kin", USER, f"has {kin}", (mention.name,))
            if mention.job:
                yield clause, ExtractedFact("trade", mention.name, "works as", (mention.job,))

    def _read_relationships(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Who is what to somebody who is named, beside what the sentence says."""
        for tie in find_relationships(sentence.text.replace("’", "'")):
            start, end = sentence.start + tie.start, sentence.start + tie.end
            if tie.name:
                self.mentions.add_person(tie.name, tie.fact.relation.removeprefix("has "))
            yield Clause(sentence.text[tie.start : tie.end].strip(" ,"), start, end), tie.fact

    def _read_clause(self, clause: Clause, *, opens: bool) -> Iterator[ExtractedFact]:
        body, when, said = take_time(to_present_state(strip_fillers(clause.text)), self.now)
        self.has_time = when is not None and not said.startswith("since ")  # when it began, not when it was
        body = expand_contractions(strip_lead_in(body))
        if called := _CALL_ME.match(body):
            if is_name(called["o"]):
                yield ExtractedFact("call me", USER, "goes by", (called["o"],))
            return
        if opens and not self.subject:
            body = expand_contractions(add_missing_subject(body))
        for reading in self._read_subject(body, clause):
            yield replace(reading, when=when, time_text=said)

    def _read_subject(self, body: str, clause: Clause) -> Iterator[ExtractedFact]:
        """Find whom the clause speaks of; what follows is the predicate."""
        if first := re.match(r"(?:I|we)\s+(?=\S)", body, re.I):
            self.subject, self._has_explicit_subject = USER, True
            yield from self._read_predicate(USER, body[first.end() :])
        elif mine := re.match(r"(?:my|our)\s+", body, re.I):
            yield from self._read_own(body[mine.end() :])
        elif parent := _PARENT_NAME.match(body):
            yield from self._read_own(parent["kin"].lower() + body[parent.end() :])
        elif pronoun := _PERSONAL_PRONOUN.match(body):
            yield from self._read_pronoun(pronoun[1].lower(), body[pronoun.end() :])
        elif who := _RELATIVE_PRONOUN.match(body):
            if person := self._just_named(clause):
                self.subject, self._has_explicit_subject = person, True
                yield from self._read_predicate(person, body[who.end() :])
        elif owner := re.match(rf"({NAME})'s\s+", body):
            if is_name(owner[1]):
                yield from self._read_owned_by_other(owner[1], body[owner.end() :])
        elif figure := _OWN_ATTRIBUTE.match(body):
            yield from self._read_attribute(USER, body[figure.end()].lower() + body[figure.end() + 1 :])
        elif (named := re.match(rf"({NAME})\s+(?=[a-z])", body)) and is_name(named[1]):
            readings = list(self._read_predicate(named[1], body[named.end() :]))
            if readings:
                self._switch_to_person(named[1])
            yield from readings
        elif self.subject and verb_agrees(self.subject == USER, body):
            yield from self._read_predicate(self.subject, body)

    def _read_pronoun(self, pronoun: str, rest: str) -> Iterator[ExtractedFact]:
        if person := self.mentions.resolve_pronoun(pronoun):
            self.subject, self._has_explicit_subject = person, True
            yield from (
                self._read_owned_by_other(person, rest)
                if pronoun in ("his", "her")
                else self._read_predicate(person, rest)
            )
        else:
            self.subject = ""

    def _just_named(self, clause: Clause) -> str:
        """Whom "who" speaks of: the one whose name stands right before."""
        return next((name for end, name in self._name_ends.items() if 0 <= clause.start - end <= 3), "")

    def _read_own(self, rest: str) -> Iterator[ExtractedFact]:
        """my sister (Anna) lives ..., my sister's name is ..., my name is ..."""
        kindred = KIN_MENTION.match(rest)
        if not kindred or _APPOINTMENT.match(rest, kindred.end()):
            self.subject = ""
            yield from self._read_attribute(USER, rest)
            return
        kin = kindred["kin"]
        relation = f"has {(KIN_EN | PETS_EN).get(kin, '')}".strip()
        after = rest[kindred.end() :]
        unnamed = f"{USER}'s {kindred['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            further = after[owned.end() :]
            kept = KIN_MENTION.match(further)
            yield from (
                self._read_owned_by_other(unnamed, further)
                if kept
                else self._read_attribute(unnamed, further, relation)
            )
            return
        name = re.match(rf",?\s+\(?({NAME})[,)]?(?=\s|\Z)", after)
        if name and is_name(name[1]):
            self.subject, self._has_explicit_subject = name[1], True
            told = after[name.end() :].strip()
            if based := _BASED_IN.match(told):
                yield ExtractedFact("based", name[1], "lives in", (based["o"],))
            yield from self._read_predicate(name[1], told[based.end() :].strip() if based else told)
            return
        is_called = re.match(
            rf"(is|are|was) (?:now |actually |currently )?(?:called |named )?({NAME})\Z",
            strip_trailing_adverbs(after),
        )
        if is_called and is_called[1] == "was" and (self.has_time or KIN_EN.get(kin) in _CHANGEABLE_KIN):
            self.subject = ""  # who it was then: somebody else may be it now
            return
        if is_called and is_name(is_called[2]):
            self._switch_to_person(is_called[2], kin)
            yield ExtractedFact("kin is", USER, relation, (is_called[2],))
            return
        if KIN_EN.get(kin) in INDEFINITE_ROLES and "best" not in kindred["mods"]:
            self.subject = ""
            return
        self._switch_to_person(unnamed, kin)
        yield from self._read_predicate(unnamed, after.strip())

    def _read_owned_by_other(self, owner: str, rest: str) -> Iterator[ExtractedFact]:
        """Anna's husband (Erik) works ..., Anna's husband is Erik, Anna's birthday is ..."""
        if all_of_them := read_several_relatives(owner, strip_trailing_adverbs(rest)):
            yield all_of_them
            return
        kindred = KIN_MENTION.match(rest)
        if not kindred or _APPOINTMENT.match(rest, kindred.end()):
            yield from self._read_attribute(owner, rest)
            return
        kin, after = kindred["kin"], rest[kindred.end() :]
        unnamed = f"{owner}'s {kindred['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            yield from self._read_owned_by_other(unnamed, after[owned.end() :])
            return
        called = re.match(
            rf"is (?:now |actually )?(?:called |named )?({NAME})\Z", strip_trailing_adverbs(after)
        )
        if called and is_name(called[1]) and kin in KIN_EN | PETS_EN:
            self._switch_to_person(called[1], kin)
            yield ExtractedFact("their kin", owner, f"has {(KIN_EN | PETS_EN)[kin]}", (called[1],))
        elif KIN_EN.get(kin) not in INDEFINITE_ROLES and kin not in PETS_EN:
            self._switch_to_person(unnamed, kin)
            yield from self._read_predicate(unnamed, after.strip())
        else:
            self.subject = ""

    def _switch_to_person(self, person: str, kin: str = "") -> None:
        self.mentions.add_person(person, kin)
        self.subject, self._has_explicit_subject = person, True

    def _read_attribute(self, owner: str, rest: str, kin: str = "") -> Iterator[ExtractedFact]:
        if "'s " in owner and not kin:
            kin = f"has {(KIN_EN | PETS_EN).get(owner.rpartition(' ')[2], '')}"
        whole = strip_trailing_adverbs(_CHANGED_TO.sub("is", rest.strip(), count=1)) or rest
        for said in dict.fromkeys((whole, strip_trailing_adverbs(whole.partition(", ")[0]))):
            if readings := list(self._match_attribute_rules(owner, said, kin)):
                yield from readings
                return

    def _match_attribute_rules(self, owner: str, said: str, kin: str) -> Iterator[ExtractedFact]:
        for rule in ATTRIBUTE_RULES:
            match = rule.pattern.match(said)
            if match and (self.has_time or not rule.needs_time):
                value = (
                    trim_value(match["o"]).split(",")[0] if rule.name == "name" else trim_value(match["o"])
                )
                if rule.name == "name" and not (is_name(value) or is_lowercase_name(value)):
                    return
                if rule.name == "name" and kin:
                    self._switch_to_person(value, kin.removeprefix("has "))
                    yield ExtractedFact("kin's name", owner.rpartition("'s ")[0], kin, (value,))
                    return
                if rule.name == "name" and value != owner:
                    yield ExtractedFact(rule.name, owner, rule.relation, (value,))
                elif rule.name != "name":
                    yield from build_facts(rule, match, owner)
                return

    def _read_predicate(self, subject: str, text: str) -> Iterator[ExtractedFact]:
        body, denied, ended = take_negation(self._resolve_there(text))
        head = body.partition(", ")[0]
        for words in dict.fromkeys((body, strip_trailing_adverbs(body), strip_trailing_adverbs(head))):
            readings = list(self._match_predicate_rules(subject, words, denied, ended))
            if readings:
                yield from readings
                return

    def _resolve_there(self, text: str) -> str:
        """ "moved there" with the place that is meant, if one can be."""
        if (found := _MOVED_THERE.search(text)) and (place := self.mentions.resolve_place()):
            way = "to" if found["verb"].startswith(("mov", "reloc")) else "in"
            return f"{text[: found.start()]}{found['verb']} {way} {place}{text[found.end() :]}"
        return text

    def _match_predicate_rules(
        self, subject: str, body: str, denied: bool, ended: bool
    ) -> Iterator[ExtractedFact]:
        for rule in PREDICATE_RULES:
            match = rule.pattern.match(body)
            if not match or (denied and rule.negated) or (rule.needs_time and not self.has_time):
                continue
            if rule.name == "is my kin":
                relation = rule.relation.format(**match_groups(match))
                yield ExtractedFact(rule.name, USER, relation, (subject,), negated=denied)
                return
            if rule.name in _RELATIONSHIP_RULES:
                groups = match.groupdict()
                owner = f"{USER}'s {groups['mine']}" if groups["mine"] else groups["o"]
                if not denied and (groups["mine"] or is_name(owner)):
                    say = f"{{s}}'s {groups['mods']}{groups['kin']} is {{o}}"
                    yield ExtractedFact(
                        rule.name,
                        owner,
                        rule.relation.format(**match_groups(match)),
                        (subject,),
                        template=say,
                    )
                return
            readings = list(build_facts(rule, match, subject))
            if (
                rule.name in _MOVING_RULES
                and self._uses_capitals
                and readings
                and readings[0].objects[0].islower()
            ):
                continue  # "I moved to decaf": who writes capitals writes them in names
            if (
                rule.name in ("kin named", "pet got", "pet christened")
                and readings
                and len(readings[0].objects) == 1
            ):
                self.mentions.add_person(readings[0].objects[0], match["kin"])
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              template="" if denied else reading.template)  # fmt: skip
            if readings:
                return


def _blank_out(sentence: Sentence, read: list[Clause]) -> Sentence:
    """The sentence with blanks for what was read of it: the same length, so spans hold."""
    text = sentence.text
    for clause in read:
        start, end = clause.start - sentence.start, clause.end - sentence.start
        text = text[:start] + " " * (end - start) + text[end:]
    return sentence._replace(text=text)
