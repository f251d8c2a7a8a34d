"""Builds the context of a turn: the messages given to the model, of limited size however long the talk is.

    instructions, wishes | summary, facts, relevant history, time | the last turns as said | the new message

The part that stays the same comes first. The layout answers the four ways in which models get lost in long
conversations (llm-dialogue-simulation): open questions come before solutions, only what matters for the
message is shown, only the last two turns are repeated, and excluded options and conclusions are stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from thinkback.language.safety.quarantine import redact, redact_side
from thinkback.language.tokens import count_tokens
from thinkback.prompts import escape_structure, format_facts, load_prompt, own_answer
from thinkback.recall.expansion import CONSTRAINT, MAX_LINKED
from thinkback.recall.pack import pack, stable_order, to_pack_item
from thinkback.recall.prompt_messages import FACT_OVERHEAD_TOKENS
from thinkback.session.conversation_type import max_memories, min_score
from thinkback.session.render import render_summary
from thinkback.session.rule_summarizer import ANSWER_PREVIEW_TOKENS
from thinkback.types import Candidate, ConversationType, Message, Recollection, Summary, Turn

MAX_RECALLED = 5  # memories
VERBATIM_TURNS = 2  # last turns that are repeated as they were said
RECENT_TURNS = 32  # turns used to measure how long the turns of this conversation are
WISHES_HEADING = "The user wants this in every answer; where two wishes disagree, the last one holds:"
_MEMORY_BUDGET_TURNS = 14  # memory may cost as much as this many average turns


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One named part of the context, with its approximate token count."""

    name: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """Everything the model is given for one turn."""

    parts: tuple[ContextPart, ...]
    messages: tuple[Message, ...]
    tokens: int
    talk: ConversationType = "small talk"

    def part(self, name: str) -> str:
        """Return the text of the part with this name, or an empty string."""
        return "\n".join(part.text for part in self.parts if part.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """Token limits of the context parts; the new message and the instructions are never cut."""

    memory_tokens: tuple[int, int] = (300, 1400)  # (minimum, maximum) for summary, facts and history
    recalled_share: float = 0.6  # the share of it for facts and history
    previous_tokens: int = 300  # the turns repeated as they were said
    side_tokens: int = 150  # one side of one of these turns


def narrow_recollection(recollection: Recollection, summary: Summary, message: str) -> Recollection:
    """Keep the recalled memories that the strategy of the conversation type allows."""
    limit = max_memories(summary.talk, message, MAX_RECALLED)
    threshold = min_score(summary.talk, message, [item.score.total for item in recollection])
    items = tuple(item for item in recollection if item.score.total >= threshold)[:limit]
    return replace(recollection, items=items, threshold=max(recollection.threshold, threshold))


def compose_context(
    message: str,
    summary: Summary,
    recalled: Iterable[Candidate],
    recent: Sequence[Turn],
    now: datetime,
    *,
    instructions: str = "",
    wishes: Sequence[str] = (),
    integrated: str = "",
    budget: ContextBudget | None = None,
) -> Context:
    """Build the context for a message.

    Args:
        message: The user's new message.
        summary: The summary of the session.
        recalled: The recalled memories, best first.
        recent: The last turns of the session, oldest first.
        now: The current time, shown to the model.
        instructions: Further system instructions of the application.
        wishes: The standing instructions of the user, newest last.
        integrated: One thought that replaces all recalled memories (`recall.integrate`).
        budget: Token limits of the parts.
    """
    limits = budget or ContextBudget()
    previous = _recent_messages(recent, limits)
    verbatim_ids = {turn.id for turn in recent[-VERBATIM_TURNS:]}
    memory_tokens = _memory_budget(recent, limits)
    fact_texts, history = [integrated] if integrated else [], list[str]()
    if not integrated:
        fact_texts, history = _split_recalled(
            message, recalled, verbatim_ids, int(memory_tokens * limits.recalled_share)
        )
    summary_tokens = memory_tokens - sum(map(count_tokens, (*fact_texts, *history)))
    other_context = "\n".join((message, *fact_texts, *history, *(item.content for item in previous)))
    summary_text = render_summary(summary, message, other_context, summary_tokens)
    instruction_text = load_prompt("thinkback.session", "converse").text.strip()
    if instructions.strip():
        instruction_text = f"{instruction_text}\n\n{instructions.strip()}"
    wishes_text = format_wishes(wishes)
    facts, history_text = format_facts(fact_texts), "\n".join(f"- {line}" for line in history)
    system = load_prompt("thinkback.session", "converse_state").render(
        instructions=instruction_text,
        wishes=f"\n{wishes_text}\n" if wishes_text else "",
        summary=summary_text,
        facts=facts,
        history=f"Said earlier:\n{history_text}\n" if history_text else "",
        now=f"{now:%A %Y-%m-%d %H:%M} UTC",
    )
    messages = (Message("system", system.strip()), *previous, Message("user", message))
    parts = (
        _make_part("instructions", instruction_text),
        _make_part("user instructions", wishes_text),
        _make_part("summary", summary_text),
        _make_part("history", history_text),
        _make_part("facts", facts),
        _make_part("previous", "\n".join(f"{item.role}: {item.content}" for item in previous)),
        _make_part("question", message),
    )
    return Context(parts, messages, sum(count_tokens(item.content) for item in messages), summary.talk)


def format_wishes(wishes: Sequence[str]) -> str:
    """The section with the standing instructions of the user; empty without any."""
    lines = [f"- {escape_structure(redact(' '.join(wish.split()), only_secrets=True))}" for wish in wishes]
    return "\n".join((WISHES_HEADING, *lines)) if lines else ""


def diff_contexts(before: Context, after: Context) -> list[str]:
    """Return the lines that were added (+) and removed (-) between two contexts, part by part."""
    lines: list[str] = []
    for part in after.parts:
        old, new = before.part(part.name).splitlines(), part.text.splitlines()
        lines += [f"- {part.name}: {line}" for line in old if line.strip() and line not in new]
        lines += [f"+ {part.name}: {line}" for line in new if line.strip() and line not in old]
    return lines


def _memory_budget(recent: Sequence[Turn], limits: ContextBudget) -> int:
    """Return the token budget for memory, proportional to the average length of the recent turns."""
    minimum, maximum = limits.memory_tokens
    query_tokens = sum(min(count_tokens(turn.query), limits.side_tokens) for turn in recent)
    response_tokens = sum(min(count_tokens(turn.response), ANSWER_PREVIEW_TOKENS) for turn in recent)
    return max(
        minimum, min(maximum, _MEMORY_BUDGET_TURNS * (query_tokens + response_tokens) // max(1, len(recent)))
    )


def _make_part(name: str, text: str) -> ContextPart:
    return ContextPart(name, text, count_tokens(text))


def _recent_messages(recent: Sequence[Turn], limits: ContextBudget) -> list[Message]:
    """Return the last turns as messages, with secrets redacted and long sides cut."""
    messages: list[Message] = []
    tokens_left = limits.previous_tokens
    for turn in reversed(recent[-VERBATIM_TURNS:]):
        query = redact_side(turn, "query", only_secrets=True)
        sides = [Message("user", truncate_to_tokens(query, limits.side_tokens) or "...")]
        if (answer := own_answer(redact_side(turn, "response", only_secrets=True))).strip():
            sides.append(Message("assistant", truncate_to_tokens(answer, limits.side_tokens)))
        cost = sum(count_tokens(side.content) for side in sides)
        if cost > tokens_left:
            break
        tokens_left -= cost
        messages = [*sides, *messages]
    return messages


def _split_recalled(
    message: str, recalled: Iterable[Candidate], verbatim_turns: set[int], max_tokens: int
) -> tuple[list[str], list[str]]:
    """Split recalled memories into facts (from thoughts) and history (from turns)."""
    items = [item for item in recalled if item.turn is None or item.turn.id not in verbatim_turns]
    constraints = [item for item in items if item.verdict == CONSTRAINT]
    others = [item for item in items if item.verdict != CONSTRAINT][: MAX_RECALLED + MAX_LINKED]
    texts = render_recalled(message, others, max_tokens)
    facts = [f"{' '.join(item.text.split())} (must be respected)" for item in constraints]
    facts += [recalled_text.text for recalled_text in texts if recalled_text.item.turn is None]
    history = [recalled_text.text for recalled_text in texts if recalled_text.item.turn is not None]
    return facts, history


class RecalledText(NamedTuple):
    """A recalled memory and its text in the context."""

    item: Candidate
    text: str


def render_recalled(message: str, items: Sequence[Candidate], max_tokens: int) -> list[RecalledText]:
    """Return the memories that fit into `max_tokens`, one line each, in a stable order."""
    packed = stable_order(
        pack(
            message,
            [to_pack_item(item, attributed=True) for item in items],
            max_tokens,
            overhead=FACT_OVERHEAD_TOKENS,
        )
    )
    texts = (
        entry.text if entry.item.is_thought else redact(" ".join(entry.text.split())) for entry in packed
    )
    return [RecalledText(items[entry.number], text) for entry, text in zip(packed, texts, strict=True)]


def truncate_to_tokens(text: str, max_tokens: int) -> str:
    """Return the longest beginning of a text that has at most `max_tokens` tokens."""
    if count_tokens(text) <= max_tokens:
        return text
    low, high = 0, min(len(text), max_tokens * 4)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
    return text[:low]
