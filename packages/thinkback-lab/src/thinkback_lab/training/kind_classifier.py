"""Training of the kind classifier that thinkback ships (PerLTQA, Eq. 1): multinomial logistic regression.

It learns from questions of generated worlds and from handwritten questions. World questions are many, but
come from a few hundred templates and name their characters; in half of them the names are replaced by "I",
another name or a pronoun, so that no name predicts a kind. Questions of the topics `changed` and `past` keep
their names: a world answers them by an event, but a user who asks "where do I live now?" does not mean one.

Both sources have the same total weight, and so does every kind within each. The evaluation uses worlds of
another seed and a held-out fifth of the handwritten questions; the shipped model is not trained on those.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback import Embedder, KindModel
from thinkback_lab.cases import EPISODIC_KINDS, SEMANTIC_KINDS, Kind, take_sample
from thinkback_lab.errors import import_extra
from thinkback_lab.metrics.classification import class_scores, confusion_matrix, weighted_scores
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import QA, Character, Lang, Section

LANGUAGES: tuple[Lang, Lang] = ("en", "zh")
HELD_OUT_DIVISOR = 5  # a fifth of each kind is held out
NAMELESS_SHARE = 0.5
_KIND_BY_SECTION: dict[Section, Kind] = {
    "profile": "profile",
    "social_relationship": "relationship",
    "events": "event",
    "dialogues": "dialogue",
}
_SUBJECT_WORDS = {"en": ("I", "I", "I", "she", "Anna", "Tom"), "zh": ("我", "我", "我", "她", "小林", "老王")}
_OTHER_PERSON_WORDS = {"en": ("my friend", "a friend", "Maria", "Ken"), "zh": ("朋友", "她", "小陈", "阿芳")}
_POSSESSIVES = {"I": "my", "she": "her"}


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    text: str
    kind: Kind
    lang: Lang


def handwritten_questions(lang: Lang, seed: int) -> tuple[list[TrainingQuestion], list[TrainingQuestion]]:
    """The training questions and the held-out fifth of each kind."""
    file = files("thinkback_lab.training").joinpath("questions", f"{lang}.toml")
    by_kind: dict[Kind, list[str]] = tomllib.loads(file.read_text("utf-8"))  # type: ignore[assignment]
    training: list[TrainingQuestion] = []
    held_out: list[TrainingQuestion] = []
    for kind, questions in by_kind.items():
        test_texts = set(take_sample(questions, round(len(questions) / HELD_OUT_DIVISOR), seed))
        for text in questions:
            (held_out if text in test_texts else training).append(TrainingQuestion(text, kind, lang))
    return training, held_out


def world_questions(
    characters: int, lang: Lang, seed: int, limit: int, *, nameless: float = 0.0
) -> list[TrainingQuestion]:
    """At most `most` questions of a generated world, in all wordings."""
    rng = random.Random(f"kinds {lang} {seed}")  # noqa: S311 - not a secret
    questions = [
        TrainingQuestion(
            _mask_names(text, who, lang, rng) if _should_mask_names(qa, rng, nameless) else text, kind, lang
        )
        for who in generate(characters, lang, seed).characters
        for qa in who.questions
        for kind in (_KIND_BY_SECTION[qa.section],)
        for text in (qa.question, *qa.again)
    ]
    return take_sample(questions, min(limit, len(questions)), seed)


def _should_mask_names(qa: QA, rng: random.Random, share: float) -> bool:
    return rng.random() < share and qa.topic not in ("changed", "past")


def _mask_names(text: str, who: Character, lang: Lang, rng: random.Random) -> str:
    subject = rng.choice(_SUBJECT_WORDS[lang])
    text = _replace_name(text, who.name, subject, lang)
    for other in who.relationships:
        text = _replace_name(text, other.name, rng.choice(_OTHER_PERSON_WORDS[lang]), lang)
    return text[:1].upper() + text[1:]


def _replace_name(text: str, name: str, instead: str, lang: Lang) -> str:
    """Replace a name (in English also the first name) and its possessive."""
    names: Sequence[str] = (name, name.split(maxsplit=1)[0]) if lang == "en" else (name,)
    for each in names:
        text = text.replace(f"{each}'s", _POSSESSIVES.get(instead, f"{instead}'s")).replace(each, instead)
    return text


if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = dict[str, npt.NDArray[np.float32]]

ALL_KINDS = (*SEMANTIC_KINDS, *EPISODIC_KINDS)
MAX_TRAINING_QUESTIONS = 3000  # per language
MAX_TEST_QUESTIONS = 800
TEST_SEED_OFFSET = 1000  # added to the seed for the test worlds
INVERSE_REGULARISATION = 10.0  # chosen on another split of the handwritten questions
BATCH_SIZE = 64


@dataclass(frozen=True, slots=True)
class TrainedModel:
    model: KindModel
    figures: dict[str, Any]


def train_kind_model(
    embedder: Embedder, characters: int, seed: int, on_progress: ProgressCallback = no_progress
) -> TrainedModel:
    """Train and evaluate; deterministic on one machine."""
    worlds = {
        lang: world_questions(characters, lang, seed, MAX_TRAINING_QUESTIONS, nameless=NAMELESS_SHARE)
        for lang in LANGUAGES
    }
    unseen = {
        lang: world_questions(max(characters // 4, 1), lang, seed + TEST_SEED_OFFSET, MAX_TEST_QUESTIONS)
        for lang in LANGUAGES
    }
    handwritten = {lang: handwritten_questions(lang, seed) for lang in LANGUAGES}
    embedded = [*worlds["en"], *unseen["en"], *(each for part in handwritten["en"] for each in part)]
    vectors = _embed_texts(embedder, [each.text for each in embedded], on_progress)
    languages = [lang for lang in LANGUAGES if worlds[lang]]
    word_weights = _fit_weights(
        [worlds[lang] for lang in languages], [handwritten[lang][0] for lang in languages], None
    )
    vector_weights = _fit_weights([worlds["en"]], [handwritten["en"][0]], vectors)
    words, bias = vector_weights[0][: KindModel.BUCKETS], vector_weights[1]
    model = KindModel.fitted(
        embedder.name, (words, bias, vector_weights[0][KindModel.BUCKETS :]), word_weights
    )
    figures: dict[str, Any] = {
        "learned": sum(map(len, worlds.values())) + sum(len(part[0]) for part in handwritten.values())
    }
    for lang in LANGUAGES:
        for name, questions in (("worlds", unseen[lang]), ("by hand", handwritten[lang][1])):
            figures[f"{name} {lang}"] = _evaluate(model, questions, vectors, embedder.name)
            if lang == "en":
                figures[f"{name} {lang}, words alone"] = _evaluate(model, questions, vectors, None)
    return TrainedModel(model, figures)


def _embed_texts(embedder: Embedder, texts: Sequence[str], on_progress: ProgressCallback) -> Vectors:
    distinct = list(dict.fromkeys(texts))
    vectors: Vectors = {}
    for start in range(0, len(distinct), BATCH_SIZE):
        on_progress(start, len(distinct))
        batch = distinct[start : start + BATCH_SIZE]
        vectors.update(zip(batch, embedder.embed(batch), strict=True))
    return vectors


def _fit_weights(
    worlds: Sequence[Sequence[TrainingQuestion]],
    written: Sequence[Sequence[TrainingQuestion]],
    vectors: Vectors | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Weights as (features, kinds) and biases; embedding vectors, if any, follow the word features."""
    parts = [part for part in (*worlds, *written) if part]
    questions = [each for part in parts for each in part]
    size = sum(map(len, worlds)) / len(worlds)
    weights = np.concatenate([_balanced_weights(part, size) for part in parts])
    linear = import_extra("sklearn.linear_model")
    model = linear.LogisticRegression(C=INVERSE_REGULARISATION, max_iter=400, tol=1e-4)
    model.fit(_features(questions, vectors), [each.kind for each in questions], sample_weight=weights)
    order = [model.classes_.tolist().index(kind) for kind in ALL_KINDS]
    return model.coef_[order].T, model.intercept_[order]


