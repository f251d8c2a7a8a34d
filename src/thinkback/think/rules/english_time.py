"""The one time expression at the beginning or the end of an English clause, taken off it."""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.text.times.dates import When, resolve
from thinkback.think.rules.english_words import is_symptom

_AHEAD = re.compile(
    r"\b(?:will|going to|planning to|plans? to)\b|(?:'ll|\b(?:am|is|are|'m|'re|'s) (?!been)\w+ing)\b|'m"
    r" \w+ing\b"
)
_PAST = re.compile(
    r"(?:went|was|had|got|\w+ed|bought|met|saw|ate|ran|won|broke|sold|took|made|read|flew|lost)\b"
)
_WEEKENDS = re.compile(r"(?:at|on|over) the weekend\Z", re.I)
_HABIT = re.compile(
    r"(?:I|we|they|he|she|my \w+|[A-Z]\w+) (?:(?:always|often|only|usually|mostly|sometimes|just) )?"
    r"(?:drink|eat|smoke|vape|play|take|do|work|run|cook|bake|swim|cycle|sleep|watch|read|use|love|like|enjoy)"
    r"(?:e?s)?\b"
)
_LASTING = re.compile(
    r"\b(?P<have>have|has|'ve|'s) had (?P<o>[\w' -]{2,40}?)(?=,? (?:since|for (?:ages"
    r"|a (?:long )?(?:time|while)|(?:[\w-]+ ){1,3}?(?:years|months|weeks|decades)))\b)",
    re.I,
)
_SINCE = re.compile(r"\bsince\s*\Z", re.I)
_FROM = re.compile(r"(?:\A|\s)(?:from|as of|starting|beginning|back|since)\s*\Z", re.I)
_IS_A_DATE = re.compile(
    r"\b(?:(?:birthday|bday|anniversary)(?: is|'s)|born|anniversary is|date of birth is|birth date is)"
    r"(?: on| in)?\Z"
)


def times(text: str, now: datetime) -> list[When]:
    """Every time that a text names, read as past where its verbs are."""
    return resolve(text, now, past=bool(_PAST.search(text)) and not _AHEAD.search(text))


def timed(body: str, now: datetime) -> tuple[str, When | None, str]:
    """(the clause without its time, the time, the words of it); dates that are values stay where they are."""
    for when in times(body, now):
        start, end = when.span
        before, after = _FROM.sub("", body[:start]).rstrip(" ,"), body[end:].lstrip(" ,")
        if _IS_A_DATE.search(before) or (_WEEKENDS.match(body[start:end]) and _HABIT.match(body)):
            continue
        if not before or not after.strip(" .!,") or len(after.split()) <= 6:
            comma = "," if body[end:].lstrip().startswith(",") else ""
            whole = f"{before}{comma} {after}" if before and after else before or after
            since = "since " if _SINCE.search(body[:start]) else ""
            return whole.strip(), when, since + body[start:end]
    return body, None, ""


def lasting(body: str) -> str:
    """ "I have had asthma since 2015" as what it says of today: "I have asthma since 2015"."""
    found = _LASTING.search(body)
    if not found or not is_symptom(found["o"]):
        return body
    return f"{body[: found.end('have')]} {body[found.start('o') :]}"
