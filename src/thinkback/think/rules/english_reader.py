"""An English statement -> readings: clauses, their subjects, time and negation taken off, then the tables.

Coreference is the simplest that is safe: "he" or "she" is the one person this turn has named so far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.text.dates import When, resolve
from thinkback.text.kin import INDEFINITE, KIN_EN, PETS_EN
from thinkback.text.names import USER
from thinkback.text.sentences import Sentence
from thinkback.think.relations import relation_of
from thinkback.think.rules.english import ATTRIBUTES, KINDRED, PREDICATES, base_verb
from thinkback.think.rules.english_clauses import clauses, polarity
from thinkback.think.rules.english_words import (
    NAME,
    is_name,
    is_place,
    is_plain_name,
    late,
    listed,
    trim,
    trim_language,
    trim_place,
    trim_work,
    usable,
)
from thinkback.think.rules.rule import Clause, Reading, Rule

_LEAD = re.compile(
    "(?:(?:well|so|and|but|oh|hi|hey|hello|hi there|actually|in fact|by the way|btw|also|yes|yeah"
    "|yep|no|nope|sure|ok"
    "|okay|honestly|to be honest|currently|now|nowadays|these days|right now|as for me|you know"
    "|fyi|for the record"
    "|i mean|sorry|correction|update|good news|guess what|unfortunately|luckily|sadly|anyway"
    "|personally|because|then"
    "|lately|recently|of late|morning|good morning|evening|good evening|big news|quick update|news|fun"
    " fact|finally"
    "|oops|my bad|my mistake|weirdly|surprisingly|funny enough|long story short|anyways|meanwhile|at last"
    "|hobbies\\?"
    "|wait no|wait|great|thanks|thank you|ah|hmm|just so you know|to correct myself|of course|besides|plus"
    r"|too)[\s,:!.-]+"
    r"|(?:please\s+)?(?:remember|note|keep in mind|don't forget|you should know|just so you know|i "
    "should mention"
    "|i wanted to tell you|let me tell you|for your information|i meant(?: to "
    r"say)?)(?:\s+that)?[\s,:]+){1,4}",
    re.I,
)
_CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), full)
    for pattern, full in (
        (r"\b(?:I'm|im)\b", "I am"), (r"\bname's\b", "name is"), (r"\bI've\b|\bive\b", "I have"), (
            r"\b(he|she)'s\b", r"\1 is"),
        (r"\bwe're\b", "we are"), (r"\bwe've\b", "we have"), (r"\bI'll\b", "I will"), (
            r"\b(can)(?:'t|not)\b", r"\1 not"),
        (r"\bwon't\b", "will not"), (r"\b(do|does|did|is|are|was|have|has)n't\b", r"\1 not"),
        (r"\b(do|does|did|is)nt\b", r"\1 not"), (r"\bwe are\b", "we am"),
    )
)  # fmt: skip
_TOPIC = re.compile(
    r"(?:for|at|in|on|as for|when it comes to|with|during|over) (?!my (?:dreams?|head|past|novel|story"
    r"|game|next)|the "
    r"(?:dream|story|novel|game|movie|film|book|song|past|beginning))(?:[\w'-]+ ){0,3}?[\w'-]+,?\s+(?=I\s)",
    re.I,
)
_SAYING = re.compile(
    r"(?:never thought|can't believe) I'd (?:ever )?(?:say|admit|do) (?:this|that|it),?(?: but)?\s+", re.I
)
_CLEFT = re.compile(
    r"it(?:'s| is| was) (?P<o>[^,]{1,40}?),? (?:that |which |who )?I(?P<verb>'m| am| have|'ve)?"
    r" (?P<rest>[^,]+?)"
    r"(?P<tail>,\s*not .+)?\Z",
    re.I | re.S,
)
_PARENT = re.compile(
    r"(?P<kin>Mum|Mom|Mummy|Mommy|Mama|Dad|Daddy|Papa|Grandma|Grandpa|Granny|Nana)(?='s\s|\s+[a-z])"
)
_NOT_THAT = re.compile(
    r"(?:,|\s)\s*(?:and |but )?not (?P<o>(?!only|just|sure|a |really|too|very)[^,;.]{1,40})\Z", re.I
)
_NOW = re.compile(
    r"\b(?:(?:has |have )?(?:changed|gone up|gone down|risen|dropped|went up|went down|increased|switched) to"
    r"|is (?:now|actually|currently|really|in fact))\b"
)
_VISIT = re.compile(r"\s+(?:appointment|visit|check-?up)\b")
_ACTED = re.compile(
    r"(?:(?:so|and|well|ok|okay|anyway|today|finally),? )*I (?:finally |just |also )?\w+(?:ed|t|ve)\b", re.I
)
_AHEAD = re.compile(
    r"\b(?:will|going to|planning to|plans? to)\b|(?:'ll|\b(?:am|is|are|'m|'re|'s) (?!been)\w+ing)\b|'m"
    r" \w+ing\b"
)
_FINITE = re.compile(r"(?:moved|started|joined|bought|adopted|quit|got)\b")
_CALL_ME = re.compile(
    "(?:(?:you can|please|just|everyone|everybody|people|friends|they|my friends) )*[Cc]alls? me "
    rf"(?P<o>{NAME})\b"
)
_PAST = re.compile(
    r"(?:went|was|had|got|\w+ed|bought|met|saw|ate|ran|won|broke|sold|took|made|read|flew|lost)\b"
)


@dataclass(slots=True)
class Reader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    subject: str = ""
    dated: bool = False

    def read(self, sentence: Sentence, about: str = "") -> Iterator[tuple[Clause, Reading]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self.subject = about
        acted = False
        for clause in clauses(sentence):
            if acted and not self.subject and _FINITE.match(clause.text):
                self.subject = USER  # "I handed in my notice and started at Bosch"
            readings = list(self._clause(clause.text))
            wrong = _NOT_THAT.search(clause.text.rstrip(" .!"))
            for reading in readings:
                named = (wrong["o"].strip(),) if wrong and not reading.negated else ()
                yield clause, replace(reading, instead_of=named)
            if not readings or readings[-1].relation == "plans to":
                self.subject = ""  # "I try to sleep and eat well": what follows need not be a fact
            acted = bool(_ACTED.match(clause.text))

    def _clause(self, text: str) -> Iterator[Reading]:
        lead = _LEAD.match(text)
        body = text[lead.end() :] if lead else text
        body = _SAYING.sub("", body, count=1) if _SAYING.match(body) else body
        body = _TOPIC.sub("", body, count=1) if _TOPIC.match(body) else body
        body = _CLEFT.sub(_uncleft, body) if _CLEFT.match(body) else body
        body, when, said = self._time(body)
        self.dated = when is not None
        for pattern, full in _CONTRACTIONS:
            body = pattern.sub(full, body)
        if called := _CALL_ME.match(body):
            if is_name(called["o"]):
                yield Reading("call me", USER, "goes by", (called["o"],))
            return
        for reading in self._subject(body):
            yield replace(reading, when=when, when_said=said)

    def _time(self, body: str) -> tuple[str, When | None, str]:
        """Take one time expression off the beginning or the end of a clause."""
        for when in resolve(body, self.now, past=bool(_PAST.search(body)) and not _AHEAD.search(body)):
            start, end = when.span
            before, after = body[:start].rstrip(" ,"), body[end:].lstrip(" ,")
            if re.search(r"\b(?:birthday is|born|date of birth is|birth date is)(?: on| in)?\Z", before):
                continue
            if not before or not after.strip(" .!,") or len(after.split()) <= 6:
                comma = "," if body[end:].lstrip().startswith(",") else ""
                whole = f"{before}{comma} {after}" if before and after else before or after
                return whole.strip(), when, body[start:end]
        return body, None, ""

    def _subject(self, body: str) -> Iterator[Reading]:
        """Find whom the clause speaks of; what follows is the predicate."""
        if first := re.match(r"(?:I|we)\s+(?=\S)", body, re.I):
            self.subject = USER
            yield from self._predicate(USER, body[first.end() :])
        elif mine := re.match(r"(?:my|our)\s+", body, re.I):
            yield from self._mine(body[mine.end() :])
        elif parent := _PARENT.match(body):
            yield from self._mine(parent["kin"].lower() + body[parent.end() :])
        elif pronoun := re.match(r"(he|she|his|her|they)\s+", body, re.I):
            if len(set(self.people)) == 1:
                self.subject = self.people[-1]
                owned = pronoun[1].lower() in ("his", "her")
                rest = body[pronoun.end() :]
                yield from (
                    self._attribute(self.subject, rest) if owned else self._predicate(self.subject, rest)
                )
        elif owner := re.match(rf"({NAME})'s\s+", body):
            if is_name(owner[1]):
                yield from self._attribute(owner[1], body[owner.end() :])
        elif (named := re.match(rf"({NAME}) (?=[a-z])", body)) and is_name(named[1]):
            readings = list(self._predicate(named[1], body[named.end() :]))
            if readings:
                self._meet(named[1])
            yield from readings
        elif self.subject:
            yield from self._predicate(self.subject, body)

    def _mine(self, rest: str) -> Iterator[Reading]:
        """my sister (Anna) lives ..., my sister's name is ..., my name is ..."""
        kindred = KINDRED.match(rest)
        if not kindred or _VISIT.match(rest, kindred.end()):
            yield from self._attribute(USER, rest)
            return
        kin = kindred["kin"]
        relation = f"has {(KIN_EN | PETS_EN).get(kin, '')}".strip()
        after = rest[kindred.end() :]
        unnamed = f"{USER}'s {kindred['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            yield from self._attribute(unnamed, after[owned.end() :], relation)
            return
        name = re.match(rf",?\s+({NAME}),?(?=\s)", after)
        if name and is_name(name[1]):
            self._meet(name[1])
            yield Reading("my kin", USER, relation, (name[1],))
            yield from self._predicate(name[1], after[name.end() :].strip())
            return
        is_called = re.match(rf"\s+(?:is|are) (?:called |named )?({NAME})\Z", after)
        if is_called and is_name(is_called[1]):
            self._meet(is_called[1])
            yield Reading("kin is", USER, relation, (is_called[1],))
            return
        if KIN_EN.get(kin) in INDEFINITE and "best" not in kindred["mods"]:
            return
        self._meet(unnamed)
        yield from self._predicate(unnamed, after.strip())

    def _meet(self, person: str) -> None:
        self.people.append(person)
        self.subject = person

    def _attribute(self, owner: str, rest: str, kin: str = "") -> Iterator[Reading]:
        said = late(_NOW.sub("is", rest.strip(), count=1)) or rest
        for rule in ATTRIBUTES:
            match = rule.pattern.match(said)
            if match and (self.dated or not rule.dated):
                value = trim(match["o"]).split(",")[0] if rule.name == "name" else trim(match["o"])
                if rule.name == "name" and not (is_name(value) or is_plain_name(value)):
                    return
                if rule.name == "name" and kin:
                    self._meet(value)
                    yield Reading("kin's name", USER, kin, (value,))
                    return
                if rule.name == "name":
                    yield Reading(rule.name, owner, rule.relation, (value,))
                else:
                    yield from _built(rule, match, owner)
                return

    def _predicate(self, subject: str, text: str) -> Iterator[Reading]:
        body, denied, ended = polarity(text)
        head = body.partition(", ")[0]
        for words in dict.fromkeys((body, late(body), late(head))):
            readings = list(self._ruled(subject, words, denied, ended))
            if readings:
                yield from readings
                return

    def _ruled(self, subject: str, body: str, denied: bool, ended: bool) -> Iterator[Reading]:
        for rule in PREDICATES:
            match = rule.pattern.match(body)
            if not match or (denied and rule.negated) or (rule.dated and not self.dated):
                continue
            if rule.name == "is my kin":
                yield Reading(
                    rule.name, USER, rule.relation.format(**_kin(match)), (subject,), negated=denied
                )
                return
            readings = list(_built(rule, match, subject))
            if rule.name in ("kin named", "pet got") and readings and len(readings[0].objects) == 1:
                self.people.append(readings[0].objects[0])
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              say="" if denied else reading.say)  # fmt: skip
            if readings:
                return


