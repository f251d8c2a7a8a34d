"""Summaries of sessions, by a language model or by extracted sentences.

A summary is scored only for the items it retells: the items of its extracted sentences, or those that share
at least a third of their words with a model's summary. Otherwise the summary of a day would be correct about
everything of that day.
"""

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


def summarise_items(
    items: Sequence[HistoryItem], llm: LLM | None, max_sentences: int = DEFAULT_SENTENCES
) -> Summary:
    """Summarise items in at most `most` sentences."""
    return _extract_summary(items, max_sentences) if llm is None else _write_summary(items, llm)


def _extract_summary(items: Sequence[HistoryItem], max_sentences: int) -> Summary:
    """The sentences with the most frequent words, in their original order."""
    candidates = [(sentence, item.id) for item in items for sentence in split_sentences(item.text)]
    used = Counter(word for sentence, _ in candidates for word in set(tokenize(sentence)))

    def weight(place: int) -> float:
        distinct = set(tokenize(candidates[place][0]))
        return sum(used[word] for word in distinct) / (len(distinct) + 3)  # penalises very short sentences

    selected = sorted(sorted(range(len(candidates)), key=lambda place: -weight(place))[:max_sentences])
    return Summary(
        " ".join(candidates[place][0] for place in selected),
        tuple(dict.fromkeys(candidates[place][1] for place in selected)),
    )


def _write_summary(items: Sequence[HistoryItem], llm: LLM) -> Summary:
    dialogue = "\n\n".join(item.text for item in items)
    text = llm.complete(
        [Message("user", render("summarise", dialogue=dialogue))], max_tokens=200
    ).text.strip()
    summary_words = set(tokenize(text))
    return Summary(
        text,
        tuple(
            item.id
            for item in items
            if _shared_ratio(set(tokenize(item.text)), summary_words) >= _MIN_SHARED_WORDS
        ),
    )


def _shared_ratio(words: set[str], others: set[str]) -> float:
    return len(words & others) / len(words) if words else 0.0


SESSION_SENTENCES = 6


class SessionSummaries:
    """Summaries of past sessions, newest first, and then the turns of the current one."""

    returns_everything = True

    def __init__(self, resources: Resources, max_sentences: int = SESSION_SENTENCES) -> None:
        self._llm, self._most = resources.llm, max_sentences
        self._sessions: dict[str, list[HistoryItem]] = {}
        self._summaries: dict[tuple[str, int], Summary] = {}  # by session and number of items

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        for item in items:
            self._sessions[item.session] = [*self._sessions.pop(item.session, ()), item]

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        if not self._sessions:
            return []
        *past, current = self._sessions
        summaries = [self._summarise_session(session) for session in past[::-1]]
        turns = self._sessions[current][::-1]
        return [
            *(RetrievedMemory(each.text, each.sources) for each in summaries if each.text),
            *(RetrievedMemory(item.text, (item.id,)) for item in turns),
        ]

    def _summarise_session(self, session: str) -> Summary:
        items = self._sessions[session]
        key = session, len(items)
        if key not in self._summaries:
            self._summaries[key] = summarise_items(items, self._llm, self._most)
        return self._summaries[key]


def session_summaries(argument: str = str(SESSION_SENTENCES)) -> SystemFactory:
    """Make a system with N sentences per session (`summary:3`)."""
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise LabError(
            f"summary:{argument}: give the number of sentences per session, as in summary:{SESSION_SENTENCES}"
        )
    return lambda kit: SessionSummaries(kit, int(argument))
