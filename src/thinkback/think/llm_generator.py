"""LLMGenerator: the papers' prompt asks a model for a turn's thoughts (TiM 001, Eq. 4, Figure 10).

The part of the prompt that every turn shares comes first: servers that keep the prefix of the last prompt
(llama.cpp, vLLM, OpenAI) read it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.errors import BadReply
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.think.affirm import affirmed
from thinkback.think.lines import Line, may_hold, shown, stated
from thinkback.types import Draft, Message, Turn

MAX_TOKENS = 1024
_OTHERWISE = 'If they state no fact in their own words, reply {"thoughts":[]}'


@dataclass(frozen=True, slots=True)
class LLMGenerator:
    """Facts only from what was said in the turn; the reply passes one strict parser."""

    llm: LLM

    @property
    def name(self) -> str:
        return f"{self.llm.name} generate@{load('generate').version}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[Draft]:
        """The drafts of one turn; raises BadReply where the model's answer cannot be used."""
        return self.about(turn, stated(turn), recent)

    def about(self, turn: Turn, asked: Sequence[Line], recent: Sequence[Turn] = ()) -> list[Draft]:
        """The drafts of these lines; without any, the model is not asked.

        A reply that cannot be used is asked for once more: at temperature 0 the same question would bring the
        same answer, so the model is told what was wrong with it.
        """
        from thinkback.prompts.generate import schema  # pydantic: not before it is needed
        from thinkback.think.parse import parse

        exchange, lines = shown(turn, asked)
        if not lines:
            return []
        answering = affirmed(turn, recent)
        if answering is not None:
            exchange = f"Assistant, just before:\n- {answering.question}\n{exchange}"
        messages = [Message("user", load("generate").render(exchange=exchange))]
        form = schema(len(lines), most=sum(may_hold(line) for line in lines))
        first = self.llm.complete(messages, schema=form, max_tokens=MAX_TOKENS).text
        try:
            return parse(first, turn, lines, answering)
        except BadReply as bad:
            told = f"{bad}. Look at the numbered lines again. {_OTHERWISE}"
        again = [*messages, Message("assistant", first), Message("user", told)]
        return parse(
            self.llm.complete(again, schema=form, max_tokens=MAX_TOKENS).text, turn, lines, answering
        )
