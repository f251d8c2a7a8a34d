"""Chooses the reader of turns: the model where there is one that can, otherwise the extractive reader."""

from __future__ import annotations

from typing import Literal

from thinkback.errors import InvalidInput
from thinkback.protocols import LLM, Embedder
from thinkback.think.contract import TurnReader
from thinkback.think.organise import LLMConsolidator
from thinkback.think.reader_extractive import ExtractiveReader
from thinkback.think.reader_llm import LLMReader

ThinkMode = Literal["auto", "extractive", "llm"]


def create_reader(think: ThinkMode | TurnReader, llm: LLM | None, embedder: Embedder) -> TurnReader:
    """Create the reader for a think mode; a reader passed instead of a mode is returned as it is.

    - `auto`: the model if it is able to read facts (`llm.extracts`), else extractive
    - `extractive`: no model; sentences that carry facts are kept as said
    - `llm`: the model, whatever its size

    Raises:
        InvalidInput: the mode is unknown, or `llm` was chosen without a model.
    """
    if not isinstance(think, str):
        return think
    if think == "llm":
        if llm is None:
            raise InvalidInput("think='llm' needs a language model: pass llm=, or think='extractive'")
        return LLMReader(llm)
    if think not in ("auto", "extractive"):
        raise InvalidInput(f"think={think!r}: choose auto, extractive or llm")
    if think == "auto" and llm is not None and llm.extracts:
        return LLMReader(llm)
    return ExtractiveReader(embedder)


def create_llm_consolidator(
    think: ThinkMode | TurnReader, llm: LLM | None, *, organise_groups: bool
) -> LLMConsolidator | None:
    """The model side of consolidation; None unless the preset asks for it and a model thinks."""
    if not organise_groups or llm is None or think == "extractive" or not (llm.extracts or think == "llm"):
        return None
    return LLMConsolidator(llm)
