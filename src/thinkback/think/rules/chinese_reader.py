"""A Chinese statement -> readings: clauses at commas, subjects carried over when dropped, then the table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.text.people.kin import INDEFINITE_ZH, KIN_ZH, longest_first
from thinkback.text.people.names import USER
from thinkback.text.sentences import Sentence, is_question, sentences
from thinkback.text.times.dates import When, resolve
from thinkback.text.traditional import simplified
from thinkback.think.rules.chinese import RULES
from thinkback.think.rules.chinese_build import as_written, built, is_given, kin_of, owned, who_is_who
from thinkback.think.rules.chinese_cast import Cast
from thinkback.think.rules.chinese_cut import clauses
from thinkback.think.rules.chinese_dropped import of_the_user
from thinkback.think.rules.chinese_names import is_bare_name
from thinkback.think.rules.chinese_openings import (
    ASKS_ABOUT,
    ELSEWHERE,
    KIN,
    NAMING,
    NOT_WHO,
    ONESELF,
    OWN,
    SUBJECT,
    TIMELY,
    polarity,
    without_adverbs,
    without_lead,
)
from thinkback.think.rules.chinese_order import (
    bare_value,
    changed_thing,
    measured_thing,
    named_first,
    plainly,
    sent_to,
)
from thinkback.think.rules.chinese_profile import profiled
from thinkback.think.rules.chinese_ties import their, tied, whose
from thinkback.think.rules.chinese_words import is_name, is_place, trim
from thinkback.think.rules.gate import LONGEST
from thinkback.think.rules.rule import Clause, Reading

_OPENING = 2000  # characters of an earlier turn that are looked at
_RATHER = re.compile("(?:而)?是(?!不是|吗)")
_NOT_THAT = re.compile("[，,](?:而)?不是(?P<o>[^，,。！]{1,12})\\Z")
_NOT_BUT = re.compile(
    "(?P<head>.*?[\u4e00-\u9fff])不(?:是|叫|在|住)(?!对|在|住|叫|喜欢)(?P<o>[^，,]{1,14})\\Z"
)
_BUT = re.compile("(?:而)?(?:是|叫|在|住)(?P<o>[^，,]{1,14})\\Z")
_BA = re.compile("把(?P<o>[^，,了]{1,8}?)(?:都|给)?(?P<verb>戒|卖|辞|退)(?:了|掉了?)")
_NOW_AT = re.compile("(?:在|去了?|到了?|来了?|搬到了?)(?P<o>[^找忙等家学上读做带，,]{2,8}?)(?:这边|那边|了)?")
_NOW_IS = re.compile(
    "(?:新的?|现在|如今|目前|以后|最新)*(?:用的|号码?|的)?(?:是|改成了?|换成了?|变成了?|为|叫)(?P<o>.+)"
)
_CALLED = re.compile(
    "(?:(?:大家|朋友们?|同学们?|同事们?|家里?人)(?:都|一般|就)*|你?(?:可以"
    "|就)+)[叫喊]我(?P<o>[^，,]{1,6}?)(?:就行|就好|吧|哦)?了?"
    "|[叫喊]我(?P<simply>[^，,]{1,6}?)(?:就行|就好|就可以)了?"
)
_NEW_KIN = re.compile(
    f"(?:有|交了?|谈了?|找了?|换了?|来了?|认识了?)(?:一?[个位])?新?的?(?P<kin>{longest_first(KIN_ZH)})(?:了"
    f"|啦)?"
)
_KIN_WORD = re.compile(longest_first(KIN))
_ONE_NAMED = re.compile("(?:还有|另)?(?:一|另)?(?:[只条个位]|[大小老][的大二三幺]?|公的|母的)也?叫(?P<o>.+)")


@dataclass(slots=True)
class Reader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    before: Cast | None = None
    """Whom the turns before have named."""
    subject: str = ""
    topic: str = ""
    """What has changed, said before its new value: 电话换了，现在是..."""
    counted: str = ""
    """Of whom there are several: 养了两只猫，一只叫花花."""
    relative: str = ""
    """The last of the speaker's own relatives: 爸爸60岁，妈妈58岁 goes on with them."""
    elsewhere: bool = False
    """Whether the talk is of the world or of somebody unknown, so that a dropped subject is not the user."""
    left: str = ""
    """The relation that has just ended: 不在广州住了，现在在深圳."""
    profile: str = ""
    """Whose labels follow: 姓名：王芳, then 职业：教师."""

    def read(self, sentence: Sentence, about: str = "") -> Iterator[tuple[Clause, Reading]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self.subject = about
        self.topic = self.left = ""
        if about:
            self.elsewhere = False
        plain = sentence._replace(text=simplified(sentence.text))
        readings = list(self._readings(clauses(plain)))
        told = profiled(plain.text, self.profile) if not readings or self.profile else None
        if told and not readings:
            readings = [(Clause(plain.text, *plain[1:]), reading) for reading in told.readings]
        self.profile = told.owner if told else ""
        for clause, reading in readings:
            yield clause, as_written(reading, plain.text, sentence.text)

    def _readings(self, parts: list[Clause]) -> Iterator[tuple[Clause, Reading]]:
        wrong: tuple[str, ...] = ()
        changed = any(changed_thing(without_lead(part.text)) or "搬家" in part.text for part in parts)
        rest = iter(zip(parts, (*parts[1:], None), strict=True))
        for clause, following in rest:
            if is_question(clause.text):
                continue
            if following and (mended := self._rather(clause.text, following.text)):
                yield from ((clause, reading) for reading in mended)
                next(rest)
                continue
            tail = _NOT_THAT.search(clause.text)
            told = (changed and sent_to(clause.text)) or clause.text[: tail.start() if tail else None]
            readings = list(self._clause(told))
            if following and _RATHER.match(following.text) and "不是" in clause.text:
                wrong = tuple(item for reading in readings if reading.negated for item in reading.objects)
                continue  # 不是对芒果过敏，是对菠萝过敏: the first half only takes back
            named = (tail["o"],) if tail else wrong
            for reading in readings:
                yield clause, reading if reading.negated else replace(reading, instead_of=named)
            wrong = ()

    def _rather(self, text: str, following: str) -> list[Reading]:
        """生日不是18号，是28号: the second half said with the words of the first."""
        first, second = _NOT_BUT.match(text), _BUT.match(following)
        if not first or not second:
            return []
        verb = text[first.end("head") + 1 : first.start("o")]
        readings = list(self._clause(f"{first['head']}{verb}{second['o']}"))
        return [
            replace(reading, instead_of=(trim(first["o"]),)) for reading in readings if not reading.negated
        ]

    def _clause(self, text: str) -> Iterator[Reading]:
        body, when, said = self._time(text)
        body = without_lead(body)
        if thing := changed_thing(body) or measured_thing(without_adverbs(body)):
            self.topic = thing
            self._oneself()
            return
        body = self._valued(body)
        timely = when is not None or bool(TIMELY.match(body))
        body = plainly(without_adverbs(body))
        if naming := self._naming(body) or self._tied(body):
            yield naming
            return
        subject = SUBJECT.match(body)
        rest = body[_end(subject) :].lstrip() if subject else self._opened(body)
        if subject:
            yield from self._named(subject)
        if self.elsewhere:
            return
        if not self.subject:
            yield from self._dropped(rest, when, said, timely=timely)
            return
        if self.subject != USER and (kin := their(self.subject, rest)):
            self._meet(kin.person)
            rest = kin.rest
            yield from kin.readings
        if when is None:  # 我上周去了: the time stands behind the subject as often as before it
            rest, when, said = self._time(rest)
        for reading in self._now_at(rest, timely=timely) or self._told(rest, dated=when is not None):
            yield self._dated(reading, rest, when, said)
        if self.subject == USER and (new := _NEW_KIN.fullmatch(rest)):
            self.people.append(f"用户的{new['kin']}")
        if self.subject == USER and ASKS_ABOUT.match(rest):
            self._turn_away()

    def _opened(self, body: str) -> str:
        """Whom a clause speaks of that opens with none of the speaker's own; what it goes on with."""
        if owner := whose(body):
            self._meet(owner)
            return body[len(owner) :]
        if ELSEWHERE.match(body):
            self._turn_away()
        elif ONESELF.match(body):
            self._oneself()
        return body

    def _valued(self, body: str) -> str:
        """电话换了，现在是...; 称了一下，60公斤: the value with what it is of."""
        if not self.topic:
            return body
        now = _NOW_IS.fullmatch(body)
        value = now["o"] if now else bare_value(without_adverbs(body))
        if not value:
            return body
        body = f"我{self.topic}是{value}"
        self.topic = ""
        return body

    def _naming(self, body: str) -> Reading | None:
        """Clauses that say nothing but a name: 叫我小明就行, 一只叫花花, 吴磊是我的主管."""
        if called := _CALLED.fullmatch(body):
            name = called["o"] or called["simply"]
            self._oneself()
            return Reading("called", USER, "goes by", (name,)) if is_name(name) else None
        if self.counted and (one := _ONE_NAMED.fullmatch(body)) and is_name(trim(one["o"])):
            return who_is_who(self.counted, trim(one["o"]))
        kin, name = named_first(body)
        if not name:
            return None
        self._meet(name)
        return who_is_who(kin, name)

    def _tied(self, body: str) -> Reading | None:
        """Clauses that say nothing but who is what to whom."""
        tie = tied(body)
        if tie is None:
            return None
        self._meet(tie.person)
        return tie.reading

    def _now_at(self, rest: str, *, timely: bool) -> list[Reading]:
        """不在广州住了，现在在深圳: the place that follows the one just left."""
        at = _NOW_AT.fullmatch(without_adverbs(rest)) if self.left and timely else None
        return [Reading("now at", self.subject, self.left, (at["o"],))] if at and is_place(at["o"]) else []

    def _told(self, rest: str, *, dated: bool) -> Iterator[Reading]:
        for reading in self._predicate(self.subject, rest, dated=dated):
            if reading.ended and reading.relation in ("lives in", "works at", "studies at"):
                self.left = reading.relation
            yield reading

    def _oneself(self) -> None:
        self.subject, self.elsewhere = USER, False

    def _turn_away(self) -> None:
        self.subject, self.elsewhere = "", True

    def _dated(self, reading: Reading, rest: str, when: When | None, said: str) -> Reading:
        """What is said of a day to come is no fact yet, but a plan: 下个月入职京东."""
        ahead = when is not None and when.start > self.now and not reading.negated
        if ahead and reading.relation not in ("plans to", "has appointment") and reading.rule != "my kin":
            reading = replace(reading, relation="plans to", objects=(trim(rest),), kind=None, say="")
        return replace(reading, when=when, when_said=said)

    def _dropped(self, rest: str, when: When | None, said: str, *, timely: bool) -> Iterator[Reading]:
        """Nobody is named: the speaker is meant, where the verb tells something one does oneself."""
        for reading in self._predicate(USER, rest, dated=when is not None):
            if of_the_user(reading, rest, timely=timely):
                self._oneself()
                yield self._dated(reading, rest, when, said)

    def _time(self, text: str) -> tuple[str, When | None, str]:
        """Take the first time expression out of a clause, except from a date that is what it tells."""
        past = "了" in text or "过" in text
        for when in resolve(text, self.now, past=past):
            start, end = when.span
            if re.search(
                "(?:生日|出生日期|生于|出生于)(?:是|在|为)?(?:农历|阴历|阳历)?\\Z", text[:start]
            ) or text[end:].startswith("出生"):
                continue
            before = re.sub("(?:从|自|在|是)\\Z", "", text[:start])
            after = re.sub("^(?:开始|起|以来)?(?:就|，|,)?", "", text[end:])
            return before + after, when, text[start:end]
        return text, None, ""

    def _named(self, match: re.Match[str]) -> Iterator[Reading]:
        """Set the subject; a relative's name said in passing (我妹妹小红住在...) is a reading of its own."""
        if match["me"]:
            self._oneself()
        elif match["word"] or match["title"] or match["en"]:
            yield from self._related(match)
        elif person := self._person(match):
            self._meet(person)
            if match["bare"]:
                self.relative = person
        else:
            self._turn_away()

    def _person(self, match: re.Match[str]) -> str:
        """Whom a subject without 我 means; nobody if that is not sure."""
        if match["bare"]:
            return f"用户的{match['bare']}" if self.subject in ("", USER, self.relative) else ""
        if match["newly"]:
            person = f"用户的{match['newly']}"
            return person if self.subject in ("", USER, person) else ""
        if match["they"]:
            return self._whom(match["they"])
        if match["who"]:
            return "" if match["who"] in NOT_WHO else match["who"]
        return match["somebody"] if is_bare_name(match["somebody"]) else ""

    def _whom(self, pronoun: str) -> str:
        """The one person a pronoun can mean; where this turn has named nobody, of the turns before."""
        named = set(self.people)
        if named:
            return self.people[-1] if len(named) == 1 else ""
        return self.before.whom(pronoun) if self.before else ""

    def _related(self, match: re.Match[str]) -> Iterator[Reading]:
        """我妹妹小红, 同事张伟, "My roommate Kevin": who somebody is to the speaker."""
        word = match["word"] or match["title"] or match["en"].lower()
        name = next((match[key] for key in ("latin", "name", "called", "enname") if match[key]), "")
        if name and is_given(name):
            yield who_is_who(word, name)
            self._meet(name)
        elif match["title"] or (KIN[word] in INDEFINITE_ZH and not NAMING.match(match.string, match.end())):
            self._turn_away()
        else:
            self._meet(owned(word))
            if word in OWN:
                self.relative = self.subject

    def _meet(self, person: str) -> None:
        self.people.append(person)
        self.subject, self.elsewhere = person, False

    def _predicate(self, subject: str, text: str, *, dated: bool) -> Iterator[Reading]:
        body, denied, ended = polarity(_BA.sub(r"\g<verb>了\g<o>", text, count=1))
        for rule in RULES:
            match = rule.pattern.match(body)
            if not match or (rule.dated and not dated) or (denied and rule.negated):
                continue
            if rule.name == "gone off" and not ended:
                continue  # what one does is no taste yet, but what one does no more is none
            groups = {key: value for key, value in match.groupdict().items() if value}
            if rule.name == "is my kin":
                yield who_is_who(groups["kin"], subject, denied=denied)
                return
            readings = list(built(rule, groups, subject))
            if rule.name == "kin named" and readings and len(readings[0].objects) == 1:
                self.people.append(readings[0].objects[0])
            if rule.name == "kin counted" and readings:
                self.counted = _KIN_WORD.findall(groups["o"])[-1]
            owner, kin = kin_of(subject)
            if rule.name in ("titled", "named is") and not kin:
                continue
            if rule.name in ("named", "titled", "named is") and kin and readings:
                name = trim(groups["o"])
                yield who_is_who(kin, name, owner=owner, denied=denied)
                self.people = [person for person in self.people if person != subject]
                self._meet(name)
                self.relative = name if kin in OWN else ""
                return
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              say="" if denied else reading.say)  # fmt: skip
            if readings:
                return


def _end(subject: re.Match[str]) -> int:
    """Where the predicate begins; what only looked like a name is part of it: 我儿子同学对花生过敏."""
    return subject.start("name") if subject["name"] and not is_given(subject["name"]) else subject.end()


def cast_before(texts: Sequence[str], now: datetime) -> Cast | None:
    """Whom earlier turns, oldest first, have named: for reference only."""
    cast: Cast | None = None
    for text in texts:
        reader = Reader(now)
        readings = [
            reading
            for sentence in sentences(text[:_OPENING])
            if len(sentence.text) <= LONGEST
            for _, reading in reader.read(sentence)
        ]
        kin = {
            each.objects[0]: each.relation.removeprefix("has ") for each in readings if each.rule == "my kin"
        }
        cast = Cast((*reader.people, *kin), kin, cast)
    return cast
