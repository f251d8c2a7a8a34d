"""Analysis of a query: question type, expected form of the answer, and its statement and question parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.text_cache import cache_by_digest, cache_recent
from thinkback.language.tokens import FUNCTION_CHARACTERS, STOP_WORDS, count_tokens, extract_terms
from thinkback.language.writing_systems import has_han

QuestionType = Literal["who", "where", "when", "what", "which", "how_many", "why", "how", "yes_no", "none"]

_MAX_TEXT_CHARACTERS = 600
_COMMA = re.compile("[，,；;]")
_AUXILIARIES = (
    "do|does|did|is|are|was|were|am|has|have|had|can|could|will|would|should|shall|may|might|must"
    "|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|hasn't|haven't"
)
_POLITE_OPENING = re.compile(
    r"(?:(?:hey|hi|hello|so|and|but|well|ok|okay|oh|please|sorry|also|then|now|by the way)[\s,]+"
    r"|(?:(?:do|can|could|would|will) you (?:please |still |happen to )?"
    r"(?:know|remember|recall|tell me|remind me)"
    r"|(?:please )?(?:tell|remind) me(?: again)?|i (?:wonder|forgot|forget)|any idea)\b"
    r"(?: if| whether)?[\s,:]*)*",
    re.IGNORECASE,
)
_INDIRECT_QUESTION = re.compile(
    r"\b(?:tell|remind) me\b|\bi (?:wonder|forgot|forget)\b|\bany idea\b", re.IGNORECASE
)
_YES_NO_START = re.compile(rf"(?:{_AUXILIARIES})\b", re.IGNORECASE)
_QUESTION_WORD_GROUPS = (
    r"(?P<how_many>how (?:many|much|old|long|often|far|tall|big|high|heavy|large)\b"
    r"|what (?:age|number|percentage)\b)"
    r"|(?P<why>why\b|how come\b|what for\b|for what reason\b)"
    rf"|(?P<when>when(?='s|'d| (?:{_AUXILIARIES})\b|\?|$)|since when\b"
    r"|(?:what|which) (?:time|year|day|date|month|week|season)\b)"
    r"|(?P<where>where\b|(?:what|which) (?:city|country|town|place|village|street|state|part of)\b)"
    r"|(?P<who>who(?:se|m|'s)?\b|(?:what|which) (?:person|people|friend)\b)"
    r"|(?P<which>which\b)|(?P<what>what\b|what's\b)|(?P<how>how\b(?! to\b))"
)
_QUESTION_WORD_EN = re.compile(rf"\b(?:{_QUESTION_WORD_GROUPS})", re.IGNORECASE)
_QUESTION_WORD_ZH = re.compile(
    "(?P<why>为什么|为何|为啥|怎么会|干嘛要|什么原因)"
    "|(?P<when>什么时候|什么时间|啥时候|何时|哪一?[年天日]|几[点号月]|星期几|周几|哪个(?:月|季节)"
    "|(?:日期|时间)是[?？])"
    "|(?P<where>哪里|哪儿|何处|什么地方|啥地方|哪个(?:城市|国家|地方|省|区|小区)|哪座城市|在哪|去哪|住哪"
    "|到哪)"
    "|(?P<how_many>多少|几[个岁只位口次年天本辆种]|多[大高重久远长]|第几)"
    "|(?P<who>谁|哪一?位|哪个人|何人|什么人)"
    "|(?P<which>哪)|(?P<what>什么|啥|何种|甚么|是[?？])|(?P<how>怎么|怎样|如何)"
    "|(?P<yes_no>吗|嗎|是不是|有没有|能不能|会不会|要不要|是否|对不对|好不好|可不可以)"
)


@cache_recent
def classify_question(text: str) -> QuestionType:
    """The type of the last question of a text, or "none" if it has no question."""
    for sentence in reversed(split_sentences(text[:_MAX_TEXT_CHARACTERS])):
        question_type = (
            _classify_chinese(sentence.text) if has_han(sentence.text) else _classify_english(sentence.text)
        )
        if question_type != "none":
            return question_type
    return "none"


def _classify_chinese(text: str) -> QuestionType:
    if not is_question(text):
        return "none"
    for clause in reversed(_COMMA.split(text)):  # 关于如何放松，你给了我什么建议: the last clause asks
        if found := _QUESTION_WORD_ZH.search(clause):
            return _matched_type(found)
    return "yes_no"


def _classify_english(text: str) -> QuestionType:
    plain = text.replace("’", "'")
    polite = _POLITE_OPENING.match(plain)
    rest = plain[polite.end() :] if polite else plain
    is_asking = is_question(plain) or is_question(rest) or bool(_INDIRECT_QUESTION.search(plain))
    if not is_asking and not _QUESTION_WORD_EN.match(rest):
        return "none"
    if _YES_NO_START.match(rest):
        return "yes_no"
    found = _QUESTION_WORD_EN.search(rest)
    return _matched_type(found) if found else "what"  # "my mum's address?"


def _matched_type(found: re.Match[str]) -> QuestionType:
    name: QuestionType = found.lastgroup  # type: ignore[assignment]
    return name


_SEVERAL = re.compile(
    r"\b(?:list|name (?:all|the|some|every)|everything|everyone|each (?:of|time)|in (?:order|sequence)"
    r"|over time|(?:oldest|newest|latest) first|from first to last|what else|who else"
    r"|all (?:the|my|our|of|\w+s)\b"
    r"|every(?! (?:day|week|month|year|morning|evening|night|other|second|time)\b)"
    r"|who are|who all|which (?:\w+ ){0,2}(?:people|dates|jobs|things|members|relatives|places|pets|animals)"
    r"|what (?:\w+ ){1,3}(?:have|has) \w+ (?:\w+ )?(?:had|got|won|been|kept|owned|used|taken)"
    r"|how (?:did|has|have|had) .{1,60} (?:chang|develop|evolv)ed?)\b"
    "|都(?:有|是|叫|去|换|吃|试|干|做|在|得|学|养|拿|种)|每[次回]|各[是叫有]|哪些|前前?后后?|先后|分别|依次|历次"
    "|怎么变|变化|列(?:出|一下|个)|还有(?:谁|什么|哪)",
    re.IGNORECASE,
)


def asks_for_several(text: str) -> bool:
    """Whether a question wants several values: a list ("who are all my pets") or a series (每次体重多少)."""
    return _SEVERAL.search(text[:_MAX_TEXT_CHARACTERS]) is not None


AnswerTest = Callable[[str], bool]
"""Whether a text has the form of an answer: contains a time, a number, a name or a reason."""

_ANSWER_SAMPLE_CHARACTERS = 2000
_ASKS_NAME = re.compile(
    r"\b(?:names?|called|titles?|titled)\b|叫什么|叫啥|名字|什么名|哪[一几]?[本部首]|书名|片名|歌名",
    re.IGNORECASE,
)
_NAME_FORM = re.compile(
    '[“"「『《][^”"」』》]{2,60}[”"」』》]|\\b(?:called|named|titled|known as)\\s|名叫|叫[做作]?|名为|昵称',
    re.IGNORECASE,
)
_TIME_FORM = re.compile(
    r"\b(?:(?:19|20)\d\d|\d{1,2}:\d\d|\d{1,2} ?(?:am|pm)|yesterday|today|tonight|tomorrow|ago"
    r"|(?:last|next|this|that|the other|every) (?:\w+ )?(?:day|night|week|weekend|month|year|morning|evening"
    r"|spring|summer|autumn|fall|winter|\w+day)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:in|since|until|by|for) (?:a few|two|three|\d+) (?:day|week|month|year)s?)\b"
    "|[昨今明前后]天|[去今明前]年|上个?[周月]|下个?[周月]|星期|周[一二三四五六日末]|\\d{1,2}月"
    "|\\d{1,2}[日号点]|年|[早晚]上|生日",
    re.IGNORECASE,
)
_NUMBER_FORM = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    r"|thousand|million|dozen|couple|half|once|twice|several)\b|[两二三四五六七八九十百千万半][\u4e00-\u9fff]",
    re.IGNORECASE,
)
_REASON_FORM = re.compile(
    r"\b(?:because|since|due to|so that|in order to|as a result|thanks to|that's why|reason)\b"
    "|因为|由于|所以|为了|于是|原因|因此",
    re.IGNORECASE,
)
_ANSWER_PATTERNS = {"when": _TIME_FORM, "how_many": _NUMBER_FORM, "why": _REASON_FORM}


def answer_test(question: str) -> AnswerTest | None:
    """A test whether a text could answer the question by its form, or None if the form is open.

    "When did Tom leave?" needs a time, "How many came?" a number. The test ignores the topic, so it can only
    decide between texts on the topic.
    """
    form = _ANSWER_PATTERNS.get(classify_question(question))
    if form is None:
        return _contains_name if _ASKS_NAME.search(question) else None
    return _ANSWER_TESTS[form]


def _build_test(form: re.Pattern[str]) -> AnswerTest:
    return cache_by_digest(2048)(lambda text: form.search(text[:_ANSWER_SAMPLE_CHARACTERS]) is not None)


_contains_name = _build_test(_NAME_FORM)
_ANSWER_TESTS = {form: _build_test(form) for form in _ANSWER_PATTERNS.values()}

QueryManner = Literal["asks", "tells", "at length"]
"""How a query is phrased: it has a question, it is a statement only, or it is a long passage."""

_MAX_BRIEF_TOKENS = 48  # a longer text is a passage and is searched for as a whole
_MIN_CLAUSE_TERMS, _MIN_CLAUSE_TERMS_ZH = 2, 4  # needed to search for a clause alone; bigrams count too
_MAX_KEYWORD_TOKENS = 24
_WORDS_BETWEEN_KEYWORDS = """
    a about after an and at before between by down during for from in into my of off on or our out over the to
    under up with"""
_SENTENCE_WORDS = STOP_WORDS.difference(_WORDS_BETWEEN_KEYWORDS.split())
_SENTENCE_SIGN = re.compile(
    rf"(?i)\b(?:{'|'.join(sorted(_SENTENCE_WORDS, key=len, reverse=True))})\b"
    rf"|[{''.join(sorted(FUNCTION_CHARACTERS.difference('的和与及')))}]"
    r"|[!?。！？，；]|\.\s*\Z"
)
"""Function words and punctuation that occur in sentences but not in a list of keywords."""
_REQUEST_START = re.compile(
    r"(?:please |now |and |ok(?:ay)?,? |so )*"
    r"(?:tell|show|remind|give|find|list|describe|explain|summari[sz]e)\b"
    "|(?:请|麻烦|帮我)*(?:告诉|说说|讲讲|介绍|列出|提醒|找出?|查)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[，,。；;！!？?\n]+|(?<=\.)\s+")


class QueryParts(NamedTuple):
    """The statement and the question of a query; both are empty for a passage."""

    manner: QueryManner
    statement: str = ""
    question: str = ""


def split_query(query: str) -> QueryParts:
    """Split a query into what it states and what it asks.

    "The address is 5 Park Road, do you know the phone number?" states the first clause and asks the second.
    Keywords ("green tea", 妹妹 工作) and requests ("tell me about ...") count as questions.
    """
    if not is_brief(query):
        return QueryParts("at length")
    if _are_keywords(query) or _REQUEST_START.match(query.strip()):
        return QueryParts("asks", question=query)
    if not any(is_question(sentence.text) for sentence in split_sentences(query)[-1:]):
        return QueryParts("tells", statement=query)
    clauses = [clause for clause in _CLAUSE_END.split(query) if clause.strip()]
    first_asked = len(clauses) - 1
    min_terms = _MIN_CLAUSE_TERMS_ZH if has_han(query) else _MIN_CLAUSE_TERMS
    while first_asked > 0 and len(extract_terms(" ".join(clauses[first_asked:]))) < min_terms:
        first_asked -= 1
    first_asked = max(first_asked, 0)
    return QueryParts("asks", " ".join(clauses[:first_asked]), " ".join(clauses[first_asked:]))


def _are_keywords(query: str) -> bool:
    return count_tokens(query) <= _MAX_KEYWORD_TOKENS and not _SENTENCE_SIGN.search(query.replace("’", "'"))


def is_brief(query: str) -> bool:
    """Whether a query is short enough to depend on context."""
    return count_tokens(query) <= _MAX_BRIEF_TOKENS
