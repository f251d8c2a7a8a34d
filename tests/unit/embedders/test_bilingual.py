"""The bilingual embedder: two encoders side by side in one vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from thinkback.embedders.bilingual import MIXED_CHINESE_SHARE, BilingualEmbedder
from thinkback.embedders.hashing import HashingEmbedder, cjk_share


class CountingEmbedder(HashingEmbedder):
    """Counts the texts it embeds."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.embedded += texts
        return super().embed(texts)


@pytest.fixture
def halves() -> tuple[CountingEmbedder, CountingEmbedder]:
    return CountingEmbedder(16), CountingEmbedder(24)


def test_text_in_one_script_is_embedded_once_by_its_model(
    halves: tuple[CountingEmbedder, CountingEmbedder],
) -> None:
    english, chinese = halves
    vectors = BilingualEmbedder(english, chinese).embed(["I live in Lyon.", "我住在里昂。"])
    assert (english.embedded, chinese.embedded) == (["I live in Lyon."], ["我住在里昂。"])
    assert not vectors[0, 16:].any()
    assert not vectors[1, :16].any()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_mixed_text_is_embedded_by_both(halves: tuple[CountingEmbedder, CountingEmbedder]) -> None:
    (vector,) = BilingualEmbedder(*halves).embed(["我在 Berlin 学 data engineering"])
    assert np.isclose(np.linalg.norm(vector[16:]) ** 2, MIXED_CHINESE_SHARE, atol=1e-5)
    assert np.isclose(np.linalg.norm(vector), 1)


def test_cosines_within_a_language_are_those_of_its_model(
    halves: tuple[CountingEmbedder, CountingEmbedder],
) -> None:
    texts = ["I like tea.", "Tea is what I like."]
    vectors = BilingualEmbedder(*halves).embed(texts)
    alone = HashingEmbedder(16).embed(texts)
    assert np.isclose(vectors[0] @ vectors[1], alone[0] @ alone[1], atol=1e-5)


@pytest.mark.parametrize(("text", "share"), [("", 0.0), ("tea", 0.0), ("茶", 1.0), ("喝茶 tea", 0.5)])
def test_share_of_chinese(text: str, share: float) -> None:
    assert cjk_share(text) == share
