"""Reads the statements about the user in an assistant's answer and compares them with stored thoughts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.language.kinship import KIN_ZH, alternation_pattern
from thinkback.language.numbers import NUMBER_PATTERN_EN, parse_english_number
from thinkback.language.relations import ALL_VALUES, get_relation
from thinkback.language.scripts import detect_language
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import extract_terms
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.slots import object_key, thought_key, value_slot
from thinkback.think.state import Amendment
from thinkback.types import Thought, ThoughtDraft, Turn

_DIGITS_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORD = re.compile(rf"\b(?!an?\b)(?:{NUMBER_PATTERN_EN})\b", re.I)
_MONTH_PREFIXES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b",
    re.I,
)
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")
_UNIT_WORDS = """
    kg kilo kilogram lb pound stone cm m metr meter feet foot ft inch year old mg g ml th st nd rd usd dollar
    euro month week day
"""
_DISTRICT_ZH = re.compile("(?:区|县|镇|街道?|路|首都|郊区|市中心|[东西南北]边|附近)\\Z")
_UNIT_STEMS = frozenset(_UNIT_WORDS.split())
"""Stems: 70 kg are 70 kilograms."""
_COUNTRY_WORDS = """
    africa america argentina asia australia austria belgium brazil britain california canada chile china
    colombia denmark egypt england europe finland florida france germany greece india indonesia iran ireland
    israel italy japan kenya korea malaysia mexico netherlands nigeria norway ontario pakistan peru
    philippines poland portugal romania russia scotland spain sweden switzerland taiwan texas thailand turkey
    ukraine vietnam wales uk us usa
    中国 法国 德国 英国 美国 日本 韩国 意大利 西班牙 加拿大 澳大利亚 俄罗斯 印度 巴西 荷兰 瑞士 瑞典 欧洲 亚洲
