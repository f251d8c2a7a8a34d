"""When a thought holds: a time that was said -> valid time, by the kind of the thought.

An event fills its interval. A state starts with it ("moved last month") or ends with it ("until May").
"""

from __future__ import annotations

from datetime import datetime

from thinkback.text.times.dates import When, began, stamp
from thinkback.types import Kind

Validity = tuple[datetime | None, datetime | None]


def validity(kind: Kind, when: When | None, said: str = "") -> Validity:
    """(valid_from, valid_to) of a thought of that kind; `said` holds the words of the time."""
    if when is None:
        return None, None
    if kind in ("event", "dialogue"):
        return when.start, when.end
    if said.lower().startswith(("until", "by ")) or said.startswith("直到"):
        return None, when.end
    return when.start, None


def dated(
    sentence: str, kind: Kind, when: When | None, valid_from: datetime | None, *, negated: bool, lang: str
) -> str:
    """The sentence with its date: when it happened, or since when it holds."""
    if when is None:
        return sentence
    if kind == "event":
        date = stamp(when)
    elif valid_from and not negated:
        date = f"自{began(when)}" if lang == "zh" else f"since {began(when)}"
    else:
        return sentence
    return f"{sentence[:-1]}（{date}）。" if lang == "zh" else f"{sentence[:-1]} ({date})."
