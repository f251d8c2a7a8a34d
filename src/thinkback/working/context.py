"""What a model is given at a turn: bounded whatever the length of the conversation, the stable part first.

    instructions | summary, facts, relevant history, now | the last words of both sides | the new message

The four ways in which models get lost (seed 003) are met here: open questions stand before any solution,
only what matters for the message is shown, no turn is replayed but the last two, and what is excluded or
concluded is stated so that it need not be said again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from thinkback.prompts import load
from thinkback.prompts.facts import facts as numbered
from thinkback.recall.compose import FACT
from thinkback.recall.pack import pack, piece_of, steady
from thinkback.text.safety.trust import redact
from thinkback.text.tokens import count_tokens
from thinkback.types import Candidate, Message, Recollection, Summary, Turn
from thinkback.working.by_rules import GIST
from thinkback.working.kind_of_talk import how_many, threshold
from thinkback.working.show import shown
from thinkback.working.types import Context, Part

MOST_RECALLED = 5
SPOKEN = 2  # turns that are given as they were said
RECENT_TURNS = 32  # turns by which the length of this talk is measured
_AS_MANY = 14  # turns of this talk are what memory may cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens for each part; the new message and one's own instructions are not cut."""

    memory: tuple[int, int] = (300, 1400)  # summary, facts and history together: at least, at most
    recalled: float = 0.6  # the share of it that facts and history may take
    previous: int = 300  # the last turns
    side: int = 150  # one side of one of them


def narrowed(found: Recollection, summary: Summary, message: str) -> Recollection:
    """The recalled memories that this talk wants: as many, and as near, as its strategy says."""
    most = how_many(summary.talk, message, MOST_RECALLED)
    least = threshold(summary.talk, message, [item.score.total for item in found])
    kept = tuple(item for item in found if item.score.total >= least)[:most]
    return replace(found, items=kept, threshold=max(found.threshold, least))


def compose(
    message: str,
    summary: Summary,
    recalled: Iterable[Candidate],
    recent: Sequence[Turn],
    now: datetime,
    *,
    instructions: str = "",
    integrated: str = "",
    budget: Budget | None = None,
) -> Context:
    """All that the model is given for `message`, part by part and as messages.

    An `integrated` thought stands for all that was recalled.
    """
    limits = budget or Budget()
    spoken = _previous(recent, limits)
    spoken_of = {turn.id for turn in recent[-SPOKEN:]}
    room = _room(recent, limits)
    told, history = [integrated] if integrated else [], list[str]()
    if not integrated:
        told, history = _recalled(message, recalled, spoken_of, int(room * limits.recalled))
    left = room - sum(map(count_tokens, (*told, *history)))
    rest = "\n".join((message, *told, *history, *(each.content for each in spoken)))
    state = shown(summary, message, rest, left)
    standing = load("converse").text.strip()
    if instructions.strip():
        standing = f"{standing}\n\n{instructions.strip()}"
    facts, then = numbered(told), "\n".join(f"- {line}" for line in history)
    system = load("converse_state").render(
        instructions=standing,
        summary=state,
        facts=facts,
        history=f"Said earlier:\n{then}\n" if then else "",
        now=f"{now:%A %Y-%m-%d %H:%M} UTC",
    )
    messages = (Message("system", system.strip()), *spoken, Message("user", message))
    parts = (
        _part("instructions", standing),
        _part("summary", state),
        _part("history", then),
        _part("facts", facts),
        _part("previous", "\n".join(f"{each.role}: {each.content}" for each in spoken)),
        _part("question", message),
    )
    return Context(parts, messages, sum(count_tokens(each.content) for each in messages), summary.talk)


def changes(before: Context, after: Context) -> list[str]:
    """What came (+) and what went (-) between two contexts, line by line, part by part."""
    lines: list[str] = []
    for part in after.parts:
        old, new = before.part(part.name).splitlines(), part.text.splitlines()
        lines += [f"- {part.name}: {line}" for line in old if line.strip() and line not in new]
        lines += [f"+ {part.name}: {line}" for line in new if line.strip() and line not in old]
    return lines


def _room(recent: Sequence[Turn], limits: Budget) -> int:
    """Tokens for memory: a talk of short turns is given a short one, so that none outgrows what was said."""
    least, most = limits.memory
    asked = sum(min(count_tokens(turn.query), limits.side) for turn in recent)
    answered = sum(min(count_tokens(turn.response), GIST) for turn in recent)
    return max(least, min(most, _AS_MANY * (asked + answered) // max(1, len(recent))))


def _part(name: str, text: str) -> Part:
    return Part(name, text, count_tokens(text))


def _previous(recent: Sequence[Turn], limits: Budget) -> list[Message]:
    """The last turns as they were said, without their secrets; an order still counts in its own talk."""
    spoken: list[Message] = []
    left = limits.previous
    for turn in reversed(recent[-SPOKEN:]):
        sides = [Message("user", beginning(redact(turn.query, only_secrets=True), limits.side) or "...")]
        if turn.response:
            said = beginning(redact(turn.response, only_secrets=True), limits.side)
            sides.append(Message("assistant", said))
        cost = sum(count_tokens(side.content) for side in sides)
        if cost > left:
            break
        left -= cost
        spoken = [*sides, *spoken]
    return spoken


def _recalled(
    message: str, found: Iterable[Candidate], spoken: set[int], room: int
) -> tuple[list[str], list[str]]:
    """Thoughts as facts, raw turns as history."""
    items = [item for item in found if item.turn is None or item.turn.id not in spoken][:MOST_RECALLED]
    told = worded(message, items, room)
    facts = [each.text for each in told if each.item.turn is None]
    return facts, [each.text for each in told if each.item.turn is not None]


class Worded(NamedTuple):
    """A recalled memory, and the words in which a model is told it."""

    item: Candidate
    text: str


def worded(message: str, items: Sequence[Candidate], room: int) -> list[Worded]:
    """What fits into so many tokens, each on one line, in an order that lasts from turn to turn."""
    fits = steady(pack(message, [piece_of(item, told=True) for item in items], room, each=FACT))
    texts = (each.text if each.piece.drawn else redact(" ".join(each.text.split())) for each in fits)
    return [Worded(items[each.number], text) for each, text in zip(fits, texts, strict=True)]


def beginning(text: str, most: int) -> str:
    """As much of a text as costs at most `most` tokens."""
    if count_tokens(text) <= most:
        return text
    low, high = 0, min(len(text), most * 4)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= most else (low, middle - 1)
    return text[:low]
