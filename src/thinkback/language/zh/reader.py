"""A Chinese statement -> readings: clauses at commas, subjects carried over when dropped, then the table."""

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
from thinkback.language.zh.profiles import read_profile_line
from thinkback.language.zh.rules import (
    ALL_RULES,
    build_facts,
    is_given_name,
    kin_fact,
    relative_subject,
    restore_script,
    split_kin_subject,
)
from thinkback.language.zh.traditional import to_simplified

_MAX_EARLIER_CHARS = 2000  # characters of an earlier turn that are looked at
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
    f"(?:有|交了?|谈了?|找了?|换了?|来了?|认识了?)(?:一?[个位])?新?的?(?P<kin>{alternation_pattern(KIN_ZH)})(?:了"
    f"|啦)?"
)
_KIN_WORD = re.compile(alternation_pattern(KIN_BY_WORD))
_ONE_OF_THEM_NAMED = re.compile(
    "(?:还有|另)?(?:一|另)?(?:[只条个位]|[大小老][的大二三幺]?|公的|母的)也?叫(?P<o>.+)"
)


@dataclass(slots=True)
class ChineseReader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    previous_mentions: MentionContext | None = None
    """Whom the turns before have named."""
    subject: str = ""
    changed_topic: str = ""
    """What has changed, said before its new value: 电话换了，现在是..."""
    counted_kin: str = ""
    """Of whom there are several: 养了两只猫，一只叫花花."""
    last_relative: str = ""
    """The last of the speaker's own relatives: 爸爸60岁，妈妈58岁 goes on with them."""
    is_about_others: bool = False
    """Whether the talk is of the world or of somebody unknown, so that a dropped subject is not the user."""
    ended_relation: str = ""
    """The relation that has just ended: 不在广州住了，现在在深圳."""
    profile_owner: str = ""
    """Whose labels follow: 姓名：王芳, then 职业：教师."""

    def read(self, sentence: Sentence, default_subject: str = "") -> Iterator[tuple[Clause, ExtractedFact]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self.subject = default_subject
        self.changed_topic = self.ended_relation = ""
        if default_subject:
            self.is_about_others = False
        plain = sentence._replace(text=to_simplified(sentence.text))
        readings = list(self._read_clauses(split_clauses(plain)))
        told = (
            read_profile_line(plain.text, self.profile_owner) if not readings or self.profile_owner else None
        )
        if told and not readings:
            readings = [(Clause(plain.text, *plain[1:]), reading) for reading in told.facts]
        self.profile_owner = told.owner if told else ""
        for clause, reading in readings:
            yield clause, restore_script(reading, plain.text, sentence.text)

    def _read_clauses(self, parts: list[Clause]) -> Iterator[tuple[Clause, ExtractedFact]]:
        wrong: tuple[str, ...] = ()
        changed = any(
            find_changed_attribute(strip_fillers(part.text)) or "搬家" in part.text for part in parts
        )
        rest = iter(zip(parts, (*parts[1:], None), strict=True))
        for clause, following in rest:
            if is_question(clause.text):
                continue
            if following and (mended := self._read_not_but(clause.text, following.text)):
                yield from ((clause, reading) for reading in mended)
                next(rest)
                continue
            tail = _NOT_OLD_VALUE.search(clause.text)
            told = (changed and read_contact_request(clause.text)) or clause.text[
                : tail.start() if tail else None
            ]
            readings = list(self._read_clause(told))
            if following and _BUT_IS.match(following.text) and "不是" in clause.text:
                wrong = tuple(item for reading in readings if reading.negated for item in reading.objects)
                continue  # 不是对芒果过敏，是对菠萝过敏: the first half only takes back
            named = (tail["o"],) if tail else wrong
            for reading in readings:
                yield clause, reading if reading.negated else replace(reading, instead_of=named)
            wrong = ()

    def _read_not_but(self, text: str, following: str) -> list[ExtractedFact]:
        """生日不是18号，是28号: the second half said with the words of the first."""
        first, second = _NOT_OLD.match(text), _BUT_NEW.match(following)
        if not first or not second:
            return []
        verb = text[first.end("head") + 1 : first.start("o")]
        readings = list(self._read_clause(f"{first['head']}{verb}{second['o']}"))
        return [
            replace(reading, instead_of=(trim_value(first["o"]),))
            for reading in readings
            if not reading.negated
        ]

    def _read_clause(self, text: str) -> Iterator[ExtractedFact]:
        body, when, said = self._take_time(text)
        body = strip_fillers(body)
        if thing := find_changed_attribute(body) or find_measured_attribute(strip_adverbs(body)):
            self.changed_topic = thing
            self._switch_to_user()
            return
        body = self._insert_topic(body)
        timely = when is not None or bool(TIME_ADVERB.match(body))
        body = restore_word_order(strip_adverbs(body))
        if naming := self._read_naming(body) or self._read_relationship(body):
            yield naming
            return
        subject = CLAUSE_SUBJECT.match(body)
        rest = body[_subject_end(subject) :].lstrip() if subject else self._take_opening(body)
        if subject:
            yield from self._read_subject(subject)
        if self.is_about_others:
            return
        if not self.subject:
            yield from self._read_without_subject(rest, when, said, timely=timely)
            return
        if self.subject != USER and (kin := read_relative_of(self.subject, rest)):
            self._switch_to_person(kin.person)
            rest = kin.rest
            yield from kin.facts
        if when is None:  # 我上周去了: the time stands behind the subject as often as before it
            rest, when, said = self._take_time(rest)
        for reading in self._read_new_place(rest, timely=timely) or self._read_facts(
            rest, dated=when is not None
        ):
            yield self._add_time(reading, rest, when, said)
        if self.subject == USER and (new := _NEW_KIN.fullmatch(rest)):
            self.people.append(f"用户的{new['kin']}")
        if self.subject == USER and KNOWS_ABOUT.match(rest):
            self._switch_to_others()

    def _take_opening(self, body: str) -> str:
        """Whom a clause speaks of that opens with none of the speaker's own; what it goes on with."""
        if owner := find_kin_owner(body):
            self._switch_to_person(owner)
            return body[len(owner) :]
        if OTHER_SUBJECT.match(body):
            self._switch_to_others()
        elif USER_ACTION.match(body):
            self._switch_to_user()
        return body

    def _insert_topic(self, body: str) -> str:
        """电话换了，现在是...; 称了一下，60公斤: the value with what it is of."""
        if not self.changed_topic:
            return body
        now = _NEW_VALUE.fullmatch(body)
        value = now["o"] if now else find_bare_number(strip_adverbs(body))
        if not value:
            return body
        body = f"我{self.changed_topic}是{value}"
        self.changed_topic = ""
        return body

    def _read_naming(self, body: str) -> ExtractedFact | None:
        """Clauses that say nothing but a name: 叫我小明就行, 一只叫花花, 吴磊是我的主管."""
        if called := _CALL_ME.fullmatch(body):
            name = called["o"] or called["simply"]
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
        """Clauses that say nothing but who is what to whom."""
        tie = find_relationship(body)
        if tie is None:
            return None
        self._switch_to_person(tie.person)
        return tie.fact

    def _read_new_place(self, rest: str, *, timely: bool) -> list[ExtractedFact]:
        """不在广州住了，现在在深圳: the place that follows the one just left."""
        at = _NEW_PLACE.fullmatch(strip_adverbs(rest)) if self.ended_relation and timely else None
        return (
            [ExtractedFact("now at", self.subject, self.ended_relation, (at["o"],))]
            if at and is_place(at["o"])
            else []
        )

    def _read_facts(self, rest: str, *, dated: bool) -> Iterator[ExtractedFact]:
        for reading in self._read_predicate(self.subject, rest, dated=dated):
            if reading.ended and reading.relation in ("lives in", "works at", "studies at"):
                self.ended_relation = reading.relation
            yield reading

    def _switch_to_user(self) -> None:
        self.subject, self.is_about_others = USER, False

    def _switch_to_others(self) -> None:
        self.subject, self.is_about_others = "", True

    def _add_time(
        self, reading: ExtractedFact, rest: str, when: TimeExpression | None, said: str
    ) -> ExtractedFact:
        """What is said of a day to come is no fact yet, but a plan: 下个月入职京东."""
        ahead = when is not None and when.start > self.now and not reading.negated
        if ahead and reading.relation not in ("plans to", "has appointment") and reading.rule != "my kin":
            reading = replace(
                reading, relation="plans to", objects=(trim_value(rest),), kind=None, template=""
            )
        return replace(reading, when=when, time_text=said)

    def _read_without_subject(
        self, rest: str, when: TimeExpression | None, said: str, *, timely: bool
    ) -> Iterator[ExtractedFact]:
        """Nobody is named: the speaker is meant, where the verb tells something one does oneself."""
        for reading in self._read_predicate(USER, rest, dated=when is not None):
            if is_about_user(reading, rest, has_time=timely):
                self._switch_to_user()
                yield self._add_time(reading, rest, when, said)

    def _take_time(self, text: str) -> tuple[str, TimeExpression | None, str]:
        """Take the first time expression out of a clause, except from a date that is what it tells."""
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
        """Set the subject; a relative's name said in passing (我妹妹小红住在...) is a reading of its own."""
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
        """Whom a subject without 我 means; nobody if that is not sure."""
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
        """The one person a pronoun can mean; where this turn has named nobody, of the turns before."""
        named = set(self.people)
        if named:
            return self.people[-1] if len(named) == 1 else ""
        return self.previous_mentions.resolve_pronoun(pronoun) if self.previous_mentions else ""

    def _read_relative(self, match: re.Match[str]) -> Iterator[ExtractedFact]:
        """我妹妹小红, 同事张伟, "My roommate Kevin": who somebody is to the speaker."""
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

    def _read_predicate(self, subject: str, text: str, *, dated: bool) -> Iterator[ExtractedFact]:
        body, denied, ended = take_negation(_BA_CONSTRUCTION.sub(r"\g<verb>了\g<o>", text, count=1))
        for rule in ALL_RULES:
            match = rule.pattern.match(body)
            if not match or (rule.needs_time and not dated) or (denied and rule.negated):
                continue
            if rule.name == "gone off" and not ended:
                continue  # what one does is no taste yet, but what one does no more is none
            groups = {key: value for key, value in match.groupdict().items() if value}
            if rule.name == "is my kin":
                yield kin_fact(groups["kin"], subject, denied=denied)
                return
            readings = list(build_facts(rule, groups, subject))
            if rule.name == "kin named" and readings and len(readings[0].objects) == 1:
                self.people.append(readings[0].objects[0])
            if rule.name == "kin counted" and readings:
                self.counted_kin = _KIN_WORD.findall(groups["o"])[-1]
            owner, kin = split_kin_subject(subject)
            if rule.name in ("titled", "named is") and not kin:
                continue
            if rule.name in ("named", "titled", "named is") and kin and readings:
                name = trim_value(groups["o"])
                yield kin_fact(kin, name, owner=owner, denied=denied)
                self.people = [person for person in self.people if person != subject]
                self._switch_to_person(name)
                self.last_relative = name if kin in OWN_KIN_WORDS else ""
                return
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              template="" if denied else reading.template)  # fmt: skip
            if readings:
                return


def _subject_end(subject: re.Match[str]) -> int:
    """Where the predicate begins; what only looked like a name is part of it: 我儿子同学对花生过敏."""
    return subject.start("name") if subject["name"] and not is_given_name(subject["name"]) else subject.end()


def build_mention_context(texts: Sequence[str], now: datetime) -> MentionContext | None:
    """Whom earlier turns, oldest first, have named: for reference only."""
    cast: MentionContext | None = None
    for text in texts:
        reader = ChineseReader(now)
        readings = [
            reading
            for sentence in split_sentences(text[:_MAX_EARLIER_CHARS])
            if len(sentence.text) <= MAX_SENTENCE_CHARS
            for _, reading in reader.read(sentence)
        ]
        kin = {
            each.objects[0]: each.relation.removeprefix("has ") for each in readings if each.rule == "my kin"
        }
        cast = MentionContext((*reader.people, *kin), kin, cast)
    return cast
