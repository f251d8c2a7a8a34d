"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

Only certain dates are written. "in May" may mean the last or the next one: the one that is clearly nearer, or
the one that the tense says (went, will, 了, 打算). "on Friday" needs the tense. The rest is left alone.
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
_WEEKDAY_EN = re.compile(r"day\b", re.IGNORECASE)
_NUMBER_FOLLOWS = re.compile(r"\s*[\d〇零一二两三四五六七八九十]")
_CLEARLY_NEARER = 0.6


def add_dates(text: str, at: datetime) -> str:
    """Write the dates of the relative times of a text in parentheses after them; `at` is when it was said."""
    result: list[str] = []
    done = 0
    earlier = find_time_expressions(text, at, past=True)
    later = {time.span: time for time in find_time_expressions(text, at, past=False)}
    for past in earlier:
        start, end = past.span
        future = later.get(past.span)
        words = text[start:end]
        # 2月15 and 一月两千 go on after the words that were recognised
        cut_off = words.endswith(("月", "年")) and _NUMBER_FOLLOWS.match(text, end)
        if future is None or _ABSOLUTE.search(words) or cut_off:
            continue
        time = past if past == future else _choose(past, future, words, text, at)
        if time is not None:
            result += [text[done:end], f" ({format_interval(time)})"]
            done = end
    return "".join([*result, text[done:]])


def _choose(
    past: TimeExpression, future: TimeExpression, words: str, text: str, at: datetime
) -> TimeExpression | None:
    """The last or the next such time, if the distance or the tense of the sentence says which."""
    speaks_of_past = is_past(text)
    if (past.end - past.start).days <= 1 and (future.start - past.start).days <= 14:  # a weekday
        if speaks_of_past is None or not _WEEKDAY_EN.search(words):
            return None
        return past if speaks_of_past else future
    since, until = abs((at - past.start).days), abs((future.start - at).days)
    if min(since, until) <= _CLEARLY_NEARER * max(since, until):
        return past if since < until else future
    if speaks_of_past is None:
        return None
    return past if speaks_of_past else future


def is_past(text: str) -> bool | None:
    """Whether a sentence speaks of the past (True) or the future (False); None if it does not say."""
    future, past = _FUTURE.search(text), _PAST.search(text)
    if bool(future) == bool(past):
        return None
    return past is not None
