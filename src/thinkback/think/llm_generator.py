"""LLMGenerator: the papers' prompt asks a model for a turn's thoughts (TiM 001, Eq. 4, Figure 10).

The part of the prompt that every turn shares comes first: servers that keep the prefix of the last prompt
(llama.cpp, vLLM, OpenAI) read it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.errors import BadReply
from thinkback.language.yes_no_answers import find_yes_no_answer
from thinkback.prompts import load_prompt
from thinkback.protocols import LLM
from thinkback.think.prompt_lines import PromptLine, max_thoughts_in, render_exchange, statement_lines
from thinkback.types import Message, ThoughtDraft, Turn

MAX_REPLY_TOKENS = 1024
_EMPTY_REPLY_HINT = 'If they state no fact in their own words, reply {"thoughts":[]}'


@dataclass(frozen=True, slots=True)
class LLMGenerator:
    """Facts only from what was said in the turn; the reply passes one strict parser."""

    llm: LLM

    @property
    def name(self) -> str:
        return f"{self.llm.name} generate@{load_prompt('generate').version}"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        """The drafts of one turn; raises BadReply where the model's answer cannot be used."""
        return self.generate_for_lines(turn, statement_lines(turn), recent)

    def generate_for_lines(
        self, turn: Turn, lines_to_read: Sequence[PromptLine], recent: Sequence[Turn] = ()
    ) -> list[ThoughtDraft]:
        """The drafts of these lines; without any, the model is not asked.

        A reply that cannot be used is asked for once more: at temperature 0 the same question would bring the
        same answer, so the model is told what was wrong with it.
        """
        from thinkback.think.prompts.replies import generate_schema  # pydantic: not before it is needed
        from thinkback.think.reply_parser import parse_reply

        exchange, lines = render_exchange(turn, lines_to_read)
        if not lines:
            return []
        answering = find_yes_no_answer(turn, recent)
        if answering is not None:
            exchange = f"Assistant, just before:\n- {answering.question}\n{exchange}"
        messages = [Message("user", load_prompt("generate").render(exchange=exchange))]
        form = generate_schema(len(lines), max_thoughts=sum(max_thoughts_in(line) for line in lines))
        first = self.llm.complete(messages, schema=form, max_tokens=MAX_REPLY_TOKENS).text
        try:
            return parse_reply(first, turn, lines, answering)
        except BadReply as bad:
            told = f"{bad}. Look at the numbered lines again. {_EMPTY_REPLY_HINT}"
        again = [*messages, Message("assistant", first), Message("user", told)]
        return parse_reply(
            self.llm.complete(again, schema=form, max_tokens=MAX_REPLY_TOKENS).text, turn, lines, answering
        )
