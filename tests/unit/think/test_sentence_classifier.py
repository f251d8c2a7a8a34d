"""The sentence model: the shipped file, its weights by embedder, and how it is saved."""

from __future__ import annotations

import io
from importlib.resources import files

import numpy as np
import pytest

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.embedders.use import UniversalSentenceEncoder
from thinkback.errors import InvalidInput
from thinkback.think.sentence_classifier import MODEL_FILE, SentenceModel
from thinkback.think.sentence_features import DENSE_FEATURES, last_question, split_pieces

MAX_FILE_BYTES = 2_000_000


LASTING = (
    "I live in Ghent.", "I'm a dentist.", "im olga and i work in a bank", "my husband is a fireman",
    "I have three goats.", "I don't eat gluten.", "My daughter plays the harp.", "I'm allergic to latex.",
    "我住在大连", "我对花粉过敏", "我儿子今年上高三", "我在医院上班", "我妹妹在深圳当老师", "我不吃辣",
)  # fmt: skip
PASSING = (
    "I'm so hungry right now", "we are still thinking", "I like that joke", "my god, what a day",
    "I have another question", "I'm glad you asked", "ok I will read it later", "thanks, that was quick",
    "我有点困了", "我再看看吧", "我觉得挺好", "哈哈你真逗", "我先去洗澡", "这个我喜欢",
)  # fmt: skip


def test_the_shipped_file_is_small_and_has_weights_for_the_sentence_encoder() -> None:
    assert len(files("thinkback.think").joinpath("models", MODEL_FILE).read_bytes()) <= MAX_FILE_BYTES
    assert set(SentenceModel.shipped().keep) == {SentenceModel.TEXT_ALONE, UniversalSentenceEncoder.name}


@pytest.mark.parametrize("encoder", [None, UniversalSentenceEncoder()], ids=["text alone", "use"])
def test_plain_statements_are_told_from_passing_remarks(encoder: UniversalSentenceEncoder | None) -> None:
    def share(sentences: tuple[str, ...]) -> float:
        model = SentenceModel.shipped()
        kept = [model.score(split_pieces(text), encoder)[0].kept for text in sentences]
        return sum(kept) / len(kept)

    assert share(LASTING) >= 0.85
    assert share(PASSING) <= 0.15


@pytest.mark.parametrize(
    "line",
    [
        "stock = {'belt 118': 3, 'pads': 22}",
        "Error in lm.fit(x, y): NA in 'x' of my 3 columns",
        "for (int i = 0; i < mine(4); i++) {",
    ],
)
def test_pasted_code_is_never_kept(line: str) -> None:
    assert SentenceModel.shipped().score(split_pieces(line))[0].probability == 0.0


def test_save_and_load_give_the_same_bytes_and_scores() -> None:
    model = SentenceModel.shipped()
    first, second = io.BytesIO(), io.BytesIO()
    model.save(first)
    loaded = SentenceModel.load(io.BytesIO(first.getvalue()))
    loaded.save(second)
    assert first.getvalue() == second.getvalue()
    pieces = split_pieces("I live in Ghent with my two cats. Any good films on?")
    assert loaded.score(pieces) == model.score(pieces)


def test_vectors_of_a_known_embedder_are_used() -> None:
    embedder = HashingEmbedder(16)
    zeros = np.zeros((SentenceModel.BUCKETS, 1)), np.zeros((DENSE_FEATURES, 1))
    for sign in (1.0, -1.0):
        vectors = np.zeros((32, 1))
        pieces = split_pieces("my brother keeps bees")
        vectors[:, 0] = sign * SentenceModel.vectors(pieces, embedder)[0]
        model = SentenceModel.shipped().with_weights(
            embedder.name, SentenceModel.weights(*zeros, vectors), threshold=0.5
        )
        assert [each.kept for each in model.score(pieces, embedder)] == [sign > 0]


def test_questions_and_suppositions_are_never_kept() -> None:
    for text in ("Is my sister Ana in Lisbon?", "if I lived in Oslo I'd ski", "要是我住在杭州就好了"):
        assert [each.probability for each in SentenceModel.shipped().score(split_pieces(text))] == [0.0]


def test_the_question_of_a_reply() -> None:
    assert last_question("Nice. How old is she?") == "How old is she?"
    assert last_question("真好！她几岁了？") == "她几岁了？"
    assert last_question("How old is she? I wonder.") == ""


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04"])
def test_a_file_that_is_no_model_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="sentence model"):
        SentenceModel.load(io.BytesIO(content))
