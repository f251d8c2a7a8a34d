"""Cues for the kind of a memory: the kind of a text by its form, and features of a question.

Turns come without a kind, unlike the memories of PerLTQA. The features are the input of the classifier in
`recall.kind_classifier`, which predicts the kind that a question asks for; they group words ("uncle" and
"godfather" are both a `tie`) because a few hundred training questions cannot cover all words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from thinkback.language.kinship import (
    KIN_EN,
    KIN_ZH,
    PETS_EN,
    PETS_ZH,
    ROLES_EN,
    ROLES_ZH,
    alternation_pattern,
)
from thinkback.language.names import SURNAMES
from thinkback.language.questions import classify_question
from thinkback.language.sentences import split_sentences
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.writing_systems import HAN, has_han

if TYPE_CHECKING:
    from thinkback.types import Kind


_KIND_SAMPLE_CHARACTERS = 2000
_SPEAKER_LABEL = re.compile(
    r"^[^\s:：,，.。!?！？]{1,20}(?: [^\s:：,，.。!?！？]{1,20}){0,3}[:：]\s*\S", re.MULTILINE
)
_MIN_SPEAKER_LABELS = 2  # labelled lines that make a transcript
_CAPITALISED_WORD = r"[^\Wa-z\d_][\w-]*"  # a capital letter of any alphabet
_FULL_NAME = rf"{_CAPITALISED_WORD}(?: {_CAPITALISED_WORD}){{0,3}}"
_POSSESSIVE_NAME = rf"(?:[Mm]y|{_FULL_NAME}['’]s?)"
_CHARACTER_ZH = r"[^，。！？\s]"
_RELATIONSHIP = re.compile(
    rf"(?:\A{_FULL_NAME} is {_FULL_NAME}['’]s?(?: [a-z-]+){{1,3}}\."
    rf"|\A{_CHARACTER_ZH}{{2,8}}是(?:(?!的){_CHARACTER_ZH}){{2,8}}的(?:(?!的){_CHARACTER_ZH}){{2,6}}。\Z"
    rf"|\b(?:is|was|are|were) {_POSSESSIVE_NAME} (?:[a-z-]+ ){{0,2}}(?:{alternation_pattern(KIN_EN)})s?\b"
    rf"|\b{_POSSESSIVE_NAME} (?:[a-z-]+ ){{0,2}}(?:{alternation_pattern(KIN_EN)})s? (?:is|was|are|were)\b"
    rf"|是{_CHARACTER_ZH}{{1,12}}的{_CHARACTER_ZH}{{0,4}}?(?:{alternation_pattern(KIN_ZH)})"
    rf"|的(?:{alternation_pattern(KIN_ZH)})(?:是|叫))"
)
_PROFILE_LINE = re.compile(
    rf"\A{_POSSESSIVE_NAME} [a-z]+(?: [a-z]+){{0,3}} (?:is|are|was|were)\b"
    rf"|\A{_CHARACTER_ZH}{{1,12}}的(?:(?!的){_CHARACTER_ZH}){{1,10}}[是为]"
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:last|that) (?:week|month|year|spring|summer|autumn|winter)\b"
    r"|\d{1,2}月\d{1,2}[日号]|(?:19|20)\d\d年|去年|前年|上个?月|上周",
    re.IGNORECASE,
)


@cache_by_digest(4096)
def guess_kind(text: str) -> Kind | None:
    """The kind that the form of a text shows (profile line, transcript, dated story...), or None."""
    sample = text[:_KIND_SAMPLE_CHARACTERS]
    if len(_SPEAKER_LABEL.findall(sample)) >= _MIN_SPEAKER_LABELS:
        return "dialogue"
    sentences = split_sentences(sample)
    if not sentences:
        return None
    if _RELATIONSHIP.search(sentences[0].text) and not sentences[0].text.endswith(("?", "？")):
        return "relationship"
    if len(sentences) == 1 and _PROFILE_LINE.match(sentences[0].text):
        return "profile"
    if len(sentences) > 1 and _DATE.search(sample):
        return "event"
    return None


NO_PERSON = "nobody"  # the question mentions no person
_PERSON_FEATURES = ("me", "you", "they", "tie", "name")

_FEATURE_WORDS_EN = {
    "me": "i me my mine myself we us our ours i'm i've i'd i'll",
    "you": "you your yours you've you'd you're you'll",
    "they": "he she him her his hers they them their theirs",
    "tie": "family relative couple twin married related guardian assistant coach nanny nurse lawyer",
    "say": """say says said saying tell tells told telling talk talked talking speak spoke spoken speaking
        ask asked asking mention mentioned mentioning discuss discussed discussing recommend recommended
        suggest suggested suggestion suggestions advise advised advice explained answer answered reply replied
        promise promised complain complained describe described chat chatted chatting conversation discussion
        topic topics recommendation recommendations tip tips admit admitted confess confessed argue argued
        share shared propose proposed quote quoted warn warned comment commented consult consulted joke
        express expressed repeat summarise summarize opinion account""",
    "then": """yesterday ago last recently lately once earlier previously monday tuesday wednesday thursday
        friday saturday sunday january february march april june july august september october november
        december weekend week month morning evening afternoon night day summer winter spring autumn christmas
        easter party wedding trip journey holiday vacation visit meeting occasion during after when while""",
    "next": "tomorrow next upcoming plan planned plans planning appointment deadline scheduled agenda due",
    "past": """did was were had went came saw bought got made took gave met lost found ate drank left began
        started happened became broke fell won paid drove flew wrote read heard felt brought spent ran""",
    "habit": """usually usual normally always often every regularly never prefer prefers like likes enjoy
        enjoys love loves hate hates favourite favorite fond interested hobby hobbies habit habits""",
    "trait": """name age old tall weigh weight height job occupation profession work works live lives born
        nationality address number size allergic allergy blood salary title nickname degree religion own owns
        diet personality character education employer""",
}
_FEATURE_WORDS_ZH = {
    "me": "我 咱 俺",
    "you": "你 您",
    "they": "他 她",
    "tie": """
        亲戚 家人 夫妻 双胞胎 兄妹 兄弟 姐弟 关系 结婚 干妈 干爸 牙医 助理 师傅 徒弟 合租 上级 下属 组员
        队友 联系人 熟人 搭档 继兄 继父 继母 叔 姑 姨 舅 伯 婶 嫂 认识""",
    "say": """
        说 讲 谈 聊 告诉 提到 提起 提过 推荐 建议 介绍 问 回答 答应 分享 讨论 抱怨 评价 描述 形容 安慰
        请教 咨询 保证 承认 坦白 提醒 夸 话题 原话 主意 看法 意见 打听 列举 教过 教我""",
    "then": """
        昨天 昨晚 前天 上次 上周 上个 去年 前年 那天 那次 那回 那晚 那场 那会儿 当时 当天 当初 最近 曾经
        之前 后来 之后 以后 的时候 星期 周一 周二 周三 周四 周五 周六 周日 周末 月份 0号 0日 0月 0年
        早上 晚上 下午 夏天 冬天 春天 秋天 春节 除夕 圣诞 国庆 聚会 婚礼 旅行 之行 比赛 会议""",
    "next": "明天 后天 下周 下个 下次 安排 计划 打算 预约 截止 日程",
    "past": "了 过 发生 遇到 碰到 收到 参加 是怎么",
    "habit": "平时 平常 通常 经常 每天 每周 习惯 喜欢 爱 偏爱 讨厌 口味 爱好 兴趣 总是 从不",
    "trait": """
        叫什么 名字 几岁 多大 年龄 多高 身高 体重 多重 工作 职业 职位 上班 住 出生 国籍 民族 地址 电话
        邮箱 过敏 血型 星座 月薪 工资 头衔 外号 学历 专业 母语 宗教 性格 擅长 收藏""",
}


def _features_by_word(
    words_by_feature: Mapping[str, str], relationship_words: Iterable[str]
) -> dict[str, str]:
    return dict.fromkeys(relationship_words, "tie") | {
        word: feature for feature, words in words_by_feature.items() for word in words.split()
    }


_RELATIONSHIP_WORDS_EN = ROLES_EN.keys() - PETS_EN.keys()
_FEATURE_BY_WORD_EN = _features_by_word(
    _FEATURE_WORDS_EN, (*_RELATIONSHIP_WORDS_EN, *(f"{word}s" for word in _RELATIONSHIP_WORDS_EN))
)
_FEATURE_BY_WORD_ZH = _features_by_word(_FEATURE_WORDS_ZH, ROLES_ZH.keys() - PETS_ZH.keys())
_FEATURE_WORD_ZH = re.compile("|".join(sorted(_FEATURE_BY_WORD_ZH, key=lambda word: (-len(word), word))))
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NAME_ZH = re.compile(f"(?:^|[^{HAN}]|[和跟同与给对])(?:[小老阿][{HAN}]|[{SURNAMES}][{HAN}])")
# a capitalised word, but not the first
_NAME_EN = re.compile(r"(?<=[^\W_][ ,;:(]) ?[\"'“‘(]?(?!I\b)[A-Z][^\W\d_]")


def extract_kind_features(text: str, folded: str) -> list[str]:
    """The features of a question, each once and in order; the last is its type ("?who").

    `folded` is the result of `tokens.fold_text` for the text.
    """
    features: dict[str, None] = {}
    if has_han(folded):
        for word in _FEATURE_WORD_ZH.findall(_NUMBER.sub("0", folded)):
            features[_FEATURE_BY_WORD_ZH[word]] = None
        if _NAME_ZH.search(folded):
            features["name"] = None
    for word in _WORD.findall(folded):
        if feature := _FEATURE_BY_WORD_EN.get(word) or _FEATURE_BY_WORD_EN.get(word.removesuffix("'s")):
            features[feature] = None
    if _NAME_EN.search(text):
        features["name"] = None
    if not any(person in features for person in _PERSON_FEATURES):
        features[NO_PERSON] = None
    features[f"?{classify_question(text)}"] = None
    return list(features)
