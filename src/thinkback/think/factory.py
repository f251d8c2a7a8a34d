"""Which generator thinks: the rules, a model, or both together."""

from __future__ import annotations

from typing import Literal

from thinkback.errors import InvalidInput
from thinkback.protocols import LLM
from thinkback.think.combined import CombinedGenerator
from thinkback.think.consolidate import LLMConsolidator
from thinkback.think.generator import ThoughtGenerator
from thinkback.think.llm_generator import LLMGenerator
from thinkback.think.rule_generator import RuleGenerator

ThinkMode = Literal["auto", "rules", "llm"]


def create_generator(think: ThinkMode | ThoughtGenerator, llm: LLM | None) -> ThoughtGenerator:
    """`auto`: the rules, joined by a model that says that it `extracts`; `llm` is the papers' way."""
    if not isinstance(think, str):
        return think
    if think == "llm":
        if llm is None:
            raise InvalidInput("think='llm' needs a language model: pass llm=, or think='rules'")
        return LLMGenerator(llm)
    if think not in ("auto", "rules"):
        raise InvalidInput(f"think={think!r}: choose auto, rules or llm")
    if think == "auto" and llm is not None and llm.extracts:
        return CombinedGenerator(LLMGenerator(llm))
    return RuleGenerator()


def create_llm_consolidator(think: ThinkMode | ThoughtGenerator, llm: LLM | None) -> LLMConsolidator | None:
    """The model that proposes how to put groups in order, where it is asked to think at all."""
    if llm is None or think == "rules" or not (llm.extracts or think == "llm"):
        return None
    return LLMConsolidator(llm)
