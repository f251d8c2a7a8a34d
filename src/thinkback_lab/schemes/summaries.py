"""Summaries of what was said: by the run's model, or without one the sentences that tell most of it.

A summary counts through the items it retells, not through all it was made of: else the summary of a day would
be right about everything of that day. An extracted sentence retells its item; a model's summary retells those
that share at least a third of their words with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback import LLM, Message
from thinkback_lab.cases import Item
from thinkback_lab.prompts import render
from thinkback_lab.schemes.words import words
from thinkback_lab.text import sentences

SENTENCES = 3
_RETOLD = 1 / 3


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    sources: tuple[str, ...]


def summarise(items: Sequence[Item], llm: LLM | None, most: int = SENTENCES) -> Summary:
    """At most so many sentences of what these items say."""
    return _extracted(items, most) if llm is None else _written(items, llm)


def _extracted(items: Sequence[Item], most: int) -> Summary:
    """The sentences whose words are used most in all of it, in the order they were said."""
    told = [(sentence, item.id) for item in items for sentence in sentences(item.text)]
    used = Counter(word for sentence, _ in told for word in set(words(sentence)))

    def weight(place: int) -> float:
        distinct = set(words(told[place][0]))
        return sum(used[word] for word in distinct) / (len(distinct) + 3)  # a bare "Yes." tells little

    chosen = sorted(sorted(range(len(told)), key=lambda place: -weight(place))[:most])
    return Summary(
        " ".join(told[place][0] for place in chosen),
        tuple(dict.fromkeys(told[place][1] for place in chosen)),
    )


def _written(items: Sequence[Item], llm: LLM) -> Summary:
    dialogue = "\n\n".join(item.text for item in items)
    text = llm.complete(
        [Message("user", render("summarise", dialogue=dialogue))], max_tokens=200
    ).text.strip()
    held = set(words(text))
    return Summary(text, tuple(item.id for item in items if _share(set(words(item.text)), held) >= _RETOLD))


def _share(told: set[str], held: set[str]) -> float:
    return len(told & held) / len(told) if told else 0.0
