"""Notes that resolve the relative dates of a text.

"see him next Friday" said on 2024-12-22 becomes "see him next Friday [next Friday: 2024-12-27]".
"""

from __future__ import annotations

import re
from datetime import datetime

from thinkback.language.dates import find_time_expressions, format_interval
from thinkback.language.query_tense import is_past

_YEAR = re.compile(r"(?:19|20)\d\d")


def resolve_dates(text: str, at: datetime) -> str:
    """The text, followed by the dates of its time expressions that name no year. `at` is when it was said."""
    dates = {
        text[slice(*expression.span)]: format_interval(expression)
        for expression in find_time_expressions(text, at, past=is_past(text))
        if not _YEAR.search(text, *expression.span)
    }
    notes = "; ".join(f"{words}: {date}" for words, date in dates.items())
    return f"{text} [{notes}]" if notes else text
