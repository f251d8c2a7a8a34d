"""Messages for the language model, built from recalled memories.

The full prompt for a capable model is composed in `session/context.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thinkback.errors import ModelError
from thinkback.language.writing_systems import clean_text
from thinkback.prompts import (
    NO_FACTS,
    escape_structure,
    format_facts,
    format_numbered,
    load_prompt,
    own_answer,
)
from thinkback.protocols import LLM
from thinkback.recall.consistency import Conflict
from thinkback.recall.grounding import find_ungrounded
from thinkback.recall.outdated import mark_outdated
from thinkback.recall.pack import pack, stable_order, to_pack_item
from thinkback.types import Candidate, Message, Recollection, Reply

FACTS_BUDGET_TOKENS = 1200  # for recalled memories
FACT_OVERHEAD_TOKENS = 4  # for "Fact #k: " and the end of the line
MAX_FRAGMENT_CHARS = 600  # of one memory or draft
SMALL_MODEL_MAX_FACTS = 3
SMALL_MODEL_MIN_RELATIVE_SCORE = 0.6  # of the best score: a small model takes any fact for the answer
MAX_INTEGRATION_TOKENS = 320


def compose_for_small_model(
    message: str, recollection: Recollection, wishes: Sequence[str] = ()
) -> list[Message]:
    """Messages for a very small model: few facts and no history, or it repeats what it is given.

    `wishes` are the standing instructions of the user.
    """
    items = [item for item in recollection if item.thought] or list(recollection)  # turns are too long
    min_score = max((item.score.total for item in items), default=0.0) * SMALL_MODEL_MIN_RELATIVE_SCORE
    best = [item for item in items if item.score.total >= min_score][:SMALL_MODEL_MAX_FACTS]
    lines = [_format_line(item) for item in best]
    system = load_prompt("thinkback.recall", "answer_small").render(facts="\n".join(lines) or NO_FACTS)
    if wishes:
        system = "\n".join((system.rstrip(), "The user wishes:", *wishes))
    return [Message("system", system), Message("user", message)]


def _format_line(item: Candidate) -> str:
    """A memory on one line, in the user's words. A long turn is cut before the note that it is outdated."""
    if item.turn is None:
        return " ".join(item.text.split())[:MAX_FRAGMENT_CHARS]
    turn = item.turn
    answer = own_answer(turn.response) if item.with_response or not turn.query else ""
    words = escape_structure("\n".join(side for side in (turn.query, answer) if side))
    return mark_outdated(" ".join(words.split())[:MAX_FRAGMENT_CHARS], item.outdated)


def compose_retry(
    messages: Sequence[Message], sent: str, rejected: str, conflicts: Sequence[Conflict]
) -> list[Message]:
    """The messages with the rejected draft and the conflicts appended.

    User and assistant alternate, as most chat templates require.
    """
    continuation = (
        load_prompt("thinkback.recall", "answer_go_on").render(said=" ".join(sent.split()))
        if sent.strip()
        else ""
    )
    correction = load_prompt("thinkback.recall", "answer_again").render(
        draft=" ".join(rejected.split())[:MAX_FRAGMENT_CHARS],
        facts=format_facts(
            dict.fromkeys(escape_structure(conflict.thought.sentence) for conflict in conflicts)
        ),
        shown=continuation,
    )
    return [*messages, Message("assistant", sent + rejected), Message("user", correction)]


def facts_within_budget(recollection: Recollection, budget: int = FACTS_BUDGET_TOKENS) -> list[str]:
    """The texts of the recalled memories, as many as fit into the budget, in a stable order."""
    items = [to_pack_item(item, attributed=True) for item in recollection]
    return [
        packed.text
        for packed in stable_order(pack(recollection.query, items, budget, overhead=FACT_OVERHEAD_TOKENS))
    ]


RecordCall = Callable[[Sequence[Message], str, Reply | None], None]


@dataclass(frozen=True, slots=True)
class IntegrationResult:
    """The integrated thought, or the reason why there is none."""

    text: str = ""
    refusal: str = ""


def integrate_memories(
    llm: LLM, question: str, recollection: Recollection, record_call: RecordCall
) -> IntegrationResult:
    """Let the model combine the recalled memories into one thought (TiM (EMNLP), Eq. 7).

    The thought replaces the memories in the prompt, so it is refused if it says anything they do not say.
    """
    from thinkback.recall.prompts import IntegrateReply  # imports pydantic

    if not llm.follows:
        return IntegrationResult(refusal=f"{llm.name} is too small to integrate memories")
    memories = facts_within_budget(recollection)
    listed = format_numbered(enumerate(memories, start=1))
    messages = [
        Message(
            "user",
            load_prompt("thinkback.recall", "integrate").render(
                memories=listed, question=" ".join(question.split())
            ),
        )
    ]
    reply: Reply | None = None
    try:
        reply = llm.complete(
            messages, schema=IntegrateReply.model_json_schema(), max_tokens=MAX_INTEGRATION_TOKENS
        )
        thought = " ".join(
            clean_text(IntegrateReply.model_validate_json(clean_text(reply.text)).thought).split()
        )
    except (ModelError, ValueError) as error:  # ValueError includes pydantic's ValidationError
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
