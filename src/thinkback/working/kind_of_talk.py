"""What kind of talk it is, and how each kind is remembered (two of seed 003's items to be implemented).

Rules look for words of each kind; a model may say it as well. The kind sets a strategy: which fields of the
summary come first, how many memories are recalled, and how near to the best one they must score. Recall
itself already measures relevance by the space (`recall/scoring.py`); `relevant` narrows that by the talk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from thinkback.text.sentences import is_question
from thinkback.types import Talk
from thinkback.working import cues
from thinkback.working.types import Strategy

STRATEGIES: dict[Talk, Strategy] = {
    "task": Strategy(("constraints", "needs", "facts"), k=5, share=0.3),
    "planning": Strategy(("needs", "constraints", "facts"), k=5, share=0.3),
    "medical": Strategy(("facts", "constraints", "needs"), k=5, share=0.2),
    "question-answering": Strategy(("facts", "needs", "constraints"), k=5, share=0.4),
    "small talk": Strategy(("facts", "needs", "constraints"), k=3, share=0.5),
}

_MEDICAL = re.compile(
    r"\b(?:pain|ache|headache|fever|cough|symptom\w*|doctor|medicine|medication|dose|dosage|mg|tablet|pill"
    r"|diagnos\w+|blood pressure"
    r"|allerg\w+|nausea|dizzy|rash|surgery|hospital|prescri\w+|diabet\w+|insulin|asthma|infection|swollen"
    r"|vomit\w*|patient)\b"
    "|疼|痛|发烧|咳嗽|症状|医生|药|剂量|毫克|诊断|血压|过敏|恶心|头晕|手术|医院|处方|糖尿病|感染|呕吐|患者"
    "|病",
    re.I,
)
_PLANNING = re.compile(
    r"\b(?:plan(?:ning|s)?|trip|itinerary|schedule|travel\w*|wedding|party|holiday|vacation|agenda"
    r"|timeline|roadmap|milestone|event|moving to"
    r"|book (?:a|the)|reserve|budget)\b|计划|行程|安排|旅行|旅游|婚礼|聚会|假期|日程|路线|预订|筹备|搬家"
    r"|预算",
    re.I,
)
_TASK = re.compile(
    r"\b(?:write|implement|code|function|script|database|server|api|bug|deploy|build|compute|calculate|sql"
    r"|query|draft|translate|refactor|software"
    r"|app|website|report|essay|program|algorithm|solve|equation|input|output|return)\b|写|实现|代码|函数"
    r"|脚本|数据库|服务器|部署|计算|翻译|程序|算法|报告|论文|系统|软件|方案|求",
    re.I,
)
_CHAT = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|night)|thanks?|thank you|haha|lol|bye|how are you|nice"
    r"|cool)\b|^(?:你好|早上好|晚安|谢谢|哈哈|再见|嗨|在吗)",
    re.I,
)


def kind_of_talk(message: str, before: Talk = "small talk") -> Talk:
    """The kind a message speaks of; one that tells nothing leaves the talk what it was."""
    text = message[:2000]
    for kind, pattern in (("medical", _MEDICAL), ("planning", _PLANNING), ("task", _TASK)):
        if pattern.search(text):
            # A question with one such word belongs to a talk that is going on; it does not make another.
            if is_question(text) and before not in ("small talk", "question-answering"):
                return before
            return kind  # type: ignore[return-value]  # the three are kinds
    if _CHAT.match(text):
        return before
    if cues.needs(text) or cues.constrains(text):
        return "task" if before in ("small talk", "question-answering") else before
    if is_question(text) and before == "small talk":
        return "question-answering"
    return before


def how_many(talk: Talk, message: str, k: int) -> int:
    """So many memories at most: what somebody points back at is looked for whatever the talk is."""
    return k if cues.refers_back(message) or is_question(message) else min(k, STRATEGIES[talk].k)


def threshold(talk: Talk, message: str, scores: Sequence[float]) -> float:
    """The least score that matters here: a share of the best one, none where the message points back."""
    share = 0.0 if cues.refers_back(message) else STRATEGIES[talk].share
    if is_question(message):
        share /= 2  # who asks wants to be told; who only tells is disturbed by what is far
    return share * max(scores, default=0.0)
