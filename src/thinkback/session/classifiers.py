"""What a user's sentence says for a summary: a need, a constraint, a conclusion, data, something undecided.

Word patterns for English and Chinese; each looks at one sentence, in time linear in its length.
"""

from __future__ import annotations

import re

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
    return bool(_CONSTRAINT.search(text) or _CONSTRAINT_ZH.search(text))


def is_need(text: str) -> bool:
    return bool(_NEED.search(text) or _NEED_ZH.search(text))


def is_conclusion(text: str) -> bool:
    return bool(_CONCLUSION.search(text) or _CONCLUSION_ZH.search(text))


def is_undecided(text: str) -> bool:
    return bool(_UNDECIDED.search(text) or _UNDECIDED_ZH.search(text))


def has_number(text: str) -> bool:
    return bool(_NUMBER.search(text) or _NUMBER_ZH.search(text))


def refers_back(text: str) -> bool:
    """Whether a message speaks of "that thing we discussed": recall then looks for anything near."""
    return bool(_REFERS_BACK.search(text) or _REFERS_BACK_ZH.search(text))


def reopens_option(text: str) -> bool:
    """Whether a sentence that names an excluded option brings it back, and does not only speak of it."""
    return bool((_REOPENS.search(text) or _REOPENS_ZH.search(text)) and not is_about_exclusion(text))


def is_about_exclusion(text: str) -> bool:
    """Whether a sentence speaks of what was ruled out as such."""
    return bool(_ABOUT_EXCLUSION.search(text))


def asks_about_excluded(text: str) -> bool:
    return bool(_ASKS_EXCLUDED.search(text))