"""
_COUNTRIES = frozenset(_COUNTRY_WORDS.split())
"""A country holds its cities: living in Lyon and living in France is no contradiction."""
_TWO_WORD_COUNTRIES = frozenset(
    ("united states", "united kingdom", "new zealand", "south korea", "south africa")
)


def may_be_same_object(one: str, other: str) -> bool:
    """Whether two objects can mean the same thing."""
    if object_key(one) == object_key(other):
        return True
    numbers, others = _extract_numbers(one), _extract_numbers(other)
    words, other_words = _extract_words(one), _extract_words(other)
    if numbers and others:
        within = numbers <= others or others <= numbers  # as multisets: June 6 is no part of May 6
        return within and (not words or not other_words or bool(words & other_words))
    if words and other_words and (words <= other_words or other_words <= words):
        return True
    if _initials(one) == _normalise_place(other) or _initials(other) == _normalise_place(one):
        return True
    if _is_chinese_part(one, other):
        return True
    return _is_country(one) != _is_country(other)


def are_comparable(one: str, other: str) -> bool:
    """Whether two different objects exclude each other: of one language and one form, on one level.

    里昂 may be Lyon. "Your birthday is soon", "your name is lovely" and 你住在海淀区 give no other value.
    """
    return _object_form(one) == _object_form(other) and _place_level(one) == _place_level(other)


def _object_form(text: str) -> str:
    """What an object looks like: a date, a number, a name, or words, and in which script."""
    if _MONTH_NAME.search(text) or "月" in text:
        return "date"
    if _extract_numbers(text):
        return "number"
    if _HAN_RUN.search(text):
        return "han"
    return "name" if re.search(r"\b[A-Z]", text) else "words"


def _place_level(text: str) -> str:
    part = _DISTRICT_ZH.search(text)
    return part.group() if part else ""


def share_value_slot(relation: str, one: str, other: str) -> bool:
    """Whether two objects of a many-valued relation are two values in one respect: 500 mg, then 1000 mg."""
    shared = value_slot(relation, one)
    return bool(shared) and shared == value_slot(relation, other)


def _extract_numbers(text: str) -> Counter[str]:
    digits = [found.replace(",", "").lstrip("0") for found in _DIGITS_NUMBER.findall(text)]
    words = [str(parse_english_number(word)) for word in _NUMBER_WORD.findall(text) if not word.isdigit()]
    months = [str(1 + _MONTH_PREFIXES.index(name[:3].lower())) for name in _MONTH_NAME.findall(text)]
    return Counter((*digits, *words, *months))


def _extract_words(text: str) -> frozenset[str]:
    bare = _MONTH_NAME.sub(" ", _NUMBER_WORD.sub(" ", text))
    return frozenset(
        term for term in extract_terms(bare) if not term[0].isdigit() and term not in _UNIT_STEMS
    )


def _initials(text: str) -> str:
    words = re.findall(r"[A-Z]\w+", text)
    return "".join(word[0] for word in words).lower() if len(words) > 1 else " "


def _normalise_place(text: str) -> str:
    return text.replace(".", "").strip().lower().removeprefix("the ")


def _is_chinese_part(one: str, other: str) -> bool:
    """上海 and 上海市浦东: one is written within the other."""
    a, b = "".join(_HAN_RUN.findall(one)), "".join(_HAN_RUN.findall(other))
    return bool(a and b) and (a in b or b in a)


def _is_country(text: str) -> bool:
    name = _normalise_place(text)
    return name in _COUNTRIES or name in _TWO_WORD_COUNTRIES


_IGNORECASE = re.IGNORECASE
_ANSWER_OPENING = re.compile(
    r"(?:(?:yes|no|sure|of course|certainly|right|well|oh|ah|ok|okay|great|absolutely)[,.!]\s+)?"
    r"(?:(?:as far as I (?:know|remember|can tell)|if I (?:remember|recall) correctly|according to "
    r"(?:my memory|what you told me|what I remember)|from what (?:I remember|you(?:'ve| have)? told me)),?\s+"
    r"|I (?:do )?(?:remember|recall|know|believe|think|see|understand|have noted|noted)(?: that)?,?\s+(?=you)"
    r"|you (?:(?:once|just|also|have|had|previously) )?(?:told me|said|mentioned)"
    r"(?: (?:earlier|before|once|previously))?(?: that)?,?\s+(?=you))",
    _IGNORECASE,
)
_REASON_CLAUSE = re.compile(
    r"(?:^|(?<=[,;.!] )|(?<= ))(?:since|as|because|given that|considering that|now that|seeing that)\s+"
    r"(?P<clause>you(?:r|'re|'ve)?\s[^,;.!?]{2,120})",
    _IGNORECASE,
)
_ANSWER_OPENING_ZH = re.compile(
    "(?:是的|对|好的|没错|当然|嗯)?[，,]?\\s*(?:(?:据我所知|我记得|如果我没记错|根据我的记忆|我知道|根据你说的"
    "|我了解到)[，,]?|[你您](?:之前|以前|曾经|刚才|上次)?(?:说过?|告诉过?我|提到过?)[，,：:]?(?=[你您]))"
)
_REASON_CLAUSE_ZH = re.compile("(?:既然|因为|由于|考虑到)(?P<clause>[你您][^，,。；;！？]{2,60})")
_OTHER_TIME_ZH = re.compile("明年|后年|去年|前年|将来|以后|以前|曾经")
_PERSON_SHIFTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, flags), other)
    for pattern, flags, other in (
        (r"\bI(?:'m| am)\b", 0, "the assistant is"),
        (r"\bI(?:'ve|'ll|'d)?\b", 0, "the assistant"),
        (r"\b(?:my|mine)\b", _IGNORECASE, "the assistant's"),
        (r"\bme\b", _IGNORECASE, "the assistant"),
        (r"\bthe user is\b", _IGNORECASE, "I am"),
        (r"\bthe user's\b", _IGNORECASE, "my"),
        (r"\bthe user\b", _IGNORECASE, "I"),
        (r"\byou(?:'re| are)\b", _IGNORECASE, "I am"),
        (r"\byou were(n't)?\b", _IGNORECASE, r"I was\1"),
        (r"\byou(?:'ve| have)\b", _IGNORECASE, "I have"),
        (r"\byou'll\b", _IGNORECASE, "I will"),
        (r"\byou'd\b", _IGNORECASE, "I'd"),
        (r"\byours\b", _IGNORECASE, "mine"),
        (r"\byour\b", _IGNORECASE, "my"),
        (r"\byou\b", _IGNORECASE, "I"),
    )
)
_PARAPHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _IGNORECASE), other)
    for pattern, other in (
        (r"\A(?:in|at) (?P<o>[A-Z][\w -]{1,40}), where you live\b.*", r"You live in \g<o>."),
        (r"\byour home is in\b", "you live in"),
        (r"\b(?:have|has) no (\w+) allergy\b", r"are not allergic to \1"),
    )
)
_CONSEQUENCE_BREAK = re.compile(r"[,;:]\s+(?=(?:so|which|therefore|that's why|hence)\b)", _IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:(is|was|are|can|have|has) (?:not|never)|(can)not)\b(?! only)|\b(is|was|are|ca)n't\b", _IGNORECASE
)
_NO_PREFIX = re.compile(r"no\s+(?=\w)|不是(?=.)", _IGNORECASE)
_KIN_NAME_ZH = re.compile(
    f"(?<=[你您])的?({alternation_pattern(KIN_ZH)})是(?=[\u4e00-\u9fff]{{2,4}}(?:[，。！]|\\Z))"
)
_QUESTION_STATEMENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _IGNORECASE), said)
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
_BARE_ANSWER = re.compile(
    r"(?:(?:in|at|on|it is|it's|that is|that's|是|在)\s*)?(?P<o>[^,;:.!?，。；！？]{1,40})[.!。！]?",
    _IGNORECASE,
)
_NOT_A_VALUE = re.compile(
    r"\b(?:I|you|your|is|are|do|does|not|don't|know|sorry|the user)\b|[你我您不没]|知道"
    r"|\A(?:sure|yes|no|ok|okay|of course|certainly|absolutely|right|great|good|fine|thanks|thank|hello"
    r"|hi|hey|welcome|maybe|perhaps|unknown|none|nothing|nowhere|noted|understood|done|let)\b"
    r"|\A(?:好|是的?[。！]?\Z|对[。！]?\Z|嗯|当然|可以|未知|谢谢|明白|知道)",
    _IGNORECASE,
)
"""Words by which a short reply is no bare value: it has a verb of its own, or it only reacts."""


class AnswerReader:
    """Statements of an answer and of a query, and whether one of them contradicts a held thought."""

    def __init__(self) -> None:
        self._rules = RuleGenerator()

    def read_answer(self, text: str, query: str, at: datetime) -> list[ThoughtDraft]:
        """What an answer to `query` states."""
        lines = _to_user_statements(text, query)
        stated = [_without_no_prefix(draft) for draft in self.read_statements("\n".join(lines), at)]
        read = {draft.relation for draft in stated}
        for line in lines:
            # The rules read few denials of attributes: read what is denied, and deny that.
            if bare := _without_denial(line):
                stated += [
                    replace(draft, negated=True)
                    for draft in self.read_statements(bare, at)
                    if draft.relation not in read
                ]
        return stated

    def read_statements(self, text: str, at: datetime) -> list[ThoughtDraft]:
        """What the user states in his own words, requests and corrections left out."""
        return [draft for draft in self._read_drafts(text, at) if not isinstance(draft, Amendment)]

    def find_outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]:
        """Which thoughts the user's words take back or replace: he may, where an answer may not."""
        said = self._read_drafts(text, at)
        return {
            thought.id
            for thought in held
            for draft in said
            if (
                _amends(draft, thought)
                if isinstance(draft, Amendment)
                else self.find_conflict(draft, thought)
            )
        }

    def _read_drafts(self, text: str, at: datetime) -> list[ThoughtDraft]:
        return self._rules.generate(Turn(id=0, query=text, at=at, recorded_at=at))

    def find_conflict(self, stated: ThoughtDraft, held: ThoughtDraft) -> str:
        """Why a statement and a thought cannot both hold; empty where they can."""
        if thought_key(stated.subject, stated.relation) != thought_key(held.subject, held.relation):
            return "the answer denies it" if _denies_having(stated, held) else ""
        shared = any(may_be_same_object(one, other) for one in stated.objects for other in held.objects)
        if stated.negated != held.negated:
            denial = "the answer denies it" if stated.negated else "the answer states what was denied"
            return denial if shared else ""
        if stated.negated or shared:
            return ""
        return _other_value(stated, held)


