"""Requests to forget something ("forget my address", 把我的工资忘掉) and their topics.

Post-thinking retires the thoughts on the topic; recall skips the raw turns that mention it, because not every
fact has become a thought.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thinkback.language.kinship import KIN_EN
from thinkback.language.sentences import split_sentences
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import extract_terms

_I = re.IGNORECASE
_POLITE_OPENING = (
    r"(?:(?:please|pls|hey|hi|ok|okay|so|and|also|actually|oh|no|wait|sorry|now|just|kindly|hmm|um|well|listen"
    r"|on second thoughts?|on reflection|in hindsight|come to think of it|tbh|honestly|btw|but|then|can"
    r" you|could"
    r" you|would you"
    r"|will you|i want you to|i need you to|i'd like you to|i'd rather you|i would like you to|feel free"
    r" to|go ahead and|you can|you should|you may|let's|let us)[\s,:]+)*"
)
_FORGET_EN = re.compile(
    rf"{_POLITE_OPENING}(?:forget|delete|erase|wipe|remove|discard|scrub|unlearn|(?:don't|do not|stop|never)"
    rf" (?:remember|store"
    rf"|keep|save|record)"
    r"(?:ing)?)\s+(?P<rest>.+)",
    _I | re.S,
)
_TOPIC_PREFIX = re.compile(
    r"(?:(?:about|all|everything|anything|what(?:ever)?|the (?:fact|part|thing|bit|stuff|info|information"
    r"|details?)"
    r"|any(?:thing)?|record|records|memory|memories|i(?:'ve| have)? (?:just |ever |once )?(?:told you|said"
    r"|mentioned|wrote"
    r"|shared)|you(?:'ve| have)? (?:know|remember|stored|saved|noted|learned|got)|that|of|on|concerning"
    r"|regarding"
    r"|(?:earlier|before|previously))\s+)+",
    _I,
)
_JUST_SAID = re.compile(
    r"(?:about )?(?:what i (?:just )?(?:said|told you|wrote|mentioned)(?: just now| earlier)?|what i just"
    r" (?:said|told you|wrote)"
    r"|(?:my|that|the) last (?:message|statement|thing|remark)|the last thing i said)(?: just now| earlier"
    r"| before|,? please)*\W*",
    _I,
)
_TRAILING_WORDS = re.compile(
    r"\s*(?:[,.;!?，。；！？]|\b(?:please|from (?:your )?(?:memory|records?)|ok(?:ay)?|will you|would you"
    r"|i don't want|i do not"
    r"|because|since|it's private)\b).*\Z",
    _I | re.S,
)
_IDIOM = re.compile(
    r"(?:it|that|this|about it|about that|to|me|you|him|her|them|whatever|how|why|where|when)\b(?!\s+i\b)\W*",
    _I,
)
_POSSESSIVE_PREFIX = re.compile(r"(?:my|our|the|me|i)\s+", _I)
_FORGET_ZH = re.compile(
    "(?:请|麻烦你?|拜托|帮我|以后|你|能不能|可以|那|就|也|还是|，|,)*"
    "(?:把(?P<ba>.{1,20}?)(?:都|全部?|给)?(?:忘掉|忘了|忘记|删掉|删除|删了|抹掉|清除|清掉)"
    "|(?:忘掉|忘记|忘了(?=我说|我刚|关于|刚)|删除|删掉|清除|(?:不要|别)再?(?:记住?|记录|保存"
    "|提起?))(?P<after>(?:我|关于|刚才|刚刚|之前|前面|所有|有关)[^，,]{0,24}?))"
    "(?:吧|了|好吗|行吗|可以吗|，.*|,.*|。|！)*"
)
_FORGET_AFTER_TOPIC_ZH = re.compile(
    "(?P<front>(?:我|关于|刚才|刚刚|之前|前面)[^，,]{1,16}?)(?:，|,)?"
    "(?:(?:请|麻烦你?|帮我|你)(?:都|全)?(?:忘掉|忘记|忘了|删掉|删除|删了|清除)|(?:都|就)?(?:别|不要)再?(?:记"
    "|提|保存|记录)"
    "|(?:都|全)?删(?:掉|了|除))(?:吧|了|好吗|着|。|！)*"
)
_NOT_TOPIC_ZH = re.compile(
    "^(?:所有|全部|有关|关于|我|刚才|刚刚|之前|前面|跟你|告诉你|和你|说过?的|提到的|讲的|的|家)+"
    "|(?<=[\u4e00-\u9fff])的(?:名字|姓名)\\Z|(?:的)?(?:事情?|这件事|信息|记录|内容|那些话|(?<!电)话)+\\Z"
    "|[吧了]+\\Z"
)
_CHINESE_STOP = re.compile("[，。；！]")
_QUESTION_ZH = re.compile("(?<![好行以])吗")
_JUST_SAID_ZH = re.compile(
    "(?:我)?(?:刚才|刚刚|前面|上面|上一句|之前)?(?:说|讲|提)(?:过)?的(?:话|那些|内容|那句话|都|这些)?"
)


FORGET_WORD = re.compile(
    "forget|delete|erase|wipe|remove|discard|scrub|unlearn|remember|stor|keep|sav|record|[忘删抹清记提]", _I
)
"""A word that every request to forget contains, for a quick first check."""
_GENERIC_NOUN_SUFFIX = re.compile(
    r"\s+(?:figures?|numbers?|infos?|information|details?|things?|stuff|parts?|bits?|data|entry|facts?|story"
    r"|business|situation|matter)\Z",
    _I,
)
_TOPIC_BY_CLAUSE = (
    (re.compile(r"how much (?:i|we) (?:make|earn|get paid)|what (?:i|we) (?:make|earn)", _I), "salary"),
    (re.compile(r"where (?:i|we) live", _I), "address"),
    (re.compile(r"where (?:i|we) work", _I), "employer"),
    (re.compile(r"what i do(?: for (?:a living|work))?", _I), "job"),
    (re.compile(r"how old i am", _I), "age"),
    (re.compile(r"how much i weigh", _I), "weight"),
    (re.compile(r"who i(?:'m| am) (?:dating|seeing|married to)", _I), "partner"),
)


_PERSONAL = re.compile(r"\b(?:my|our|me|i|i'm|i've|about)\b|我|关于|刚|之前", _I)
_STATEMENT_START = re.compile(r"(?:i|i'm|i've|we|live|work|am|have|\w+ed)\b", _I)
_NAME = re.compile(r"\b[A-Z][\w-]+")


def parse_forget_request(sentence: str) -> str | None:
    """The words after "forget" (possibly empty), or None if the sentence is no such request."""
    text = sentence.strip().replace("’", "'")
    if match := _FORGET_EN.match(text):
        return None if _IDIOM.fullmatch(match["rest"]) else match["rest"]
    bare = text.rstrip("。！!. ")
    match = _FORGET_ZH.fullmatch(bare) or _FORGET_AFTER_TOPIC_ZH.fullmatch(bare)
    if match is None or _QUESTION_ZH.search(text):
        return None
    return next(words for words in match.groups() if words)


def refers_to_last_turn(rest: str) -> bool:
    """Whether the request is about the previous turn: "what I just said"."""
    return bool(_JUST_SAID.fullmatch(rest) or _JUST_SAID_ZH.fullmatch(rest))


def strip_topic_prefix(rest: str) -> str:
    """Remove words that introduce the topic: "that I live in Rome" -> "I live in Rome"."""
    return _TOPIC_PREFIX.sub("", rest, count=1) if _TOPIC_PREFIX.match(rest) else rest


def extract_topic(rest: str) -> str:
    """The topic of a request: "my salary figure please" -> "salary"."""
    if _CHINESE_STOP.split(rest)[0].isascii():
        rest = _CHINESE_STOP.split(rest)[0]  # "forget my salary，别记了": the second half repeats the request
    if re.search("[\u4e00-\u9fff]", rest):
        return _NOT_TOPIC_ZH.sub("", _NOT_TOPIC_ZH.sub("", rest)).strip(" ，,。")
    words = _TRAILING_WORDS.sub("", strip_topic_prefix(rest))
    for clause, name in _TOPIC_BY_CLAUSE:
        if clause.match(words) or clause.match(rest):
            return name
    bare = re.sub(r"\A(?:that|this|those|these)\s+", "", _POSSESSIVE_PREFIX.sub("", words, count=1), flags=_I)
    return _GENERIC_NOUN_SUFFIX.sub("", bare.strip()).strip()


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to forget: texts with all `words` or one of the `names`, or the previous turn (`last_turn`)."""

    words: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    last_turn: bool = False

    def covers(self, text: str) -> bool:
        """Whether a text is on the topic of the request."""
        words = _canonical_terms(text)
        return bool(self.words) and (self.words <= words or not self.names.isdisjoint(words))


@cache_by_digest(8192)
def find_forget_requests(text: str) -> tuple[ForgetRequest, ...]:
    """Find requests to forget personal facts; "delete the last line" is none."""
    if not FORGET_WORD.search(text):
        return ()
    requests = [rest for sentence in split_sentences(text) if (rest := parse_forget_request(sentence.text))]
    return tuple(_build_request(rest) for rest in requests if _PERSONAL.search(rest))


def _build_request(rest: str) -> ForgetRequest:
    if refers_to_last_turn(rest):
        return ForgetRequest(last_turn=True)
    topic = extract_topic(rest)
    names = " ".join(_NAME.findall(topic)) if not _STATEMENT_START.match(topic) else ""
    return ForgetRequest(_canonical_terms(topic), _canonical_terms(names))


def _canonical_terms(text: str) -> frozenset[str]:
    """Search terms, with words for relatives replaced by their role: "ex-husband" becomes "ex"."""
    return frozenset(KIN_EN.get(term, term) for term in extract_terms(text))
