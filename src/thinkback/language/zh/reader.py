"""Reads the facts of Chinese statements: clause by clause, carry over omitted subjects, match the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions
from thinkback.language.kinship import INDEFINITE_ROLES_ZH, KIN_ZH, alternation_pattern
from thinkback.language.names import USER
from thinkback.language.rules import Clause, ExtractedFact
from thinkback.language.sentences import Sentence, is_question, split_sentences
from thinkback.language.statement_filter import MAX_SENTENCE_CHARS
from thinkback.language.writing_systems import to_simplified
from thinkback.language.zh.clauses import (
    CLAUSE_SUBJECT,
    IS_CALLED,
    KIN_BY_WORD,
    KNOWS_ABOUT,
    NOT_PERSON_WORDS,
    OTHER_SUBJECT,
    OWN_KIN_WORDS,
    TIME_ADVERB,
    USER_ACTION,
    find_bare_number,
    find_changed_attribute,
    find_measured_attribute,
    read_contact_request,
    restore_word_order,
    split_clauses,
    split_name_first,
    strip_adverbs,
    strip_fillers,
    take_negation,
)
from thinkback.language.zh.coreference import (
    MentionContext,
    find_kin_owner,
    find_relationship,
    is_about_user,
    read_relative_of,
)
from thinkback.language.zh.lexicon import is_bare_name, is_name, is_place, trim_value
from thinkback.language.zh.rules import (
    ALL_RULES,
    build_facts,
    is_given_name,
    kin_fact,
    relative_subject,
    restore_script,
    split_kin_subject,
)
from thinkback.language.zh.rules_profile import read_profile_line

_MAX_EARLIER_CHARS = 2000  # searched part of an earlier turn
_BUT_IS = re.compile("(?:而)?是(?!不是|吗)")
_NOT_OLD_VALUE = re.compile("[，,](?:而)?不是(?P<o>[^，,。！]{1,12})\\Z")
_NOT_OLD = re.compile(
    "(?P<head>.*?[\u4e00-\u9fff])不(?:是|叫|在|住)(?!对|在|住|叫|喜欢)(?P<o>[^，,]{1,14})\\Z"
)
_BUT_NEW = re.compile("(?:而)?(?:是|叫|在|住)(?P<o>[^，,]{1,14})\\Z")
_BA_CONSTRUCTION = re.compile("把(?P<o>[^，,了]{1,8}?)(?:都|给)?(?P<verb>戒|卖|辞|退)(?:了|掉了?)")
_NEW_PLACE = re.compile(
    "(?:在|去了?|到了?|来了?|搬到了?)(?P<o>[^找忙等家学上读做带，,]{2,8}?)(?:这边|那边|了)?"
)
_NEW_VALUE = re.compile(
    "(?:新的?|现在|如今|目前|以后|最新)*(?:用的|号码?|的)?(?:是|改成了?|换成了?|变成了?|为|叫)(?P<o>.+)"
)
_CALL_ME = re.compile(
    "(?:(?:大家|朋友们?|同学们?|同事们?|家里?人)(?:都|一般|就)*|你?(?:可以"
    "|就)+)[叫喊]我(?P<o>[^，,]{1,6}?)(?:就行|就好|吧|哦)?了?"
    "|[叫喊]我(?P<simply>[^，,]{1,6}?)(?:就行|就好|就可以)了?"
)
_NEW_KIN = re.compile(
    f"(?:有|交了?|谈了?|找了?|换了?|来了?"
    f"|认识了?)(?:一?[个位])?新?的?(?P<kin>{alternation_pattern(KIN_ZH)})(?:了"
    f"|啦)?"
)
_KIN_WORD = re.compile(alternation_pattern(KIN_BY_WORD))
_ONE_OF_THEM_NAMED = re.compile(
    "(?:还有|另)?(?:一|另)?(?:[只条个位]|[大小老][的大二三幺]?|公的|母的)也?叫(?P<o>.+)"
)


@dataclass(slots=True)
class ChineseReader:
    """Reads the statements of one turn in order and remembers the people mentioned."""

    now: datetime
    people: list[str] = field(default_factory=list)
    previous_mentions: MentionContext | None = None
    """People mentioned in earlier turns, for pronouns."""
    subject: str = ""
    """Subject of the last clause; a clause without a subject continues it."""
    changed_topic: str = ""
    """Attribute that has changed, before its new value is given: 电话换了，现在是..."""
    counted_kin: str = ""
    """Kin or pet word of which there are several: 养了两只猫，一只叫花花."""
    last_relative: str = ""
    """The user's relative mentioned last: 爸爸60岁，妈妈58岁 continues with the user's relatives."""
    is_about_others: bool = False
    """Whether the text is about the world or an unknown person; then an omitted subject is not the user."""
    ended_relation: str = ""
    """The relation that has just ended: 不在广州住了，现在在深圳."""
    profile_owner: str = ""
    """Person whom the next labels describe: 姓名：王芳, then 职业：教师."""

    def read(self, sentence: Sentence, default_subject: str = "") -> Iterator[tuple[Clause, ExtractedFact]]:
        """Yield the facts of a sentence with the clauses that state them.

        `default_subject` is the subject of a first clause that names nobody.
        """
        self.subject = default_subject
        self.changed_topic = self.ended_relation = ""
        if default_subject:
            self.is_about_others = False
        plain = sentence._replace(text=to_simplified(sentence.text))
        facts = list(self._read_clauses(split_clauses(plain)))
        profile = None
        if not facts or self.profile_owner:
            profile = read_profile_line(plain.text, self.profile_owner)
        if profile and not facts:
            facts = [(Clause(plain.text, *plain[1:]), fact) for fact in profile.facts]
        self.profile_owner = profile.owner if profile else ""
        for clause, fact in facts:
            yield clause, restore_script(fact, plain.text, sentence.text)

    def _read_clauses(self, parts: list[Clause]) -> Iterator[tuple[Clause, ExtractedFact]]:
        """Facts of the clauses; rejected values (不是...) are attached to the fact that replaces them."""
        rejected: tuple[str, ...] = ()
        changed = any(
            find_changed_attribute(strip_fillers(part.text)) or "搬家" in part.text for part in parts
        )
        rest = iter(zip(parts, (*parts[1:], None), strict=True))
        for clause, following in rest:
            if is_question(clause.text):
                continue
            if following and (corrected := self._read_not_but(clause.text, following.text)):
                yield from ((clause, fact) for fact in corrected)
                next(rest)
                continue
            tail = _NOT_OLD_VALUE.search(clause.text)
            request = read_contact_request(clause.text) if changed else ""
            facts = list(self._read_clause(request or clause.text[: tail.start() if tail else None]))
            if following and _BUT_IS.match(following.text) and "不是" in clause.text:
                rejected = tuple(item for fact in facts if fact.negated for item in fact.objects)
                continue  # 不是对芒果过敏，是对菠萝过敏: the first half only names the wrong value
            rejected_values = (tail["o"],) if tail else rejected
            for fact in facts:
                yield clause, fact if fact.negated else replace(fact, instead_of=rejected_values)
            rejected = ()

    def _read_not_but(self, text: str, following: str) -> list[ExtractedFact]:
        """Facts of a correction such as 生日不是18号，是28号."""
        first, second = _NOT_OLD.match(text), _BUT_NEW.match(following)
        if not first or not second:
            return []
        verb = text[first.end("head") + 1 : first.start("o")]
        facts = list(self._read_clause(f"{first['head']}{verb}{second['o']}"))
        return [replace(fact, instead_of=(trim_value(first["o"]),)) for fact in facts if not fact.negated]

    def _read_clause(self, text: str) -> Iterator[ExtractedFact]:
        """Facts of one clause."""
        body, when, time_text = self._take_time(text)
        body = strip_fillers(body)
        if attribute := find_changed_attribute(body) or find_measured_attribute(strip_adverbs(body)):
            self.changed_topic = attribute
            self._switch_to_user()
            return
        body = self._insert_topic(body)
        has_time = when is not None or bool(TIME_ADVERB.match(body))
        body = restore_word_order(strip_adverbs(body))
        if name_fact := self._read_naming(body) or self._read_relationship(body):
            yield name_fact
            return
        subject = CLAUSE_SUBJECT.match(body)
        rest = body[_subject_end(subject) :].lstrip() if subject else self._take_opening(body)
        if subject:
            yield from self._read_subject(subject)
        if self.is_about_others:
            return
        if not self.subject:
            yield from self._read_without_subject(rest, when, time_text, has_time=has_time)
            return
        if self.subject != USER and (relative := read_relative_of(self.subject, rest)):
            self._switch_to_person(relative.person)
            rest = relative.rest
            yield from relative.facts
        if when is None:  # the time may follow the subject: 我上周去了
            rest, when, time_text = self._take_time(rest)
        for fact in self._read_new_place(rest, has_time=has_time) or self._read_facts(
            rest, has_time=when is not None
        ):
            yield self._add_time(fact, rest, when, time_text)
        if self.subject == USER and (new_kin := _NEW_KIN.fullmatch(rest)):
            self.people.append(f"用户的{new_kin['kin']}")
        if self.subject == USER and KNOWS_ABOUT.match(rest):
            self._switch_to_others()

    def _take_opening(self, body: str) -> str:
        """Set the subject of a clause that does not start with the user or a relative; return the rest."""
        if owner := find_kin_owner(body):
            self._switch_to_person(owner)
            return body[len(owner) :]
        if OTHER_SUBJECT.match(body):
            self._switch_to_others()
        elif USER_ACTION.match(body):
            self._switch_to_user()
        return body

    def _insert_topic(self, body: str) -> str:
        """Complete a bare value with the attribute of the clause before: 称了一下，60公斤."""
        if not self.changed_topic:
            return body
        new_value = _NEW_VALUE.fullmatch(body)
        value = new_value["o"] if new_value else find_bare_number(strip_adverbs(body))
        if not value:
            return body
        body = f"我{self.changed_topic}是{value}"
        self.changed_topic = ""
        return body

    def _read_naming(self, body: str) -> ExtractedFact | None:
        """The fact of a clause that only gives a name: 叫我小明就行, 一只叫花花, 吴磊是我的主管."""
        if nickname := _CALL_ME.fullmatch(body):
            name = nickname["o"] or nickname["simply"]
            self._switch_to_user()
            return ExtractedFact("called", USER, "goes by", (name,)) if is_name(name) else None
        if self.counted_kin and (one := _ONE_OF_THEM_NAMED.fullmatch(body)) and is_name(trim_value(one["o"])):
            return kin_fact(self.counted_kin, trim_value(one["o"]))
        kin, name = split_name_first(body)
        if not name:
            return None
        self._switch_to_person(name)
        return kin_fact(kin, name)

    def _read_relationship(self, body: str) -> ExtractedFact | None:
        """The fact of a clause that only states how two people are related."""
        relationship = find_relationship(body)
        if relationship is None:
            return None
        self._switch_to_person(relationship.person)
        return relationship.fact

    def _read_new_place(self, rest: str, *, has_time: bool) -> list[ExtractedFact]:
        """The new place after an ended one: 不在广州住了，现在在深圳."""
        match = _NEW_PLACE.fullmatch(strip_adverbs(rest)) if self.ended_relation and has_time else None
        if not match or not is_place(match["o"]):
            return []
        return [ExtractedFact("now at", self.subject, self.ended_relation, (match["o"],))]

    def _read_facts(self, rest: str, *, has_time: bool) -> Iterator[ExtractedFact]:
        """Facts of the predicate; remembers a relation that has ended."""
        for fact in self._read_predicate(self.subject, rest, has_time=has_time):
            if fact.ended and fact.relation in ("lives in", "works at", "studies at"):
                self.ended_relation = fact.relation
            yield fact

    def _switch_to_user(self) -> None:
        self.subject, self.is_about_others = USER, False

    def _switch_to_others(self) -> None:
        self.subject, self.is_about_others = "", True

    def _add_time(
        self, fact: ExtractedFact, rest: str, when: TimeExpression | None, time_text: str
    ) -> ExtractedFact:
        """Add the time to a fact; a fact in the future becomes a plan: 下个月入职京东."""
        is_future = when is not None and when.start > self.now and not fact.negated
        if is_future and fact.relation not in ("plans to", "has appointment") and fact.rule != "my kin":
            fact = replace(fact, relation="plans to", objects=(trim_value(rest),), kind=None, template="")
        return replace(fact, when=when, time_text=time_text)

    def _read_without_subject(
        self, rest: str, when: TimeExpression | None, time_text: str, *, has_time: bool
    ) -> Iterator[ExtractedFact]:
        """Facts of a clause without a subject, as far as they can only be about the user."""
        for fact in self._read_predicate(USER, rest, has_time=when is not None):
            if is_about_user(fact, rest, has_time=has_time):
                self._switch_to_user()
                yield self._add_time(fact, rest, when, time_text)

    def _take_time(self, text: str) -> tuple[str, TimeExpression | None, str]:
        """Remove the first time expression from a clause.

        Returns (clause without it, time expression or None, its words). A date of birth stays, because it is
        a value.
        """
        past = "了" in text or "过" in text
        for when in find_time_expressions(text, self.now, past=past):
            start, end = when.span
            if re.search(
                "(?:生日|出生日期|生于|出生于)(?:是|在|为)?(?:农历|阴历|阳历)?\\Z", text[:start]
            ) or text[end:].startswith("出生"):
                continue
            before = re.sub("(?:从|自|在|是)\\Z", "", text[:start])
            after = re.sub("^(?:开始|起|以来)?(?:就|，|,)?", "", text[end:])
            return before + after, when, text[start:end]
        return text, None, ""

    def _read_subject(self, match: re.Match[str]) -> Iterator[ExtractedFact]:
        """Set the subject; yield the fact of a relative named in passing (我妹妹小红住在...)."""
        if match["me"]:
            self._switch_to_user()
        elif match["word"] or match["title"] or match["en"]:
            yield from self._read_relative(match)
        elif person := self._resolve_person(match):
            self._switch_to_person(person)
            if match["bare"]:
                self.last_relative = person
        else:
            self._switch_to_others()

    def _resolve_person(self, match: re.Match[str]) -> str:
        """The person that a subject without 我 refers to; empty if that is uncertain."""
        if match["bare"]:
            return f"用户的{match['bare']}" if self.subject in ("", USER, self.last_relative) else ""
        if match["newly"]:
            person = f"用户的{match['newly']}"
            return person if self.subject in ("", USER, person) else ""
        if match["they"]:
            return self._resolve_pronoun(match["they"])
        if match["who"]:
            return "" if match["who"] in NOT_PERSON_WORDS else match["who"]
        return match["somebody"] if is_bare_name(match["somebody"]) else ""

    def _resolve_pronoun(self, pronoun: str) -> str:
        """The only person that a pronoun can refer to, in this turn or otherwise in earlier turns."""
        named = set(self.people)
        if named:
            return self.people[-1] if len(named) == 1 else ""
        return self.previous_mentions.resolve_pronoun(pronoun) if self.previous_mentions else ""

    def _read_relative(self, match: re.Match[str]) -> Iterator[ExtractedFact]:
        """Read 我妹妹小红, 同事张伟 or "My roommate Kevin": set the subject and yield who they are."""
        word = match["word"] or match["title"] or match["en"].lower()
        name = next((match[key] for key in ("latin", "name", "called", "enname") if match[key]), "")
        if name and is_given_name(name):
            yield kin_fact(word, name)
            self._switch_to_person(name)
        elif match["title"] or (
            KIN_BY_WORD[word] in INDEFINITE_ROLES_ZH and not IS_CALLED.match(match.string, match.end())
        ):
            self._switch_to_others()
        else:
            self._switch_to_person(relative_subject(word))
            if word in OWN_KIN_WORDS:
                self.last_relative = self.subject

    def _switch_to_person(self, person: str) -> None:
        self.people.append(person)
        self.subject, self.is_about_others = person, False

    def _read_predicate(self, subject: str, text: str, *, has_time: bool) -> Iterator[ExtractedFact]:
        """Facts of the first rule that matches."""
        body, denied, ended = take_negation(_BA_CONSTRUCTION.sub(r"\g<verb>了\g<o>", text, count=1))
        for rule in ALL_RULES:
            match = rule.pattern.match(body)
            if not match or (rule.needs_time and not has_time) or (denied and rule.negated):
                continue
            if rule.name == "gone off" and not ended:
                continue  # doing something is no taste, but having stopped is a dislike
            groups = {key: value for key, value in match.groupdict().items() if value}
            if rule.name == "is my kin":
                yield kin_fact(groups["kin"], subject, denied=denied)
                return
            facts = list(build_facts(rule, groups, subject))
            if rule.name == "kin named" and facts and len(facts[0].objects) == 1:
                self.people.append(facts[0].objects[0])
            if rule.name == "kin counted" and facts:
                self.counted_kin = _KIN_WORD.findall(groups["o"])[-1]
            owner, kin = split_kin_subject(subject)
            if rule.name in ("titled", "named is") and not kin:
                continue
            if rule.name in ("named", "titled", "named is") and kin and facts:
                name = trim_value(groups["o"])
                yield kin_fact(kin, name, owner=owner, denied=denied)
                self.people = [person for person in self.people if person != subject]
                self._switch_to_person(name)
                self.last_relative = name if kin in OWN_KIN_WORDS else ""
                return
            for fact in facts:
                yield replace(
                    fact,
                    negated=fact.negated or denied,
                    ended=fact.ended or ended,
                    template="" if denied else fact.template,
                )
            if facts:
                return


def _subject_end(subject: re.Match[str]) -> int:
    """Start of the predicate; a false name match belongs to it: 我儿子同学对花生过敏."""
    return subject.start("name") if subject["name"] and not is_given_name(subject["name"]) else subject.end()


def build_mention_context(texts: Sequence[str], now: datetime) -> MentionContext | None:
    """The people mentioned in earlier turns (oldest first). They only resolve pronouns and yield no facts."""
    context: MentionContext | None = None
    for text in texts:
        reader = ChineseReader(now)
        facts = [
            fact
            for sentence in split_sentences(text[:_MAX_EARLIER_CHARS])
            if len(sentence.text) <= MAX_SENTENCE_CHARS
            for _, fact in reader.read(sentence)
        ]
        kin = {each.objects[0]: each.relation.removeprefix("has ") for each in facts if each.rule == "my kin"}
        context = MentionContext((*reader.people, *kin), kin, context)
    return context
