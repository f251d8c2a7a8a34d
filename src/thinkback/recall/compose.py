"""What the model is given (TiM 001, Eq. 7-8): recent turns, the query, and "Fact #k: s r o" lines."""

from __future__ import annotations

from collections.abc import Sequence

from thinkback import prompts
from thinkback.text.tokens import count_tokens
from thinkback.types import Message, Recollection, Turn

FACTS_BUDGET = 1200  # tokens for recalled memories
FRAGMENT = 600  # characters of one raw turn


def compose(message: str, recollection: Recollection, recent: Sequence[Turn]) -> list[Message]:
    """The system prompt with the facts, the session's recent turns, and the new message."""
    messages = [Message("system", prompts.load("answer").render(facts=facts(recollection)))]
    for turn in recent:
        messages.append(Message("user", turn.query[:FRAGMENT] or "..."))
        if turn.response:
            messages.append(Message("assistant", turn.response[:FRAGMENT]))
    messages.append(Message("user", message))
    return messages


def facts(recollection: Recollection) -> str:
    """One line a memory, best first, within the budget; every line is data, on one line, never a heading."""
    lines: list[str] = []
    left = FACTS_BUDGET
    for number, item in enumerate(recollection, start=1):
        if item.thought is not None:
            text = item.thought.sentence
        else:
            assert item.turn is not None  # noqa: S101 - a candidate is one or the other
            said = [f"{item.turn.asker}: {item.turn.query}", f"{item.turn.answerer}: {item.turn.response}"]
            text = " / ".join(side for side in said if not side.endswith(": "))[:FRAGMENT]
            text = f"on {item.turn.at:%Y-%m-%d} {text}"
        line = f"Fact #{number}: {' '.join(text.split())}"
        left -= count_tokens(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)
