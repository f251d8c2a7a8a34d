"""Reading turns for their summary with a model: it is asked what they add, and its reply is a proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.errors import BadReply
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.text.safety.trust import redact
from thinkback.types import Excluded, Message, Summary, Turn
from thinkback.working.items import one_line
from thinkback.working.show import notes
from thinkback.working.types import Proposal, Revision

MAX_TOKENS = 1024
LONGEST_REPLY = 64_000  # characters: a model that says more has lost its way
_SIDE = 400  # tokens of one side of a turn
_NOTES = 1200  # tokens of the summary


@dataclass(frozen=True, slots=True)
class SummaryReader:
    """One call a reading; what cannot be used is a BadReply, and the summary stays as it is."""

    llm: LLM
    instructions: str = ""

    @property
    def name(self) -> str:
        return f"{self.llm.name} summarise@{load('summarise').version}"

    def read(self, turns: Sequence[Turn], summary: Summary) -> Proposal:
        from thinkback.prompts.summarise import schema  # pydantic: not before it is needed

        prompt = load("summarise").render(
            instructions=f"{self.instructions.strip()}\n" if self.instructions.strip() else "",
            notes=notes(summary, _NOTES),
            turns="\n".join(_spoken(turn) for turn in turns),
        )
        reply = self.llm.complete([Message("user", prompt)], schema=schema(), max_tokens=MAX_TOKENS)
        return parsed(reply.text)


def parsed(text: str) -> Proposal:
    """A reply as a proposal; BadReply where it is not one."""
    from pydantic import ValidationError

    from thinkback.prompts.summarise import SummaryReply

    if len(text) > LONGEST_REPLY:
        raise BadReply(f"The summary was answered by {len(text):,} characters. Use another model.")
    try:
        reply = SummaryReply.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the reply"
        raise BadReply(f"The summary's update cannot be used: {where}: {first['msg']}.") from error
    return Proposal(
        talk=reply.talk,
        topic=reply.topic,
        conclusion=reply.conclusion,
        needs=tuple(reply.needs),
        constraints=tuple(reply.constraints),
        excluded=tuple(Excluded(each.option, each.reason) for each in reply.excluded),
        facts=tuple(reply.facts),
        to_clarify=tuple(reply.to_clarify),
        reopened=tuple(reply.reopened),
        settled=tuple(reply.settled),
        revisions=tuple(
            Revision(field=each.field, old=each.old, new=each.new, reason=each.reason)
            for each in reply.revised
        ),
    )


def _spoken(turn: Turn) -> str:
    sides = (("User", turn.query), ("Assistant", turn.response))
    return "\n".join(f"{who}: {one_line(redact(words), _SIDE)}" for who, words in sides if words.strip())
