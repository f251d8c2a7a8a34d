"""Reads the facts of English statements, clause by clause.

For each clause the reader finds the subject, removes time and negation, and matches the rules. Coreference is
conservative: "she" is the only woman (or person of unknown gender) mentioned so far in this turn, otherwise
in the turns before; "there" is the only place.
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
    KIN_MENTION,
    PREDICATE_RULES,
    build_facts,
    match_groups,
    strip_trailing_adverbs,
    trim_value,
)
from thinkback.language.en.rules_profile import ATTRIBUTE_RULES
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
_NAMING_RULES = frozenset(("kin named", "pet got", "pet christened"))
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
    """Reads the statements of one turn in order and remembers the people mentioned."""

    now: datetime
    people: list[str] = field(default_factory=list)
    previous_mentions: MentionContext | None = None
    subject: str = ""
    """Subject of the last clause; a clause without a subject continues it."""
    has_time: bool = False
    """Whether the current clause has a time expression."""
    mentions: MentionContext = field(init=False)
    _name_ends: dict[int, str] = field(default_factory=dict)
    """End offset of a name in the sentence -> name."""
    _has_explicit_subject: bool = False
    _uses_capitals: bool = False
    _last_pet: str = ""
    """Kind of the pet mentioned last: "got a puppy! named him Rex"."""
    _profile_owner: str = ""
    """Person whom the next labels describe: "Name: Eva Holm", then "Occupation: welder"."""

    def __post_init__(self) -> None:
        self.mentions = MentionContext(self.people, previous=self.previous_mentions)

    def read(self, sentence: Sentence, default_subject: str = "") -> Iterator[tuple[Clause, ExtractedFact]]:
        """Yield the facts of a sentence with the clauses that state them.

        `default_subject` is the subject of a first clause that names nobody.
        """
        self._uses_capitals = bool(_CAPITAL_LETTER.search(sentence.text))
        paraphrases = list(self._read_paraphrases(sentence))
        self.subject = default_subject
        named, relationships = list(self.read_names(sentence)), list(self._read_relationships(sentence))
        rest = _blank_out(sentence, [clause for clause, _ in (*paraphrases, *relationships)])
        facts = [*named, *relationships, *paraphrases, *find_world_facts(sentence)]
        if not any(fact.kind == "knowledge" for _, fact in facts):
            facts += [*self._read_clauses(rest), *find_indirect_facts(rest)]
        profile = None
        if not facts or self._profile_owner:
            profile = read_profile_line(sentence.text, self._profile_owner)
        if profile and not facts:
            facts = [(Clause(sentence.text, *sentence[1:]), fact) for fact in profile.facts]
        self._profile_owner = profile.owner if profile else ""
        yield from sorted(facts, key=lambda item: item[0].start)  # a later fact may update an earlier one
        self.mentions.places.extend(find_places(sentence.text))
        self._last_pet = last_pet(sentence.text) or self._last_pet

    def _read_paraphrases(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Facts in indirect wordings; their time may be anywhere in the sentence."""
        used: list[Clause] = []
        for statement in find_paraphrases(sentence.text.replace("’", "'")):
            start, end = sentence.start + statement.start, sentence.start + statement.end
            if any(start < other.end and other.start < end for other in used):
                continue
            clause = Clause(sentence.text[statement.start : statement.end], start, end)
            for fact in list(self._read_clause(Clause(statement.plain, start, end), opens=False)):
                used.append(clause)
                yield (
                    clause,
                    self._add_sentence_time(replace(fact, instead_of=statement.instead_of), sentence.text),
                )

    def _add_sentence_time(self, fact: ExtractedFact, text: str) -> ExtractedFact:
        """Add the time expression of the sentence to a fact that has none."""
        times = [] if fact.when else find_times(text, self.now)
        return replace(fact, when=times[0], time_text=text[slice(*times[0].span)]) if times else fact

    def _read_clauses(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Facts of the clauses, with omitted subjects carried over."""
        after_action = False
        opens = True  # so far only a word or two: "heya, moved to Leeds"
        for clause in split_clauses(sentence):
            if after_action and not self.subject and _PAST_VERB.match(clause.text):
                self.subject = USER  # "I handed in my notice and started at Bosch"
            self._has_explicit_subject = False
            facts = list(self._read_clause(clause, opens=opens))
            opens = opens and not facts and len(clause.text.split()) <= 2
            rejected = _NOT_OLD_VALUE.search(clause.text.rstrip(" .!"))
            for fact in facts:
                rejected_values = (
                    (strip_trailing_adverbs(rejected["o"]),) if rejected and not fact.negated else ()
                )
                yield clause, replace(fact, instead_of=fact.instead_of or rejected_values)
            keeps_subject = (
                self._has_explicit_subject and self.subject and not _CATENATIVE.search(clause.text)
            )
            if (not facts and not keeps_subject) or (facts and facts[-1].relation == "plans to"):
                self.subject = ""  # "I try to sleep and eat well" states no fact
            after_action = bool(_USER_ACTION.match(strip_lead_in(clause.text)))

    def read_names(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Facts about who somebody is to the user ("my neighbour Priya"), anywhere in the sentence."""
        self._name_ends = {}
        for person in find_named_people(sentence.text, self._last_pet):
            self.mentions.add_person(person.name, person.kin)
            start, end = sentence.start + person.start, sentence.start + person.end
            self._name_ends[end] = person.name
            clause = Clause(sentence.text[person.start : person.end], start, end)
            kin = (KIN_EN | PETS_EN)[person.kin]
            yield clause, ExtractedFact("my kin", USER, f"has {kin}", (person.name,))
            if person.job:
                yield clause, ExtractedFact("trade", person.name, "works as", (person.job,))

    def _read_relationships(self, sentence: Sentence) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Facts about how other people are related, mentioned in passing."""
        for relationship in find_relationships(sentence.text.replace("’", "'")):
            start, end = sentence.start + relationship.start, sentence.start + relationship.end
            if relationship.name:
                self.mentions.add_person(relationship.name, relationship.fact.relation.removeprefix("has "))
            yield (
                Clause(sentence.text[relationship.start : relationship.end].strip(" ,"), start, end),
                relationship.fact,
            )

    def _read_clause(self, clause: Clause, *, opens: bool) -> Iterator[ExtractedFact]:
        """Facts of one clause; `opens` allows a fragment without "I"."""
        body, when, time_text = take_time(to_present_state(strip_fillers(clause.text)), self.now)
        # "since" gives the beginning of a state, not the time of an event
        self.has_time = when is not None and not time_text.startswith("since ")
        body = expand_contractions(strip_lead_in(body))
        if nickname := _CALL_ME.match(body):
            if is_name(nickname["o"]):
                yield ExtractedFact("call me", USER, "goes by", (nickname["o"],))
            return
        if opens and not self.subject:
            body = expand_contractions(add_missing_subject(body))
        for fact in self._read_subject(body, clause):
            yield replace(fact, when=when, time_text=time_text)

    def _read_subject(self, body: str, clause: Clause) -> Iterator[ExtractedFact]:
        """Find the subject of a clause and read the rest as its predicate."""
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
            facts = list(self._read_predicate(named[1], body[named.end() :]))
            if facts:
                self._switch_to_person(named[1])
            yield from facts
        elif self.subject and verb_agrees(self.subject == USER, body):
            yield from self._read_predicate(self.subject, body)

    def _read_pronoun(self, pronoun: str, rest: str) -> Iterator[ExtractedFact]:
        """Read a clause that starts with a pronoun."""
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
        """The person that "who" refers to: the one named directly before the clause."""
        return next((name for end, name in self._name_ends.items() if 0 <= clause.start - end <= 3), "")

    def _read_own(self, rest: str) -> Iterator[ExtractedFact]:
        """Read what follows "my": "sister (Anna) lives ...", "sister's name is ...", "name is ..."."""
        mention = KIN_MENTION.match(rest)
        if not mention or _APPOINTMENT.match(rest, mention.end()):
            self.subject = ""
            yield from self._read_attribute(USER, rest)
            return
        kin = mention["kin"]
        relation = f"has {(KIN_EN | PETS_EN).get(kin, '')}".strip()
        after = rest[mention.end() :]
        unnamed = f"{USER}'s {mention['mods']}{kin}"
        if owned := re.match(r"'s\s+", after):
            further = after[owned.end() :]
            is_relative = KIN_MENTION.match(further)
            yield from (
                self._read_owned_by_other(unnamed, further)
                if is_relative
                else self._read_attribute(unnamed, further, relation)
            )
            return
        name = re.match(rf",?\s+\(?({NAME})[,)]?(?=\s|\Z)", after)
        if name and is_name(name[1]):
            self.subject, self._has_explicit_subject = name[1], True
            predicate = after[name.end() :].strip()
            if home := _BASED_IN.match(predicate):
                yield ExtractedFact("based", name[1], "lives in", (home["o"],))
            yield from self._read_predicate(name[1], predicate[home.end() :].strip() if home else predicate)
            return
        is_called = re.match(
            rf"(is|are|was) (?:now |actually |currently )?(?:called |named )?({NAME})\Z",
            strip_trailing_adverbs(after),
        )
        if is_called and is_called[1] == "was" and (self.has_time or KIN_EN.get(kin) in _CHANGEABLE_KIN):
            self.subject = ""  # "my boss was Ann": somebody else may be the boss now
            return
        if is_called and is_name(is_called[2]):
            self._switch_to_person(is_called[2], kin)
            yield ExtractedFact("kin is", USER, relation, (is_called[2],))
            return
        if KIN_EN.get(kin) in INDEFINITE_ROLES and "best" not in mention["mods"]:
            self.subject = ""
            return
        self._switch_to_person(unnamed, kin)
        yield from self._read_predicate(unnamed, after.strip())

    def _read_owned_by_other(self, owner: str, rest: str) -> Iterator[ExtractedFact]:
        """Read what follows "Anna's": "husband (Erik) works ...", "husband is Erik", "birthday is ..."."""
        if relatives := read_several_relatives(owner, strip_trailing_adverbs(rest)):
            yield relatives
            return
        mention = KIN_MENTION.match(rest)
        if not mention or _APPOINTMENT.match(rest, mention.end()):
            yield from self._read_attribute(owner, rest)
            return
        kin, after = mention["kin"], rest[mention.end() :]
        unnamed = f"{owner}'s {mention['mods']}{kin}"
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
        """Make a person the subject and record the mention."""
        self.mentions.add_person(person, kin)
        self.subject, self._has_explicit_subject = person, True

    def _read_attribute(self, owner: str, rest: str, kin: str = "") -> Iterator[ExtractedFact]:
        """Facts of "owner's rest"; tried with and without what follows the first comma."""
        if "'s " in owner and not kin:
            kin = f"has {(KIN_EN | PETS_EN).get(owner.rpartition(' ')[2], '')}"
        text = strip_trailing_adverbs(_CHANGED_TO.sub("is", rest.strip(), count=1)) or rest
        for words in dict.fromkeys((text, strip_trailing_adverbs(text.partition(", ")[0]))):
            if facts := list(self._match_attribute_rules(owner, words, kin)):
                yield from facts
                return

    def _match_attribute_rules(self, owner: str, text: str, kin: str) -> Iterator[ExtractedFact]:
        """Facts of the first attribute rule that matches; `kin` is set if the owner is a relative."""
        for rule in ATTRIBUTE_RULES:
            match = rule.pattern.match(text)
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
        """Facts of a predicate; tried as a whole and without trailing adverbs and asides."""
        body, denied, ended = take_negation(self._resolve_there(text))
        head = body.partition(", ")[0]
        for words in dict.fromkeys((body, strip_trailing_adverbs(body), strip_trailing_adverbs(head))):
            facts = list(self._match_predicate_rules(subject, words, denied, ended))
            if facts:
                yield from facts
                return

    def _resolve_there(self, text: str) -> str:
        """Replace "there" after a verb of living or moving by the place it refers to."""
        if (match := _MOVED_THERE.search(text)) and (place := self.mentions.resolve_place()):
            way = "to" if match["verb"].startswith(("mov", "reloc")) else "in"
            return f"{text[: match.start()]}{match['verb']} {way} {place}{text[match.end() :]}"
        return text

    def _match_predicate_rules(
        self, subject: str, body: str, denied: bool, ended: bool
    ) -> Iterator[ExtractedFact]:
        """Facts of the first predicate rule that matches."""
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
                    template = f"{{s}}'s {groups['mods']}{groups['kin']} is {{o}}"
                    yield ExtractedFact(
                        rule.name,
                        owner,
                        rule.relation.format(**match_groups(match)),
                        (subject,),
                        template=template,
                    )
                return
            facts = list(build_facts(rule, match, subject))
            is_lowercase = bool(facts) and facts[0].objects[0].islower()
            if rule.name in _MOVING_RULES and self._uses_capitals and is_lowercase:
                continue  # "I moved to decaf": a place would be capitalised
            if rule.name in _NAMING_RULES and facts and len(facts[0].objects) == 1:
                self.mentions.add_person(facts[0].objects[0], match["kin"])
            for fact in facts:
                yield replace(
                    fact,
                    negated=fact.negated or denied,
                    ended=fact.ended or ended,
                    template="" if denied else fact.template,
                )
            if facts:
                return


def _blank_out(sentence: Sentence, clauses: list[Clause]) -> Sentence:
    """Replace the clauses that are already read by spaces, so that offsets stay valid."""
    text = sentence.text
    for clause in clauses:
        start, end = clause.start - sentence.start, clause.end - sentence.start
        text = text[:start] + " " * (end - start) + text[end:]
    return sentence._replace(text=text)
