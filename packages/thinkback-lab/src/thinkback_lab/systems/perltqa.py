"""PerLTQA's retrieval over BM25: with and without memory classification, or one type of memory alone.

With classification, k memories of each type are taken and ranked again (Eq. 3):

  s' = 0.5 P(type of the memory | question) + 0.5 sigmoid(s)

BM25 scores are not bounded, so sigmoid(s) is nearly 1 for any good match, and the classification decides.
That is the paper's equation, and we keep it. Classifiers (Eq. 1, table 4): the one thinkback ships; logistic
regression on hashed n-grams, in place of the paper's BERT; and a language model, with or without examples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

from thinkback import LLM, Embedder, KindModel, Message
from thinkback_lab.cases import EPISODIC_KINDS, SEMANTIC_KINDS, HistoryItem, Kind
from thinkback_lab.errors import LabError, import_extra
from thinkback_lab.prompts import render
from thinkback_lab.systems.baselines import BM25
from thinkback_lab.systems.interface import (
    MemoryType,
    Resources,
    RetrievedMemory,
    SystemFactory,
    TypeClassifier,
)

MEMORY_TYPES: tuple[MemoryType, MemoryType] = ("episodic", "semantic")
_EXAMPLES = files("thinkback_lab.systems").joinpath("classify_examples.jsonl")
_FEW_SHOT_COUNT = 8  # two of each type in each language
_FEATURES = 2**15


def memory_type(kind: Kind) -> MemoryType:
    """The type of memory that a kind belongs to."""
    return "episodic" if kind in EPISODIC_KINDS else "semantic"


def load_examples() -> list[tuple[str, MemoryType]]:
    """Handwritten questions in English and Chinese, balanced by type."""
    lines = [json.loads(line) for line in _EXAMPLES.read_text("utf-8").splitlines()]
    return [(line["question"], line["kind"]) for line in lines]


class ShippedClassifier:
    """The classifier that thinkback ships, with this embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._model = KindModel.shipped()

    def kinds(self, question: str) -> Mapping[Kind, float]:
        (vector,) = self._embedder.embed([question])
        return self._model.classify(question, vector, self._embedder.name)

    def __call__(self, question: str) -> Mapping[MemoryType, float]:
        probabilities = self.kinds(question)
        return {
            "episodic": sum(probabilities[kind] for kind in EPISODIC_KINDS),
            "semantic": sum(probabilities[kind] for kind in SEMANTIC_KINDS),
        }


class TrainedClassifier:
    """Logistic regression on word unigrams and bigrams, and on character n-grams of length 1 to 4."""

    def __init__(self, questions: Iterable[tuple[str, MemoryType]]) -> None:
        examples = list(questions)
        if len({kind for _, kind in examples}) < len(MEMORY_TYPES):
            raise LabError("a classifier needs questions of both types, semantic and episodic")
        self._model = _pipeline().fit([text for text, _ in examples], [kind for _, kind in examples])

    def __call__(self, question: str) -> Mapping[MemoryType, float]:
        (row,) = self._model.predict_proba([question])
        return dict(zip(self._model.classes_.tolist(), row.tolist(), strict=True))


class LLMClassifier:
    """A language model as classifier; `shots` are shown as examples."""

    def __init__(self, llm: LLM, shots: Iterable[tuple[str, MemoryType]] = ()) -> None:
        self._llm = llm
        self._shots = "\n\n".join(f"Question: {text}\nKind: {kind}" for text, kind in shots)

    def __call__(self, question: str) -> Mapping[MemoryType, float]:
        if self._shots:
            prompt = render("classify_few", examples=self._shots, question=question)
        else:
            prompt = render("classify_zero", question=question)
        reply = self._llm.complete([Message("user", prompt)], max_tokens=8).text.casefold()
        mentioned = [kind for kind in MEMORY_TYPES if kind in reply]
        if len(mentioned) != 1:
            return dict.fromkeys(MEMORY_TYPES, 0.5)
        return {kind: float(kind == mentioned[0]) for kind in MEMORY_TYPES}


