"""Signs of the kind of memory a question asks for: classes of words that a few hundred questions cannot show.

A model that has seen "uncle" in a question after a relationship knows nothing of "godfather"; as the sign
`tie` the two are one. Signs are no rules: `recall/kinds.py` has learned what each is worth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from thinkback.text.people.kin import PETS_EN, PETS_ZH
from thinkback.text.people.kinship import ROLES, ROLES_ZH
from thinkback.text.people.names import SURNAMES
from thinkback.text.questions.question_type import question_type
from thinkback.text.scripts import HAN, has_han

NOBODY = "nobody"  # no word of the question is for a person
_PERSONS = ("me", "you", "they", "tie", "name")

_ENGLISH = {
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
_CHINESE = {
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


def _signs_of(classes: Mapping[str, str], ties: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(ties, "tie") | {
        word: sign for sign, words in classes.items() for word in words.split()
    }


_TIES_EN = ROLES.keys() - PETS_EN.keys()
_BY_WORD = _signs_of(_ENGLISH, (*_TIES_EN, *(f"{word}s" for word in _TIES_EN)))
_BY_RUN = _signs_of(_CHINESE, ROLES_ZH.keys() - PETS_ZH.keys())
_IN_RUN = re.compile("|".join(sorted(_BY_RUN, key=lambda word: (-len(word), word))))
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NAME_ZH = re.compile(f"(?:^|[^{HAN}]|[和跟同与给对])(?:[小老阿][{HAN}]|[{SURNAMES}][{HAN}])")
_NAME = re.compile(r"(?<=[^\W_][ ,;:(]) ?[\"'“‘(]?(?!I\b)[A-Z][^\W\d_]")  # a capital, but not at the start


def signs(text: str, folded: str) -> list[str]:
    """The signs of a text, each once, in order, and what it asks for, after a question mark.

    `folded` is the text as `tokens.fold` gives it.
    """
    found: dict[str, None] = {}
    if has_han(folded):
        for word in _IN_RUN.findall(_NUMBER.sub("0", folded)):
            found[_BY_RUN[word]] = None
        if _NAME_ZH.search(folded):
            found["name"] = None
    for word in _WORD.findall(folded):
        if sign := _BY_WORD.get(word) or _BY_WORD.get(word.removesuffix("'s")):
            found[sign] = None
    if _NAME.search(text):
        found["name"] = None
    if not any(person in found for person in _PERSONS):
        found[NOBODY] = None
    found[f"?{question_type(text)}"] = None
    return list(found)
