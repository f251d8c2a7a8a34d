"""Embedding models behind an OpenAI-compatible `/embeddings` API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thinkback.embedders.hashing import normalise_rows
from thinkback.errors import BadReply
from thinkback.llms.openai_client import OpenAIClient, call_with_retries
from thinkback.llms.structured_output import to_valid_unicode

if TYPE_CHECKING:
    import numpy.typing as npt

BATCH_SIZE = 64
MAX_TEXT_CHARS = 6_000  # fits into the usual limit of 8,192 tokens, also in Chinese


class OpenAIEmbedder:
    """An embedding model of a server. Without `dim`, a test request finds the number of dimensions."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dim: int | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._client = OpenAIClient(model, base_url, api_key, timeout)
        self._max_retries = max_retries
        self._sleep = sleep
        self._dim = dim

    def __repr__(self) -> str:
        return f"<OpenAIEmbedder {self.name}>"

    def close(self) -> None:
        self._client.close()

    @property
    def dim(self) -> int:
        if self._dim is None:
            self._request_vectors(["dimension"])
        assert self._dim is not None  # noqa: S101 - `_request_vectors` has set it or raised
        return self._dim

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        non_blank = [i for i, text in enumerate(texts) if text and not text.isspace()]
        batches = [non_blank[i : i + BATCH_SIZE] for i in range(0, len(non_blank), BATCH_SIZE)]
        results = [
            (batch, self._request_vectors([to_valid_unicode(texts[i][:MAX_TEXT_CHARS]) for i in batch]))
            for batch in batches
        ]
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for batch, rows in results:
            out[batch] = rows
        return normalise_rows(out)

    def _request_vectors(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """One row per text, in the same order."""
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        response = call_with_retries(
            lambda: self._client.post_json("embeddings", body), retries=self._max_retries, sleep=self._sleep
        )
        try:
            data: list[Any] = sorted(response["data"], key=lambda item: item["index"])
            rows = np.array([item["embedding"] for item in data], dtype=np.float32)
        except (KeyError, TypeError, ValueError):
            rows = np.zeros((0, 0), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.size or not np.isfinite(rows).all():
            raise BadReply(
                f"{self._client.model_label} did not return one finite vector per text ({len(texts)} texts). "
                "Check that it is an embedding model."
            )
        if self._dim not in (None, rows.shape[1]):
            raise BadReply(
                f"{self._client.model_label} returned vectors of {rows.shape[1]} dimensions instead of "
                f"{self._dim}. Check the model's name and `dim`."
            )
        self._dim = rows.shape[1]
        return rows
