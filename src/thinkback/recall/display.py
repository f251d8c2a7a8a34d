"""The text of a recalled memory: what a model is given, with dates and speakers."""

from __future__ import annotations

from datetime import datetime

from thinkback.language.spoken_dates import add_dates
from thinkback.prompts import escape_structure, own_answer
from thinkback.types import Thought, Turn

_MAX_RESOLVED_CHARS = 4000  # relative dates are resolved in shorter texts only


def format_thought(thought: Thought, said_at: datetime | None) -> str:
    """The sentence with the time for which it holds, or else the day when it was said.

    What was told on a day may have been true before: it holds "since" a day only if another one was told. A
    date that the sentence contains is not repeated.
    """
    start, end = _format_day(thought.valid_from), _format_day(thought.valid_to)
    said = _format_day(said_at)
    if start == end:
        note = start or (f"said {said}" if said else "")
    elif start == said and not end:
        note = f"said {said}"
    elif start and end:
        note = f"{start} to {end}"
    else:
        note = f"since {start}" if start else f"until {end}"
    dates = [date for date in (start, end) if date] or [said]
    return (
        escape_structure(thought.sentence)
        if all(date in thought.sentence for date in dates)
        else f"{escape_structure(thought.sentence)} ({note})"
    )


def format_query(turn: Turn) -> str:
    """The user's words of a turn with speaker and date, relative dates resolved."""
    return format_turn(turn, with_response=False)


def format_exchange(turn: Turn) -> str:
    """The same with the reply."""
    return format_turn(turn, with_response=True)


def format_turn(turn: Turn, *, with_response: bool) -> str:
    """The user's words with speaker and date, relative dates resolved; the reply only if it is wanted."""
    lines = []
    if turn.query:
        words = turn.query.strip()
        if len(words) <= _MAX_RESOLVED_CHARS:
            words = add_dates(words, turn.at)
        lines.append(f"{turn.asker}, {_format_day(turn.at)}: {escape_structure(words)}")
    answer = own_answer(turn.response) if with_response or not turn.query else ""
    if answer.strip():
        lines.append(f"{turn.answerer}, {_format_day(turn.at)}: {escape_structure(answer)}")
    return "\n".join(lines)


def _format_day(at: datetime | None) -> str:
    return "" if at is None else str(at.date())
