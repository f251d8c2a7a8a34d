"""Creates a language model from a spec such as `local:smollm2` or `openai:gpt-4o-mini`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from thinkback.protocols import LLM


LLM_SPECS = ("local:NAME_OR_PATH", "openai:MODEL")


def create_llm(spec: str, *, base_url: str | None = None, api_key: str | None = None) -> LLM:
    """Create the language model that a spec names; `base_url` and `api_key` apply to `openai:MODEL` only.

    Raises:
        InvalidInput: The spec has none of the forms in `LLM_SPECS`.
        ModelUnavailable: The local model file is missing.
        MissingExtra: The library for this kind of model is not installed.
    """
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        from thinkback.llms.openai import OpenAILLM

        return OpenAILLM(rest, base_url=base_url, api_key=api_key)
    if kind == "local" and rest:
        from thinkback.llms.local import LocalLLM

        return LocalLLM(rest)
    raise InvalidInput(f"Unknown language model {spec!r}. Use one of: {', '.join(LLM_SPECS)}.")
