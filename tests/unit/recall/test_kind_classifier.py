"""The kind classifier: stable, bounded, in both languages, with and without a vector."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback import Memory
from thinkback.errors import InvalidInput
from thinkback.recall.kind_classifier import (
    BUCKETS,
    KindModel,
    KindWeights,
    classify_query,
    extract_grams,
)
from thinkback.types import KINDS, Kind

LARGEST = 300_000  # bytes of the file we ship

QUESTIONS: list[tuple[str, Kind]] = [
    ("What is my blood group?", "profile"),
    ("What do I usually eat for breakfast?", "profile"),
    ("Who is my stepfather?", "relationship"),
    ("What does my niece do for a living?", "relationship"),
    ("How do volcanoes form?", "knowledge"),
    ("What did I buy last Saturday?", "event"),
    ("When did Omar crash the car?", "event"),
    ("Which laptop did you recommend to me?", "dialogue"),
    ("What did I tell you about my knee?", "dialogue"),
    ("我平时喜欢喝什么？", "profile"),
    ("我的表姐叫什么名字？", "relationship"),
    ("火山是怎么形成的？", "knowledge"),
    ("上周六我买了什么？", "event"),
    ("你给我推荐过哪款电脑？", "dialogue"),
]


def likeliest(told: dict[Kind, float]) -> Kind:
    return max(told, key=lambda kind: told[kind])


def tiny(embedder: str = "toy") -> KindModel:
    """A model whose vector decides where it is read, and whose words say knowledge else."""
    words = np.zeros((BUCKETS, len(KINDS)))
    vector = 9 * np.eye(len(KINDS))
    bias = [0, 0, 5, 0, 0]
    return KindModel.fitted(embedder, (words, np.zeros(len(KINDS)), vector), (words, bias))


@pytest.mark.parametrize(("text", "kind"), QUESTIONS)
def test_questions_are_classified_by_words(text: str, kind: Kind) -> None:
    assert likeliest(classify_query(text, None, None)) == kind


@given(st.text(max_size=300))
def test_any_text_gives_probabilities(text: str) -> None:
    told = classify_query(text, None, "no such embedder")
    assert tuple(told) == KINDS
    assert sum(told.values()) == pytest.approx(1, abs=1e-5)
    assert all(0 <= p <= 1 for p in told.values())
    assert told == classify_query(text, None, "no such embedder")


@pytest.mark.parametrize(
    "text", ["", " \n", "???", "🙂", "\ud800", "１２３", "a" * 1_000_000, "我" * 1_000_000]
)
def test_unusual_texts_are_classified(text: str) -> None:
    assert sum(classify_query(text, None, None).values()) == pytest.approx(1, abs=1e-5)


def test_only_the_beginning_of_a_long_text_is_used() -> None:
    assert extract_grams("x " * 1_000) == extract_grams("x " * 1_000 + "who said so?")


def test_vector_is_used_only_for_the_training_embedder() -> None:
    model, vector = tiny(), np.eye(len(KINDS), dtype=np.float32)[3]
    assert likeliest(model.classify("what", vector, "toy")) == "event"
    assert likeliest(model.classify("what", vector, "another")) == "knowledge"
    assert likeliest(model.classify("what", None, "toy")) == "knowledge"
    assert likeliest(model.classify("什么", vector, "toy")) == "knowledge"  # it does not read Chinese


def test_basis_of_the_classification_is_explained() -> None:
    model = tiny()
    assert model.basis("what", "toy") == "by its words and its vector"
    assert "Chinese" in model.basis("什么", "toy")
    assert "not of another" in model.basis("what", "another")
    assert "not of none" in model.basis("what", None)


def test_memory_returns_kinds_of_a_query(memory: Memory) -> None:
    told = memory.kinds("Which laptop did you recommend to me?")
    assert likeliest(told) == "dialogue"
    with pytest.raises(InvalidInput):
        memory.kinds(3)  # type: ignore[arg-type]


def test_model_reads_the_vectors_of_the_default_embedder() -> None:
    with Memory.open(":memory:", background=False) as memory:
        assert KindModel.shipped().reads("Where do I live?", memory.embedder.name)
        right = [likeliest(memory.kinds(text)) == kind for text, kind in QUESTIONS]
    assert sum(right) >= len(right) - 1


def test_model_file_is_small_and_has_a_card() -> None:
    folder = files("thinkback.recall")
    assert len(folder.joinpath("kinds.npz").read_bytes()) < LARGEST
    card = folder.joinpath("kinds.md").read_text("utf-8")
    assert "thinkback-lab train kinds" in card
    assert KindModel.shipped().embedder in card


def test_saving_is_deterministic_and_loads_back() -> None:
    one, other = io.BytesIO(), io.BytesIO()
    tiny().save(one)
    tiny().save(other)
    assert one.getvalue() == other.getvalue()
    one.seek(0)
    again, vector = KindModel.load(one), np.full(len(KINDS), 0.3, dtype=np.float32)
    assert again.classify("x", vector, "toy") == tiny().classify("x", vector, "toy")


def test_invalid_model_file_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="no model of kinds"):
        KindModel.load(io.BytesIO(b"nothing"))
    empty = io.BytesIO()
    np.savez(empty, kinds=np.array(KINDS))
    empty.seek(0)
    with pytest.raises(InvalidInput, match="no model of kinds"):
        KindModel.load(empty)
    fewer = io.BytesIO()
    np.savez(fewer, kinds=np.array(KINDS[:2]), alone_words=np.zeros(3))
    fewer.seek(0)
    with pytest.raises(InvalidInput, match="another version"):
        KindModel.load(fewer)


def test_quantised_weights_are_accurate() -> None:
    exact = np.random.default_rng(3).normal(size=(BUCKETS, len(KINDS)))
    kept = KindWeights.quantise(exact, np.zeros(len(KINDS)))
    assert np.abs(kept.words * kept.scale - exact).max() <= kept.scale.max() * 0.51


def test_classification_is_the_same_in_another_process() -> None:
    """Hashing must not depend on the process: PYTHONHASHSEED changes nothing."""
    code = (
        "from thinkback.recall.kind_classifier import classify_query;"
        "print(classify_query('Who said 你好 to Ann?', None, None))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{classify_query('Who said 你好 to Ann?', None, None)}\n"}


def test_numbers_are_equal_and_grams_are_unique() -> None:
    assert extract_grams("on May 6") == extract_grams("on May 17")
    found = extract_grams("do I do what I do")
    assert len(found) == len(set(found))
