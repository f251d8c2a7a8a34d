"""WordLlama, a table of static word vectors: much faster than MiniLM and slightly less accurate."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.embedders.hashing import MAX_TEXT_CHARS, normalise_rows
from thinkback.errors import MissingExtra, ModelUnavailable
from thinkback.llms.structured_output import to_valid_unicode

if TYPE_CHECKING:
    import numpy.typing as npt


class WordLlamaEmbedder:
    """256 dimensions, English. The model is loaded by the first call; results do not depend on the batch."""

    name = "wordllama-l2-256"
    dim = 256

    def __init__(self) -> None:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise MissingExtra("The embedder 'wordllama'", "fast")
        self._folder = Path(spec.origin).parent
        self._lock = Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        model = self._load()
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            if text and not text.isspace():
                row[:] = model.embed([to_valid_unicode(text[:MAX_TEXT_CHARS])])[0]
        return normalise_rows(out)

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                with _preserve_root_logger():
                    from wordllama import WordLlama

                    try:
                        self._model = WordLlama.load(cache_dir=self._folder, disable_download=True)
                    except (FileNotFoundError, ValueError) as error:
                        raise ModelUnavailable(
                            f"The wordllama package is installed without its weights ({error}). "
                            "Run: pip install --force-reinstall 'thinkback[fast]'"
                        ) from error
            return self._model


@contextmanager
def _preserve_root_logger() -> Iterator[None]:
    """Undo the changes that importing wordllama makes to the application's root logger."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
