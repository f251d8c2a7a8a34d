"""Factories for turns and summaries in tests of `thinkback.session`."""

from __future__ import annotations

from datetime import UTC, datetime

from thinkback.session.rule_summarizer import read_turn
from thinkback.session.summary_updates import merge_proposal
from thinkback.types import Summary, Turn

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def turn(query: str, response: str = "", id_: int = 1) -> Turn:
    return Turn(id=id_, query=query, response=response, at=NOW, recorded_at=NOW)


def summary_of(*turns: str | tuple[str, str]) -> Summary:
    """Return the summary of a conversation, read by rules."""
    summary = Summary(session="default")
    for number, each in enumerate(turns, start=1):
        query, response = (each, "") if isinstance(each, str) else each
        parsed = turn(query, response, number)
        summary = merge_proposal(summary, read_turn(parsed, summary), number).summary
    return summary
