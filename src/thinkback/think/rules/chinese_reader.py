"""A Chinese statement -> readings: clauses at commas, subjects carried over when dropped, then the table."""

from __future__ import annotations

import re
from collections.abc import Container, Generator, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.text.dates import When, resolve
from thinkback.text.kin import INDEFINITE_ZH, longest_first
from thinkback.text.names import USER
from thinkback.text.sentences import Sentence, is_question
from thinkback.text.traditional import simplified
from thinkback.think.rules.chinese import RULES
from thinkback.think.rules.chinese_build import as_written, built, is_given, kin_of, owned, who_is_who
from thinkback.think.rules.chinese_openings import (
    KIN,
    NAMING,
    NOT_WHO,
    OWN,
    SUBJECT,
    TIMELY,
    polarity,
    without_adverbs,
    without_lead,
)
from thinkback.think.rules.chinese_words import is_name, trim
from thinkback.think.rules.rule import Clause, Reading

_COMMA = re.compile(
    "[，,；;]|(?<=[\u4e00-\u9fff])[ 　]+(?=[\u4e00-\u9fff])"
    "|(?<=[^口点根杯支瓶滴谁么样儿啥都再一，,])(?=也不[吃喝抽喜爱会是]|也没有)"
    "|(?<=不[抽喝吃][\u4e00-\u9fff])(?=不[抽喝吃])"
)
_CONTINUES = re.compile(
    "\\s*(?:不是(?!.{1,12}[，,](?:而)?是)|而不是|叫|名叫|名字叫|取名|起名|我?[给管](?:它|他|她)(?:取名"
    "|起名)?叫)"
)
_DROPPED = frozenset(
    (
        "kin named",
        "moved",
        "joined",
        "weight changed",
        "number",
        "phone",
        "email",
        "will",
        "appointment",
        "bought",
        "milestone",
        "took to",
        "went with",
        "went anyway",
        "stopped drug",
        "quit eating",
        "gave up",
        "gave up smoking",
        "quit smoking",
        "quit drinking",
        "dose",
        "earns",
        "speaks it",
        "prescribed",
    )
)
"""Rules that may be read without any subject: what one does, said by who does it."""
_DROPPED_TIMELY = _DROPPED | frozenset(
    ("lives", "works at", "works as at", "works in", "works as", "learns", "studies at", "on drug", "likes",
     "eats", "gone off", "changed to", "takes none", "weighs", "speaks", "allergic")
)  # fmt: skip
"""Those that may be read so where a time or "now" ties them to the speaker's life."""
_RATHER = re.compile("(?:而)?是(?!不是|吗)")
_NOT_THAT = re.compile("[，,](?:而)?不是(?P<o>[^，,。！]{1,12})\\Z")
_NOT_BUT = re.compile(
    "(?P<head>.*?[\u4e00-\u9fff])不(?:是|叫|在|住)(?!对|在|住|叫|喜欢)(?P<o>[^，,]{1,14})\\Z"
)
_BUT = re.compile("(?:而)?(?:是|叫|在|住)(?P<o>[^，,]{1,14})\\Z")
_BA = re.compile("把(?P<o>[^，,了]{1,8}?)(?:都|给)?(?P<verb>戒|卖|辞|退)(?:了|掉了?)")
_TOPIC = re.compile(
    "(?:我的?|俺的?)?(?P<topic>电话|手机号码?|邮箱|地址|房租|工资|月薪|名字|英文名|专业|体重|血压|座位号"
    "|房间号|航班号)"
    "(?:号码?)?(?:又|刚|已经|最近)*(?:换|改|变|涨|降|调整|更新)(?:了|啦|过)"
)
_NOW_IS = re.compile(
    "(?:新的?|现在|如今|目前|以后|最新)*(?:号码?|的)?(?:是|改成了?|换成了?|变成了?|为|叫)(?P<o>.+)"
)
_CALLED = re.compile(
    "(?:(?:大家|朋友们?|同学们?|同事们?|家里?人)(?:都|一般|就)*|你?(?:可以"
    "|就)+)[叫喊]我(?P<o>[^，,]{1,6}?)(?:就行|就好|吧|哦)?了?"
    "|[叫喊]我(?P<simply>[^，,]{1,6}?)(?:就行|就好|就可以)了?"
)
_KIN_WORD = re.compile(longest_first(KIN))
_ONE_NAMED = re.compile("(?:还有|另)?(?:一|另)?(?:[只条个位]|[大小老][的大二三幺]?|公的|母的)也?叫(?P<o>.+)")


