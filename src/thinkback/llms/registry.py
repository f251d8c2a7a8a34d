"""Creates a language model from a spec such as `local:smollm2` or `openai:gpt-4o-mini`.

A local model may have a LoRA adapter: `local:qwen-coder-1.5b+thinker`, `local:base.gguf+my-adapter.gguf`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from thinkback.llms.local import LocalLLM
    from thinkback.protocols import LLM


LLM_SPECS = ("local:NAME_OR_PATH", "local:NAME_OR_PATH+ADAPTER", "openai:MODEL")


def create_llm(spec: str, *, base_url: str | None = None, api_key: str | None = None) -> LLM:
    """Create the language model that a spec names; `base_url` and `api_key` apply to `openai:MODEL` only.

    Raises:
        InvalidInput: The spec has none of the forms in `LLM_SPECS`.
        ModelUnavailable: The local model or its adapter is missing, or the adapter does not belong to it.
        MissingExtra: The library for this kind of model is not installed.
    """
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        from thinkback.llms.openai import OpenAILLM

        return OpenAILLM(rest, base_url=base_url, api_key=api_key)
    if kind == "local" and rest:
        from thinkback.llms.local import LocalLLM

        model, plus, adapter = rest.rpartition("+")
        if plus and model and adapter and not Path(rest).expanduser().is_file():
            return LocalLLM(model, adapter=adapter)
        return LocalLLM(rest)
    raise InvalidInput(f"Unknown language model {spec!r}. Use one of: {', '.join(LLM_SPECS)}.")


def create_local_thinker() -> LocalLLM | None:
    """The local model with the adapter that finds updates, if both are there; loaded by the first call."""
    from thinkback.llms.adapters import THINKER, THINKER_BASE, has_usable_thinker
    from thinkback.llms.local import LocalLLM

    if not has_usable_thinker():
        return None
    try:
        return LocalLLM(THINKER_BASE, adapter=THINKER)
    except ModelUnavailable:  # the model was not pulled
        return None
