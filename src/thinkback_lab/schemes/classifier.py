"""Memory classification (PerLTQA, Eq. 1 and table 4): does a question ask for semantic or episodic memory?

Four ways: the model that thinkback ships, which tells all five kinds; logistic regression on hashed n-grams,
which stands in for the paper's BERT, trained on whatever questions it is given; and a language model, asked
plainly or with examples. A model's word is taken for certain; where it says neither kind, or both, nothing is
known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from thinkback import LLM, Embedder, KindModel, Message
from thinkback_lab.cases import EPISODIC, SEMANTIC, Kind
from thinkback_lab.errors import LabError
from thinkback_lab.extras import extra
from thinkback_lab.prompts import render
from thinkback_lab.schemes.scheme import Half

HALVES: tuple[Half, Half] = ("episodic", "semantic")
_EXAMPLES = files("thinkback_lab.schemes").joinpath("classify_examples.jsonl")
_SHOWN = 8  # examples in the few-shot prompt: two of each kind in each language
_FEATURES = 2**15


def half(kind: Kind) -> Half:
    """The half of memory that a kind of item belongs to."""
    return "episodic" if kind in EPISODIC else "semantic"


def examples() -> list[tuple[str, Half]]:
    """Questions written by hand, English and Chinese, the same number of each kind."""
    lines = [json.loads(line) for line in _EXAMPLES.read_text("utf-8").splitlines()]
    return [(line["question"], line["kind"]) for line in lines]


class Shipped:
    """What `Memory.kinds` says with this embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._model = KindModel.shipped()

    def kinds(self, question: str) -> Mapping[Kind, float]:
        (vector,) = self._embedder.embed([question])
        return self._model.classify(question, vector, self._embedder.name)

    def __call__(self, question: str) -> Mapping[Half, float]:
        likely = self.kinds(question)
        return {
            "episodic": sum(likely[kind] for kind in EPISODIC),
            "semantic": sum(likely[kind] for kind in SEMANTIC),
        }


class Learned:
    """Logistic regression on words and pairs of words, and on runs of one to four characters."""

    def __init__(self, questions: Iterable[tuple[str, Half]]) -> None:
        told = list(questions)
        if len({kind for _, kind in told}) < len(HALVES):
            raise LabError("a classifier is trained on questions of both kinds, semantic and episodic")
        self._model = _pipeline().fit([text for text, _ in told], [kind for _, kind in told])

    def __call__(self, question: str) -> Mapping[Half, float]:
        (row,) = self._model.predict_proba([question])
        return dict(zip(self._model.classes_.tolist(), row.tolist(), strict=True))


class Asked:
    """A language model's word for it; `shots` are shown first, if there are any."""

    def __init__(self, llm: LLM, shots: Iterable[tuple[str, Half]] = ()) -> None:
        self._llm = llm
        self._shots = "\n\n".join(f"Question: {text}\nKind: {kind}" for text, kind in shots)

    def __call__(self, question: str) -> Mapping[Half, float]:
        if self._shots:
            prompt = render("classify_few", examples=self._shots, question=question)
        else:
            prompt = render("classify_zero", question=question)
        said = self._llm.complete([Message("user", prompt)], max_tokens=8).text.casefold()
        named = [kind for kind in HALVES if kind in said]
        if len(named) != 1:
            return dict.fromkeys(HALVES, 0.5)
        return {kind: float(kind == named[0]) for kind in HALVES}


def shots() -> list[tuple[str, Half]]:
    """A few of the examples, spread evenly over both languages and kinds."""
    told = examples()
    return told[:: len(told) // _SHOWN][:_SHOWN]


def _pipeline() -> Any:
    text = extra("sklearn.feature_extraction.text")
    pipeline = extra("sklearn.pipeline")
    linear = extra("sklearn.linear_model")
    return pipeline.make_pipeline(
        pipeline.make_union(
            text.HashingVectorizer(n_features=_FEATURES, ngram_range=(1, 2), alternate_sign=False),
            text.HashingVectorizer(
                n_features=_FEATURES, analyzer="char", ngram_range=(1, 4), alternate_sign=False
            ),
        ),
        linear.LogisticRegression(C=30.0, max_iter=1000),
    )
