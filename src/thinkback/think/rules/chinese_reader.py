"""A Chinese statement -> readings: clauses at commas, subjects carried over when dropped, then the table."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from thinkback.text.dates import When, resolve
from thinkback.text.kin import INDEFINITE_ZH, KIN_ZH, PETS_ZH, longest_first
from thinkback.text.names import USER
from thinkback.text.numbers import number
from thinkback.text.sentences import Sentence, is_question
from thinkback.think.rules.chinese import RULES
from thinkback.think.rules.chinese_words import is_name, is_place, listed, trim
from thinkback.think.rules.rule import Clause, Reading, Rule
from thinkback.think.vocabulary import FAVOURITES_ZH

_KIN = KIN_ZH | PETS_ZH
_COMMA = re.compile("[，,；;]|(?<=[\u4e00-\u9fff])[ 　]+(?=[\u4e00-\u9fff])")
_CONTINUES = re.compile("\\s*(?:不是(?!.{1,12}[，,](?:而)?是)|而不是|叫|名叫|名字叫|取名|起名)")
_LEAD = re.compile(
    "(?:你好|您好|嗨|哈喽|嗯|对|是的|好的|哦|啊|对了|顺便说一下|顺便说|请记住|记住|其实|说实话"
    "|老实说|不对|更正一下"
    "|跟你说个事|跟你讲|说来奇怪|打错字了|打错了|写错了|说错了|搞错了|记错了|口误|早上好|晚上好|早"
    "|补充一下|更新一下"
    "|纠正一下|我的意思是|告诉你|跟你说|另外|还有|而且|但是|但|不过|然后|所以|因为|虽然|可是|那"
    "|大家好|抱歉|[！!：:，, ])+"
)
_OWN_NAMES = frozenset(
    ("mother", "father", "sister", "brother", "wife", "husband", "girlfriend", "boyfriend", "son", "daughter",
     "grandmother", "grandfather")
)  # fmt: skip
"""Of these the speaker's own is meant where no other owner is named: 妈妈住在北京."""
_DROPPED = frozenset(
    (
        "kin named",
        "moved",
        "joined",
        "weight changed",
        "number",
        "phone",
        "will",
        "appointment",
        "bought",
        "milestone",
    )
)
"""Rules that may be read without any subject: what one does, said by who does it."""
_NO_NAME = "把被给让和跟在对从向为了的不没也就今现一已很最要会去是有说总刚才小阿"
_SAID_NEXT = (
    "叫|名|今年|现在|也|就|一直|住|在|是|有|喜欢|讨厌|不|对|已|生|出|姓|的|最|爱|去|搬|打|昨|会|刚"
    "|身|体|今|明"
    "|上|下|从|患|\\d|[一二两三四五六七八九十]"
)
_OWN = {word: name for word, name in KIN_ZH.items() if len(word) > 1 and name in _OWN_NAMES}
_SUBJECT = re.compile(
    f"(?P<kin>(?:我|我们|咱)(?:家)?的?新?(?P<word>{longest_first(_KIN)}))"
    f"(?P<name>[小阿][\u4e00-\u9fff]|[^\\W{_NO_NAME}]{{2}})??(?={_SAID_NEXT})"
    "|(?P<me>(?:我们|我|本人|俺)(?:(?:和|跟|与)[^，,的]{1,6}?(?=是|在|去|住|结婚|离婚|订婚|一起|都|要|打算"
    "|计划|养|买|有))?(?:家(?=养|有|里?的?地址))?)"
    f"|(?P<own>[大小二]?(?P<bare>{longest_first(_OWN)}))(?={_SAID_NEXT}|转)"
    "|(?P<they>他|她|它)(?!们)"
    "|(?P<who>[小阿][\u4e00-\u9fff](?=今年|现在|也|住在|是|喜欢|讨厌|不喜欢|对.{1,8}过敏"
    "|在.{1,12}(?:工作|上班)))"
)
_NOT_WHO = frozenset(("小时", "小学", "小心", "小说", "小孩", "小区", "小吃", "小狗", "小猫", "小事", "阿姨"))
_NAMING = re.compile("(?:的名字)?(?:叫|名叫|是我)")
_ADVERB = re.compile(
    "(?:现在|每个月|每月|每天|每周|每晚|早上|晚上|周末|目前|已经|一直|平时|平常|也|还|都|真的|非常|很|特别"
    "|超级|超|最近|其实|就|刚刚|刚|终于"
    "|个人|本来|自己|又|仍然|依然"
    "|一般|通常|经常|常常|后来|正在|正|特|比较(?!喜欢)|从小就|从小(?!在)|至今)+"
)
_ENDED = re.compile("(?:不再|再也不|已经不|现在不)")
_FORMER = re.compile("(?:以前|之前|曾经|过去|原来|从前|原先)(?:是|一直|曾|都|也)*")
_NOT = re.compile(
    "(?:不是(?=对|在|住|叫|喜欢)|并不|并没有|没有|从不|从来不|不太|不怎么|不(?!过|管|仅|但|同|少))"
)
_NOT_HAVE = re.compile("(?:没有|没)(?=[\u4e00-\u9fff\\d])")
_RATHER = re.compile("(?:而)?是(?!不是|吗)")
_NOT_THAT = re.compile("[，,](?:而)?不是(?P<o>[^，,。！]{1,12})\\Z")
_IS_THAT = re.compile("(?:而)?是(?=对.+过敏|在.+(?:工作|上班|长大|读书|上学)|住在|叫|从.+(?:毕业|来))")
_CHANGED = re.compile("(?:改成|改为|换成|变成)了?")
_FAVOURITES = {word: name for name, word in FAVOURITES_ZH.items()}
_ATTRIBUTES_ZH = {
    "血压": "blood pressure",
    "血型": "blood type",
    "鞋码": "shoe size",
    "月薪": "salary",
    "工资": "salary",
    "房租": "rent",
    "租金": "rent",
    "预算": "budget",
    "房贷": "mortgage",
    "心率": "heart rate",
    "血糖": "blood sugar",
    "绩点": "gpa",
    "GPA": "gpa",
    "房间号": "room number",
    "座位号": "seat number",
    "航班号": "flight number",
}
_VERBS_ZH = {"吃": "eats", "喝": "drinks"}


