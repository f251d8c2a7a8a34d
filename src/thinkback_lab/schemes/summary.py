"""Summaries of the sessions that are over, and after them the turns of this one, newest first: given whole.

What an assistant does that sums up a talk when it ends. A summary is made once, by the run's model or without
one from the sentences that tell most.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from thinkback_lab.cases import Item
from thinkback_lab.errors import LabError
from thinkback_lab.schemes.scheme import Found, Kit, Scheme
from thinkback_lab.schemes.summaries import Summary, summarise

SENTENCES = 6


class SessionSummaries:
    """Of the newest session first."""

    whole = True

    def __init__(self, kit: Kit, most: int = SENTENCES) -> None:
        self._llm, self._most = kit.llm, most
        self._sessions: dict[str, list[Item]] = {}
        self._summaries: dict[tuple[str, int], Summary] = {}  # of a session with so many items

    def tell(self, items: Sequence[Item]) -> None:
        for item in items:
            self._sessions[item.session] = [*self._sessions.pop(item.session, ()), item]

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        if not self._sessions:
            return []
        *over, now = self._sessions
        summed = [self._summed(session) for session in over[::-1]]
        turns = self._sessions[now][::-1]
        return [
            *(Found(each.text, each.sources) for each in summed if each.text),
            *(Found(item.text, (item.id,)) for item in turns),
        ]

    def _summed(self, session: str) -> Summary:
        items = self._sessions[session]
        key = session, len(items)
        if key not in self._summaries:
            self._summaries[key] = summarise(items, self._llm, self._most)
        return self._summaries[key]


def summary(argument: str = str(SENTENCES)) -> Scheme:
    """`summary:3`: three sentences a session."""
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise LabError(f"summary:{argument}: say how many sentences a session, as in summary:{SENTENCES}")
    return lambda kit: SessionSummaries(kit, int(argument))
