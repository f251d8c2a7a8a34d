"""LLMReviser: a model tells which held thought a line that no rule has read brings up to date.

An update that is not understood leaves a stale thought behind. To extract a thought from any words is hard
for a small model; to choose among a few shown ones is not. What it chooses becomes a draft with the same
subject and relation, so the guard of design decision 7 holds by construction; and only if the new value
stands in the line letter by letter, is of the old one's kind, and a second question confirms the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from thinkback.errors import BadReply
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.prompts.facts import numbered
from thinkback.text.clean import clean
from thinkback.think.lines import Line
from thinkback.think.relations import relation_of
from thinkback.think.resolve import object_key
from thinkback.think.sentence import compose, language_of
from thinkback.types import Draft, Message, Source, Thought, Turn

if TYPE_CHECKING:
    from pydantic import BaseModel

    Asked = TypeVar("Asked", bound=BaseModel)

SHOWN = 6  # thoughts a model chooses among
MAX_TOKENS = 64


def revisable(thought: Thought) -> bool:
    """Whether another value would take the place of this one."""
    return relation_of(thought.relation).single and not thought.negated and len(thought.objects) == 1


@dataclass(frozen=True, slots=True)
class LLMReviser:
    """Two short questions a line at most; a reply that cannot be read is a BadReply."""

    llm: LLM

    @property
    def name(self) -> str:
        return f"{self.llm.name} revise@{load('revise').version}"

    def revised(self, turn: Turn, lines: Sequence[Line], held: Sequence[Thought]) -> list[Draft]:
        """The drafts by which these lines bring held thoughts, the nearest first, up to date."""
        facts = [thought for thought in held if revisable(thought)][:SHOWN]
        if not facts:
            return []
        found = [draft for line in lines if (draft := self._revised(turn, line, facts))]
        return list({(draft.subject, draft.relation): draft for draft in found}.values())

    def _revised(self, turn: Turn, line: Line, facts: Sequence[Thought]) -> Draft | None:
        from thinkback.prompts.revise import ConfirmReply, ReviseReply, schema  # pydantic: only if needed

        message = " ".join(line.text.split())
        listed = numbered((number, fact.sentence) for number, fact in enumerate(facts, start=1))
        prompt = load("revise").render(facts=listed, message=message)
        reply = self._ask(prompt, schema(len(facts)), ReviseReply)
        new = " ".join(clean(reply.new).split()).strip(" .,。，")
        if not 1 <= reply.fact <= len(facts) or not _plausible(new, facts[reply.fact - 1], message):
            return None
        old = facts[reply.fact - 1]
        sentence = compose(old.subject, old.relation, (new,), lang=language_of(turn.query))
        asked = load("confirm").render(message=message, sentence=sentence)
        if self._ask(asked, ConfirmReply.model_json_schema(), ConfirmReply).answer == "no":
            return None
        return Draft(
            subject=old.subject,
            relation=old.relation,
            objects=(new,),
            sentence=sentence,
            kind=old.kind,
            sources=(Source(turn.id, turn.asker, line.side, line.start, line.end),),
            maker=self.name,
        )

    def _ask(self, prompt: str, form: dict[str, Any], asked: type[Asked]) -> Asked:
        from pydantic import ValidationError

        reply = self.llm.complete([Message("user", prompt)], schema=form, max_tokens=MAX_TOKENS)
        try:
            return asked.model_validate_json(clean(reply.text))
        except ValidationError as error:
            raise BadReply("cannot use the reply about what a message changes") from error


def _plausible(new: str, old: Thought, message: str) -> bool:
    """Whether a value is another one, stands in the message, and is a number where the old one is."""
    digits = [any(character.isdigit() for character in value) for value in (new, old.object)]
    said = bool(new) and new.casefold() in message.casefold() and len(new) < max(40, len(message) // 2)
    return said and digits[0] == digits[1] and object_key(new) != object_key(old.object)
