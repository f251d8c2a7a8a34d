"""Training of the kind classifier that thinkback ships: its questions, the fit and its evaluation."""

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
HELD_OUT_DIVISOR = 5  # a fifth of each kind is only tested on
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
    """Those to learn from, and the fifth of each kind that is held out, drawn by the seed."""
    file = files("thinkback_lab.training").joinpath("questions", f"{lang}.toml")
    told: dict[Kind, list[str]] = tomllib.loads(file.read_text("utf-8"))  # type: ignore[assignment]
    learn: list[TrainingQuestion] = []
    tested: list[TrainingQuestion] = []
    for kind, questions in told.items():
        held = set(take_sample(questions, round(len(questions) / HELD_OUT_DIVISOR), seed))
        for text in questions:
            (tested if text in held else learn).append(TrainingQuestion(text, kind, lang))
    return learn, tested


def world_questions(
    characters: int, lang: Lang, seed: int, most: int, *, nameless: float = 0.0
) -> list[TrainingQuestion]:
    """At most so many questions of a world, all their wordings, drawn by the seed."""
    rng = random.Random(f"kinds {lang} {seed}")  # noqa: S311 - not a secret
    told = [
        TrainingQuestion(
            _mask_names(text, who, lang, rng) if _should_mask_names(qa, rng, nameless) else text, kind, lang
        )
        for who in generate(characters, lang, seed).characters
        for qa in who.questions
        for kind in (_KIND_BY_SECTION[qa.section],)
        for text in (qa.question, *qa.again)
    ]
    return take_sample(told, min(most, len(told)), seed)


def _should_mask_names(qa: QA, rng: random.Random, share: float) -> bool:
    return rng.random() < share and qa.topic not in ("changed", "past")


def _mask_names(text: str, who: Character, lang: Lang, rng: random.Random) -> str:
    lead = rng.choice(_SUBJECT_WORDS[lang])
    text = _replace_name(text, who.name, lead, lang)
    for other in who.relationships:
        text = _replace_name(text, other.name, rng.choice(_OTHER_PERSON_WORDS[lang]), lang)
    return text[:1].upper() + text[1:]


def _replace_name(text: str, name: str, instead: str, lang: Lang) -> str:
    """The name, and in English the first name alone, with the possessive of each."""
    names: Sequence[str] = (name, name.split(maxsplit=1)[0]) if lang == "en" else (name,)
    for each in names:
        text = text.replace(f"{each}'s", _POSSESSIVES.get(instead, f"{instead}'s")).replace(each, instead)
    return text


if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = dict[str, npt.NDArray[np.float32]]

ALL_KINDS = (*SEMANTIC_KINDS, *EPISODIC_KINDS)
MAX_TRAINING_QUESTIONS = 3000  # questions of a language's worlds
MAX_TEST_QUESTIONS = 800
TEST_SEED_OFFSET = 1000  # added to the seed of the worlds that are tested on
INVERSE_REGULARISATION = 10.0  # C of the regression: chosen on another split of the hand-written questions
BATCH_SIZE = 64


@dataclass(frozen=True, slots=True)
class TrainedModel:
    model: KindModel
    figures: dict[str, Any]


