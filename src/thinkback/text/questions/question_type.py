"""What a question asks for: who, where, when, what, which, how many, why, how, or only yes or no."""

from __future__ import annotations

import re
from typing import Literal

from thinkback.text.scripts import has_han
from thinkback.text.sentences import is_question, sentences

QuestionType = Literal["who", "where", "when", "what", "which", "how_many", "why", "how", "yes_no", "none"]

_LONGEST = 600  # characters of a text that may ask
_COMMA = re.compile("[，,；;]")
_AUX = (
    "do|does|did|is|are|was|were|am|has|have|had|can|could|will|would|should|shall|may|might|must|isn't|aren't"
    "|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|hasn't|haven't"
)
_POLITE = re.compile(
    r"(?:(?:hey|hi|hello|so|and|but|well|ok|okay|oh|please|sorry|also|then|now|by the way)[\s,]+"
    r"|(?:(?:do|can|could|would|will) you (?:please |still |happen to )?"
    r"(?:know|remember|recall|tell me|remind me)"
    r"|(?:please )?(?:tell|remind) me(?: again)?|i (?:wonder|forgot|forget)|any idea)\b"
    r"(?: if| whether)?[\s,:]*)*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:tell|remind) me\b|\bi (?:wonder|forgot|forget)\b|\bany idea\b", re.IGNORECASE)
_YES_NO = re.compile(rf"(?:{_AUX})\b", re.IGNORECASE)
_AFTER = (
    r"(?P<how_many>how (?:many|much|old|long|often|far|tall|big|high|heavy|large)\b"
    r"|what (?:age|number|percentage)\b)"
    r"|(?P<why>why\b|how come\b|what for\b|for what reason\b)"
    rf"|(?P<when>when(?='s|'d| (?:{_AUX})\b|\?|$)|since when\b"
    r"|(?:what|which) (?:time|year|day|date|month|week|season)\b)"
    r"|(?P<where>where\b|(?:what|which) (?:city|country|town|place|village|street|state|part of)\b)"
    r"|(?P<who>who(?:se|m|'s)?\b|(?:what|which) (?:person|people|friend)\b)"
    r"|(?P<which>which\b)|(?P<what>what\b|what's\b)|(?P<how>how\b(?! to\b))"
)
_WH = re.compile(rf"\b(?:{_AFTER})", re.IGNORECASE)
_CHINESE = re.compile(
    "(?P<why>为什么|为何|为啥|怎么会|干嘛要|什么原因)"
    "|(?P<when>什么时候|什么时间|啥时候|何时|哪一?[年天日]|几[点号月]|星期几|周几|哪个(?:月|季节)|(?:日期|时间)是[?？])"
    "|(?P<where>哪里|哪儿|何处|什么地方|啥地方|哪个(?:城市|国家|地方|省|区|小区)|哪座城市|在哪|去哪|住哪|到哪)"
    "|(?P<how_many>多少|几[个岁只位口次年天本辆种]|多[大高重久远长]|第几)"
    "|(?P<who>谁|哪一?位|哪个人|何人|什么人)"
    "|(?P<which>哪)|(?P<what>什么|啥|何种|甚么|是[?？])|(?P<how>怎么|怎样|如何)"
    "|(?P<yes_no>吗|嗎|是不是|有没有|能不能|会不会|要不要|是否|对不对|好不好|可不可以)"
)


def question_type(text: str) -> QuestionType:
    """What the last question of a text asks for; `none` where nothing is asked."""
    for sentence in reversed(sentences(text[:_LONGEST])):
        found = _chinese(sentence.text) if has_han(sentence.text) else _english(sentence.text)
        if found != "none":
            return found
    return "none"


def _chinese(text: str) -> QuestionType:
    if not is_question(text):
        return "none"
    for clause in reversed(_COMMA.split(text)):  # 关于如何放松，你给了我什么建议: the last one asks
        if found := _CHINESE.search(clause):
            return _named(found)
    return "yes_no"


def _english(text: str) -> QuestionType:
    plain = text.replace("’", "'")
    polite = _POLITE.match(plain)
    rest = plain[polite.end() :] if polite else plain
    asks = is_question(plain) or is_question(rest) or bool(_ASKS.search(plain))
    if not asks and not _WH.match(rest):
        return "none"
    if _YES_NO.match(rest):
        return "yes_no"
    found = _WH.search(rest)
    return _named(found) if found else "what"  # "my mum's address?"


def _named(found: re.Match[str]) -> QuestionType:
    name: QuestionType = found.lastgroup  # type: ignore[assignment]
    return name
