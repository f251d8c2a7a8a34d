"""Reads the statements about the user in an assistant's answer and compares them with stored thoughts.

The assistant's "you" is rewritten to "I" and read by the same rules as the user's words. Introductory phrases
("I remember that you ...", "Since you live in Lyon, ...", 既然你住在…) are removed first, and what the
assistant says about itself is ignored. A bare "Paris." is completed from the question it answers.

Objects are compared leniently: they count as equal unless they surely differ ("Lyon" and "Lyon, France",
"70 kg" and "70 kilograms"), because a false alarm costs more than a missed contradiction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.language.kinship import KIN_ZH, alternation_pattern
from thinkback.language.relations import ALL_VALUES, get_relation
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import NUMBER_PATTERN_EN, extract_terms, parse_english_number
from thinkback.language.writing_systems import detect_language
from thinkback.think.comparison_keys import object_key, thought_key, value_slot
from thinkback.think.rule_generator import RuleGenerator
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
"""Units are ignored when numbers are compared: 70 kg are 70 kilograms."""
_COUNTRY_WORDS = """
    africa america argentina asia australia austria belgium brazil britain california canada chile china
    colombia denmark egypt england europe finland florida france germany greece india indonesia iran ireland
    israel italy japan kenya korea malaysia mexico netherlands nigeria norway ontario pakistan peru
    philippines poland portugal romania russia scotland spain sweden switzerland taiwan texas thailand turkey
    ukraine vietnam wales uk us usa
    中国 法国 德国 英国 美国 日本 韩国 意大利 西班牙 加拿大 澳大利亚 俄罗斯 印度 巴西 荷兰 瑞士 瑞典 欧洲 亚洲
