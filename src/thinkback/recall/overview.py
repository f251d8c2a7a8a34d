"""Questions about everything that is known: "what do you know about me?", 你都记得我什么?

They have no words to search for. Who the user is comes first (name, age, home, work), then the newest
thoughts, lasting facts before events. Messages are recalled only if there are no thoughts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thinkback.language.names import USER
from thinkback.recall.features import MemoryHit
from thinkback.recall.rows import MemoryRow
from thinkback.types import EPISODIC_KINDS, INSTRUCTION, Thought

if TYPE_CHECKING:
    from thinkback.index.space_index import Hits
    from thinkback.recall.search import Search

CANDIDATES_PER_RESULT = 8
_OVERVIEW = re.compile(
    r"\W*(?:(?:so|and|ok(?:ay)?|hey|hi|tell me|now)[\s,]+)*(?:"
    r"(?:what(?:'s| is|s)?|everything|all)(?: all| else| everything)?(?: do| did| can)?"
    r" (?:you|u|ya)(?: all| already| currently)? (?:know|remember|recall)(?: (?:so far|by now))?"
    r"(?: (?:about|on|of) (?:me|myself))?(?: so far| by now| already)?"
    r"|(?:something |everything |all )?about (?:me|myself)|who am i(?: to you)?"
    r"|what (?:have|did) i (?:told|tell)(?: (?:you|u))?(?: so far| until now)?(?: about (?:me|myself))?"
    r")\W*"
    r"|\W*(?:你)?(?:现在|目前|都|还)*(?:知道|记得|记住了?|了解)(?:些|关于)?我的?些?(?:什么|哪些事?|多少|啥)?(?:事情?|信息)?(?:了|吗|呢)?\W*"
    r"|\W*(?:你)?(?:关于我|对我)[，,]?(?:你)?(?:都|还)*(?:知道|记得|了解)(?:些|了)?(?:什么|哪些|多少|啥)?\W*"
    r"|\W*(?:说说|讲讲)?(?:我是(?:谁|什么样的人)|我(?:都)?(?:跟|和|对)你(?:都)?(?:说|讲|聊)过(?:些)?(?:什么|啥|哪些))\W*",
    re.IGNORECASE,
)


_FIRST_RELATIONS = ("is named", "is aged", "lives in", "works as", "works at")


def _rank(thought: Thought) -> int:
    """The place of a fact among those that say who the user is; others come after them."""
    if thought.subject != USER or thought.relation not in _FIRST_RELATIONS:
        return len(_FIRST_RELATIONS)
    return _FIRST_RELATIONS.index(thought.relation)


def asks_for_overview(text: str) -> bool:
    """Whether a text asks for everything that is known about the user."""
    return _OVERVIEW.fullmatch(text.replace("’", "'")) is not None


def overview_hits(search: Search, hits: Hits) -> list[MemoryHit]:
    """Current thoughts as hits: who the user is, then the newest, lasting facts before events; then turns."""
    limit = search.query.k * CANDIDATES_PER_RESULT
    index, loader = search.index, search.loader
    known = search.valid_ids("thought", index.ids("thought").tolist())
    thoughts = [
        row for row in loader.thought_rows(sorted(known)[-limit:]) if row.memory.relation != INSTRUCTION
    ]
    thoughts.sort(key=lambda row: (_rank(row.memory), row.kind in EPISODIC_KINDS, -row.id))
    said = [] if thoughts else sorted(search.valid_ids("turn", index.ids("turn").tolist()))[-limit:]
    turns = sorted(loader.turn_rows(said), key=lambda row: -row.id)
    rows: list[MemoryRow] = [*thoughts, *turns]
    step = (1 - search.preset.threshold) / (len(rows) + 1)  # all are above the threshold, in this order
    return [MemoryHit(row, 1 - number * step, 0.0, 0.0, 0, hits) for number, row in enumerate(rows)]
