"""Whether a question asks for the assistant's own words: what it said, advised or recommended."""

from __future__ import annotations

import re

_ASKS_FOR_REPLY = re.compile(
    r"\b(?:did|do|have|had|were|was|would|are) you (?:\w+ ){0,2}?(?:say|said|tell|told|mention"
    r"|mentioned|suggest|suggested|recommend|recommended|advise|advised|give|given|gave|explain|explained|propose|proposed|call|called"
    r"|answer|answered|share|shared|write|wrote|written|teach|taught|promise|promised|point|pointed|introduce"
    r"|introduced|think|describe|described)\b"
    r"|\byou(?:['’]d| had| have|['’]ve)? (?:\w+ ){0,2}?(?:said|told|mentioned|suggested|recommended|advised"
    r"|gave|explained|proposed|answered|shared|wrote|taught|promised|pointed out|introduced|described)\b"
    r"|\byour (?:\w+ )?(?:advice|answer|reply|recommendations?|suggestions?|tips?|idea|proposal|recipe|words"
    r"|explanation|opinion)\b|\b(?:advice|tips?|suggestions?|recommendations?) (?:from|by|of) you\b"
    "|[你您](?:之前|以前|上次|当时|曾经?|刚才|那次|还|都|是|怎么|有没有|给我?|跟我|和我|对我|向我|帮我|为我){0,3}"
    "(?:推荐|建议|说|提到|提过|提起|介绍|告诉|讲|回答|教|出的?主意|分享|劝|答应|解释|写|起)"
    "|[你您]的(?:建议|推荐|回答|意见|看法|主意|说法)",
    re.IGNORECASE,
)


def asks_for_reply(question: str) -> bool:
    """Whether the question is about what the assistant said: "what did you recommend", 你推荐过什么."""
    return _ASKS_FOR_REPLY.search(question) is not None
