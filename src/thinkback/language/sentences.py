"""Sentence splitting, question detection, and shortening of text at sentence, clause or word boundaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from thinkback.language.writing_systems import CJK, EMOJI, UNSPACED, has_han


class Sentence(NamedTuple):
    """A sentence without surrounding white space: `text == whole[start:end]`."""

    text: str
    start: int
    end: int


_SENTENCE_END = re.compile("[.!?。！？…]+[\"'”’」』）)\\]]*|\n")
_TITLE_WORDS = "dr mr mrs ms prof st sr jr mt vs gen col lt capt rev hon fig eq ca cf al no"
_ABBREVIATION_WORDS = "e.g i.e a.m p.m u.s u.k etc inc ltd co corp approx dept est min max"
_NEVER_SENTENCE_FINAL = frozenset(_TITLE_WORDS.split())
_SELDOM_SENTENCE_FINAL = frozenset(_ABBREVIATION_WORDS.split())
_LAST_WORD = re.compile(r"[\w.]*\Z")
_LIST_NUMBER = re.compile(r"\s*\d{1,3}\Z")
_CLOSING_MARKS = "\"'”’」』）)]"


def split_sentences(text: str) -> list[Sentence]:
    """Split a text into its sentences, in order; no non-blank character is lost."""
    result: list[Sentence] = []
    start = 0
    for stop in _SENTENCE_END.finditer(text):
        if stop.group() != "\n" and not _ends_sentence(text, start, stop):
            continue
        _append_sentence(text, start, stop.end(), result)
        start = stop.end()
    _append_sentence(text, start, len(text), result)
    return result


def _append_sentence(text: str, start: int, end: int, result: list[Sentence]) -> None:
    raw = text[start:end]
    body = raw.strip()
    if body:
        first = start + len(raw) - len(raw.lstrip())
        result.append(Sentence(body, first, first + len(body)))


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = stop.group()
    if mark[0] in "。！？":
        return True
    following = text[stop.end() : stop.end() + 40].lstrip(" \t")[:1]
    if mark[-1] in _CLOSING_MARKS and following.islower() and following.isascii():
        return False  # "Stop!" he said.
    if mark.rstrip(_CLOSING_MARKS) != "." or not following:
        return True
    after = text[stop.end()]
    if mark == "." and not (after.isspace() or "\u4e00" <= after <= "\u9fff"):
        return False  # 3.14, example.com, e.g
    return not _is_abbreviation(text, start, stop.start(), following)


def _is_abbreviation(text: str, start: int, dot: int, following: str) -> bool:
    """Whether the full stop at `dot` ends a title, an initial, a list number or an abbreviation."""
    before = text[max(start, dot - 20) : dot]
    found = _LAST_WORD.search(before)
    word = found.group().lower() if found else ""
    if word in _NEVER_SENTENCE_FINAL or (
        _LIST_NUMBER.match(before) and before.strip() == text[start:dot].strip()
    ):
        return True
    if word in _SELDOM_SENTENCE_FINAL:
        return not following.isupper()
    return len(word) == 1 and word.isalpha() and word != "i" and before[-1:].isupper() and following.isupper()


_TRAILING_MARKS = re.compile(r"[\s\"'”’」』）)\].!。！~～…]+\Z")
_LEADING_WORDS = re.compile(
    r"(?:(?:hey|hi|hello|so|and|but|well|ok|okay|oh|please|sorry|also|then|now|btw|by the way)[\s,]+)*", re.I
)
_AUXILIARIES = (
    r"(?:is|are|was|were|am|do|does|did|can|could|would|will|shall|should|have|has|had|might|must"
    "|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|wouldn't|won't|shouldn't"
    "|haven't|hasn't)"
)
_PRONOUNS = (
    r"(?:i|you|he|she|it|we|they|there|this|that|my|your|his|her|our|their|any\w*|some(?:one|body|thing))"
)
_ENGLISH_QUESTION = re.compile(
    rf"(?:(?:what|where|when|why|how|which|who|whom|whose)(?:'s|'re|'d|\s+{_AUXILIARIES})\b"
    r"|(?:wh?at|where|when|why|how|who)(?:s|re|d)\s+(?!more\b)\w"
    rf"|(?:what|which|whose)\s+(?:[\w'-]+\s+){{1,3}}?{_AUXILIARIES}\b"
    r"|how\s+(?:many|much|old|long|far|often|about|come|tall|big)\b"
    r"|who\s+(?!knows)\w+s?\b"
    rf"|{_AUXILIARIES}\s+{_PRONOUNS}\b"
    r"|(?:is|are|was|were|does|did|has)\s+(?:the\b|[A-Z]\w+\s+\w)"
    r"|(?:any|got any)\s+(?:idea|chance|suggestion|recommendation|tip|thought)s?\b"
    r"|(?:do|did)\s+(?:you|i|we)\b|may\s+i\b|what\s+about\b)",
    re.I,
)
_PLAIN_VERBS = (
    "come|go|say|call|get|like|tell|pay|finish|pass|win|lose|make|take|leave|arrive|move|change|start|cost|work"
    "|have|eat|find|buy|sell|send|give|see|meet|ask|reply|answer|respond|text|ring|fix|help|sleep|happen|end|do|be"
    "|mention|want|need|live|die|break|bring|know|think|decide|agree|book|show|turn|sign|write|keep|stop|stay|fit|ship"
)
_WITHOUT_SUBJECT = re.compile(
    r"(?:(?:so|and|but|ok|okay|oh|yay|finally|just|btw|also)[\s,!]+)*(?:"
    rf"did (?:the|my|our|an?|some)(?: (?!(?:{_PLAIN_VERBS})\b)[\w'-]+){{1,3}}?"
    r"(?:[,!]| (?:yesterday|today|last|this|on|in|at|with|for)\b)"
    r"|did (?:my|our) [\w'-]+\Z"
    r"|(?:was|were|is|are|am) (?:at|in|on|off|with|from|not|just|so|very|too)\b"
    r"|had (?:an?|the|my|our|some)\b|(?:has|have|had) been\b|(?:does|do|did) not\b"
    r"|(?:gave|got|took|made|went|saw|met|bought|sold|lost|found|left|broke|began|became|ran|won|fell|felt|kept"
    r"|paid|sent|ate|drove|flew|spoke|wrote|sang|swam|taught|brought|built|spent|slept|heard|rode|chose|quit|been"
    r"|\w{3,}(?<!ne)ed)"
    r" (?:an?|the|my|our|his|her|their|to|in|at|with|from|for|up|out|off|on|into|some|two|three|new)\b)",
    re.I,
)
_ASKING_WORD = re.compile(
    r"[?？]|\b(?:whats?|wheres?|whens?|whos?|whose|which|why|how|right|again|or not|remember)\b", re.I
)
_CHINESE_QUESTION = re.compile(
    "(?:吗|嗎|呢|(?<!什)么)\\Z"
    "|(?<!没)(?<!没有)(?<!无论)(?<!不管)(?:什么|啥)(?!都|也|的)"
    "|(?:谁|哪[里儿个些位家]?|怎么样?|怎样|咋样?)(?!都|也)|为什么|为何|为啥|干[嘛吗啥]"
    "|(?<![没不])多(?:少|大|久|高|重|远|长|宽|深|贵)"
    "|几(?:岁|点|号|月|口人|时|楼|层|路)|(?:星期|礼拜|周)几(?![个位天年次家])|第几|是不是|有没有|能不能|会不会|可不可以|要不要|好不好|(?<!不)对不对|是否"
)
_INDIRECT_QUESTION_ZH = re.compile("不(?:知道|清楚|明白|记得|管)|无论")


def is_question(text: str) -> bool:
    """Whether a sentence is a question, with or without a question mark."""
    stripped = text.strip()
    if re.search(r"[?？]", stripped[-6:]):
        return True
    if is_without_subject(stripped):
        return False
    body = _TRAILING_MARKS.sub("", stripped[-400:])
    if has_han(body):
        return bool(_CHINESE_QUESTION.search(body)) and not _INDIRECT_QUESTION_ZH.search(body)
    lead = _LEADING_WORDS.match(stripped)
    return bool(_ENGLISH_QUESTION.match(stripped, lead.end() if lead else 0))


_SUPPOSITION = re.compile(
    r"^\W*(?:(?:and|but|so|or|well|ok|now)\s+)?(?:if (?:i|we|only|you)\b|what if\b|suppos(?:e|ing)\b"
    r"|imagine\b|pretend\b|let's say\b|say i\b|hypothetically\b|i wish (?:i|we|it|he|she|they|you)\b)"
    r"|^(?:如果|假如|假设|要是|万一|倘若|比如说?我|想象)",
    re.IGNORECASE,
)


def is_supposition(text: str) -> bool:
    """Whether a clause only supposes something: "if I moved to Lyon"."""
    return bool(_SUPPOSITION.match(text))


def is_without_subject(text: str) -> bool:
    """Whether a text is a statement that leaves out "I": "did the half marathon on sunday"."""
    return bool(_WITHOUT_SUBJECT.match(text)) and not _ASKING_WORD.search(text)


ELLIPSIS = "…"

_FLAG_CHARACTER = "[\U0001f1e6-\U0001f1ff]"
# variation selectors, skin tones and tags
_EMOJI_MODIFIERS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_EMOJI_SEQUENCE = f"(?:{_FLAG_CHARACTER}{{2}}|(?!{_FLAG_CHARACTER})[{EMOJI}]){_EMOJI_MODIFIERS}"
_ATOM = re.compile(
    rf"\s+|{_EMOJI_SEQUENCE}(?:\u200d{_EMOJI_SEQUENCE})*|[{UNSPACED}][\u0300-\u036f\ufe00-\ufe0f]*"
    rf"|(?:(?![{UNSPACED}{EMOJI}])\S)+|\S"
)
_WORD_OR_CJK_CHARACTER = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+(?:['’.,:-](?:(?![{CJK}])[^\W_])+)*")
_CLAUSE_END = re.compile(r"[,;:，；：、]+(?=\s|[^\x00-\x7f])|\s[–—-]\s")


def count_words(text: str) -> int:
    """Count words; in Chinese, Japanese and Korean text, characters."""
    return len(_WORD_OR_CJK_CHARACTER.findall(text))


def shorten(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of a text that fits.

    Cuts after a sentence, else after a clause, else after a word; the last two add an ellipsis. Words,
    numbers and emoji sequences are never cut. `fits` must be monotonic: if a text fits, so does every
    beginning of it. Returns an empty string if not even one word fits.
    """
    whole = text.strip()
    if fits(whole):
        return whole
    for boundaries, mark in ((_sentence_ends, ""), (_clause_ends, ELLIPSIS), (_atom_ends, ELLIPSIS)):
        best = ""
        for end in boundaries(whole):
            beginning = whole[:end].rstrip(" ,;:，；：、–—-\t\n") + mark
            if not fits(beginning):
                break
            best = beginning
        if best.rstrip(ELLIPSIS):
            return best
    return ""


