"""The model files of the two message classifiers."""

from __future__ import annotations

import io

import numpy as np
import pytest

from thinkback.errors import InvalidInput
from thinkback.recall.message_classifier import MessageModel
from thinkback.recall.question_classifier import QuestionModel
from thinkback.recall.request_classifier import RequestModel

MODELS = (QuestionModel.shipped(), RequestModel.shipped())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.SUBJECT)
def test_a_saved_model_scores_alike_and_has_the_same_bytes(model: MessageModel) -> None:
    files = io.BytesIO(), io.BytesIO()
    model.save(files[0])
    files[0].seek(0)
    loaded = type(model).load(files[0])
    loaded.save(files[1])
    assert files[0].getvalue() == files[1].getvalue()
    for message in ("rent?", "write a poem"):
        assert loaded.probability(message) == model.probability(message)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.SUBJECT)
def test_a_damaged_or_foreign_file_is_refused(model: MessageModel) -> None:
    with pytest.raises(InvalidInput, match=f"no model of {model.SUBJECT}"):
        type(model).load(io.BytesIO(b"not a model"))
    other = io.BytesIO()
    np.savez(
        other,
        words=np.zeros(8, dtype=np.int8),
        scale=np.float32(1),
        dense=np.zeros(2),
        network=np.zeros(3, dtype=np.float32),
    )
    other.seek(0)
    with pytest.raises(InvalidInput, match=f"model of {model.SUBJECT} was made for another version"):
        type(model).load(other)