def _balanced_weights(part: Sequence[TrainingQuestion], size: float) -> npt.NDArray[np.float64]:
    """Weights that sum to `size`, with the same total for every kind."""
    counts = Counter(each.kind for each in part)
    return np.array([size / len(counts) / counts[each.kind] for each in part])


def _features(questions: Sequence[TrainingQuestion], vectors: Vectors | None) -> Any:
    sparse = import_extra("scipy.sparse")
    rows = [KindModel.slots(each.text) for each in questions]
    values = np.concatenate([np.full(len(row), len(row) ** -0.5) for row in rows])
    ends = np.cumsum([0, *map(len, rows)])
    words = sparse.csr_matrix((values, np.concatenate(rows), ends), shape=(len(rows), KindModel.BUCKETS))
    if vectors is None:
        return words
    return sparse.hstack([words, np.stack([vectors[each.text] for each in questions])]).tocsr()


def _evaluate(
    model: KindModel, questions: Sequence[TrainingQuestion], vectors: Vectors, embedder: str | None
) -> dict[str, Any]:
    """Figures of PerLTQA's table 4 for the types, accuracy and F1 for the kinds."""
    probabilities = [model.classify(each.text, vectors.get(each.text), embedder) for each in questions]
    kinds = [max(each, key=lambda kind: each[kind]) for each in probabilities]
    types = [_memory_type(sum(each[kind] for kind in EPISODIC_KINDS) > 0.5) for each in probabilities]
    by_kind = confusion_matrix([each.kind for each in questions], kinds)
    by_type = weighted_scores(
        confusion_matrix([_memory_type(each.kind in EPISODIC_KINDS) for each in questions], types)
    )
    return {
        "n": len(questions),
        **{name: round(value, 4) for name, value in by_type.items()},
        "kind_accuracy": round(weighted_scores(by_kind)["accuracy"], 4),
        "kinds": {name: round(row["f1"], 4) for name, row in class_scores(by_kind).items()},
        "confusion": by_kind,
    }


def _memory_type(episodic: bool) -> str:
    return "episodic" if episodic else "semantic"
