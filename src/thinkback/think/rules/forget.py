"""A request to forget -> what it takes back: "forget my address", 把我的工资忘掉.

A request is no fact. Its topic is a relation (address), a relative, a statement ("that I live in Rome"), or
words by which thoughts are found among what the user told; "what I just said" takes back what is recent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thinkback.text.kin import KIN_EN, KIN_ZH, ONE_EACH, PETS_EN, PETS_ZH
from thinkback.text.names import USER
from thinkback.text.sentences import Sentence
from thinkback.text.tokens import terms
from thinkback.think.relations import VOCABULARY, canonical
from thinkback.think.validate import EVERYTHING

_I = re.IGNORECASE
_POLITE = (
    r"(?:(?:please|pls|hey|hi|ok|okay|so|and|also|actually|oh|no|wait|sorry|now|just|kindly|can you|could"
    r" you|would you"
    r"|will you|i want you to|i need you to|i'd like you to|you can|you should|you may|let's|let us)[\s,:]+)*"
)
_FORGET = re.compile(
    rf"{_POLITE}(?:forget|delete|erase|wipe|remove|discard|(?:don't|do not|stop|never) (?:remember|store"
    rf"|keep|save|record)"
    r"(?:ing)?)\s+(?P<rest>.+)",
    _I | re.S,
)
_ABOUT = re.compile(
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
_TAIL = re.compile(
    r"\s*(?:[,.;!?，。；！？]|\b(?:please|from (?:your )?(?:memory|records?)|ok(?:ay)?|will you|would you"
    r"|i don't want|i do not"
    r"|because|since|it's private)\b).*\Z",
    _I | re.S,
)
_IDIOM = re.compile(
    r"(?:it|that|this|about it|about that|to|me|you|him|her|them|whatever|how|why|where|when)\b(?!\s+i\b)\W*",
    _I,
)
_STATEMENT = re.compile(r"(?:i|i'm|i've|my \w+(?: \w+)?(?:'s \w+)? (?:is|was|has|lives?|works?)|we)\b", _I)
_MY = re.compile(r"(?:my|our|the|me|i)\s+", _I)
_FORGET_ZH = re.compile(
    "(?:请|麻烦你?|拜托|帮我|以后|你|能不能|可以|那|就|也|还是|，|,)*"
    "(?:把(?P<ba>.{1,20}?)(?:都|全部?|给)?(?:忘掉|忘了|忘记|删掉|删除|删了|抹掉|清除|清掉)"
    "|(?:忘掉|忘记|忘了(?=我说|我刚|关于|刚)|删除|删掉|清除|(?:不要|别)再?(?:记住?|记录|保存"
    "|提起?))(?P<after>(?:我|关于|刚才"
    "|刚刚|之前|前面|所有|有关)[^，,]{0,24}?))"
    "(?:吧|了|好吗|行吗|可以吗|，.*|,.*|。|！)*"
)
_FORGET_ZH_LATE = re.compile(
    "(?P<front>(?:我|关于|刚才|刚刚|之前|前面)[^，,]{1,16}?)(?:，|,)?"
    "(?:(?:请|麻烦你?|帮我|你)(?:都|全)?(?:忘掉|忘记|忘了|删掉|删除|删了|清除)|(?:都|就)?(?:别|不要)再?(?:记"
    "|提|保存|记录)"
    "|(?:都|全)?删(?:掉|了|除))(?:吧|了|好吗|着|。|！)*"
)
_TOPIC_ZH = re.compile(
    "^(?:所有|全部|有关|关于|我|刚才|刚刚|之前|前面|跟你|告诉你|和你|说过?的|提到的|讲的|的|家)+"
    "|(?<=[\u4e00-\u9fff])的(?:名字|姓名)\\Z|(?:的)?(?:事情?|这件事|信息|记录|内容|那些话|(?<!电)话)+\\Z"
    "|[吧了]+\\Z"
)
_HALF = re.compile("[，。；！]")
_ASKS_ZH = re.compile("(?<![好行以])吗")
_SAID_ZH = re.compile(
    "(?:我)?(?:刚才|刚刚|前面|上面|上一句|之前)?(?:说|讲|提)(?:过)?的(?:话|那些|内容|那句话|都|这些)?"
)


@dataclass(frozen=True, slots=True)
class Topic:
    """What to forget: one key (relation), or objects that have `words` in any relation; `recent` only."""

    relation: str = ""
    words: str = EVERYTHING
    subject: str = USER
    recent: bool = False


def requested(sentence: Sentence) -> str | None:
    """The words after "forget", if the sentence asks for that; may be empty."""
    text = sentence.text.strip()
    if found := _FORGET.match(text):
        return None if _IDIOM.fullmatch(found["rest"]) else found["rest"]
    found = _FORGET_ZH.fullmatch(text.rstrip("。！!. "))
    found = found or _FORGET_ZH_LATE.fullmatch(text.rstrip("。！!. "))
    if found is None or _ASKS_ZH.search(text):
        return None
    return next(words for words in found.groups() if words)


def stated(rest: str) -> str:
    """The statement that is to be forgotten, if the topic is one: "that I live in Rome"."""
    words = _ABOUT.sub("", rest, count=1) if _ABOUT.match(rest) else rest
    return words if _STATEMENT.match(words) else ""


def topics(rest: str) -> Iterator[Topic]:
    """The keys and words that a request is about."""
    if _JUST_SAID.fullmatch(rest) or _SAID_ZH.fullmatch(rest):
        yield Topic(recent=True)
        return
    if rest.isascii() or (rest[:1].isascii() and _HALF.split(rest)[0].isascii()):
        rest = _HALF.split(rest)[0]  # "forget my salary，别记了": the other half says it again
    if re.search("[\u4e00-\u9fff]", rest):
        noun = _TOPIC_ZH.sub("", _TOPIC_ZH.sub("", rest)).strip(" ，,。")
        kin = (KIN_ZH | PETS_ZH).get(noun, "")
        owner = f"用户的{noun}"
    else:
        noun = _TAIL.sub("", _ABOUT.sub("", rest, count=1) if _ABOUT.match(rest) else rest)
        noun = _MY.sub("", noun, count=1).strip()
        kin = (KIN_EN | PETS_EN).get(noun.lower(), "")
        owner = f"{USER}'s {noun.lower()}"
    if not noun or len(noun) > 60:
        return
    relation = canonical(noun)
    if kin:
        yield Topic(relation=f"has {kin}")
        if kin in ONE_EACH:
            yield from (Topic(relation=name, subject=owner) for name in VOCABULARY)
    elif relation in VOCABULARY or relation.startswith("favourite "):
        yield from (Topic(relation=name) for name in (relation, *_ALSO.get(relation, ())))
    elif terms(noun):
        yield Topic(words=noun)


_ALSO = {"works as": ("works at",), "works at": ("works as",), "address": ("lives in",)}
_KIN_RELATIONS = tuple(dict.fromkeys(f"has {name}" for name in (*KIN_EN.values(), *PETS_EN.values())))
EVERY_RELATION = (*VOCABULARY, *_KIN_RELATIONS)
"""Where words or what is recent are looked for: an open topic names no key."""
