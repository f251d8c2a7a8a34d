"""Thoughts from the assistant's response: plain answers to direct questions, and assessments of a value.

Examples: (book, recommended, The Little Prince) and (China, capital, Beijing) from TiM (arXiv), section 3;
(3623.20/μl, is, a relatively high value) from TiM (ACL), table 5. They are never facts about the user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from thinkback.language.relations import get_relation
from thinkback.language.sentence_builder import compose_sentence
from thinkback.language.sentences import is_question, split_sentences
from thinkback.types import Source, ThoughtDraft, Turn

_I = re.IGNORECASE
_RECOMMENDATION_QUESTION_EN = re.compile(
        r"(?:\b(?P<a>[a-z]{2,20}(?: [a-z]{2,20})?) recommendations?\b|\brecommend (?:me )?(?:an?|any"
        r"|some|a good) (?P<b>[a-z]{2,20})\b"
    r"|\b(?:which|what) (?P<c>[a-z]{2,20}) (?:do|would|can|should) you recommend)",
    _I,
)  # fmt: skip
_RECOMMENDATION_EN = re.compile(
    "(?:I(?:'d| would)?(?: highly| definitely)? (?:recommend|suggest)|you should try|how about) "
    r"(?P<o>[^.!?\n]{1,80})",
    _I,
)
_RECOMMENDATION_QUESTION_ZH = re.compile(
    "推荐(?:一下|几|一)?[个本部家款首]?(?:好的?)?(?P<a>书籍?|电影|餐厅|音乐|歌曲?|公司|地方|景点"
    "|菜|美食|游戏|酒店|电视剧|小说|手机|课程|城市|咖啡店)"
)
_RECOMMENDATION_ZH = re.compile(
    "(?:我)?(?:推荐|建议)(?:你|您)?(?:看|读|去|试试|听|一下)*(?P<o>(?![给几你]|一些|以下"
    "|这)[^。！？\\n，,]{1,40})"
)
_CAPITAL_QUESTION_EN = re.compile(
    r"(?:(?:what|which city)(?: is|'s) the capital(?: city)? of|capital of) (?P<s>(?:the )?[A-Z][\w "
    r".'-]{1,40}?)\s*\?",
    _I,
)
_CAPITAL_QUESTION_ZH = re.compile(
    "(?P<s>[\u4e00-\u9fff]{2,10}?)的首都(?:是|在)?(?:哪里|哪儿|哪个城市|什么|哪)?[？?]?"
)
_CAPITAL_ANSWER_EN = re.compile(
    r"(?:(?:the )?capital(?: city)?(?: of [\w .'-]{1,40}?)? is |it is |it's |that's |that is "
    r")?(?P<o>[A-Z][\w'-]*(?:,? [A-Z][\w'.-]*){0,3})[.!]?",
    _I,
)
_CAPITAL_ANSWER_ZH = re.compile(
    "(?:[\u4e00-\u9fff]{0,10}首都)?(?:是|在)?(?P<o>[\u4e00-\u9fff]{2,8}?)[。！!]?"
)
_FILLER_WORDS = re.compile(
    r"\b(?:any|some|good|great|you|have|got|for|me|a|an|the|nice|your|other|more|best)\b\s*", _I
)
_MEASURED_VALUE = re.compile(
    r"\d[\d.,]*(?:/\d[\d.]*|\s?(?:%|°?[A-Za-zµμ]{1,6}(?:/[A-Za-zµμ]{1,4})?|/[A-Za-zµμ]{1,4}"
    r"|[\u4e00-\u9fff]{1,4}))"
)
_ASSESSMENT_WORDS = (
    r"(?:high|low|normal|elevated|raised|abnormal|concerning|worrying|healthy|unhealthy|good|fine|excellent"
    r"|ideal|typical|borderline|alarming|dangerous|reduced"
    r"|(?:within|above|below|outside) (?:the )?(?:normal |healthy |reference )?(?:range|limits|average))"
)
_ASSESSMENT_EN = re.compile(
    r"(?:(?:ok(?:ay)?|well|hmm|right|i see|thanks|thank you)[,.]? )?(?:that|this|it|(?:that|this|your|the)"
    r" (?:value|number|result|reading|level|count|figure))(?:'s| is| looks| seems)(?: to be)?"
    rf" (?P<o>(?:an? )?(?:(?:quite|rather|relatively|very|a bit|a little|slightly|fairly|too|pretty|somewhat"
    rf"|extremely|perfectly|still|well|dangerously|on the) )*{_ASSESSMENT_WORDS}(?: side)?(?: (?:value"
    rf"|result|reading"
    r"|level|number|count|figure|range))?)(?=[.,!;]|\Z| (?:for|and|but|so|given)\b)",
    _I,
)
_ASSESSMENT_ZH = re.compile(
    "(?:这个?|该|您的?|你的?)?(?:数值|数字|指标|结果|值)?(?:是|属于)?(?P<o>(?:有点|有些|比较|相对"
    "|略微?|非常|很|明显|稍微?"
    "|完全)?(?:偏高|偏低|过高|过低|正常|异常|很高|很低|高了|低了))(?:的|了|范围)?[。！!，,]?"
)
_EDGE_CHARS = " \t\"'“”‘’「」《》.,!。！"


def read_answer(turn: Turn) -> list[ThoughtDraft]:
    """The draft of a plain answer to the last question of the turn; most turns have none."""
    questions = [s.text for s in split_sentences(turn.query) if is_question(s.text) or "推荐" in s.text]
    response = split_sentences(turn.response)
    if not questions or not response or len(questions[-1]) > 300 or len(response[0].text) > 300:
        return []
    question, reply = questions[-1], response[0]
    draft = _read_recommendation(turn, question, reply.text, reply.start) or _read_capital(
        turn, question, reply.text, reply.start
    )
    return [draft] if draft else []


def read_assessment(turn: Turn, drafts: Sequence[ThoughtDraft]) -> list[ThoughtDraft]:
    """The assistant's assessment of the only value that the user gave in this turn.

    `drafts` are the facts of the user.
    """
    values = dict.fromkeys(
        item for draft in drafts if draft.sources[0].side == "query" and not draft.negated
        for item in draft.objects if _MEASURED_VALUE.fullmatch(item)
    )  # fmt: skip
    response = split_sentences(turn.response)
    if len(values) != 1 or not response or len(response[0].text) > 300 or is_question(response[0].text):
        return []
    text, start = response[0].text.replace("’", "'"), response[0].start
    lang = "en"
    assessment = _ASSESSMENT_EN.match(text)
    if not assessment and (assessment := _ASSESSMENT_ZH.fullmatch(text)):
        lang = "zh"
    if not assessment:
        return []
    (value,) = values
    draft = _assistant_draft(
        turn, value, "is", assessment["o"].strip(), start, start + assessment.end("o"), lang
    )
    return [replace(draft, kind="knowledge")]


def _read_recommendation(turn: Turn, question: str, reply: str, start: int) -> ThoughtDraft | None:
    """The draft of "Any book recommendations?" - "I recommend The Little Prince." """
    if (request := _RECOMMENDATION_QUESTION_EN.search(question)) and (
        recommendation := _RECOMMENDATION_EN.search(reply)
    ):
        subject = _FILLER_WORDS.sub("", request["a"] or request["b"] or request["c"]).strip().lower()
        lang = "en"
    elif (request := _RECOMMENDATION_QUESTION_ZH.search(question)) and (
        recommendation := _RECOMMENDATION_ZH.search(reply)
    ):
        subject, lang = request["a"], "zh"
    else:
        return None
    value = recommendation["o"].strip(_EDGE_CHARS)
    if not subject or not value or len(value.split()) > 8:
        return None
    return _assistant_draft(
        turn,
        subject,
        "recommended",
        value,
        start + recommendation.start("o"),
        start + recommendation.end("o"),
        lang,
    )


def _read_capital(turn: Turn, question: str, reply: str, start: int) -> ThoughtDraft | None:
    """The draft of "What is the capital of China?" - "Beijing." """
    if (country := _CAPITAL_QUESTION_EN.search(question)) and (answer := _CAPITAL_ANSWER_EN.fullmatch(reply)):
        subject, lang = country["s"].strip(), "en"
    elif (country := _CAPITAL_QUESTION_ZH.search(question)) and (
        answer := _CAPITAL_ANSWER_ZH.fullmatch(reply)
    ):
        subject, lang = country["s"], "zh"
    else:
        return None
    return _assistant_draft(
        turn,
        subject,
        "capital",
        answer["o"].strip(_EDGE_CHARS),
        start + answer.start("o"),
        start + answer.end("o"),
        lang,
    )


def _assistant_draft(
    turn: Turn, subject: str, relation: str, value: str, start: int, end: int, lang: str
) -> ThoughtDraft:
    """A draft whose source is a span of the response."""
    known = get_relation(relation)
    return ThoughtDraft(
        subject=subject,
        relation=known.name,
        objects=(value,),
        sentence=compose_sentence(subject, known.name, (value,), lang=lang),
        kind=known.kind,
        sources=(Source(turn.id, turn.answerer, "response", start, end),),
    )
