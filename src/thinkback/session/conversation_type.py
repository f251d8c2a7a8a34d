"""Classifies messages of a session: the type of conversation, needs, constraints, conclusions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.language.sentences import is_question
from thinkback.types import ConversationType, SummaryField


@dataclass(frozen=True, slots=True)
class RecallStrategy:
    """What is shown and recalled in one type of conversation.

    Attributes:
        field_order: The summary fields to show first.
        k: Maximum number of recalled memories.
        min_score_share: Memories below this share of the best score are left out.
    """

    field_order: tuple[SummaryField, ...]
    k: int
    min_score_share: float


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
    """Return the conversation type after a message; a message without clues keeps the type `before`."""
    text = message[:2000]
    for kind, pattern in (("medical", _MEDICAL), ("planning", _PLANNING), ("task", _TASK)):
        if pattern.search(text):
            # A question with such a word belongs to the current conversation; it does not start another type.
            if is_question(text) and before not in ("small talk", "question-answering"):
                return before
            return kind  # type: ignore[return-value]  # a str to mypy
    if _SMALL_TALK.match(text):
        return before
    if is_need(text) or is_constraint(text):
        return "task" if before in ("small talk", "question-answering") else before
    if is_question(text) and before == "small talk":
        return "question-answering"
    return before


def max_memories(talk: ConversationType, message: str, k: int) -> int:
    """Return how many memories to recall; questions and references to earlier talk get the full `k`."""
    return k if refers_back(message) or is_question(message) else min(k, STRATEGIES[talk].k)


def min_score(talk: ConversationType, message: str, scores: Sequence[float]) -> float:
    """Return the minimum score: a share of the best one, or 0 if the message refers to earlier talk."""
    share = 0.0 if refers_back(message) else STRATEGIES[talk].min_score_share
    if is_question(message):
        share /= 2  # a question wants more memories than a statement
    return share * max(scores, default=0.0)


_CONSTRAINT = re.compile(
    r"\b(?:must(?:n't)?|has to|have to|had to be|at most|at least|at the (?:latest|most)|no (?:more|less"
    r"|fewer|later|earlier) than"
    r"|not (?:more|less|fewer|exceed)|up to|under [$€£]?\d|below [$€£]?\d|less than|more than|fewer than"
    r"|within|no longer than|maximum|minimum"
    r"|max\b|min\b|budget|deadline|limit(?:ed)? (?:is|to|of)|cannot exceed|can't exceed|should(?:n't| not"
    r"| be| have| return| only)?"
    r"|is required|are required|requires?|mandatory|only (?:on|in|if|by|for|use|works?)|need(?:s)? to be"
    r"|allergic|not allowed"
    r"|never|without)\b",
    re.I,
)
_CONSTRAINT_ZH = re.compile(
    "必须|不超过|不能超过|不得|至少|最多|最少|不少于|不低于|不高于|不多于|以内|之内|以下|以上|之前|预算"
    "|上限|下限|只能|只有.{0,8}才"
    "|务必|一定要|截止|限制|不能|不可以|禁止|要求|过敏|应该|应当|需要在|控制在"
)
_NEED = re.compile(
    r"\b(?:i|we)(?:'d| would| will|'ll)?\s+(?:really |also |still |just )?(?:need|want|like to|prefer"
    r"|require|am looking for|are looking for)\b"
    r"|\b(?:i'm|we're) (?:looking for|after|trying to|planning)\b|\bmy goal is\b|\bour goal is\b"
    r"|\bthe goal is\b|\bi'd love\b|\bhelp me\b"
    r"|\b(?:please )?(?:write|build|create|make|implement|design|plan|find|compute|calculate|prepare"
    r"|draft) (?:me |us )?(?:a|an|the|me|all|some)\b",
    re.I,
)
_NEED_ZH = re.compile(
    "(?:我|我们|咱们?)(?:还|也|真的|主要|现在|只)?(?:需要|想要|想找|想买|要找|希望|想学|想去|打算|计划"
    "|准备|更喜欢|偏好)|目标是|帮我|最好(?:是|有|能)|请(?:写|帮|做|设计|计算)"
)
_CONCLUSION = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? (?:decided (?:on|to|for)|agreed (?:on|to|that)|settled on|chose|picked"
    r"|concluded)"
    r"|(?:let's|let us|we'll|i'll|we will|i will) (?:go with|take|use|choose|pick|stick with|settle on"
    r"|book)|final decision"
    r"|in conclusion|the conclusion is|so the plan is|the decision is|it is decided|that settles it)\b",
    re.I,
)
_CONCLUSION_ZH = re.compile(
    "(?:我|我们|咱们)?(?:最后|最终|已经)?(?:决定(?!不)(?:了|用|选|去|买|采用)?|敲定|定下来|选定)|那就(?:用"
    "|选|去|买|定|这样)|就(?:用|选|定)(?!不)|结论是|最终方案|一致同意"
)
_UNDECIDED = re.compile(
    r"\b(?:(?:i'm|we're|i am|we are) (?:not sure|unsure|undecided|still deciding)|(?:i|we) (?:don't"
    r"|do not) know (?:yet|if|whether)"
    r"|(?:have|has)n't decided|to be decided|to be clarified|tbd|open question|still open|not decided)\b",
    re.I,
)
_UNDECIDED_ZH = re.compile(
    "不确定|还没(?:想好|决定|定)|没定|待定|有待确认|不知道(?:要不要|该不该|是否|能不能)|还在犹豫|拿不准"
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|hundred"
    r"|thousand|million|half|twice|dozen|double|triple)\b",
    re.I,
)
_NUMBER_ZH = re.compile("\\d|[一二两三四五六七八九十百千万半][个只位人年月日天号点元块斤公米岁次台间倍%％]")
_REFERS_BACK = re.compile(
    r"\b(?:(?:as|like|what|that|thing|which) (?:i|we|you) (?:said|discussed|mentioned|talked|told|decided"
    r"|agreed)|earlier|(?:said|mentioned|discussed) before"
    r"|we discussed|remember when|going back to|back to|again|previous(?:ly)?|the other day|last time"
    r"|from before)\b",
    re.I,
)
_REFERS_BACK_ZH = re.compile("之前|刚才|上次|前面|先前|以前(?:说|聊|提)|提到过|说过|聊过|讨论过|还记得")
_REOPENS = re.compile(
    r"\b(?:reconsider|back (?:in|to|on)|again|after all|what about|how about|changed my mind|(?:is|are"
    r"|would be) (?:actually )?(?:fine|ok|okay|possible|back|good)"
    r"|let's (?:use|try|go with|take)|maybe|give .{1,40} another|another (?:look|chance)|want .{0,40} now"
    r"|in fact|instead|rethink|(?:we|i)(?:'ll| will) (?:use|take|go with))\b",
    re.I,
)
_REOPENS_ZH = re.compile(
    "重新考虑|再考虑|再看看|改主意|改变主意|其实.{0,12}(?:可以|不错|也行|还行)|要不|考虑一下|还是(?:用|选"
    "|去|买|要|考虑)|就(?:用|选|去|买)|也可以|恢复|怎么样|又想"
)
_ABOUT_EXCLUSION = re.compile(
    r"\b(?:why|did (?:we|i|you)|exclude[sd]?|excluding|ruled out|rejected|still out)\b|为什么|为何|排除|否决",
    re.I,
)
_ASKS_EXCLUDED = re.compile(
    r"\b(?:exclud\w*|ruled? out|reject\w*|off the table|not an option|options? (?:are|is)? ?left"
    r"|which options?)\b|排除|否决|不考虑|哪些选项|还剩",
    re.I,
)


def is_constraint(text: str) -> bool:
    """Return whether a sentence states a requirement: "it must cost less than 50 euros"."""
    return bool(_CONSTRAINT.search(text) or _CONSTRAINT_ZH.search(text))


def is_need(text: str) -> bool:
    """Return whether a sentence states a need or a task: "I need a quiet flat"."""
    return bool(_NEED.search(text) or _NEED_ZH.search(text))


def is_conclusion(text: str) -> bool:
    """Return whether a sentence states a decision: "let's go with Postgres"."""
    return bool(_CONCLUSION.search(text) or _CONCLUSION_ZH.search(text))


def is_undecided(text: str) -> bool:
    """Return whether a sentence leaves something open: "we haven't decided on the date"."""
    return bool(_UNDECIDED.search(text) or _UNDECIDED_ZH.search(text))


def has_number(text: str) -> bool:
    """Return whether a sentence contains a number, in digits or words."""
    return bool(_NUMBER.search(text) or _NUMBER_ZH.search(text))


def refers_back(text: str) -> bool:
    """Return whether a message refers to something said before: "that thing we discussed"."""
    return bool(_REFERS_BACK.search(text) or _REFERS_BACK_ZH.search(text))


def reopens_option(text: str) -> bool:
    """Return whether a sentence that names an excluded option proposes it again."""
    return bool((_REOPENS.search(text) or _REOPENS_ZH.search(text)) and not is_about_exclusion(text))


def is_about_exclusion(text: str) -> bool:
    """Return whether a sentence is about the exclusion of an option: "why did we rule it out"."""
    return bool(_ABOUT_EXCLUSION.search(text))


def asks_about_excluded(text: str) -> bool:
    """Return whether a message asks which options are excluded or left."""
    return bool(_ASKS_EXCLUDED.search(text))
