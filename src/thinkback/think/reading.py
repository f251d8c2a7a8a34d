"""What an answer says of the user, as triples: the assistant's "you" read by the rules as the user's "I".

An answer wraps its facts ("Since you live in Lyon, you could ...", "I remember that you ...", 既然你住在…):
the wrapping is taken off first, and what the assistant says of itself is nobody's fact. A bare "Paris." is
read by the question it answers. `conflict` decides by Algorithm 1's key, with design decision 7's guard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.text.language import language
from thinkback.text.people.kin import KIN_ZH, longest_first
from thinkback.text.sentences import sentences
from thinkback.think.amendment import EVERYTHING, Amendment
from thinkback.think.compare import comparable, same_object, single_respect
from thinkback.think.relations import relation_of
from thinkback.think.resolve import key_of, object_key
from thinkback.think.rules.generator import RuleGenerator
from thinkback.types import Draft, Thought, Turn

_I = re.IGNORECASE
_LEAD = re.compile(
    r"(?:(?:yes|no|sure|of course|certainly|right|well|oh|ah|ok|okay|great|absolutely)[,.!]\s+)?"
    r"(?:(?:as far as I (?:know|remember|can tell)|if I (?:remember|recall) correctly|according to "
    r"(?:my memory|what you told me|what I remember)|from what (?:I remember|you(?:'ve| have)? told me)),?\s+"
    r"|I (?:do )?(?:remember|recall|know|believe|think|see|understand|have noted|noted)(?: that)?,?\s+(?=you)"
    r"|you (?:(?:once|just|also|have|had|previously) )?(?:told me|said|mentioned)"
    r"(?: (?:earlier|before|once|previously))?(?: that)?,?\s+(?=you))",
    _I,
)
_SINCE = re.compile(
    r"(?:^|(?<=[,;.!] )|(?<= ))(?:since|as|because|given that|considering that|now that|seeing that)\s+"
    r"(?P<clause>you(?:r|'re|'ve)?\s[^,;.!?]{2,120})",
    _I,
)
_LEAD_ZH = re.compile(
    "(?:是的|对|好的|没错|当然|嗯)?[，,]?\\s*(?:(?:据我所知|我记得|如果我没记错|根据我的记忆|我知道|根据你说的"
    "|我了解到)[，,]?|[你您](?:之前|以前|曾经|刚才|上次)?(?:说过?|告诉过?我|提到过?)[，,：:]?(?=[你您]))"
)
_SINCE_ZH = re.compile("(?:既然|因为|由于|考虑到)(?P<clause>[你您][^，,。；;！？]{2,60})")
_ANOTHER_TIME_ZH = re.compile("明年|后年|去年|前年|将来|以后|以前|曾经")
_PERSONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, flags), other)
    for pattern, flags, other in (
        (r"\bI(?:'m| am)\b", 0, "the assistant is"),
        (r"\bI(?:'ve|'ll|'d)?\b", 0, "the assistant"),
        (r"\b(?:my|mine)\b", _I, "the assistant's"),
        (r"\bme\b", _I, "the assistant"),
        (r"\bthe user is\b", _I, "I am"),
        (r"\bthe user's\b", _I, "my"),
        (r"\bthe user\b", _I, "I"),
        (r"\byou(?:'re| are)\b", _I, "I am"),
        (r"\byou were(n't)?\b", _I, r"I was\1"),
        (r"\byou(?:'ve| have)\b", _I, "I have"),
        (r"\byou'll\b", _I, "I will"),
        (r"\byou'd\b", _I, "I'd"),
        (r"\byours\b", _I, "mine"),
        (r"\byour\b", _I, "my"),
        (r"\byou\b", _I, "I"),
    )
)
_SAID_OTHERWISE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), other)
    for pattern, other in (
        (r"\A(?:in|at) (?P<o>[A-Z][\w -]{1,40}), where you live\b.*", r"You live in \g<o>."),
        (r"\byour home is in\b", "you live in"),
        (r"\b(?:have|has) no (\w+) allergy\b", r"are not allergic to \1"),
    )
)
_SO = re.compile(r"[,;:]\s+(?=(?:so|which|therefore|that's why|hence)\b)", _I)
_DENIAL = re.compile(
    r"\b(?:(is|was|are|can|have|has) (?:not|never)|(can)not)\b(?! only)|\b(is|was|are|ca)n't\b", _I
)
_NONE = re.compile(r"no\s+(?=\w)|不是(?=.)", _I)
_KIN_IS = re.compile(f"(?<=[你您])的?({longest_first(KIN_ZH)})是(?=[\u4e00-\u9fff]{{2,4}}(?:[，。！]|\\Z))")
_ASKED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), said)
    for pattern, said in (
        (r"\bwhere (?:do|did) I (?:currently |now )?live\b|\bwhich city do I live\b", "I live in {}."),
        (r"\bwhere do I work\b|\bwho do I work for\b", "I work at {}."),
        (r"\bwhat(?:'s| is) my name\b", "My name is {}."),
        (r"\bhow old am I\b", "I am {}."),
        (r"\bwhere was I born\b", "I was born in {}."),
        (r"\bwhat(?:'s| is) my (?P<what>[\w' -]{2,40}?)\s*\?", "My {what} is {}."),
        (r"\bwho is my (?P<what>[\w -]{2,20}?)\s*\?", "My {what} is {}."),
        ("我(?:现在)?(?:住|家)在?哪", "我住在{}。"),
        ("我(?:现在)?在哪(?:里|儿|家公司)?(?:工作|上班)", "我在{}工作。"),
        ("我叫什么|我的名字", "我叫{}。"),
        ("我的?(?P<what>[^的叫，。？]{1,4})叫什么", "我{what}叫{}。"),
        ("我(?:今年)?(?:多大|几岁)", "我{}。"),
        ("我的(?P<what>[^是，。？]{1,8})是(?:什么|多少|谁|哪)", "我的{what}是{}。"),
    )
)
_BARE = re.compile(
    r"(?:(?:in|at|on|it is|it's|that is|that's|是|在)\s*)?(?P<o>[^,;:.!?，。；！？]{1,40})[.!。！]?", _I
)
_NO_VALUE = re.compile(
    r"\b(?:I|you|your|is|are|do|does|not|don't|know|sorry|the user)\b|[你我您不没]|知道"
    r"|\A(?:sure|yes|no|ok|okay|of course|certainly|absolutely|right|great|good|fine|thanks|thank|hello"
    r"|hi|hey|welcome|maybe|perhaps|unknown|none|nothing|nowhere|noted|understood|done|let)\b"
    r"|\A(?:好|是的?[。！]?\Z|对[。！]?\Z|嗯|当然|可以|未知|谢谢|明白|知道)",
    _I,
)
"""Words by which a short reply is no bare value: it has a verb of its own, or it only reacts."""


class AnswerReader:
    """Statements of an answer and of a query, and whether one of them contradicts a held thought."""

    def __init__(self) -> None:
        self._rules = RuleGenerator()

    def answered(self, text: str, query: str, at: datetime) -> list[Draft]:
        """What an answer to `query` states."""
        lines = _mine(text, query)
        stated = [_without_none(draft) for draft in self.told("\n".join(lines), at)]
        read = {draft.relation for draft in stated}
        for line in lines:
            # The rules read few denials of attributes: read what is denied, and deny that.
            if bare := _affirmed(line):
                stated += [
                    replace(draft, negated=True)
                    for draft in self.told(bare, at)
                    if draft.relation not in read
                ]
        return stated

    def told(self, text: str, at: datetime) -> list[Draft]:
        """What the user states in his own words, requests and corrections left out."""
        return [draft for draft in self._said(text, at) if not isinstance(draft, Amendment)]

    def outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]:
        """Which thoughts the user's words take back or replace: he may, where an answer may not."""
        said = self._said(text, at)
        return {
            thought.id
            for thought in held
            for draft in said
            if (_amends(draft, thought) if isinstance(draft, Amendment) else self.conflict(draft, thought))
        }

    def _said(self, text: str, at: datetime) -> list[Draft]:
        return self._rules.generate(Turn(id=0, query=text, at=at, recorded_at=at))

    def conflict(self, stated: Draft, held: Draft) -> str:
        """Why a statement and a thought cannot both hold; empty where they can."""
        if key_of(stated.subject, stated.relation) != key_of(held.subject, held.relation):
            return "the answer denies it" if _denies_having(stated, held) else ""
        shared = any(same_object(one, other) for one in stated.objects for other in held.objects)
        if stated.negated != held.negated:
            denial = "the answer denies it" if stated.negated else "the answer states what was denied"
            return denial if shared else ""
        if stated.negated or shared:
            return ""
        return _another(stated, held)


