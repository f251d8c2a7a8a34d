"""Notes that resolve the relative dates of a text: "see him next Friday" -> "see him next Friday (2024-12-27)"."""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import find_time_expressions, format_interval
from thinkback.language.query_tense import is_past

_YEAR = re.compile(r"(?:19|20)\d\d")


def resolve_dates(text: str, at: datetime) -> str:
    """The text with a date behind each time expression that names no year. `at` is when it was said."""
    result, end = "", 0
    for expression in find_time_expressions(text, at, past=is_past(text)):
        first, last = expression.span
        if not _YEAR.search(text, first, last):
            result += f"{text[end:last]} ({format_interval(expression)})"
            end = last
    return result + text[end:]
