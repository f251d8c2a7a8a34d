"""SCM, the Self-Controlled Memory (Liang et al. 2023): a controller decides whether memory is needed.

The memory stream contains every turn. The controller is the run's model (`prompts/needs_memory.txt`), or a
rule: memory is needed if the question mentions persons or the past, or shares an uncommon word with the
stream. Then the turns with the highest relevance plus recency are activated. The last turn (flash memory) is
always included, in the last place. If the result is too long, the longest turns are replaced by summaries.

Simplified: recency is 0.99 to the power of the distance in turns (the paper mentions recency, its code ranks
by cosine alone), and length decides whether to summarise, where SCM asks its model for every turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from thinkback import Message
from thinkback_lab.cases import HistoryItem
from thinkback_lab.prompts import render
from thinkback_lab.systems.interface import Resources, RetrievedMemory, top_items
from thinkback_lab.systems.summaries import summarise_items
from thinkback_lab.systems.tokens import tokenize

RECENCY_DECAY = 0.99
MAX_WORDS = 2500  # total of the result; the authors' code allows as many tokens
_COMMON_WORD_SHARE = 0.5  # a word that half of the turns contain is not specific
_PERSONAL_OR_PAST = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|you|your|he|she|they|him|his|her|hers|them|their|before|earlier|ago|last|"
    r"previous|previously|again|remember|recall|told|said|mentioned)\b"
    r"|[我你您他她咱]|之前|以前|上次|上回|刚才|记得|说过|提到|聊过|昨天|前天|去年",
    re.IGNORECASE,
)


class SCM:
    def __init__(self, resources: Resources) -> None:
        self._kit = resources
        self._items: list[HistoryItem] = []
        self._vectors = np.empty((0, resources.embedder.dim), dtype=np.float32)
        self._turns_with: Counter[str] = Counter()  # word -> number of turns that contain it

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        if items:
            self._items += items
            vectors = self._kit.embedder.embed([item.text for item in items])
            self._vectors = np.vstack([self._vectors, vectors])
            for item in items:
                self._turns_with.update(set(tokenize(item.text)))

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        if not self._items:
            return []
        flash = RetrievedMemory(self._items[-1].text, (self._items[-1].id,))
        if not self.needs_memory(question):
            return [flash]
        (vector,) = self._kit.embedder.embed([question])
        distance = np.arange(len(self._items) - 1, -1, -1)
        activated = top_items(self._items, self._vectors @ vector + RECENCY_DECAY**distance, k)
        if flash.sources not in [found.sources for found in activated] and k > 1:
            activated[k - 1 :] = [flash]
        return self._shortened(activated)

    def needs_memory(self, question: str) -> bool:
        """Whether the question needs memory."""
        if self._kit.llm is not None:
            asked = [Message("user", render("needs_memory", message=question))]
            return not self._kit.llm.complete(asked, max_tokens=8).text.strip().casefold().startswith("no")
        common = len(self._items) * _COMMON_WORD_SHARE
        shares = any(0 < self._turns_with[word] < max(common, 2) for word in tokenize(question))
        return shares or bool(_PERSONAL_OR_PAST.search(question))

    def _shortened(self, found: list[RetrievedMemory]) -> list[RetrievedMemory]:
        """Replace the longest turns by summaries until the result is short enough."""
        length = [len(tokenize(each.text)) for each in found]
        by_id = {item.id: item for item in self._items}
        for position in sorted(range(len(found)), key=lambda position: -length[position]):
            if sum(length) <= MAX_WORDS:
                break
            summary = summarise_items([by_id[found[position].sources[0]]], self._kit.llm)
            found[position] = replace(found[position], text=summary.text)
            length[position] = len(tokenize(summary.text))
        return found
