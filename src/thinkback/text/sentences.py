"""Text -> sentences with their character spans, and whether one is a question; English and Chinese."""

from __future__ import annotations

import re
from typing import NamedTuple

from thinkback.text.scripts import has_han


class Sentence(NamedTuple):
    """`text == whole[start:end]`, without surrounding blanks."""

    text: str
    start: int
    end: int


_STOP = re.compile("[.!?。！？…]+[\"'”’」』）)\\]]*|\n")
_NEVER_LAST = "dr mr mrs ms prof st sr jr mt vs gen col lt capt rev hon fig eq ca cf al no"
_SELDOM_LAST = "e.g i.e a.m p.m u.s u.k etc inc ltd co corp approx dept est min max"
_TITLES = frozenset(_NEVER_LAST.split())
_SOFT = frozenset(_SELDOM_LAST.split())
_LAST_WORD = re.compile(r"[\w.]*\Z")
_LIST_NUMBER = re.compile(r"\s*\d{1,3}\Z")
_CLOSERS = "\"'”’」』）)]"


def sentences(text: str) -> list[Sentence]:
    """Every non-blank sentence in order; together they hold every non-blank character."""
    out: list[Sentence] = []
    start = 0
    for stop in _STOP.finditer(text):
        if stop.group() != "\n" and not _ends(text, start, stop):
            continue
        _add(text, start, stop.end(), out)
        start = stop.end()
    _add(text, start, len(text), out)
    return out


def _add(text: str, start: int, end: int, out: list[Sentence]) -> None:
    raw = text[start:end]
    body = raw.strip()
    if body:
        first = start + len(raw) - len(raw.lstrip())
        out.append(Sentence(body, first, first + len(body)))


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = stop.group()
    if mark[0] in "。！？":
        return True
    following = text[stop.end() : stop.end() + 40].lstrip(" \t")[:1]
    if mark[-1] in _CLOSERS and following.islower() and following.isascii():
        return False  # "Stop!" he said.
    if mark.rstrip(_CLOSERS) != "." or not following:
        return True
    after = text[stop.end()]
    if mark == "." and not (after.isspace() or "\u4e00" <= after <= "\u9fff"):
        return False  # 3.14, example.com, e.g
    return not _abbreviates(text, start, stop.start(), following)


def _abbreviates(text: str, start: int, dot: int, following: str) -> bool:
    """Whether the full stop at `dot` belongs to a title, an initial, a list number or an abbreviation."""
    before = text[max(start, dot - 20) : dot]
    found = _LAST_WORD.search(before)
    word = found.group().lower() if found else ""
    if word in _TITLES or (_LIST_NUMBER.match(before) and before.strip() == text[start:dot].strip()):
        return True
    if word in _SOFT:
        return not following.isupper()
    return len(word) == 1 and word.isalpha() and word != "i" and before[-1:].isupper() and following.isupper()


_TRAIL = re.compile(r"[\s\"'”’」』）)\].!。！~～…]+\Z")
_LEAD = re.compile(
    r"(?:(?:hey|hi|hello|so|and|but|well|ok|okay|oh|please|sorry|also|then|now|btw|by the way)[\s,]+)*", re.I
)
_AUX = (
    r"(?:is|are|was|were|am|do|does|did|can|could|would|will|shall|should|have|has|had|might|must"
    "|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|wouldn't|won't|shouldn't"
    "|haven't|hasn't)"
)
_PERSON = (
    r"(?:i|you|he|she|it|we|they|there|this|that|my|your|his|her|our|their|any\w*|some(?:one|body|thing))"
)
_ENGLISH_QUESTION = re.compile(
    rf"(?:(?:what|where|when|why|how|which|who|whom|whose)(?:'s|'re|'d|\s+{_AUX})\b"
    rf"|(?:what|which|whose)\s+(?:[\w'-]+\s+){{1,3}}?{_AUX}\b"
    r"|how\s+(?:many|much|old|long|far|often|about|come|tall|big)\b"
    r"|who\s+(?!knows)\w+s?\b"
    rf"|{_AUX}\s+{_PERSON}\b"
    r"|(?:is|are|was|were|does|did|has)\s+(?:the\b|[A-Z]\w+\s+\w)"
    r"|(?:any|got any)\s+(?:idea|chance|suggestion|recommendation|tip|thought)s?\b"
    r"|(?:do|did)\s+(?:you|i|we)\b|may\s+i\b|what\s+about\b)",
    re.I,
)
_CHINESE_QUESTION = re.compile(
    "(?:吗|嗎|呢|(?<!什)么)\\Z"
    "|(?<!没)(?<!没有)(?<!无论)(?<!不管)什么(?!都|也|的)"
    "|(?:谁|哪[里儿个些位家]?|怎么样?|怎样)(?!都|也)|为什么|为何|多少|多大|多久|多高|多重|多远"
    "|几(?:岁|点|号|月|口人|时)|是不是|有没有|能不能|会不会|可不可以|要不要|好不好|(?<!不)对不对|是否"
)
_KNOWING = re.compile("不(?:知道|清楚|明白|记得|管)|无论")


def is_question(text: str) -> bool:
    """Whether one sentence asks something, with or without its question mark."""
    stripped = text.strip()
    if re.search(r"[?？]", stripped[-6:]):
        return True
    body = _TRAIL.sub("", stripped[-400:])
    if has_han(body):
        return bool(_CHINESE_QUESTION.search(body)) and not _KNOWING.search(body)
    lead = _LEAD.match(stripped)
    return bool(_ENGLISH_QUESTION.match(stripped, lead.end() if lead else 0))