def _denies_having(stated: Draft, held: Draft) -> bool:
    """ "You don't have a cat" to one who has a cat named Luna."""
    family = {key_of(stated.subject, f"has {object_key(name)}") for name in stated.objects}
    had = key_of(held.subject, held.relation)
    return stated.negated and not held.negated and stated.relation == "has" and had in family


def _amends(amendment: Amendment, held: Draft) -> bool:
    """Whether a request to forget or a correction may mean this thought; which one, thinking decides."""
    if key_of(amendment.subject, amendment.relation) != key_of(held.subject, held.relation):
        return False
    if amendment.instead_of:
        return any(same_object(amendment.instead_of, name) for name in held.objects)
    if amendment.forget:
        return EVERYTHING in amendment.objects or any(
            same_object(one, name) for one in amendment.objects for name in held.objects
        )
    return any(comparable(one, name) for one in amendment.objects for name in held.objects)


def _another(stated: Draft, held: Draft) -> str:
    """Two different objects of one key: a conflict only where one of them can hold at a time."""
    if relation_of(held.relation).single and all(
        comparable(one, other) for one in stated.objects for other in held.objects
    ):
        return "same subject and relation, another object"
    if any(single_respect(held.relation, a, b) for a in stated.objects for b in held.objects):
        return "same subject and relation, another amount"
    return ""


