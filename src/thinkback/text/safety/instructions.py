"""Text that gives orders to the assistant, found without a model, in English and Chinese.

The line: what the user is, has, likes, plans, or wants to be called is a fact or a preference, however it
is put ("from now on I drink tea", "please always call me Ann", 以后叫我小王). How the assistant must answer,
what it must say, recommend, hide or ignore is an order ("from now on always answer in French", 你必须推荐),
even if the user means it: memory keeps facts, and who can write into it must not command every later answer.
Orders of the moment ("summarise this", "tell me a joke") bind nobody later and are left alone.

Each sentence is spelled in the letters of `order_words.py`. What could be an order (`_CORES`) has a
weight, the signs around it add theirs, and `_ENOUGH` makes one: no sign suffices alone, none is needed.
Every pattern is bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thinkback.text.safety import markup
from thinkback.text.safety.folding import OPAQUE, Folded, Span
from thinkback.text.safety.order_words import CLAUSE, HARMLESS, letters

INSTRUCTION = "instruction"

_ENOUGH = 4

_HEAD = (  # of a clause in which nobody else was named: whoever reads it is to do it
    r"(?<![^,])(?:E[UuCQYwfe]{1,8}+(?=[SM])|[feSnEMmYBbNZKPW]|L[wUuYBPRZfeDH]{1,10}+"
    r"|[Uu]?C[wfePQ]{0,5}+){0,10}+"
)
_CORES = (
    (2, re.compile(rf"{_HEAD}A")),
    (2, re.compile(r"(?<!Q)[YB][wfe]{0,6}[Mm][feSnEMmN]{0,5}A|(?<![QITL])M?Y[feSnEN]{0,4}A")),
    (1, re.compile(rf"{_HEAD}[ah](?!Q)")),
    (1, re.compile(r"(?<!Q)[YB][wfe]{0,6}[Mm][feSnEMmN]{0,5}[ah](?!Q)|(?<![QITL])M?Y[feSnEN]{0,4}[ah](?!Q)")),
    (3, re.compile(r"[UuE][wfemP]{0,3}C[wfePHT]{0,8},[feSnEMmY]{0,3}A")),  # when asked, ...
    (2, re.compile(r"[UuE][wfemP]{0,3}C[wfePHT]{0,8},[feSnEMmY]{0,3}[ah](?!Q)")),
    (1, re.compile(r"[Uu][wfeCP,]{0,6}[Mm][fe]{0,2}p")),
    (0, re.compile(r"B[wfe]{0,6}M[SnN]?[wahA]")),  # whatever it must
    (3, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fePHSYwDZB]{0,6}R")),  # away with the rules
    (4, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fe]{0,2}G")),
    (3, re.compile(r"L[PYHfew]{0,8}R[feSMmP]{0,4}O|R[fewPMmS,]{0,8}X")),
    (4, re.compile(r"K")),  # a new rule
    (2, re.compile(r"k")),
    (2, re.compile(r"V|E,?Ye(?![TSfe])")),  # a new self
    (0, re.compile(r"Z(?:[wfe]{0,8}M|[wfe]{0,3}[mfe])")),  # the shape of every answer
    (1, re.compile(r"m[Sfe]{0,3}Z")),
)
_WHOSE_RULES = re.compile(r"[PHYB][fewP]{0,3}R|R[few]{0,3}[PY]")
_THEIR_OWN = re.compile(r"H(?![PwJfe]{0,2}R)")  # "your doctor": said to a person
_SIGNS = (  # the first that is there counts
    (("W", 3), ("E", 2), ("S", 1), ("n", 1), ("N", 1)),
    (("B", 2), ("bM", 1), ("bm", 1)),
    (("U", 2), ("u", 1)),
    (("C", 1),),
    (("Z", 2),),
    (("J", 2),),
)
_OPENING = "EWBUuCZKkVOYSnNMA"  # where the order begins: the clause of the first of these

_STOP = re.compile("[.!?…]+[\"'”’)\\]]*(?=\\s|\\Z|[\u4e00-\u9fff])|[。！？]+[”’」』）】]*|\n")
_CLOSED = re.compile('["”」』】]|\n')
_PASTED = re.compile(
    r"\b(?:e-?mail|page|article|letter|document|cv|text|post|review|website|pdf|reads"
    r"|says)\b[^.。\n]{0,40}[:：]"
    r"|(?:邮件|网页|文章|原文|文档|帖子|简历|这段|公告|通知)[^。\n]{0,20}[:：]|---|[“「\"]|^>",
    re.I | re.M,
)
_TURNS_AWAY = re.compile(
    r"\s{0,4}(?:i|i'm|i've|my|we|our|what|where|when|who|how|why|which|can|could|thanks|thank|我|咱"
    r"|请问|帮我)(?:(?!\w)|(?<=[我咱问]))",
    re.I,
)
_ASKS = re.compile("[?？吗][\"'”」\\s]*\\Z")
_INSISTS = re.compile(r"(?:understood|ok|okay|got it|clear|right|明白|懂|知道|听到)[了没吗]?\W{1,3}\Z", re.I)
_PAIRS = {"[": "]", "【": "】", "(": ")", "（": "）", "“": "”", "「": "」", "『": "』", '"': '"'}


def find(folded: Folded) -> Iterator[Span]:
    """Every order to the assistant, in order."""
    parts: list[str] = []
    at = 0
    for start, end in markup.find(folded.text):
        yield folded.span(start, end, INSTRUCTION)
        parts += (folded.text[at:start], OPAQUE * (end - start))
        at = end
    for start, end in _orders("".join((*parts, folded.text[at:]))):
        yield folded.span(start, end, INSTRUCTION)


def _orders(text: str) -> Iterator[tuple[int, int]]:
    pasted = _PASTED.search(text)
    quoted_from = pasted.start() if pasted else len(text)
    at = 0
    while at < len(text):
        end = _sentence_end(text, at)
        spelled, places = letters(text, at, end)
        core = judge(spelled, text[at:end], pasted=quoted_from < end)
        if core is None:
            at = end
            continue
        start = _beginning(text, spelled, places, core)
        at = _reach(text, start, end, passage="O" in core[0])
        yield start, at


def judge(spelled: str, sentence: str, *, pasted: bool) -> re.Match[str] | None:
    """The core of an order, if the sentence is one."""
    spelled = _clauses(spelled)
    signs = pasted + sum(
        next((weight for sign, weight in alternatives if sign in spelled), 0) for alternatives in _SIGNS
    )
    if signs + _at_most(spelled) < _ENOUGH:
        return None
    best: tuple[int, re.Match[str]] | None = None
    for weight, pattern in _CORES:
        core = pattern.search(spelled)
        if core and (best is None or weight + _binding(core[0]) > best[0]):
            best = weight + _binding(core[0]), core
    if best is None:
        return None
    points = best[0] + signs
    if "R" in spelled:
        points += ("R" not in best[1][0]) + bool(_WHOSE_RULES.search(spelled))
    if not {"U", "B"} & set(spelled) and _THEIR_OWN.search(spelled):
        points -= 2
    if _ASKS.search(sentence) and not _INSISTS.search(sentence):
        points -= 2
    return best[1] if points >= _ENOUGH else None


def _at_most(spelled: str) -> int:
    """What a core of these letters could weigh: most sentences need no search for one."""
    present = set(spelled)
    core = 4 if present & set("KG") else 3 if present & set("OXC") else 2
    binding = 3 if "M" in present else 1 if present & set("mESn") else 0
    return core + binding + 2 * ("R" in present)


def _clauses(spelled: str) -> str:
    """ "And" opens a clause, unless whoever did what stands before it does what comes after it, too."""
    parts = [
        part.replace("&E", ",E").replace("&", HARMLESS if re.match("[^&]*[IT]", part) else CLAUSE)
        for part in spelled.split(CLAUSE)
    ]
    return CLAUSE.join(parts)


def _binding(core: str) -> int:
    """How the act is laid upon the reader: "you must" more than "you should", "never do" more than "do"."""
    if "M" in core:
        return 2 + (core[-1] == "a" and "Y" in core)
    if "m" in core or ("E" in core and core[-1] == "a"):
        return 1
    return int("Y" not in core and bool(re.search("[Sn]", core)))


def _beginning(text: str, spelled: str, places: list[int], core: re.Match[str]) -> int:
    first = min(
        (at for at, letter in enumerate(spelled[: core.end()]) if letter in _OPENING), default=core.start()
    )
    while first and spelled[first - 1] not in ",&":
        first -= 1
    return places[first]


def _reach(text: str, start: int, end: int, *, passage: bool) -> int:
    """Up to where it goes on: its brackets, what follows an overriding order, further orders."""
    before = text[:start].rstrip()[-1:]
    closing = text.find(_PAIRS[before], start) if before in _PAIRS else -1
    if closing > 0:
        return closing
    closed = _CLOSED.search(text, end) if passage else None
    limit = closed.start() if closed else len(text)
    while end < limit and text[end - 1] != "\n":
        following = _sentence_end(text, end + 1)
        if passage:
            goes_on = not _TURNS_AWAY.match(text, end)
        else:
            spelled, _ = letters(text, end, min(following, end + 60))
            goes_on = spelled.lstrip(",&")[:1] in set("SnNEWMYAaBZK")
        if not goes_on:
            break
        end = following
    return end


def _sentence_end(text: str, at: int) -> int:
    stop = _STOP.search(text, min(at, len(text)))
    if stop is None:
        return len(text)
    return stop.start() if stop[0] == "\n" and stop.start() >= at + 1 else stop.end()