def _denies_having(stated: ThoughtDraft, held: ThoughtDraft) -> bool:
    """ "You don't have a cat" to one who has a cat named Luna."""
    family = {thought_key(stated.subject, f"has {object_key(name)}") for name in stated.objects}
    had = thought_key(held.subject, held.relation)
    return stated.negated and not held.negated and stated.relation == "has" and had in family


def _amends(amendment: Amendment, held: ThoughtDraft) -> bool:
    """Whether a request to forget or a correction may mean this thought; which one, thinking decides."""
    if thought_key(amendment.subject, amendment.relation) != thought_key(held.subject, held.relation):
        return False
    if amendment.instead_of:
        return any(may_be_same_object(amendment.instead_of, name) for name in held.objects)
    if amendment.forget:
        return ALL_VALUES in amendment.objects or any(
            may_be_same_object(one, name) for one in amendment.objects for name in held.objects
        )
    return any(are_comparable(one, name) for one in amendment.objects for name in held.objects)


def _other_value(stated: ThoughtDraft, held: ThoughtDraft) -> str:
    """Two different objects of one key: a conflict only where one of them can hold at a time."""
    if get_relation(held.relation).single_valued and all(
        are_comparable(one, other) for one in stated.objects for other in held.objects
    ):
        return "same subject and relation, another object"
    if any(share_value_slot(held.relation, a, b) for a in stated.objects for b in held.objects):
        return "same subject and relation, another amount"
    return ""


