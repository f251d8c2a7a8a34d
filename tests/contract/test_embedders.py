"""Contract of all embedders: unit vectors that depend only on the text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.fake_openai import FakeOpenAI

from thinkback.embedders.openai import OpenAIEmbedder
from thinkback.embedders.registry import create_embedder
from thinkback.protocols import Embedder

NAMES = ["minilm", "wordllama", "hashing", "openai"]
ODD = [
    "",
    " \n\t ",
    "\u3000",
    "a\x00b",
    "lone \ud800 surrogate",
    "paired \ud83d\ude00 surrogates",
    "😀😀😀",
    "مرحبا بالعالم",
    "שלום",
    "的了是",
    "!!!",
    "\ufeff",
    "x" * 3000,
]


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param != "openai":
        yield create_embedder(request.param)
        return
    with FakeOpenAI() as upstream:
        remote = OpenAIEmbedder("fake-embedding", base_url=upstream.url)
        yield remote
        remote.close()


def test_one_unit_row_per_text(model: Embedder) -> None:
    vectors = model.embed(["Anna lives in Paris.", "The weather is fine.", "北京的天气很好"])
    assert vectors.shape == (3, model.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(model: Embedder) -> None:
    assert model.embed([]).shape == (0, model.dim)


def test_vector_does_not_depend_on_the_batch(model: Embedder) -> None:
    texts = [
        "Anna",
        "Anna has a dog called Rex and lives in Paris. " * 8,
        "我喜欢吃苹果 and apples",
        "",
        "ok then",
    ]
    alone = [model.embed([text])[0].tobytes() for text in texts]
    together = [row.tobytes() for row in model.embed(texts)]
    backwards = [row.tobytes() for row in model.embed(texts[::-1])][::-1]
    again = [row.tobytes() for row in model.embed(texts * 3)][5:10]
    assert alone == together == backwards == again


def test_unusual_texts_have_unit_vectors(model: Embedder) -> None:
    vectors = model.embed(ODD)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_blank_text_is_the_first_unit_vector(model: Embedder) -> None:
    for vector in model.embed(["", "  \n", "\u3000"]):
        assert vector[0] == 1.0
        assert not vector[1:].any()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["word ", "我喜欢北京", "x"])
def test_long_text_is_one_vector(model: Embedder, unit: str) -> None:
    vector = model.embed([unit * (1_000_000 // len(unit))])
    assert vector.shape == (1, model.dim)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_similar_english_texts_are_closer(model: Embedder) -> None:
    a, b, c = model.embed(
        ["my dog likes long walks", "long walks please my dog", "interest rates rose in autumn"]
    )
    assert a @ b > a @ c


def test_similar_chinese_texts_are_closer(model: Embedder) -> None:
    if model.name.startswith("openai"):
        pytest.skip("what a server knows of Chinese is the server's affair")
    pairs = [
        ("我妹妹住在上海", "妹妹搬到上海去了"),
        ("他喜欢打篮球", "打篮球是他的爱好"),
        ("昨天我去医院看牙", "医院的牙医很好"),
        ("我养了一只猫叫咪咪", "咪咪是我的猫"),
    ]
    left = model.embed([a for a, _ in pairs])
    right = model.embed([b for _, b in pairs])
    assert (np.argmax(left @ right.T, axis=1) == np.arange(len(pairs))).all()


def test_embedder_is_thread_safe(model: Embedder) -> None:
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"sentence number {i} about Anna" for i in range(8)]
    expected = model.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: model.embed([text])[0], texts))
    assert np.array_equal(np.stack(rows), expected)


def test_names_identify_vector_spaces() -> None:
    with FakeOpenAI() as upstream:
        remote = create_embedder("openai:fake-embedding", base_url=upstream.url)
        names = [create_embedder(name).name for name in NAMES[:3]] + [remote.name]
        assert len(set(names)) == len(NAMES)
        remote.close()  # type: ignore[attr-defined]
