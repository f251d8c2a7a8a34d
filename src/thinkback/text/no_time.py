"""What looks like a time and is none: by the words before it, its own, and the words after it.

A line of the table is three patterns, of which all that are given must match: add a line to teach another.
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
_DIGIT_ZH = "一二两三四五六七八九十几\\d"

_TABLE: tuple[tuple[str | None, str | None, str | None], ...] = (
    # reckoned from something else than now: two years later, 三天后
    (None, r"(?:later|earlier)\Z", None),
    (r"(?i)\b(?:every|each|per) \Z|每[年个到逢]?的?\Z", None, None),
    # the verb, or a name
    (None, r"\A(?:[Mm]ay|[Mm]arch) \d{1,2}\Z", rf"\A\s+(?!(?:{_GOES_ON})\b)[a-z]"),
    (r"(?:\w(?:ed|en)|told|made|sent|sung|said) \Z", r"\A(?i:by (?:april|may|june|august))\Z", None),
    (None, r"\A(?i:\w+ )(?:April|May|June|August)\Z", r"\A(?:['’]s\b| (?:told|said|gave|moved|arrived|came|left|and I)\b)"),
    # a title, or a part of one: the song Yesterday, Friday Night Lights
    (r"\b[a-z][\w'’]* \Z", r"\A(?:Yesterday|Today|Tomorrow|Tonight|Last|This|Next|Recent|Lately)", None),
    (None, r"(?:Night|Morning|Evening|Afternoon)\Z", r"\A [A-Z]"),
    # a number of things
    (None, r"(?:19|20)\d\d\Z", rf"\A (?:{_COUNTED})\b"),
    (r"\bthe \Z", r"\A(?i:last (?:week|month|year|weekend))\Z", r"\A of\b"),
    # a date that is a value, not the time that is asked about
    (rf"(?i)\b{_FEAST}(?: is| was|'s| falls)(?: not|n't)?(?: on| in)? ?\Z|\bborn(?: on| in| back)? ?\Z", None, None),
    (rf"(?i)\b(?:is|was|isn't|wasn't) (?:my|his|her|our|their|\w+'s) (?:\w+ )?{_FEAST} \Z", None, None),
    (None, None, rf"(?i)\A (?:is|was|isn't|wasn't)(?: not)? (?:my|his|her|our|their|\w+'s) (?:\w+ )?{_FEAST}\b"),
    ("(?:生日|纪念日|出生日期)(?:不?是|在|于)?\\Z", None, None),
    (None, None, "\\A(?:不?是.{0,6}(?:生日|纪念日)|出?生的)|\\A出生"),
    # characters that belong to their neighbours: 以前天天, 去年会, 晚上周五, 一周一次
    ("[以之目从年月天日周期]\\Z", "\\A前[天日年晚]", None),
    (None, "\\A去年\\Z", "\\A[会货]"),
    ("[晚早网线路身手以马世街赶碰遇楼会]\\Z", "\\A[上下](?![上下]?个)", None),
    (f"[每个{_DIGIT_ZH}叫姓]\\Z", "\\A个?(?:周|星期|礼拜)[一二三四五六日天]", None),
    (None, "周日\\Z", "\\A程"),
    (f"(?:[{_DIGIT_ZH}第.叫]|每年的?)\\Z", f"\\A[{_DIGIT_ZH}]+月", None),
    (None, "月\\Z", "\\A(?:天(?![气空])|[花雪兰薪租供费卡票经球瓜]|三(?![十日号])|革命)"),
    (None, "后天\\Z", "\\A[性形养]"),
    (None, "\\A[今明昨]日\\Z", "\\A[头之方重]"),
    (None, "\\A今年\\Z", "\\A.{0,3}(?:多大|几岁|多少岁|\\d+岁)"),
    ("[离距].{0,6}\\Z", "\\A最近", None),
)  # fmt: skip
_LINES = tuple(
    tuple(re.compile(pattern) if pattern else None for pattern in line)
    for line in _TABLE
)
_AFTERWARDS = re.compile(rf"\A(?i:in {NUMBER_EN} (?:day|week|month|year|hour|minute)s?)\Z|(?:以后|之后|后)\Z")


def is_no_time(text: str, span: tuple[int, int], past: bool) -> bool:
    """`past`: the text does not look ahead, so that "in three days" is how long something took."""
    lo, hi = span
    around = text[max(0, lo - _NEAR) : lo], text[lo:hi], text[hi : hi + _NEAR]
    if past and _AFTERWARDS.search(around[1]):
        return True
    return any(
        all(pattern is None or pattern.search(part) for pattern, part in zip(line, around, strict=True))
        for line in _LINES
    )
