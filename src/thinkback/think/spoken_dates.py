"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

Only certain dates are written. "on Friday" and "in May" may mean the last or the next one; they are dated if
the words say which (went, will, 了, 打算), and left alone otherwise.
"""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import TimeExpression, find_time_expressions, format_interval

_ABSOLUTE = re.compile(r"(?:19|20)\d\d")
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|went|came|got|took|made|said|told|saw|met|bought|lost|found|left|broke|died"
    r"|began|started|became|ran|won|fell|felt|gave|kept|paid|sold|sent|put|cut|since|ago|been|moved|\w{3,}ed)\b"
    r"|[了过]|已经|曾|刚",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|i'll|we'll|he'll|she'll|they'll|it'll|due|next|booked"
    r"|plan(?:s|ned|ning)?|hope|hoping|starts?|begins?|leaves?|leaving|moving|flying|opens?|expected|appointment|scheduled"
    r"|until|till|by|deadline|exam)\b"
    r"|[要将]|会(?!议|计)|准备|打算|预产期|定在|约了|截止|开始|报名|考试|下(?:个|周|月)|等到|预计|计划",
    re.IGNORECASE,
)
_DIRECTED = re.compile(
    r"yesterday|today|tonight|tomorrow|this |last |next |coming|past |ago|earlier|from now|later"
    r"|in (?:a|an|\w+) (?:day|week|month|year)|before|after|weekend|[昨今明后前去上下这本]",
    re.IGNORECASE,
)


def add_dates(text: str, at: datetime) -> str:
    """Write the dates of the relative times of a text in parentheses after them; `at` is when it was said."""
    past = is_past(text)
    result: list[str] = []
    done = 0
    for time in find_time_expressions(text, at, past=bool(past)):
        words = text[time.span[0] : time.span[1]]
        if _ABSOLUTE.search(words) or (past is None and not _DIRECTED.search(words)):
            continue
        result += [text[done : time.span[1]], f" ({_format(time)})"]
        done = time.span[1]
    return "".join([*result, text[done:]])


def is_past(text: str) -> bool | None:
    """Whether a sentence speaks of the past (True) or the future (False); None if it does not say."""
    future, past = _FUTURE.search(text), _PAST.search(text)
    if bool(future) == bool(past):
        return None
    return past is not None


def _format(time: TimeExpression) -> str:
    return format_interval(time)