def _without_no_prefix(draft: ThoughtDraft) -> ThoughtDraft:
    """ "no cats" is a denial of cats, 不是律师 one of 律师."""
    objects = tuple(
        _NO_PREFIX.sub("", name, count=1) if _NO_PREFIX.match(name) else name for name in draft.objects
    )
    return draft if objects == draft.objects else replace(draft, objects=objects, negated=True)


def _without_denial(line: str) -> str:
    """A line without its denial, empty if it denies nothing that could be read otherwise."""
    if "不是" in line:
        return line.replace("不是", "是", 1)
    found = _DENIAL.search(line)
    if found is None:
        return ""
    verb = found[1] or found[2] or found[3]
    return f"{line[: found.start()]}{'can' if verb == 'ca' else verb}{line[found.end() :]}"


def _to_user_statements(text: str, query: str) -> list[str]:
    """An answer in the user's own person, one plain statement a line."""
    lines: list[str] = []
    found = split_sentences(text)
    if len(found) == 1 and (said := _expand_bare_answer(found[0].text, query)):
        return [said]
    for sentence in found:
        if detect_language(sentence.text) == "zh":
            lines += _chinese_statements(sentence.text)
        else:
            lines += _english_statements(sentence.text)
    return lines


def _expand_bare_answer(reply: str, query: str) -> str:
    """A bare reply as the statement its question asked for, empty if it is none."""
    bare = _BARE_ANSWER.fullmatch(reply.strip())
    if bare is None or _NOT_A_VALUE.search(reply):
        return ""
    for pattern, said in _QUESTION_STATEMENTS:
        if asked := pattern.search(query):
            return said.replace("{what}", asked.groupdict().get("what") or "").replace(
                "{}", bare["o"].strip()
            )
    return ""


def _english_statements(sentence: str) -> list[str]:
    body = sentence.replace("’", "'")
    for pattern, other in _PARAPHRASES:
        body = pattern.sub(other, body)
    given = [f"{match['clause']}." for match in _REASON_CLAUSE.finditer(body)]
    lead = _ANSWER_OPENING.match(body)
    rest = _REASON_CLAUSE.sub("", body).lstrip(" ,;") if given else body[lead.end() :] if lead else body
    return [_to_first_person(part) for part in (*given, *_CONSEQUENCE_BREAK.split(rest)) if part.strip(" .!")]


def _to_first_person(text: str) -> str:
    for pattern, other in _PERSON_SHIFTS:
        text = pattern.sub(other, text)
    return text[:1].upper() + text[1:] if text.startswith(("my ", "i ")) else text


def _chinese_statements(sentence: str) -> list[str]:
    sentence = _KIN_NAME_ZH.sub(r"\1叫", sentence)
    given = [match["clause"] for match in _REASON_CLAUSE_ZH.finditer(sentence)]
    lead = _ANSWER_OPENING_ZH.match(sentence)
    rest = (
        _REASON_CLAUSE_ZH.sub("", sentence).lstrip("，, ")
        if given
        else sentence[lead.end() :]
        if lead
        else sentence
    )
    parts = [part for part in (*given, rest) if part.strip("。，！ ") and not _OTHER_TIME_ZH.search(part)]
    return [re.sub("[你您]|用户", "我", part.replace("我", "助手")).rstrip("。") + "。" for part in parts]
