"""Writes the date that a relative time means beside the words: "yesterday" -> "yesterday (2025-03-09)".

"on Friday" may mean the last or the next one; it is dated if the words say which (went, will, 了, 打算), and
left alone otherwise.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from thinkback.language.dates import TimeExpression, find_time_expressions, format_interval

_YEAR = re.compile(r"(?:19|20)\d\d")
_WEEKS_APART = timedelta(days=60)  # the last and the next one of a day of a year, not of a weekday
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


def add_dates(text: str, at: datetime) -> str:
    """Write the dates of the times of a text that name no year in parentheses after them.

    `at` is when the text was said.
    """
    result: list[str] = []
    done = 0
    for time in find_spoken_times(text, at):
        result += [text[done : time.span[1]], f" ({format_interval(time)})"]
        done = time.span[1]
    return "".join([*result, text[done:]])


def find_spoken_times(text: str, at: datetime) -> list[TimeExpression]:
    """The times of a text that name no year, each with the date it means.

    Where a time may be the last or the next one ("15 October", "on Friday"), a day of a month is the nearer
    one, and a weekday the one that the tense of the sentence tells.
    """
    tense = is_past(text)
    following = {time.span: time for time in find_time_expressions(text, at, past=False)}
    found: list[TimeExpression] = []
    for last in find_time_expressions(text, at, past=True):
        words = text[slice(*last.span)]
        coming = following.get(last.span)
        if coming is None or _YEAR.search(words):
            continue
        if last.start == coming.start:
            found.append(last)
        elif abs(coming.start - last.start) > _WEEKS_APART:
            found.append(min(last, coming, key=lambda time: abs(time.start - at)))
        elif tense is not None:
            found.append(last if tense else coming)
    return found


def is_past(text: str) -> bool | None:
    """Whether a sentence speaks of the past (True) or the future (False); None if it does not say."""
    future, past = _FUTURE.search(text), _PAST.search(text)
    if bool(future) == bool(past):
        return None
    return past is not None
