"""Whether a clause that names nobody speaks of the user: only what one does oneself, or what is his by its
 words.

电话是010-... may be a museum's; 刚搬到杭州 and 新号码是... are the speaker's.
"""

from __future__ import annotations

import re

from thinkback.think.rules.rule import Reading

_ALWAYS = frozenset(
    (
        "kin named",
        "moved",
        "joined",
        "weight changed",
        "number changed",
        "will",
        "appointment",
        "bought",
        "milestone",
        "took to",
        "went with",
        "went anyway",
        "stopped drug",
        "quit eating",
        "gave up",
        "gave up smoking",
        "quit smoking",
        "quit drinking",
        "dose",
        "earns",
        "speaks it",
        "prescribed",
        "not allergic",
        "refuses",
    )
)
"""Rules that may be read without any subject: what one does, said by who does it."""
_TIMELY = _ALWAYS | frozenset(
    ("lives", "works at", "works as at", "works in", "works as", "learns", "studies at", "on drug", "likes",
     "eats", "number", "favourite", "most", "keen on", "gone off", "changed to", "takes none", "weighs",
         "speaks", "allergic")
)  # fmt: skip
"""Those that may be read so where a time or "now" ties them to the speaker's life."""
_NEW = re.compile("的?新(?:的)?(?:家的?)?(?:手机|电话|号|邮箱|地址|住址)|手机号")
"""What has a new value is the speaker's, and so is a mobile number: a museum has none."""
_TAKEN_BACK = ("quit", "takes", "gave", "stopped", "not allergic")


def of_the_user(reading: Reading, said: str, *, timely: bool) -> bool:
    """Of a reading whose words name nobody; `timely` tells that a time or "now" stands before them."""
    known = reading.rule in (_TIMELY if timely else _ALWAYS) or bool(_NEW.match(said))
    if not known or said.startswith("是"):
        return False
    return not reading.negated or reading.ended or reading.rule.startswith(_TAKEN_BACK)
