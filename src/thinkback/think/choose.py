"""Which generator thinks: the rules, a model, or both together."""

from __future__ import annotations

from typing import Literal

from thinkback.errors import InvalidInput
from thinkback.ports import LLM
from thinkback.think.generate import Generator
from thinkback.think.joint import JointGenerator
from thinkback.think.llm_generator import LLMGenerator
from thinkback.think.llm_organiser import LLMOrganiser
from thinkback.think.rules import RuleGenerator

Think = Literal["auto", "rules", "llm"]


def generator_for(think: Think | Generator, llm: LLM | None) -> Generator:
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
        return JointGenerator(LLMGenerator(llm))
    return RuleGenerator()


def organiser_for(think: Think | Generator, llm: LLM | None) -> LLMOrganiser | None:
    """The model that proposes how to put groups in order, where it is asked to think at all."""
    if llm is None or think == "rules" or not (llm.extracts or think == "llm"):
        return None
    return LLMOrganiser(llm)
