"""What looks like a time and is none: by the words before it, its own, and the words after it.

A line of the table is words one of which must be there, then three patterns, of which all that are given
must match: add a line to teach another.
"""

from __future__ import annotations

import re

from thinkback.text.numbers import NUMBER_EN

_NEAR = 24  # characters on either side that are looked at
_COUNTED = "dollars|euros|pounds|people|words|steps|miles|met(?:er|re)s|km|pieces|calories|square|characters"
_GOES_ON = (
    "i|we|you|he|she|they|did|do|does|was|were|is|and|or|at|with|in|to|my|our|the|about|from|for|when|where|what"
    "|how|why|which|who|that|till|until|through|last|this|of"
)
_FEAST = "(?:birthday|anniversary)"
_WHOSE = r"(?:my|his|her|our|their|\w+'s) (?:\w+ )?"
_IS = "(?:is|was|isn't|wasn't)"
_DIGITS = "一二两三四五六七八九十几\\d"
_NAMES = "(?:April|May|June|August)"

_TABLE: tuple[tuple[str, str, str, str], ...] = (
    # reckoned from something else than now: two years later
    ("later|earlier", "", r"(?:later|earlier)\Z", ""),
    ("by ", r"(?i)\bby \Z", r"day\Z", ""),  # a day to be ready by
    ("every|each|per", r"(?i)\b(?:every|each|per) \Z", "", ""),
    ("每", "每[年个到逢]?的?\\Z", "", ""),
    # the verb, or a name
    ("may|march", "", r"\A(?:[Mm]ay|[Mm]arch) \d{1,2}\Z", rf"\A\s+(?!(?:{_GOES_ON})\b)[a-z]"),
    ("by ", r"(?:\w(?:ed|en)|told|made|sent|sung|said) \Z", rf"\A(?i:by {_NAMES})\Z", ""),
    ("april|may|june|august", "", rf"\A\w+ {_NAMES}\Z", r"\A(?:['’]s\b| (?:told|said|gave|moved|came)\b)"),
    # a title, or a part of one: the song Yesterday, Friday Night Lights
    ("day|last|this|next|tomorrow|tonight|recent|lately", r"\b[a-z][\w'’]* \Z",
        r"\A(?:Yesterday|Today|Tomorrow|Tonight|Last|This|Next|Recent|Lately)", ""),
    ("night|morning|evening|afternoon", "", r"(?:Night|Morning|Evening|Afternoon)\Z", r"\A [A-Z]"),
    # a number of things, or the last of several
    ("19|20", "", r"(?:19|20)\d\d\Z", rf"\A (?:{_COUNTED})\b"),
    ("the last", r"\bthe \Z", r"\A(?i:last (?:week|month|year|weekend))\Z", r"\A of\b"),
    # a date that is a value, not the time that is asked about
    ("birthday|anniversary", rf"(?i)\b{_FEAST}(?: is| was|'s| falls)(?: not|n't)?(?: on| in)? ?\Z", "", ""),
    ("birthday|anniversary", rf"(?i)\b{_IS} {_WHOSE}{_FEAST} \Z", "", ""),
    ("birthday|anniversary", "", "", rf"(?i)\A {_IS}(?: not)? {_WHOSE}{_FEAST}\b"),
    ("born", r"(?i)\bborn(?: on| in| back)? ?\Z", "", ""),
    ("生日|纪念日", "(?:生日|纪念日)(?:不?是|在|于)?\\Z", "", ""),
    ("生日|纪念日", "", "", "\\A不?是.{0,6}(?:生日|纪念日)"),
    ("生", "", "", "\\A出?生的|\\A出生"),
    ("出生日期", "出生日期(?:不?是|在|于)?\\Z", "", ""),
    # characters that belong to their neighbours: 以前天天, 去年会, 晚上周五, 一周一次, 五月天
    ("前", "[以之目从年月天日周期]\\Z", "\\A前[天日年晚]", ""),
    ("去年", "", "\\A去年\\Z", "\\A[会货]"),
    ("上|下", "[晚早网线路身手以马世街赶碰遇楼会]\\Z", "\\A[上下](?![上下]?个)", ""),
    ("周|星期|礼拜", f"[每个{_DIGITS}叫姓]\\Z", "\\A个?(?:周|星期|礼拜)[一二三四五六日天]", ""),
    ("程", "", "周日\\Z", "\\A程"),
    ("月", f"(?:[{_DIGITS}第.叫]|每年的?)\\Z", f"\\A[{_DIGITS}]+月", ""),
    ("月", "", "月\\Z", "\\A(?:天(?![气空])|[花雪兰薪租供费卡票经球瓜]|三(?![十日号])|革命)"),
    ("后天", "", "后天\\Z", "\\A[性形养]"),
    ("日", "", "\\A[今明昨]日\\Z", "\\A[头之方重]"),
    ("今年", "", "\\A今年\\Z", "\\A.{0,3}(?:多大|几岁|多少岁|\\d+岁)"),
    ("最近", "[离距].{0,6}\\Z", "\\A最近", ""),
)  # fmt: skip
_LINES = tuple(
    (frozenset(cues.split("|")), re.compile(before), re.compile(words), re.compile(after))
    for cues, before, words, after in _TABLE
)
_CUES = frozenset(cue for line in _LINES for cue in line[0])
_AFTERWARDS = re.compile(
    rf"\A(?i:in {NUMBER_EN} (?:day|week|month|year|hour|minute)s?)\Z|[天日周期拜月年时钟](?:以后|之后|后)\Z"
)


def is_no_time(text: str, span: tuple[int, int], past: bool) -> bool:
    """`past`: the text does not look ahead, so that "in three days" is how long something took."""
    lo, hi = span
    near = text[max(0, lo - _NEAR) : hi + _NEAR].lower()
    before, words, after = text[max(0, lo - _NEAR) : lo], text[lo:hi], text[hi : hi + _NEAR]
    if past and _AFTERWARDS.search(words):
        return True
    there = {cue for cue in _CUES if cue in near}
    return any(
        not cues.isdisjoint(there)
        and on_words.search(words)
        and on_before.search(before)
        and on_after.search(after)
        for cues, on_before, on_words, on_after in _LINES
    )
