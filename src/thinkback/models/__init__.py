"""Language models and embedders by name: turns a spec such as `local:smollm2` into an adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.ports import LLM, Embedder

EMBEDDERS = ("minilm", "wordllama", "hashing", "openai:MODEL")
LLMS = ("local:NAME_OR_PATH", "openai:MODEL")


def embedder(spec: str = "minilm", *, base_url: str | None = None, api_key: str | None = None) -> Embedder:
    """The embedder a spec names; `base_url` and `api_key` are for `openai:MODEL` only."""
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        from thinkback.models.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(rest, base_url=base_url, api_key=api_key)
    if spec == "minilm":
        from thinkback.models.bilingual import Bilingual
        from thinkback.models.minilm import MiniLM

        return Bilingual(MiniLM())
    if spec == "wordllama":
        from thinkback.models.bilingual import Bilingual
        from thinkback.models.wordllama import StaticWords

        return Bilingual(StaticWords())
    if spec == "hashing":
        from thinkback.models.hashing import Hashing

        return Hashing()
    raise InvalidInput(f"No embedder is called {spec!r}. Use one of: {', '.join(EMBEDDERS)}.")


def llm(spec: str, *, base_url: str | None = None, api_key: str | None = None) -> LLM:
    """The language model a spec names; `base_url` and `api_key` are for `openai:MODEL` only."""
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        from thinkback.models.openai_llm import OpenAILLM

        return OpenAILLM(rest, base_url=base_url, api_key=api_key)
    if kind == "local" and rest:
        from thinkback.models.local import LocalLLM

        return LocalLLM(rest)
    raise InvalidInput(f"No language model is called {spec!r}. Use one of: {', '.join(LLMS)}.")
