"""The one time expression at the beginning or the end of an English clause, taken off it."""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.text.times.dates import When, resolve

_AHEAD = re.compile(
    r"\b(?:will|going to|planning to|plans? to)\b|(?:'ll|\b(?:am|is|are|'m|'re|'s) (?!been)\w+ing)\b|'m"
    r" \w+ing\b"
)
_PAST = re.compile(
    r"(?:went|was|had|got|\w+ed|bought|met|saw|ate|ran|won|broke|sold|took|made|read|flew|lost)\b"
)
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
        if _IS_A_DATE.search(before):
            continue
        if not before or not after.strip(" .!,") or len(after.split()) <= 6:
            comma = "," if body[end:].lstrip().startswith(",") else ""
            whole = f"{before}{comma} {after}" if before and after else before or after
            return whole.strip(), when, body[start:end]
    return body, None, ""
