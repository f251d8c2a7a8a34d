"""PerLTQA's retrieval (seed 004, 3.2 and A.4), over BM25: with and without classification, or one kind alone.

With classification, k memories are taken from each half, semantic and episodic, and ranked anew (Eq. 3):

    s' = 0.5 P(half of the memory | question) + 0.5 sigmoid(s)

BM25's s is not bounded, so that sigmoid(s) is nearly 1 for any good match: then the classification decides,
and s only among equals. That is the paper's equation; we keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from math import exp

from thinkback import LLM
from thinkback_lab.cases import Item
from thinkback_lab.errors import LabError
from thinkback_lab.schemes.bm25 import BM25
from thinkback_lab.schemes.classifier import HALVES, Asked, Learned, Shipped, examples, half, shots
from thinkback_lab.schemes.scheme import Classifier, Found, Half, Kit, Scheme

ALPHA = BETA = 0.5


class Classified:
    """k from each half, then the equation above. By default the run's classifier, or one of the examples."""

    def __init__(self, kit: Kit, classifier: Classifier | None = None) -> None:
        self._classify = classifier or kit.classifier or _by_hand()
        self._bm25 = BM25(kit)
        self._halves: dict[str, Half] = {}

    def tell(self, items: Sequence[Item]) -> None:
        self._bm25.tell(items)
        self._halves.update((item.id, half(item.kind)) for item in items)

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        probability = self._classify(question)
        every = self._bm25.recall(question, len(self._halves), at)
        of_each = {kind: [found for found in every if self._half(found) == kind][:k] for kind in HALVES}
        ranked = [
            (ALPHA * probability[kind] + BETA * _sigmoid(found.score), found)
            for kind, chosen in of_each.items()
            for found in chosen
        ]
        ranked.sort(key=lambda each: (-each[0], -each[1].score))
        return [replace(found, score=score) for score, found in ranked[:k]]

    def _half(self, found: Found) -> Half:
        return self._halves[found.sources[0]]


class OneHalf:
    """BM25 over semantic or episodic memory alone."""

    def __init__(self, kit: Kit, kept: Half) -> None:
        self._bm25 = BM25(kit)
        self._kept = kept

    def tell(self, items: Sequence[Item]) -> None:
        self._bm25.tell([item for item in items if half(item.kind) == self._kept])

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        return self._bm25.recall(question, k, at)


def semantic(kit: Kit) -> OneHalf:
    """Profile, relationships and knowledge only."""
    return OneHalf(kit, "semantic")


def episodic(kit: Kit) -> OneHalf:
    """Events and dialogues only."""
    return OneHalf(kit, "episodic")


def variant(argument: str) -> Scheme:
    """`perltqa:plain` does not classify; `shipped` does as thinkback, `zero` and `few` by the run's model."""
    variants: dict[str, Scheme] = {
        "plain": BM25,
        "shipped": lambda kit: Classified(kit, Shipped(kit.embedder)),
        "zero": lambda kit: Classified(kit, Asked(_model(kit))),
        "few": lambda kit: Classified(kit, Asked(_model(kit), shots())),
    }
    if argument not in variants:
        raise LabError(f"perltqa:{argument}: there are {', '.join(variants)}")
    return variants[argument]


@cache
def _by_hand() -> Learned:
    return Learned(examples())


def _model(kit: Kit) -> LLM:
    if kit.llm is None:
        raise LabError("this way of classifying asks a language model: give the run one with --llm")
    return kit.llm


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))
