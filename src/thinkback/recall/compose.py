"""Messages for the language model, built from recalled memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thinkback import prompts
from thinkback.errors import ModelError
from thinkback.language.scripts import clean_text
from thinkback.prompts import NO_FACTS, format_facts, format_numbered, load_prompt
from thinkback.protocols import LLM
from thinkback.recall.consistency import Conflict
from thinkback.recall.grounding import find_ungrounded
from thinkback.recall.outdated import mark_outdated
from thinkback.recall.pack import pack, stable_order, to_pack_item
from thinkback.types import Candidate, Message, Recollection, Reply

FACTS_BUDGET_TOKENS = 1200  # tokens for recalled memories,
FACT_OVERHEAD_TOKENS = 4  # of which "Fact #k: " and the line's end take so many each
MAX_FRAGMENT_CHARS = 600  # characters of one memory, or of a draft
SMALL_MODEL_MAX_FACTS = 3  # memories a very small model can hold,
SMALL_MODEL_MIN_RELATIVE_SCORE = (
    0.6  # and how near to the best one they must score: any other it mistakes for the answer
)


def compose_for_small_model(message: str, recollection: Recollection) -> list[Message]:
    """The same for a very small model: few words, few facts, no history, or it repeats what it is given."""
    items = [item for item in recollection if item.thought] or list(recollection)  # a turn says too much
    enough = max((item.score.total for item in items), default=0.0) * SMALL_MODEL_MIN_RELATIVE_SCORE
    best = [item for item in items if item.score.total >= enough][:SMALL_MODEL_MAX_FACTS]
    lines = [_format_line(item) for item in best]
    system = prompts.load_prompt("answer_small").render(facts="\n".join(lines) or NO_FACTS)
    return [Message("system", system), Message("user", message)]


def _format_line(item: Candidate) -> str:
    """A memory on one line; what is cut off a long turn must not be that it is past."""
    if item.turn is None:
        return " ".join(item.text.split())[:MAX_FRAGMENT_CHARS]
    return mark_outdated(" ".join(item.turn.text.split())[:MAX_FRAGMENT_CHARS], item.outdated)


def compose_retry(
    messages: Sequence[Message], said: str, fragment: str, conflicts: Sequence[Conflict]
) -> list[Message]:
    """The same question with the rejected draft, the conflict named, and what the user has read already.

    Roles take turns, as most chat templates demand: the draft is the assistant's, its correction the user's.
    """
    shown = prompts.load_prompt("answer_go_on").render(said=" ".join(said.split())) if said.strip() else ""
    wrong = prompts.load_prompt("answer_again").render(
        draft=" ".join(fragment.split())[:MAX_FRAGMENT_CHARS],
        facts=format_facts(dict.fromkeys(conflict.thought.sentence for conflict in conflicts)),
        shown=shown,
    )
    return [*messages, Message("assistant", said + fragment), Message("user", wrong)]


def facts_within_budget(recollection: Recollection, budget: int = FACTS_BUDGET_TOKENS) -> list[str]:
    """The memories in words, as many as the budget holds, in an order that lasts."""
    pieces = [to_pack_item(item, attributed=True) for item in recollection]
    return [
        each.text
        for each in stable_order(pack(recollection.query, pieces, budget, overhead=FACT_OVERHEAD_TOKENS))
    ]


MAX_INTEGRATION_TOKENS = 320

RecordCall = Callable[[Sequence[Message], str, Reply | None], None]


@dataclass(frozen=True, slots=True)
class IntegrationResult:
    """The one thought, or why there is none."""

    text: str = ""
    refusal: str = ""


def integrate_memories(
    llm: LLM, question: str, recollection: Recollection, record_call: RecordCall
) -> IntegrationResult:
    """One thought of what was recalled; `count` is told what it cost."""
    from thinkback.recall.prompts.replies import IntegrateReply  # pydantic: not before it is needed

    if not llm.follows:
        return IntegrationResult(refusal=f"{llm.name} is too small to integrate memories")
    memories = facts_within_budget(recollection)
    listed = format_numbered(enumerate(memories, start=1))
    messages = [
        Message("user", load_prompt("integrate").render(memories=listed, question=" ".join(question.split())))
    ]
    reply: Reply | None = None
    try:
        reply = llm.complete(
            messages, schema=IntegrateReply.model_json_schema(), max_tokens=MAX_INTEGRATION_TOKENS
        )
        thought = " ".join(
            clean_text(IntegrateReply.model_validate_json(clean_text(reply.text)).thought).split()
        )
    except (ModelError, ValueError) as error:  # pydantic's is a ValueError
        return IntegrationResult(refusal=f"no thought came: {_first_line(error)}")
    finally:
        record_call(messages, reply.text if reply else "", reply)
    if not thought:
        return IntegrationResult(refusal="the model found no memory that bears on the question")
    fault = find_ungrounded(thought, (*memories, question), strict=True)
    return (
        IntegrationResult(refusal=f"the thought was refused: {fault}")
        if fault
        else IntegrationResult(thought)
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