@dataclass(slots=True)
class Reader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    subject: str = ""
    topic: str = ""
    """What has changed, said before its new value: 电话换了，现在是..."""
    counted: str = ""
    """Of whom there are several: 养了两只猫，一只叫花花."""
    relative: str = ""
    """The last of the speaker's own relatives: 爸爸60岁，妈妈58岁 goes on with them."""

    def read(self, sentence: Sentence, about: str = "") -> Iterator[tuple[Clause, Reading]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self.subject = about
        self.topic = ""
        plain = sentence._replace(text=simplified(sentence.text))
        for clause, reading in self._readings(clauses(plain)):
            yield clause, as_written(reading, plain.text, sentence.text)

    def _readings(self, parts: list[Clause]) -> Iterator[tuple[Clause, Reading]]:
        wrong: tuple[str, ...] = ()
        rest = iter(zip(parts, (*parts[1:], None), strict=True))
        for clause, following in rest:
            if is_question(clause.text):
                continue
            if following and (mended := self._rather(clause.text, following.text)):
                yield from ((clause, reading) for reading in mended)
                next(rest)
                continue
            tail = _NOT_THAT.search(clause.text)
            readings = list(self._clause(clause.text[: tail.start()] if tail else clause.text))
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
        if topic := _TOPIC.match(body):
            self.topic, self.subject = topic["topic"], USER
            return
        if called := _CALLED.fullmatch(body):
            name = called["o"] or called["simply"]
            if is_name(name):
                self.subject = USER
                yield Reading("called", USER, "goes by", (name,))
            return
        if self.counted and (one := _ONE_NAMED.fullmatch(body)) and is_name(trim(one["o"])):
            yield who_is_who(self.counted, trim(one["o"]))
            return
        if self.topic and (now := _NOW_IS.fullmatch(body)):
            body = f"我{self.topic}是{now['o']}"
            self.topic = ""
        timely = when is not None or bool(TIMELY.match(body))
        body = without_adverbs(body)
        subject = SUBJECT.match(body)
        rest = body
        if subject is None:
            if not self.subject:
                yield from self._dropped(rest, when, said, _DROPPED_TIMELY if timely else _DROPPED)
                return
        else:
            rest = body[subject.end() :].lstrip()
            named = yield from self._named(subject)
            if not named:
                return
        if when is None:  # 我上周去了: the time stands behind the subject as often as before it
            rest, when, said = self._time(rest)
        for reading in self._predicate(self.subject, rest, dated=when is not None):
            yield self._dated(reading, rest, when, said)

    def _dated(self, reading: Reading, rest: str, when: When | None, said: str) -> Reading:
        """What is said of a day to come is no fact yet, but a plan: 下个月入职京东."""
        ahead = when is not None and when.start > self.now and not reading.negated
        if ahead and reading.relation not in ("plans to", "has appointment") and reading.rule != "my kin":
            reading = replace(reading, relation="plans to", objects=(trim(rest),), kind=None, say="")
        return replace(reading, when=when, when_said=said)

    def _dropped(self, rest: str, when: When | None, said: str, allowed: Container[str]) -> Iterator[Reading]:
        """Nobody is named: the speaker is meant, where the verb tells something one does oneself."""
        for reading in self._predicate(USER, rest, dated=when is not None):
            if reading.rule in allowed and (
                not reading.negated
                or reading.ended
                or reading.rule.startswith(("quit", "takes", "gave", "stopped"))
            ):
                self.subject = USER
                yield self._dated(reading, rest, when, said)

    def _time(self, text: str) -> tuple[str, When | None, str]:
        """Take the first time expression out of a clause, except from a date that is what it tells."""
        past = "了" in text or "过" in text
        for when in resolve(text, self.now, past=past):
            start, end = when.span
            if re.search("(?:生日|出生日期|生于|出生于)(?:是|在|为)?\\Z", text[:start]) or text[
                end:
            ].startswith("出生"):
                continue
            before = re.sub("(?:从|自|在|是)\\Z", "", text[:start])
            after = re.sub("^(?:开始|起|以来)?(?:就|，|,)?", "", text[end:])
            return before + after, when, text[start:end]
        return text, None, ""

    def _named(self, match: re.Match[str]) -> Generator[Reading, None, bool]:
        """Set the subject; a relative's name said in passing (我妹妹小红住在...) is a reading of its own."""
        if match["me"]:
            self.subject = USER
        elif match["bare"]:
            if self.subject not in ("", USER, self.relative):
                return False
            self.relative = f"用户的{match['bare']}"
            self._meet(f"用户的{match['bare']}")
        elif match["they"]:
            if len(set(self.people)) != 1:
                return False
            self.subject = self.people[-1]
        elif match["who"]:
            if match["who"] in NOT_WHO:
                return False
            self._meet(match["who"])
        else:
            return (yield from self._related(match))
        return True

    def _related(self, match: re.Match[str]) -> Generator[Reading, None, bool]:
        """我妹妹小红, 同事张伟, "My roommate Kevin": who somebody is to the speaker."""
        word = match["word"] or match["title"] or match["en"].lower()
        name = next((match[key] for key in ("latin", "name", "called", "enname") if match[key]), "")
        if name and is_given(name):
            yield who_is_who(word, name)
            self._meet(name)
        elif match["title"] or (KIN[word] in INDEFINITE_ZH and not NAMING.match(match.string, match.end())):
            return False
        else:
            self._meet(owned(word))
            if word in OWN:
                self.relative = self.subject
        return True

    def _meet(self, person: str) -> None:
        self.people.append(person)
        self.subject = person

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
            kin = kin_of(subject)
            if rule.name in ("titled", "named is") and not kin:
                continue
            if rule.name in ("named", "titled", "named is") and kin:
                name = trim(groups["o"])
                if readings:
                    yield who_is_who(kin, name, denied=denied)
                    self.people = [person for person in self.people if person != subject]
                    self._meet(name)
                    self.relative = name if kin in OWN else ""
                return
            for reading in readings:
                yield replace(reading, negated=reading.negated or denied, ended=reading.ended or ended,
                              say="" if denied else reading.say)  # fmt: skip
            if readings:
                return


def clauses(sentence: Sentence) -> list[Clause]:
    """The parts between commas; one that only goes on ("，不是巴黎", "，叫小白") stays with its neighbour."""
    out: list[Clause] = []
    start = 0
    for cut in (*_COMMA.finditer(sentence.text), None):
        if cut and _CONTINUES.match(sentence.text, cut.end()):
            continue
        end = cut.start() if cut else len(sentence.text)
        body = sentence.text[start:end]
        if body.strip():
            first = sentence.start + start + len(body) - len(body.lstrip())
            out.append(Clause(body.strip().rstrip("。！!.~～… "), first, first + len(body.strip())))
        start = cut.end() if cut else end
    return out
