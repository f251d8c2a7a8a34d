"""LLMGenerator: the papers' prompt asks a model for a turn's thoughts (TiM 001, Eq. 4, Figure 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.types import Draft, Message, Turn

LONGEST_SIDE = 12_000
"""Characters of each side a model is shown; what lies beyond is found in the bank."""

MAX_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class LLMGenerator:
    """Facts only from what was said in the turn; the reply passes one strict parser."""

    llm: LLM

    @property
    def name(self) -> str:
        return f"{self.llm.name} generate@{load('generate').version}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[Draft]:
        """The drafts of one turn, all that the model is shown; BadReply where its answer cannot be used."""
        from thinkback.prompts.generate import GenerateReply  # pydantic: not before it is needed
        from thinkback.think.parse import parse

        if not turn.text.strip():
            return []
        prompt = load("generate").render(
            time=turn.at.strftime("%A %Y-%m-%d"),
            question=turn.query[:LONGEST_SIDE],
            response=turn.response[:LONGEST_SIDE],
        )
        reply = self.llm.complete(
            [Message("user", prompt)], schema=GenerateReply.model_json_schema(), max_tokens=MAX_TOKENS
        )
        return parse(reply.text, turn)