@dataclass(slots=True)
class Reader:
    """Reads the statements of one turn in order, remembering whom it has named."""

    now: datetime
    people: list[str] = field(default_factory=list)
    subject: str = ""
    relative: str = ""
    """The last of the speaker's own relatives: 爸爸60岁，妈妈58岁 goes on with them."""

    def read(self, sentence: Sentence, about: str = "") -> Iterator[tuple[Clause, Reading]]:
        """What a sentence says; `about` is whom its first clause speaks of if it names nobody."""
        self.subject = about
        parts = clauses(sentence)
        wrong: tuple[str, ...] = ()
        for clause, following in zip(parts, (*parts[1:], None), strict=True):
            if is_question(clause.text):
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

    def _clause(self, text: str) -> Iterator[Reading]:
        body, when, said = self._time(text)
        lead = _LEAD.match(body)
        body = body[lead.end() :] if lead else body
        body = _adverbs(body)
        subject = _SUBJECT.match(body)
        rest = body
        if subject is None:
            if not self.subject:
                yield from self._dropped(rest, when, said)
                return
        else:
            rest = body[subject.end() :]
            named = yield from self._named(subject)
            if not named:
                return
        for reading in self._predicate(self.subject, rest, dated=when is not None):
            yield replace(reading, when=when, when_said=said)

    def _dropped(self, rest: str, when: When | None, said: str) -> Iterator[Reading]:
        """Nobody is named: the speaker is meant, where the verb tells something one does oneself."""
        for reading in self._predicate(USER, rest, dated=when is not None):
            if reading.rule in _DROPPED and not reading.negated:
                self.subject = USER
                yield replace(reading, when=when, when_said=said)

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
            if match["who"] in _NOT_WHO:
                return False
            self._meet(match["who"])
        else:
            name = match["name"]
            if name and is_name(name) and not re.match("[现今一就也都正刚]", name):
                yield _kin(match["word"], name)
                self._meet(name)
            elif _KIN[match["word"]] in INDEFINITE_ZH and not _NAMING.match(match.string, match.end()):
                return False
            else:
                self._meet(f"用户的{match['word']}")
                if match["word"] in _OWN:
                    self.relative = self.subject
        return True

    def _meet(self, person: str) -> None:
        self.people.append(person)
        self.subject = person

    def _predicate(self, subject: str, text: str, *, dated: bool) -> Iterator[Reading]:
        body, denied, ended = _polarity(text)
        for rule in RULES:
            match = rule.pattern.match(body)
            if not match or (rule.dated and not dated) or (denied and rule.negated):
                continue
            groups = {key: value for key, value in match.groupdict().items() if value}
            if rule.name == "is my kin":
                yield replace(_kin(groups["kin"], subject), negated=denied,
                              say="" if denied else _kin(groups["kin"], subject).say)  # fmt: skip
                return
            readings = list(_built(rule, groups, subject))
            if rule.name == "kin named" and readings and len(readings[0].objects) == 1:
                self.people.append(readings[0].objects[0])
            if rule.name == "named" and subject.startswith("用户的"):
                kin = subject.removeprefix("用户的")
                name = trim(groups["o"])
                if readings:
                    yield replace(_kin(kin, name), negated=denied, say="" if denied else _kin(kin, name).say)
                    self.people = [person for person in self.people if person != subject]
                    self._meet(name)
                    self.relative = name if kin in _OWN else ""
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


