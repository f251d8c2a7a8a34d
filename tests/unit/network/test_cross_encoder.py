"""The cross-encoder: independent scores, unusual texts, and files that are missing or changed."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from thinkback.errors import ModelUnavailable
from thinkback.network import cross_encoder
from thinkback.network.cross_encoder import (
    VECTOR_WIDTH,
    CrossEncoder,
    find_cross_encoder,
    get_cross_encoder,
)

pytestmark = pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
MEMORIES = ["Anna started at the bakery on monday", "Anna moved to Leeds", "我弟弟在上海当老师"]


@pytest.fixture
def empty_cache() -> Iterator[None]:
    find_cross_encoder.cache_clear()
    yield
    find_cross_encoder.cache_clear()


def package_folder() -> Path:
    spec = importlib.util.find_spec(cross_encoder.PACKAGE)
    assert spec is not None
    return Path((spec.submodule_search_locations or [""])[0])


def test_the_installed_file_is_the_expected_one() -> None:
    model = (package_folder() / cross_encoder.MODEL_FILE).read_bytes()
    assert hashlib.sha256(model).hexdigest() == cross_encoder.MODEL_SHA256


def test_a_score_does_not_depend_on_the_other_pairs() -> None:
    encoder = get_cross_encoder()
    together = encoder.answer_scores("what's my sister's job?", MEMORIES)
    alone = [encoder.answer_scores("what's my sister's job?", [memory])[0] for memory in MEMORIES]
    assert together == alone
    assert together == encoder.answer_scores("what's my sister's job?", MEMORIES[::-1])[::-1]
    pairs = [(MEMORIES[0], MEMORIES[1]), (MEMORIES[1], MEMORIES[0])]
    assert encoder.outdated_scores(pairs) == [encoder.outdated_scores([pair])[0] for pair in pairs]


def test_answers_score_higher_than_other_memories_in_both_languages() -> None:
    encoder = get_cross_encoder()
    job, move, _ = encoder.answer_scores("what does Anna do for work?", MEMORIES)
    assert job > move
    *others, teacher = encoder.answer_scores("我弟弟是做什么工作的？", MEMORIES)
    assert teacher > max(others)


def test_the_newer_text_outdates_only_what_it_replaces() -> None:
    changed, unrelated = get_cross_encoder().outdated_scores(
        [
            ("i cycle to work every morning", "bike got stolen, taking the bus to work now"),
            ("my aunt lives in Porto", "bike got stolen, taking the bus to work now"),
        ]
    )
    assert changed > unrelated


@pytest.mark.parametrize(
    "text", ["", " ", "a" * 100_000, "很" * 5_000, "\ud800 broken", "\x00", "🦜" * 2_000, "</s><s>"]
)
def test_unusual_texts_have_finite_scores(text: str) -> None:
    encoder = get_cross_encoder()
    scores = encoder.answer_scores(text, [text, "I live in Lyon."])
    scores += encoder.outdated_scores([(text, "I live in Lyon."), ("I live in Lyon.", text)])
    assert all(map(isfinite, scores))


@pytest.mark.parametrize("text", ["", "where does anna live", "很" * 5_000, "\ud800 broken"])
def test_a_single_text_has_a_finite_vector_that_is_the_same_each_time(text: str) -> None:
    encoder = get_cross_encoder()
    vector = encoder.vector(text)
    assert vector.shape == (VECTOR_WIDTH,)
    assert np.isfinite(vector).all()
    assert np.array_equal(vector, encoder.vector(text))


def test_what_follows_the_limit_is_not_read() -> None:
    encoder = get_cross_encoder()
    start = "we talked for a while. " * 60
    first, second = encoder.answer_scores("where do I live?", [start, start + "I live in Lyon."])
    assert first == second


def test_no_pairs_have_no_scores() -> None:
    assert get_cross_encoder().answer_scores("where?", []) == []


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    shutil.copy(package_folder() / cross_encoder.TOKENIZER_FILE, tmp_path)
    model = bytearray((package_folder() / cross_encoder.MODEL_FILE).read_bytes())
    model[-1] ^= 1
    (tmp_path / cross_encoder.MODEL_FILE).write_bytes(model)
    with pytest.raises(ModelUnavailable, match="has another SHA-256"):
        CrossEncoder(tmp_path).answer_scores("where?", ["here"])


@pytest.mark.usefixtures("empty_cache")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "PACKAGE", "no_such_package")
    assert find_cross_encoder() is None
    with pytest.raises(ModelUnavailable, match="pip install thinkback-reranker"):
        get_cross_encoder()


def test_a_file_of_another_version_leaves_the_chat_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / cross_encoder.MODEL_FILE).write_bytes(b"another version")
    monkeypatch.setattr(cross_encoder, "find_cross_encoder", lambda: CrossEncoder(tmp_path))
    cross_encoder.load_cross_encoder.cache_clear()
    assert cross_encoder.load_cross_encoder() is None
    assert "Reinstall it" in caplog.text
    cross_encoder.load_cross_encoder.cache_clear()
