"""The integrator (TiM 000, Eq. 7): a model joins the recalled memories with the question into one thought.

Optional. The thought takes the place of the memories in the prompt, so it may not say a word that they do not
(`faithful`); one that does is refused by name, and the memories themselves are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thinkback.errors import ModelError
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.prompts.facts import numbered
from thinkback.recall.compose import affordable
from thinkback.recall.faithful import added
from thinkback.text.clean import clean
from thinkback.types import Message, Recollection, Reply

MAX_TOKENS = 320

Count = Callable[[Sequence[Message], str, Reply | None], None]


@dataclass(frozen=True, slots=True)
class Integrated:
    """The one thought, or why there is none."""

    text: str = ""
    refused: str = ""


def integrate(llm: LLM, question: str, recollection: Recollection, count: Count) -> Integrated:
    """One thought of what was recalled; `count` is told what it cost."""
    from thinkback.prompts.integrate import IntegrateReply  # pydantic: not before it is needed

    if not llm.follows:
        return Integrated(refused=f"{llm.name} is too small to integrate memories")
    memories = affordable(recollection)
    listed = numbered(enumerate(memories, start=1))
    messages = [
        Message("user", load("integrate").render(memories=listed, question=" ".join(question.split())))
    ]
    reply: Reply | None = None
    try:
        reply = llm.complete(messages, schema=IntegrateReply.model_json_schema(), max_tokens=MAX_TOKENS)
        thought = " ".join(clean(IntegrateReply.model_validate_json(clean(reply.text)).thought).split())
    except (ModelError, ValueError) as error:  # pydantic's is a ValueError
        return Integrated(refused=f"no thought came: {_first_line(error)}")
    finally:
        count(messages, reply.text if reply else "", reply)
    if not thought:
        return Integrated(refused="the model found no memory that bears on the question")
    fault = added(thought, (*memories, question), plainly=True)
    return Integrated(refused=f"the thought was refused: {fault}") if fault else Integrated(thought)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
