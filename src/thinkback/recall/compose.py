"""What the model is given (TiM 001, Eq. 7-8): recent turns, the query, and "Fact #k: s r o" lines.

What does not change from turn to turn comes first, so that a provider's cache of prompt beginnings hits: the
instructions, then the facts, oldest first (`pack.steady`), then the time. A draft that contradicts a fact is
asked for again with the conflict named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from thinkback import prompts
from thinkback.prompts.facts import NOTHING, facts
from thinkback.recall.check import Conflict
from thinkback.recall.pack import pack, piece_of, steady
from thinkback.recall.past import marked
from thinkback.text.safety.trust import redact
from thinkback.types import Candidate, Message, Recollection, Turn

FACTS_BUDGET = 1200  # tokens for recalled memories,
FACT = 4  # of which "Fact #k: " and the line's end take so many each
FRAGMENT = 600  # characters of one side of a recent turn
SMALL_FACTS = 3  # memories a very small model can hold,
SMALL_SHARE = 0.6  # and how near to the best one they must score: any other it mistakes for the answer


def compose(
    message: str, recollection: Recollection, recent: Sequence[Turn], now: datetime, integrated: str = ""
) -> list[Message]:
    """The system prompt with the facts, or the one thought they were integrated into; the session's recent
    turns; and the new message.
    """
    told = [integrated] if integrated else affordable(recollection)
    system = prompts.load("answer").render(now=f"{now:%A %Y-%m-%d %H:%M} UTC", facts=facts(told))
    messages = [Message("system", system)]
    for turn in recent:
        messages.append(Message("user", _history(turn.query) or "..."))
        if turn.response:
            messages.append(Message("assistant", _history(turn.response)))
    messages.append(Message("user", message))
    return messages


def compose_small(message: str, recollection: Recollection) -> list[Message]:
    """The same for a very small model: few words, few facts, no history, or it repeats what it is given."""
    items = [item for item in recollection if item.thought] or list(recollection)  # a turn says too much
    enough = max((item.score.total for item in items), default=0.0) * SMALL_SHARE
    best = [item for item in items if item.score.total >= enough][:SMALL_FACTS]
    lines = [_line(item) for item in best]
    system = prompts.load("answer_small").render(facts="\n".join(lines) or NOTHING)
    return [Message("system", system), Message("user", message)]


def _line(item: Candidate) -> str:
    """A memory on one line; what is cut off a long turn must not be that it is past."""
    if item.turn is None:
        return " ".join(item.text.split())[:FRAGMENT]
    return marked(" ".join(item.turn.text.split())[:FRAGMENT], item.past)


def ask_again(
    asked: Sequence[Message], said: str, fragment: str, conflicts: Sequence[Conflict]
) -> list[Message]:
    """The same question with the rejected draft, the conflict named, and what the user has read already.

    Roles take turns, as most chat templates demand: the draft is the assistant's, its correction the user's.
    """
    shown = prompts.load("answer_go_on").render(said=" ".join(said.split())) if said.strip() else ""
    wrong = prompts.load("answer_again").render(
        draft=" ".join(fragment.split())[:FRAGMENT],
        facts=facts(dict.fromkeys(conflict.thought.sentence for conflict in conflicts)),
        shown=shown,
    )
    return [*asked, Message("assistant", said + fragment), Message("user", wrong)]


def _history(said: str) -> str:
    """What was just said, without its secrets. An order still counts in its own conversation."""
    return redact(said, only_secrets=True)[:FRAGMENT]


def affordable(recollection: Recollection, budget: int = FACTS_BUDGET) -> list[str]:
    """The memories in words, as many as the budget holds, in an order that lasts."""
    pieces = [piece_of(item, told=True) for item in recollection]
    return [each.text for each in steady(pack(recollection.query, pieces, budget, each=FACT))]