def train_kind_model(
    embedder: Embedder, characters: int, seed: int, on_progress: ProgressCallback = no_progress
) -> TrainedModel:
    """The same arguments give the same model, on one machine."""
    worlds = {
        lang: world_questions(characters, lang, seed, MAX_TRAINING_QUESTIONS, nameless=NAMELESS_SHARE)
        for lang in LANGUAGES
    }
    unseen = {
        lang: world_questions(max(characters // 4, 1), lang, seed + TEST_SEED_OFFSET, MAX_TEST_QUESTIONS)
        for lang in LANGUAGES
    }
    written = {lang: handwritten_questions(lang, seed) for lang in LANGUAGES}
    read = [*worlds["en"], *unseen["en"], *(each for part in written["en"] for each in part)]
    vectors = _embed_texts(embedder, [each.text for each in read], on_progress)
    every = [lang for lang in LANGUAGES if worlds[lang]]
    alone = _fit_weights([worlds[lang] for lang in every], [written[lang][0] for lang in every], None)
    reading = _fit_weights([worlds["en"]], [written["en"][0]], vectors)
    words, bias = reading[0][: KindModel.BUCKETS], reading[1]
    model = KindModel.fitted(embedder.name, (words, bias, reading[0][KindModel.BUCKETS :]), alone)
    figures: dict[str, Any] = {
        "learned": sum(map(len, worlds.values())) + sum(len(part[0]) for part in written.values())
    }
    for lang in LANGUAGES:
        for name, tested in (("worlds", unseen[lang]), ("by hand", written[lang][1])):
            figures[f"{name} {lang}"] = _evaluate(model, tested, vectors, embedder.name)
            if lang == "en":
                figures[f"{name} {lang}, words alone"] = _evaluate(model, tested, vectors, None)
    return TrainedModel(model, figures)


def _embed_texts(embedder: Embedder, texts: Sequence[str], on_progress: ProgressCallback) -> Vectors:
    different = list(dict.fromkeys(texts))
    told: Vectors = {}
    for start in range(0, len(different), BATCH_SIZE):
        on_progress(start, len(different))
        batch = different[start : start + BATCH_SIZE]
        told.update(zip(batch, embedder.embed(batch), strict=True))
    return told


def _fit_weights(
    worlds: Sequence[Sequence[TrainingQuestion]],
    written: Sequence[Sequence[TrainingQuestion]],
    vectors: Vectors | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """W as (features, kinds) and b, with vectors behind the words where there are any."""
    parts = [part for part in (*worlds, *written) if part]
    asked = [each for part in parts for each in part]
    size = sum(map(len, worlds)) / len(worlds)
    weights = np.concatenate([_balanced_weights(part, size) for part in parts])
    linear = import_extra("sklearn.linear_model")
    model = linear.LogisticRegression(C=INVERSE_REGULARISATION, max_iter=400, tol=1e-4)
    model.fit(_features(asked, vectors), [each.kind for each in asked], sample_weight=weights)
    order = [model.classes_.tolist().index(kind) for kind in ALL_KINDS]
    return model.coef_[order].T, model.intercept_[order]


def _balanced_weights(part: Sequence[TrainingQuestion], size: float) -> npt.NDArray[np.float64]:
    """Weights that sum to `size`, the same for every kind that is there."""
    counts = Counter(each.kind for each in part)
    return np.array([size / len(counts) / counts[each.kind] for each in part])


def _features(asked: Sequence[TrainingQuestion], vectors: Vectors | None) -> Any:
    sparse = import_extra("scipy.sparse")
    rows = [KindModel.slots(each.text) for each in asked]
    values = np.concatenate([np.full(len(row), len(row) ** -0.5) for row in rows])
    ends = np.cumsum([0, *map(len, rows)])
    words = sparse.csr_matrix((values, np.concatenate(rows), ends), shape=(len(rows), KindModel.BUCKETS))
    if vectors is None:
        return words
    return sparse.hstack([words, np.stack([vectors[each.text] for each in asked])]).tocsr()


def _evaluate(
    model: KindModel, tested: Sequence[TrainingQuestion], vectors: Vectors, embedder: str | None
) -> dict[str, Any]:
    """Table 4's figures for the two types, and accuracy and F1 for each of the five kinds."""
    likely = [model.classify(each.text, vectors.get(each.text), embedder) for each in tested]
    kinds = [max(each, key=lambda kind: each[kind]) for each in likely]
    types = [_memory_type(sum(each[kind] for kind in EPISODIC_KINDS) > 0.5) for each in likely]
    told = confusion_matrix([each.kind for each in tested], kinds)
    both = weighted_scores(
        confusion_matrix([_memory_type(each.kind in EPISODIC_KINDS) for each in tested], types)
    )
    return {
        "n": len(tested),
        **{name: round(value, 4) for name, value in both.items()},
        "kind_accuracy": round(weighted_scores(told)["accuracy"], 4),
        "kinds": {name: round(row["f1"], 4) for name, row in class_scores(told).items()},
        "confusion": told,
    }


def _memory_type(episodic: bool) -> str:
    return "episodic" if episodic else "semantic"
