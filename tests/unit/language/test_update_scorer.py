"""The probability that a newer sentence is an update of an older one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from thinkback.errors import InvalidInput
from thinkback.language.update_scorer import (
    LABEL_THRESHOLD,
    SentencePair,
    UpdateModel,
    read_question,
    read_sentence,
    score_update,
)

PAIRS = Path(__file__).parents[3] / "scenarios" / "pairs"


def test_an_update_scores_higher_than_another_topic() -> None:
    for old, update, other in (
        ("my rent is 900 a month", "they raised my rent to 1050 a month", "my cousin plays the cello"),
        ("the surgery is booked for 4 May", "the surgery got moved to 18 May", "the cat had kittens"),
        ("我每天吃二甲双胍0.5克", "医生把二甲双胍改成1克了", "外孙女上三年级"),
    ):
        assert score_update(old, update, days=60) > 2 * score_update(old, other, days=60)


def test_sentences_that_both_answer_the_question_rival_each_other() -> None:
    for old, new, asked, other in (
        ("I weigh 81 kilos these days", "the scale says 77 kilos", "How much do I weigh?", "Who is Tom?"),
        ("我体重八十一公斤", "今天称了七十七公斤", "我现在多重？", "我姐姐叫什么？"),
    ):
        assert score_update(old, new, question=asked, days=60) > score_update(
            old, new, question=other, days=60
        )


def test_sentences_without_a_common_word_are_no_updates() -> None:
    """Recall does not compare them (`shares_word`)."""
    texts = [
        text
        for name in ("updates", "compatible")
        for line in (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for text in (json.loads(line)["first"], json.loads(line)["then"])
    ]
    read = [read_sentence(text) for text in texts]
    scores = [
        score_update(old, new, days=30)
        for old, new in zip(read, read[1:] + read[:1], strict=True)
        if not old.shares_word(new)
    ]
    assert len(scores) > 100
    assert max(scores) < LABEL_THRESHOLD


def test_it_is_a_probability_for_any_text() -> None:
    for old, new in (("", ""), ("a" * 10_000, "b"), ("\ud800", "😀"), ("same words", "same words")):
        assert 0 <= score_update(old, new, days=-1) <= 1


def test_sentences_that_were_read_before_score_the_same() -> None:
    old, new, question = "my rent is 900", "the rent went up to 1050", "What rent do I pay now?"
    expected = UpdateModel.shipped().score(SentencePair(old, new, days=40, question=question))
    read = read_sentence(old), read_sentence(new)
    assert score_update(*read, question=read_question(question), days=40) == expected
    assert score_update(old, new, question=question, days=40) == expected


def test_features_and_weights_give_the_score() -> None:
    model = UpdateModel.shipped()
    pair = SentencePair("我体重八十一公斤", "今天称了七十七公斤", 30, question="我现在多重？")
    slots, values, dense = model.features(pair)
    weights = model.by_embedder[UpdateModel.TEXT_ALONE]
    total = float((weights.words[slots] * values).sum()) * weights.scale + float(np.dot(dense, weights.dense))
    assert model.score(pair) == pytest.approx(1 / (1 + np.exp(-total)), abs=1e-12)


def test_the_cosine_counts_only_for_a_known_embedder() -> None:
    model = UpdateModel.shipped()
    known = next(name for name in model.by_embedder if name != UpdateModel.TEXT_ALONE)
    alone = model.score(SentencePair("I run on Sundays", "I swim on Sundays"))
    assert model.score(SentencePair("I run on Sundays", "I swim on Sundays", 30, 0.9, "another")) == alone
    low, high = (model.score(SentencePair("my flat", "a new place", 30, c, known)) for c in (0.1, 0.9))
    assert low < high


def test_save_and_load_give_the_same_bytes() -> None:
    first, second = io.BytesIO(), io.BytesIO()
    UpdateModel.shipped().save(first)
    UpdateModel.load(io.BytesIO(first.getvalue())).save(second)
    assert first.getvalue() == second.getvalue()


def test_a_file_that_is_no_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="update model"):
        UpdateModel.load(io.BytesIO(b"nothing"))
    other = io.BytesIO()
    np.savez(other, version=np.array(99))
    with pytest.raises(InvalidInput):
        UpdateModel.load(io.BytesIO(other.getvalue()))
