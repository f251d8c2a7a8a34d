"""Recalled memories in words, for a model: "Fact #k: ..." lines (TiM 001, Eq. 7-8), and what is asked again.

All that an able model is given at a turn is composed in `working/context.py`; a very small one gets less. A
draft that contradicts a fact is asked for again with the conflict named.
"""

from __future__ import annotations

from collections.abc import Sequence

from thinkback import prompts
from thinkback.prompts.facts import NOTHING, facts
from thinkback.recall.check import Conflict
from thinkback.recall.pack import pack, piece_of, steady
from thinkback.recall.past import marked
from thinkback.types import Candidate, Message, Recollection

FACTS_BUDGET = 1200  # tokens for recalled memories,
FACT = 4  # of which "Fact #k: " and the line's end take so many each
FRAGMENT = 600  # characters of one memory, or of a draft
SMALL_FACTS = 3  # memories a very small model can hold,
SMALL_SHARE = 0.6  # and how near to the best one they must score: any other it mistakes for the answer


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


def affordable(recollection: Recollection, budget: int = FACTS_BUDGET) -> list[str]:
    """The memories in words, as many as the budget holds, in an order that lasts."""
    pieces = [piece_of(item, told=True) for item in recollection]
    return [each.text for each in steady(pack(recollection.query, pieces, budget, each=FACT))]