def split_chunks(text: str, fits: Callable[[str], bool]) -> list[Sentence]:
    """Split a text into sentences, and sentences that do not fit into clauses or groups of words."""
    result: list[Sentence] = []
    for sentence in split_sentences(text):
        if fits(sentence.text):
            result.append(sentence)
            continue
        start = 0
        while start < len(sentence.text):
            end = start + _first_cut(sentence.text[start:], fits)
            body = sentence.text[start:end].strip()
            if body:
                first = sentence.start + sentence.text.index(body, start)
                result.append(Sentence(body, first, first + len(body)))
            start = end
    return result


def _first_cut(text: str, fits: Callable[[str], bool]) -> int:
    """The end of the longest first piece that fits: clauses, else words, at least one word."""
    for boundaries in (_clause_ends, _atom_ends):
        best = 0
        for end in boundaries(text):
            if not fits(text[:end]):
                break
            best = end
        if best and text[:best].strip():
            return best
    lead = len(text) - len(text.lstrip())
    first = _ATOM.match(text, lead)
    return first.end() if first else len(text)


def _sentence_ends(text: str) -> Iterator[int]:
    return (sentence.end for sentence in split_sentences(text))


def _clause_ends(text: str) -> Iterator[int]:
    return (clause.end() for clause in _CLAUSE_END.finditer(text))


def _atom_ends(text: str) -> Iterator[int]:
    return (atom.end() for atom in _ATOM.finditer(text))
