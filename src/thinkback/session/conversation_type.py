"""Classifies the type of a conversation and sets how much is recalled for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.language.sentences import is_question
from thinkback.session import classifiers
from thinkback.types import ConversationType, SummaryField


@dataclass(frozen=True, slots=True)
class RecallStrategy:
    """How a kind of talk is remembered: what is shown first, how many memories, how near they must be."""

    field_order: tuple[SummaryField, ...]
    k: int
    min_score_share: float  # of the best memory's score: what scores less is left out


STRATEGIES: dict[ConversationType, RecallStrategy] = {
    "task": RecallStrategy(("constraints", "needs", "facts"), k=5, min_score_share=0.3),
    "planning": RecallStrategy(("needs", "constraints", "facts"), k=5, min_score_share=0.3),
    "medical": RecallStrategy(("facts", "constraints", "needs"), k=5, min_score_share=0.2),
    "question-answering": RecallStrategy(("facts", "needs", "constraints"), k=5, min_score_share=0.4),
    "small talk": RecallStrategy(("facts", "needs", "constraints"), k=3, min_score_share=0.5),
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
_SMALL_TALK = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|night)|thanks?|thank you|haha|lol|bye|how are you|nice"
    r"|cool)\b|^(?:你好|早上好|晚安|谢谢|哈哈|再见|嗨|在吗)",
    re.I,
)


def classify_conversation(message: str, before: ConversationType = "small talk") -> ConversationType:
    """The kind a message speaks of; one that tells nothing leaves the talk what it was."""
    text = message[:2000]
    for kind, pattern in (("medical", _MEDICAL), ("planning", _PLANNING), ("task", _TASK)):
        if pattern.search(text):
            # A question with one such word belongs to a talk that is going on; it does not make another.
            if is_question(text) and before not in ("small talk", "question-answering"):
                return before
            return kind  # type: ignore[return-value]  # the three are kinds
    if _SMALL_TALK.match(text):
        return before
    if classifiers.is_need(text) or classifiers.is_constraint(text):
        return "task" if before in ("small talk", "question-answering") else before
    if is_question(text) and before == "small talk":
        return "question-answering"
    return before


def max_memories(talk: ConversationType, message: str, k: int) -> int:
    """So many memories at most: what somebody points back at is looked for whatever the talk is."""
    return k if classifiers.refers_back(message) or is_question(message) else min(k, STRATEGIES[talk].k)


def min_score(talk: ConversationType, message: str, scores: Sequence[float]) -> float:
    """The least score that matters here: a share of the best one, none where the message points back."""
    share = 0.0 if classifiers.refers_back(message) else STRATEGIES[talk].min_score_share
    if is_question(message):
        share /= 2  # who asks wants to be told; who only tells is disturbed by what is far
    return share * max(scores, default=0.0)