"""
_COUNTRIES = frozenset(_COUNTRY_WORDS.split())
"""A country and a city do not contradict each other: Lyon is in France."""
_TWO_WORD_COUNTRIES = frozenset(
    ("united states", "united kingdom", "new zealand", "south korea", "south africa")
)


def may_be_same_object(one: str, other: str) -> bool:
    """Return whether two objects may mean the same thing."""
    if object_key(one) == object_key(other):
        return True
    numbers, others = _extract_numbers(one), _extract_numbers(other)
    words, other_words = _extract_words(one), _extract_words(other)
    if numbers and others:
        within = numbers <= others or others <= numbers  # multisets: June 6 is not contained in May 6
        return within and (not words or not other_words or bool(words & other_words))
    if words and other_words and (words <= other_words or other_words <= words):
        return True
    if _initials(one) == _normalise_place(other) or _initials(other) == _normalise_place(one):
        return True
    if _is_chinese_part(one, other):
        return True
    return _is_country(one) != _is_country(other)


def are_comparable(one: str, other: str) -> bool:
    """Return whether two different objects exclude each other: same script, same form, same level.

    里昂 may be Lyon, so they are not comparable. "Your birthday is soon", "your name is lovely" and
    你住在海淀区 give no other value of the same form either.
    """
    return _object_form(one) == _object_form(other) and _place_level(one) == _place_level(other)


def _object_form(text: str) -> str:
    """Classify an object: date, number, han (Chinese), name or words."""
    if _MONTH_NAME.search(text) or "月" in text:
        return "date"
    if _extract_numbers(text):
        return "number"
    if _HAN_RUN.search(text):
        return "han"
    return "name" if re.search(r"\b[A-Z]", text) else "words"


def _place_level(text: str) -> str:
    """Return the administrative level in a Chinese place name (区, 县, ...), or an empty string."""
    match = _DISTRICT_ZH.search(text)
    return match.group() if match else ""


def share_value_slot(relation: str, one: str, other: str) -> bool:
    """Return whether two objects of a many-valued relation are values of one slot: 500 mg and 1000 mg."""
    shared = value_slot(relation, one)
    return bool(shared) and shared == value_slot(relation, other)


def _extract_numbers(text: str) -> Counter[str]:
    digits = [number.replace(",", "").lstrip("0") for number in _DIGITS_NUMBER.findall(text)]
    words = [str(parse_english_number(word)) for word in _NUMBER_WORD.findall(text) if not word.isdigit()]
    months = [str(1 + _MONTH_PREFIXES.index(name[:3].lower())) for name in _MONTH_NAME.findall(text)]
    return Counter((*digits, *words, *months))


def _extract_words(text: str) -> frozenset[str]:
    stripped = _MONTH_NAME.sub(" ", _NUMBER_WORD.sub(" ", text))
    return frozenset(
        term for term in extract_terms(stripped) if not term[0].isdigit() and term not in _UNIT_STEMS
    )


def _initials(text: str) -> str:
    words = re.findall(r"[A-Z]\w+", text)
    return "".join(word[0] for word in words).lower() if len(words) > 1 else " "


def _normalise_place(text: str) -> str:
    return text.replace(".", "").strip().lower().removeprefix("the ")


def _is_chinese_part(one: str, other: str) -> bool:
    """Return whether one Chinese name contains the other: 上海 and 上海市浦东."""
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
    (re.compile(pattern, _IGNORECASE), template)
    for pattern, template in (
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
"""Words that show that a short reply is not a bare value: it has its own verb or only reacts."""


class AnswerReader:
    """Reads the statements in answers and queries and compares them with stored thoughts."""

    def __init__(self) -> None:
        self._rules = RuleGenerator()

    def read_answer(self, text: str, query: str, at: datetime) -> list[ThoughtDraft]:
        """Return what an answer to `query` states about the user."""
        lines = _to_user_statements(text, query)
        drafts = [_without_no_prefix(draft) for draft in self.read_statements("\n".join(lines), at)]
        relations = {draft.relation for draft in drafts}
        for line in lines:
            # The rules cover few negative attributes: read the positive sentence and negate the result.
            if positive := _without_denial(line):
                drafts += [
                    replace(draft, negated=True)
                    for draft in self.read_statements(positive, at)
                    if draft.relation not in relations
                ]
        return drafts

    def read_statements(self, text: str, at: datetime) -> list[ThoughtDraft]:
        """Return what the user states in this text, without requests and corrections."""
        return [draft for draft in self._read_drafts(text, at) if not isinstance(draft, Amendment)]

    def find_outdated(self, text: str, at: datetime, held: Sequence[Thought]) -> set[int]:
        """Return the ids of the thoughts that the user takes back or replaces with this text."""
        drafts = self._read_drafts(text, at)
        return {
            thought.id
            for thought in held
            for draft in drafts
            if (
                _amends(draft, thought)
                if isinstance(draft, Amendment)
                else self.find_conflict(draft, thought)
            )
        }

    def _read_drafts(self, text: str, at: datetime) -> list[ThoughtDraft]:
        return self._rules.generate(Turn(id=0, query=text, at=at, recorded_at=at))

    def find_conflict(self, stated: ThoughtDraft, held: ThoughtDraft) -> str:
        """Return why a statement and a thought cannot both be true, or an empty string if they can.

        The reason is shown by `why` and by the consistency check.
        """
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
    """Return whether the statement denies a pet or relative: "You don't have a cat", but Luna is known."""
    denied_keys = {thought_key(stated.subject, f"has {object_key(name)}") for name in stated.objects}
    held_key = thought_key(held.subject, held.relation)
    return stated.negated and not held.negated and stated.relation == "has" and held_key in denied_keys


def _amends(amendment: Amendment, held: ThoughtDraft) -> bool:
    """Return whether a request to forget or a correction may mean this thought."""
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
    """Return the conflict between different objects, if only one of them can be true at a time."""
    if get_relation(held.relation).single_valued and all(
        are_comparable(one, other) for one in stated.objects for other in held.objects
    ):
        return "same subject and relation, another object"
    if any(share_value_slot(held.relation, a, b) for a in stated.objects for b in held.objects):
        return "same subject and relation, another amount"
    return ""


def _without_no_prefix(draft: ThoughtDraft) -> ThoughtDraft:
    """Turn the objects "no cats" and 不是律师 into negated "cats" and 律师."""
    objects = tuple(
        _NO_PREFIX.sub("", name, count=1) if _NO_PREFIX.match(name) else name for name in draft.objects
    )
    return draft if objects == draft.objects else replace(draft, objects=objects, negated=True)


def _without_denial(line: str) -> str:
    """Return the positive form of a negative line, or an empty string if it is not negative."""
    if "不是" in line:
        return line.replace("不是", "是", 1)
    match = _DENIAL.search(line)
    if match is None:
        return ""
    verb = match[1] or match[2] or match[3]
    return f"{line[: match.start()]}{'can' if verb == 'ca' else verb}{line[match.end() :]}"


def _to_user_statements(text: str, query: str) -> list[str]:
    """Rewrite an answer as plain statements of the user, one per line."""
    lines: list[str] = []
    parts = split_sentences(text)
    if len(parts) == 1 and (statement := _expand_bare_answer(parts[0].text, query)):
        return [statement]
    for sentence in parts:
        if detect_language(sentence.text) == "zh":
            lines += _chinese_statements(sentence.text)
        else:
            lines += _english_statements(sentence.text)
    return lines


def _expand_bare_answer(reply: str, query: str) -> str:
    """Complete a bare reply with its question: "Paris." becomes "I live in Paris."."""
    bare = _BARE_ANSWER.fullmatch(reply.strip())
    if bare is None or _NOT_A_VALUE.search(reply):
        return ""
    for pattern, template in _QUESTION_STATEMENTS:
        if match := pattern.search(query):
            return template.replace("{what}", match.groupdict().get("what") or "").replace(
                "{}", bare["o"].strip()
            )
    return ""


def _english_statements(sentence: str) -> list[str]:
    body = sentence.replace("’", "'")
    for pattern, replacement in _PARAPHRASES:
        body = pattern.sub(replacement, body)
    reasons = [f"{match['clause']}." for match in _REASON_CLAUSE.finditer(body)]
    opening = _ANSWER_OPENING.match(body)
    rest = (
        _REASON_CLAUSE.sub("", body).lstrip(" ,;") if reasons else body[opening.end() :] if opening else body
    )
    return [
        _to_first_person(part) for part in (*reasons, *_CONSEQUENCE_BREAK.split(rest)) if part.strip(" .!")
    ]


def _to_first_person(text: str) -> str:
    for pattern, replacement in _PERSON_SHIFTS:
        text = pattern.sub(replacement, text)
    return text[:1].upper() + text[1:] if text.startswith(("my ", "i ")) else text


def _chinese_statements(sentence: str) -> list[str]:
    sentence = _KIN_NAME_ZH.sub(r"\1叫", sentence)
    reasons = [match["clause"] for match in _REASON_CLAUSE_ZH.finditer(sentence)]
    opening = _ANSWER_OPENING_ZH.match(sentence)
    rest = (
        _REASON_CLAUSE_ZH.sub("", sentence).lstrip("，, ")
        if reasons
        else sentence[opening.end() :]
        if opening
        else sentence
    )
    parts = [part for part in (*reasons, rest) if part.strip("。，！ ") and not _OTHER_TIME_ZH.search(part)]
    return [re.sub("[你您]|用户", "我", part.replace("我", "助手")).rstrip("。") + "。" for part in parts]
