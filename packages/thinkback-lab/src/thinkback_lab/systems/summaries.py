"""Summaries of sessions, by a language model or by extracted sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from thinkback import LLM, Message
from thinkback_lab.cases import HistoryItem
from thinkback_lab.errors import LabError
from thinkback_lab.prompts import render
from thinkback_lab.systems.interface import Resources, RetrievedMemory, SystemFactory
from thinkback_lab.systems.tokens import tokenize
from thinkback_lab.text import split_sentences

DEFAULT_SENTENCES = 3
_MIN_SHARED_WORDS = 1 / 3


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    sources: tuple[str, ...]


def summarise_items(items: Sequence[HistoryItem], llm: LLM | None, most: int = DEFAULT_SENTENCES) -> Summary:
    """At most so many sentences of what these items say."""
    return _extract_summary(items, most) if llm is None else _write_summary(items, llm)


def _extract_summary(items: Sequence[HistoryItem], most: int) -> Summary:
    """The sentences whose words are used most in all of it, in the order they were said."""
    told = [(sentence, item.id) for item in items for sentence in split_sentences(item.text)]
    used = Counter(word for sentence, _ in told for word in set(tokenize(sentence)))

    def weight(place: int) -> float:
        distinct = set(tokenize(told[place][0]))
        return sum(used[word] for word in distinct) / (len(distinct) + 3)  # a bare "Yes." tells little

    chosen = sorted(sorted(range(len(told)), key=lambda place: -weight(place))[:most])
    return Summary(
        " ".join(told[place][0] for place in chosen),
        tuple(dict.fromkeys(told[place][1] for place in chosen)),
    )


def _write_summary(items: Sequence[HistoryItem], llm: LLM) -> Summary:
    dialogue = "\n\n".join(item.text for item in items)
    text = llm.complete(
        [Message("user", render("summarise", dialogue=dialogue))], max_tokens=200
    ).text.strip()
    held = set(tokenize(text))
    return Summary(
        text,
        tuple(
            item.id for item in items if _shared_ratio(set(tokenize(item.text)), held) >= _MIN_SHARED_WORDS
        ),
    )


def _shared_ratio(told: set[str], held: set[str]) -> float:
    return len(told & held) / len(told) if told else 0.0


SESSION_SENTENCES = 6


class SessionSummaries:
    """Of the newest session first."""

    whole = True

    def __init__(self, resources: Resources, most: int = SESSION_SENTENCES) -> None:
        self._llm, self._most = resources.llm, most
        self._sessions: dict[str, list[HistoryItem]] = {}
        self._summaries: dict[tuple[str, int], Summary] = {}  # of a session with so many items

    def tell(self, items: Sequence[HistoryItem]) -> None:
        for item in items:
            self._sessions[item.session] = [*self._sessions.pop(item.session, ()), item]

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        if not self._sessions:
            return []
        *over, now = self._sessions
        summed = [self._summarise_session(session) for session in over[::-1]]
        turns = self._sessions[now][::-1]
        return [
            *(RetrievedMemory(each.text, each.sources) for each in summed if each.text),
            *(RetrievedMemory(item.text, (item.id,)) for item in turns),
        ]

    def _summarise_session(self, session: str) -> Summary:
        items = self._sessions[session]
        key = session, len(items)
        if key not in self._summaries:
            self._summaries[key] = summarise_items(items, self._llm, self._most)
        return self._summaries[key]


def session_summaries(argument: str = str(SESSION_SENTENCES)) -> SystemFactory:
    """`summary:3`: three sentences a session."""
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise LabError(
            f"summary:{argument}: say how many sentences a session, as in summary:{SESSION_SENTENCES}"
        )
    return lambda kit: SessionSummaries(kit, int(argument))