def _uncleft(match: re.Match[str]) -> str:
    """ "it's cashews I'm allergic to, not walnuts" -> "I'm allergic to cashews, not walnuts"."""
    return f"I{match['verb'] or ''} {match['rest']} {match['o']}{match['tail'] or ''}"


def _kin(match: re.Match[str]) -> dict[str, str]:
    groups = {key: value for key, value in match.groupdict().items() if value is not None}
    if "kin" in groups:
        groups["kin"] = (KIN_EN | PETS_EN)[groups["kin"]]
    if "doing" in groups:
        groups["base"] = base_verb(groups["doing"])
    return groups


def _built(rule: Rule, match: re.Match[str], subject: str) -> Iterator[Reading]:
    """The readings of one matched rule: its objects checked, then its second relation."""
    groups = _kin(match)
    longest = 12 if rule.kind == "event" or rule.dated or rule.relation == "plans to" else 8
    value = trim(groups["o"])
    if rule.place:
        value = trim(trim_place(groups["o"]))
    if rule.relation == "works at":
        value = trim_work(value)
    objects = listed(value) if rule.split else (value,)
    if rule.relation == "speaks":
        objects = tuple(trim_language(item) for item in objects)
    good = tuple(item for item in objects if usable(item, longest) and (not rule.accept or rule.accept(item)))
    if not good or len(good) < len(objects) or (rule.place and not is_place(good[0])):
        return
    relation = rule.relation.format(**groups)
    if relation_of(relation).article:
        good = tuple(re.sub(r"^(?:an?|the) ", "", item) for item in good)
    if "base" in groups:
        good = (f"{groups['base']} {good[0]}",)
    say = rule.say if rule.say and "{than}" not in rule.say and "{base}" not in rule.say else ""
    if "{than}" in rule.say:
        say = rule.say.replace("{than}", trim(groups["than"]))
    if "verb" in groups and rule.kind == "event":
        say = "{s} " + groups["verb"] + " {o}"
    yield Reading(rule.name, subject, relation, good, rule.negated, rule.ended, rule.kind, say)
    if rule.also and groups.get("also") and usable(second := trim_work(trim(groups["also"]))):
        yield Reading(rule.name, subject, rule.also, (second,), rule.negated, rule.ended)
