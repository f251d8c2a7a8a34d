"""The context of one turn: the bounded list of messages given to the model, and the parts it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from thinkback.language.safety.quarantine import redact
from thinkback.language.tokens import count_tokens
from thinkback.prompts import format_facts as numbered
from thinkback.prompts import load_prompt
from thinkback.recall.compose import FACT_OVERHEAD_TOKENS
from thinkback.recall.pack import pack, stable_order, to_pack_item
from thinkback.session.conversation_type import max_memories, min_score
from thinkback.session.render import render_summary
from thinkback.session.rule_reader import ANSWER_PREVIEW_TOKENS
from thinkback.types import (
    Candidate,
    ConversationType,
    Message,
    Recollection,
    Summary,
    Turn,
)


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of what a model is given, as it stands there, and about how many tokens it costs."""

    name: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """All that a model is given at one turn."""

    parts: tuple[ContextPart, ...]
    messages: tuple[Message, ...]
    tokens: int
    talk: ConversationType = "small talk"

    def part(self, name: str) -> str:
        """The text of one part, empty where there is none."""
        return "\n".join(part.text for part in self.parts if part.name == name)


MAX_RECALLED = 5
VERBATIM_TURNS = 2  # turns that are given as they were said
RECENT_TURNS = 32  # turns by which the length of this talk is measured
_MEMORY_BUDGET_TURNS = 14  # turns of this talk are what memory may cost


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """Tokens for each part; the new message and one's own instructions are not cut."""

    memory_tokens: tuple[int, int] = (300, 1400)  # summary, facts and history together: at least, at most
    recalled_share: float = 0.6  # the share of it that facts and history may take
    previous_tokens: int = 300  # the last turns
    side_tokens: int = 150  # one side of one of them


def narrow_recollection(found: Recollection, summary: Summary, message: str) -> Recollection:
    """The recalled memories that this talk wants: as many, and as near, as its strategy says."""
    most = max_memories(summary.talk, message, MAX_RECALLED)
    least = min_score(summary.talk, message, [item.score.total for item in found])
    kept = tuple(item for item in found if item.score.total >= least)[:most]
    return replace(found, items=kept, threshold=max(found.threshold, least))


def compose_context(
    message: str,
    summary: Summary,
    recalled: Iterable[Candidate],
    recent: Sequence[Turn],
    now: datetime,
    *,
    instructions: str = "",
    integrated: str = "",
    budget: ContextBudget | None = None,
) -> Context:
    """All that the model is given for `message`, part by part and as messages.

    An `integrated` thought stands for all that was recalled.
    """
    limits = budget or ContextBudget()
    spoken = _recent_messages(recent, limits)
    spoken_of = {turn.id for turn in recent[-VERBATIM_TURNS:]}
    room = _memory_budget(recent, limits)
    told, history = [integrated] if integrated else [], list[str]()
    if not integrated:
        told, history = _split_recalled(message, recalled, spoken_of, int(room * limits.recalled_share))
    left = room - sum(map(count_tokens, (*told, *history)))
    rest = "\n".join((message, *told, *history, *(each.content for each in spoken)))
    state = render_summary(summary, message, rest, left)
    standing = load_prompt("converse").text.strip()
    if instructions.strip():
        standing = f"{standing}\n\n{instructions.strip()}"
    facts, then = numbered(told), "\n".join(f"- {line}" for line in history)
    system = load_prompt("converse_state").render(
        instructions=standing,
        summary=state,
        facts=facts,
        history=f"Said earlier:\n{then}\n" if then else "",
        now=f"{now:%A %Y-%m-%d %H:%M} UTC",
    )
    messages = (Message("system", system.strip()), *spoken, Message("user", message))
    parts = (
        _make_part("instructions", standing),
        _make_part("summary", state),
        _make_part("history", then),
        _make_part("facts", facts),
        _make_part("previous", "\n".join(f"{each.role}: {each.content}" for each in spoken)),
        _make_part("question", message),
    )
    return Context(parts, messages, sum(count_tokens(each.content) for each in messages), summary.talk)


def diff_contexts(before: Context, after: Context) -> list[str]:
    """What came (+) and what went (-) between two contexts, line by line, part by part."""
    lines: list[str] = []
    for part in after.parts:
        old, new = before.part(part.name).splitlines(), part.text.splitlines()
        lines += [f"- {part.name}: {line}" for line in old if line.strip() and line not in new]
        lines += [f"+ {part.name}: {line}" for line in new if line.strip() and line not in old]
    return lines


def _memory_budget(recent: Sequence[Turn], limits: ContextBudget) -> int:
    """Tokens for memory: a talk of short turns is given a short one, so that none outgrows what was said."""
    least, most = limits.memory_tokens
    asked = sum(min(count_tokens(turn.query), limits.side_tokens) for turn in recent)
    answered = sum(min(count_tokens(turn.response), ANSWER_PREVIEW_TOKENS) for turn in recent)
    return max(least, min(most, _MEMORY_BUDGET_TURNS * (asked + answered) // max(1, len(recent))))


def _make_part(name: str, text: str) -> ContextPart:
    return ContextPart(name, text, count_tokens(text))


def _recent_messages(recent: Sequence[Turn], limits: ContextBudget) -> list[Message]:
    """The last turns as they were said, without their secrets; an order still counts in its own talk."""
    spoken: list[Message] = []
    left = limits.previous_tokens
    for turn in reversed(recent[-VERBATIM_TURNS:]):
        sides = [
            Message(
                "user", truncate_to_tokens(redact(turn.query, only_secrets=True), limits.side_tokens) or "..."
            )
        ]
        if turn.response:
            said = truncate_to_tokens(redact(turn.response, only_secrets=True), limits.side_tokens)
            sides.append(Message("assistant", said))
        cost = sum(count_tokens(side.content) for side in sides)
        if cost > left:
            break
        left -= cost
        spoken = [*sides, *spoken]
    return spoken


def _split_recalled(
    message: str, found: Iterable[Candidate], verbatim_turns: set[int], max_tokens: int
) -> tuple[list[str], list[str]]:
    """Thoughts as facts, raw turns as history."""
    items = [item for item in found if item.turn is None or item.turn.id not in verbatim_turns][:MAX_RECALLED]
    told = render_recalled(message, items, max_tokens)
    facts = [each.text for each in told if each.item.turn is None]
    return facts, [each.text for each in told if each.item.turn is not None]


class RecalledText(NamedTuple):
    """A recalled memory, and the words in which a model is told it."""

    item: Candidate
    text: str


def render_recalled(message: str, items: Sequence[Candidate], max_tokens: int) -> list[RecalledText]:
    """What fits into so many tokens, each on one line, in an order that lasts from turn to turn."""
    fits = stable_order(
        pack(
            message,
            [to_pack_item(item, attributed=True) for item in items],
            max_tokens,
            overhead=FACT_OVERHEAD_TOKENS,
        )
    )
    texts = (each.text if each.item.is_thought else redact(" ".join(each.text.split())) for each in fits)
    return [RecalledText(items[each.number], text) for each, text in zip(fits, texts, strict=True)]


def truncate_to_tokens(text: str, max_tokens: int) -> str:
    """As much of a text as costs at most `most` tokens."""
    if count_tokens(text) <= max_tokens:
        return text
    low, high = 0, min(len(text), max_tokens * 4)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
    return text[:low]