def _kin(word: str, name: str) -> Reading:
    """Who is who, in the very word that was said: 姐姐 is not 妹妹, though both are sisters."""
    say = "" if word in PETS_ZH else f"{{s}}的{word}是{{o}}"
    return Reading("my kin", USER, f"has {_KIN[word]}", (name,), say=say)


def _adverbs(text: str) -> str:
    found = _ADVERB.match(text)
    return text[found.end() :] if found else text


def _polarity(text: str) -> tuple[str, bool, bool]:
    """(predicate without adverbs and negation, denied?, ended?)"""
    if found := _ENDED.search(text[:8]):
        return _adverbs(text[: found.start()] + text[found.end() :]), True, True
    body = _IS_THAT.sub("", _adverbs(text), count=1) if _IS_THAT.match(_adverbs(text)) else _adverbs(text)
    if found := _FORMER.match(body):
        return _adverbs(body[found.end() :]), True, True
    if found := _NOT_HAVE.match(body):
        return "有" + body[found.end() :], True, False
    if found := _NOT.match(body):
        return _adverbs(body[found.end() :]), True, False
    return _CHANGED.sub("是", body, count=1), False, False


def _built(rule: Rule, groups: dict[str, str], subject: str) -> Iterator[Reading]:
    value = trim(groups["o"])
    objects = listed(value) if rule.split else (value,)
    good = tuple(item for item in objects if item and (not rule.accept or rule.accept(item)))
    if not good or len(good) < len(objects) or (rule.place and not is_place(good[0])):
        return
    if rule.name == "aged":
        good = (str(number(good[0])),)
    what = groups.get("what", "")
    names = {"what": _ATTRIBUTES_ZH.get(what, _FAVOURITES.get(what, what))}
    names["verb"] = _VERBS_ZH.get(groups.get("verb", ""), "")
    names["kin"] = _KIN.get(groups.get("kin", ""), "")
    relation = rule.relation.format(**names)
    yield Reading(rule.name, subject, relation, good, rule.negated, rule.ended, rule.kind, rule.say)
    if rule.also and groups.get("also"):
        yield Reading(rule.name, subject, rule.also, (trim(groups["also"]),), rule.negated, rule.ended)