def _without_none(draft: Draft) -> Draft:
    """ "no cats" is a denial of cats, 不是律师 one of 律师."""
    objects = tuple(_NONE.sub("", name, count=1) if _NONE.match(name) else name for name in draft.objects)
    return draft if objects == draft.objects else replace(draft, objects=objects, negated=True)


def _affirmed(line: str) -> str:
    """A line without its denial, empty if it denies nothing that could be read otherwise."""
    if "不是" in line:
        return line.replace("不是", "是", 1)
    found = _DENIAL.search(line)
    if found is None:
        return ""
    verb = found[1] or found[2] or found[3]
    return f"{line[: found.start()]}{'can' if verb == 'ca' else verb}{line[found.end() :]}"


def _mine(text: str, query: str) -> list[str]:
    """An answer in the user's own person, one plain statement a line."""
    lines: list[str] = []
    found = sentences(text)
    if len(found) == 1 and (said := _in_full(found[0].text, query)):
        return [said]
    for sentence in found:
        if language(sentence.text) == "zh":
            lines += _chinese(sentence.text)
        else:
            lines += _english(sentence.text)
    return lines


def _in_full(reply: str, query: str) -> str:
    """A bare reply as the statement its question asked for, empty if it is none."""
    bare = _BARE.fullmatch(reply.strip())
    if bare is None or _NO_VALUE.search(reply):
        return ""
    for pattern, said in _ASKED:
        if asked := pattern.search(query):
            return said.replace("{what}", asked.groupdict().get("what") or "").replace(
                "{}", bare["o"].strip()
            )
    return ""


def _english(sentence: str) -> list[str]:
    body = sentence.replace("’", "'")
    for pattern, other in _SAID_OTHERWISE:
        body = pattern.sub(other, body)
    given = [f"{match['clause']}." for match in _SINCE.finditer(body)]
    lead = _LEAD.match(body)
    rest = _SINCE.sub("", body).lstrip(" ,;") if given else body[lead.end() :] if lead else body
    return [_first_person(part) for part in (*given, *_SO.split(rest)) if part.strip(" .!")]


def _first_person(text: str) -> str:
    for pattern, other in _PERSONS:
        text = pattern.sub(other, text)
    return text[:1].upper() + text[1:] if text.startswith(("my ", "i ")) else text


def _chinese(sentence: str) -> list[str]:
    sentence = _KIN_IS.sub(r"\1叫", sentence)
    given = [match["clause"] for match in _SINCE_ZH.finditer(sentence)]
    lead = _LEAD_ZH.match(sentence)
    rest = (
        _SINCE_ZH.sub("", sentence).lstrip("，, ") if given else sentence[lead.end() :] if lead else sentence
    )
    parts = [part for part in (*given, rest) if part.strip("。，！ ") and not _ANOTHER_TIME_ZH.search(part)]
    return [re.sub("[你您]|用户", "我", part.replace("我", "助手")).rstrip("。") + "。" for part in parts]
