"""The classifier of kinds that thinkback ships (PerLTQA, Eq. 1): multinomial logistic regression, measured.

Worlds and hand-written questions weigh the same in all, and so does every kind within each of the two. What
is reported is what the finished file says of questions it has not learned from: of worlds of another seed,
and of the fifth of the hand-written ones that was held out. The file is not trained again on those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import Embedder, KindModel
from thinkback_lab.cases import EPISODIC, SEMANTIC
from thinkback_lab.extras import extra
from thinkback_lab.metrics.classification import by_class, confusion, weighted
from thinkback_lab.progress import Report, silent
from thinkback_lab.training.asked import LANGUAGES, NAMELESS, Asked, by_hand, by_worlds

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = dict[str, npt.NDArray[np.float32]]

KINDS = (*SEMANTIC, *EPISODIC)
MOST_LEARNED = 3000  # questions of a language's worlds
MOST_TESTED = 800
UNSEEN = 1000  # added to the seed of the worlds that are tested on
STRENGTH = 10.0  # C of the regression: chosen on another split of the hand-written questions
BATCH = 64


@dataclass(frozen=True, slots=True)
class Trained:
    model: KindModel
    figures: dict[str, Any]


def train(embedder: Embedder, characters: int, seed: int, report: Report = silent) -> Trained:
    """The same arguments give the same model, on one machine."""
    worlds = {lang: by_worlds(characters, lang, seed, MOST_LEARNED, nameless=NAMELESS) for lang in LANGUAGES}
    unseen = {
        lang: by_worlds(max(characters // 4, 1), lang, seed + UNSEEN, MOST_TESTED) for lang in LANGUAGES
    }
    written = {lang: by_hand(lang, seed) for lang in LANGUAGES}
    read = [*worlds["en"], *unseen["en"], *(each for part in written["en"] for each in part)]
    vectors = _vectors(embedder, [each.text for each in read], report)
    every = [lang for lang in LANGUAGES if worlds[lang]]
    alone = _fit([worlds[lang] for lang in every], [written[lang][0] for lang in every], None)
    reading = _fit([worlds["en"]], [written["en"][0]], vectors)
    words, bias = reading[0][: KindModel.BUCKETS], reading[1]
    model = KindModel.fitted(embedder.name, (words, bias, reading[0][KindModel.BUCKETS :]), alone)
    figures: dict[str, Any] = {
        "learned": sum(map(len, worlds.values())) + sum(len(part[0]) for part in written.values())
    }
    for lang in LANGUAGES:
        for name, tested in (("worlds", unseen[lang]), ("by hand", written[lang][1])):
            figures[f"{name} {lang}"] = _figures(model, tested, vectors, embedder.name)
            if lang == "en":
                figures[f"{name} {lang}, words alone"] = _figures(model, tested, vectors, None)
    return Trained(model, figures)


def _vectors(embedder: Embedder, texts: Sequence[str], report: Report) -> Vectors:
    different = list(dict.fromkeys(texts))
    told: Vectors = {}
    for start in range(0, len(different), BATCH):
        report(start, len(different))
        batch = different[start : start + BATCH]
        told.update(zip(batch, embedder.embed(batch), strict=True))
    return told


def _fit(
    worlds: Sequence[Sequence[Asked]], written: Sequence[Sequence[Asked]], vectors: Vectors | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """W as (features, kinds) and b, with vectors behind the words where there are any."""
    parts = [part for part in (*worlds, *written) if part]
    asked = [each for part in parts for each in part]
    size = sum(map(len, worlds)) / len(worlds)
    weights = np.concatenate([_balanced(part, size) for part in parts])
    linear = extra("sklearn.linear_model")
    model = linear.LogisticRegression(C=STRENGTH, max_iter=400, tol=1e-4)
    model.fit(_features(asked, vectors), [each.kind for each in asked], sample_weight=weights)
    order = [model.classes_.tolist().index(kind) for kind in KINDS]
    return model.coef_[order].T, model.intercept_[order]


def _balanced(part: Sequence[Asked], size: float) -> npt.NDArray[np.float64]:
    """Weights that sum to `size`, the same for every kind that is there."""
    counts = Counter(each.kind for each in part)
    return np.array([size / len(counts) / counts[each.kind] for each in part])


def _features(asked: Sequence[Asked], vectors: Vectors | None) -> Any:
    sparse = extra("scipy.sparse")
    rows = [KindModel.slots(each.text) for each in asked]
    values = np.concatenate([np.full(len(row), len(row) ** -0.5) for row in rows])
    ends = np.cumsum([0, *map(len, rows)])
    words = sparse.csr_matrix((values, np.concatenate(rows), ends), shape=(len(rows), KindModel.BUCKETS))
    if vectors is None:
        return words
    return sparse.hstack([words, np.stack([vectors[each.text] for each in asked])]).tocsr()


def _figures(
    model: KindModel, tested: Sequence[Asked], vectors: Vectors, embedder: str | None
) -> dict[str, Any]:
    """Table 4's figures for the two types, and accuracy and F1 for each of the five kinds."""
    likely = [model.classify(each.text, vectors.get(each.text), embedder) for each in tested]
    kinds = [max(each, key=lambda kind: each[kind]) for each in likely]
    types = [_type(sum(each[kind] for kind in EPISODIC) > 0.5) for each in likely]
    told = confusion([each.kind for each in tested], kinds)
    both = weighted(confusion([_type(each.kind in EPISODIC) for each in tested], types))
    return {
        "n": len(tested),
        **{name: round(value, 4) for name, value in both.items()},
        "kind_accuracy": round(weighted(told)["accuracy"], 4),
        "kinds": {name: round(row["f1"], 4) for name, row in by_class(told).items()},
        "confusion": told,
    }


def _type(episodic: bool) -> str:
    return "episodic" if episodic else "semantic"