def few_shot_examples() -> list[tuple[str, MemoryType]]:
    """A few examples, balanced over languages and types."""
    examples = load_examples()
    return examples[:: len(examples) // _FEW_SHOT_COUNT][:_FEW_SHOT_COUNT]


def _pipeline() -> Any:
    text = import_extra("sklearn.feature_extraction.text")
    pipeline = import_extra("sklearn.pipeline")
    linear = import_extra("sklearn.linear_model")
    return pipeline.make_pipeline(
        pipeline.make_union(
            text.HashingVectorizer(n_features=_FEATURES, ngram_range=(1, 2), alternate_sign=False),
            text.HashingVectorizer(
                n_features=_FEATURES, analyzer="char", ngram_range=(1, 4), alternate_sign=False
            ),
        ),
        linear.LogisticRegression(C=30.0, max_iter=1000),
    )


ALPHA = BETA = 0.5


class ClassifiedRetrieval:
    """k memories of each type, ranked by Eq. 3. Default classifier: the run's, or one trained on the
    examples.
    """

    def __init__(self, resources: Resources, classifier: TypeClassifier | None = None) -> None:
        self._classify = classifier or resources.classifier or _example_classifier()
        self._bm25 = BM25(resources)
        self._halves: dict[str, MemoryType] = {}

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._bm25.add_items(items)
        self._halves.update((item.id, memory_type(item.kind)) for item in items)

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        probability = self._classify(question)
        ranked_by_bm25 = self._bm25.recall(question, len(self._halves), at)
        of_each = {
            kind: [found for found in ranked_by_bm25 if self._half(found) == kind][:k]
            for kind in MEMORY_TYPES
        }
        ranked = [
            (ALPHA * probability[kind] + BETA * _sigmoid(found.score), found)
            for kind, memories in of_each.items()
            for found in memories
        ]
        ranked.sort(key=lambda each: (-each[0], -each[1].score))
        return [replace(found, score=score) for score, found in ranked[:k]]

    def _half(self, found: RetrievedMemory) -> MemoryType:
        return self._halves[found.sources[0]]


class SingleTypeRetrieval:
    """BM25 over semantic or episodic memory alone."""

    def __init__(self, resources: Resources, wanted_type: MemoryType) -> None:
        self._bm25 = BM25(resources)
        self._kept = wanted_type

    def add_items(self, items: Sequence[HistoryItem]) -> None:
        self._bm25.add_items([item for item in items if memory_type(item.kind) == self._kept])

    def recall(self, question: str, k: int, at: datetime) -> list[RetrievedMemory]:
        return self._bm25.recall(question, k, at)


def semantic_only(resources: Resources) -> SingleTypeRetrieval:
    """Profile, relationships and knowledge only."""
    return SingleTypeRetrieval(resources, "semantic")


def episodic_only(resources: Resources) -> SingleTypeRetrieval:
    """Events and dialogues only."""
    return SingleTypeRetrieval(resources, "episodic")


def perltqa_variant(argument: str) -> SystemFactory:
    """Make a variant: `plain` (no classification), `shipped` (thinkback's classifier), `zero` or `few` (the
    run's model).
    """
    variants: dict[str, SystemFactory] = {
        "plain": BM25,
        "shipped": lambda kit: ClassifiedRetrieval(kit, ShippedClassifier(kit.embedder)),
        "zero": lambda kit: ClassifiedRetrieval(kit, LLMClassifier(_required_llm(kit))),
        "few": lambda kit: ClassifiedRetrieval(kit, LLMClassifier(_required_llm(kit), few_shot_examples())),
    }
    if argument not in variants:
        raise LabError(f"perltqa:{argument}: choose from {', '.join(variants)}")
    return variants[argument]


@cache
def _example_classifier() -> TrainedClassifier:
    return TrainedClassifier(load_examples())


def _required_llm(resources: Resources) -> LLM:
    if resources.llm is None:
        raise LabError("this classifier needs a language model: give --llm")
    return resources.llm


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-score))
