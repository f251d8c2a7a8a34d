"""Embedding servers: batching, dimensions, invalid responses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.fake_openai import DIM, FakeOpenAI

from thinkback.embedders.openai import BATCH_SIZE, MAX_TEXT_CHARS, OpenAIEmbedder
from thinkback.errors import BadReply, ModelError, ModelUnavailable


@pytest.fixture
def upstream() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def model(upstream: FakeOpenAI) -> Iterator[OpenAIEmbedder]:
    remote = OpenAIEmbedder("e", base_url=upstream.url, api_key="sk-hidden", sleep=lambda seconds: None)
    yield remote
    remote.close()


def test_rows_keep_the_order_of_the_texts_over_many_requests(
    upstream: FakeOpenAI, model: OpenAIEmbedder
) -> None:
    texts = [f"word{i}" for i in range(BATCH_SIZE + 3)]
    vectors = model.embed(texts)
    assert len(upstream.seen) == 2
    assert np.array_equal(vectors[BATCH_SIZE], model.embed([texts[BATCH_SIZE]])[0])
    assert model.dim == DIM


def test_blank_texts_are_not_sent_and_long_ones_are_cut(upstream: FakeOpenAI, model: OpenAIEmbedder) -> None:
    model.embed(["", "x" * 50_000, " "])
    assert [len(text) for text in upstream.seen[0].body["input"]] == [MAX_TEXT_CHARS]


def test_dimension_is_requested_once(upstream: FakeOpenAI, model: OpenAIEmbedder) -> None:
    assert model.dim == model.dim == DIM
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("fault", ["wrong-schema", "empty", "no-choice", "malformed"])
def test_wrong_vectors_are_a_bad_reply(upstream: FakeOpenAI, model: OpenAIEmbedder, fault: str) -> None:
    upstream.faults.append(fault)
    with pytest.raises(BadReply):
        model.embed(["one", "two"])


def test_vectors_of_wrong_shape_are_a_bad_reply(
    model: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ragged = {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}
    for answer in ({}, {"data": 1}, {"data": [{"embedding": [1.0]}]}, ragged):
        monkeypatch.setattr(model._client, "post_json", lambda resource, body, given=answer: given)
        with pytest.raises(BadReply):
            model.embed(["one", "two"])


def test_failures_are_retried_and_then_raised(upstream: FakeOpenAI, model: OpenAIEmbedder) -> None:
    upstream.faults.append("500")
    assert model.embed(["one"]).shape == (1, DIM)
    upstream.faults.extend(["reset"] * 3)
    with pytest.raises(ModelUnavailable):
        model.embed(["one"])


def test_unexpected_dimension_is_a_bad_reply(upstream: FakeOpenAI) -> None:
    remote = OpenAIEmbedder("e", base_url=upstream.url, dim=3)
    assert "sk-" not in repr(remote)
    with pytest.raises(ModelError, match="16 dimensions instead of 3"):
        remote.embed(["one"])
    remote.close()
