"""Turns and thoughts as they may be recalled: what `text/safety/trust.py` finds in their words is left out.

The bank keeps a turn as it was said. A reader gets it redacted, and not at all where nothing else was said.
The answer given to an order is withheld with it: it follows the order, or repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from thinkback.text.safety import trust
from thinkback.text.safety.folding import Span
from thinkback.text.safety.instructions import INSTRUCTION
from thinkback.types import Draft, Side, Thought, Turn, Why

Memory = TypeVar("Memory", Turn, Thought, Turn | Thought)

_SIDES: tuple[Side, Side] = ("query", "response")


def redacted(memory: Memory) -> Memory:
    """The same without orders and secrets, itself if it holds none."""
    if isinstance(memory, Turn):
        return _redacted_turn(memory)
    if not trust.quarantined(_words(memory)):
        return memory
    return replace(
        memory,
        sentence=trust.redact(memory.sentence),
        subject=trust.redact(memory.subject),
        objects=tuple(trust.mark(trust.quarantined(_words(memory))[0].kind) for _ in memory.objects),
    )


def _redacted_turn(turn: Turn) -> Turn:
    """A secret is also found where the other side repeats it."""
    query, response = trust.redact(turn.query), trust.redact(turn.response)
    if (query, response) == (turn.query, turn.response):
        return turn
    known = _values(turn)
    if response and trust.mark(INSTRUCTION) in query:
        response = trust.mark(INSTRUCTION)
    return replace(
        turn,
        query=trust.redact(trust.without(query, known)),
        response=trust.redact(trust.without(response, known)),
    )


def indexable(text: str) -> str:
    """The words of a turn or thought as they are embedded and indexed: no secret, no order."""
    return trust.redact(trust.without(trust.redact(text), trust.values(text)))


def withheld(memory: Turn | Thought) -> str | None:
    """Why it is not recalled at all, or None: "quarantined: instruction"."""
    if isinstance(memory, Thought):
        found = trust.quarantined(_words(memory))
        return f"quarantined: {found[0].kind}" if found else None
    told = memory.query if memory.query.strip() else memory.response
    found = trust.quarantined(told)
    return f"quarantined: {found[0].kind}" if found and trust.says_nothing_else(trust.redact(told)) else None


def redacted_why(why: Why) -> Why:
    """An explanation quotes turns: its words, and theirs, without orders and secrets."""
    sources = tuple(redacted(turn) for turn in why.sources)
    known = {value: kind for turn in why.sources for value, kind in _values(turn).items()}
    answer = why.ref is not None and why.ref.kind == "turn"
    return replace(
        why,
        text=sources[0].response if answer else trust.redact(trust.without(why.text, known)),
        lines=tuple(trust.redact(trust.without(line, known)) for line in why.lines),
        sources=sources,
        thoughts=tuple(redacted(thought) for thought in why.thoughts),
        checks=tuple(
            replace(check, words=trust.redact(trust.without(check.words, known))) for check in why.checks
        ),
        actions=tuple(
            replace(
                action,
                before=tuple(redacted(thought) for thought in action.before),
                after=tuple(redacted(thought) for thought in action.after),
            )
            for action in why.actions
        ),
    )


def admitted(drafts: Sequence[Draft], turn: Turn) -> list[Draft]:
    """The drafts that may become thoughts, whoever made them: none from, or of, quarantined words."""
    spans = {side: trust.quarantined(turn.said(side)) for side in _SIDES}
    known = _values(turn)
    ordered = any(span.kind == INSTRUCTION for span in spans["query"])
    return [
        draft
        for draft in drafts
        if not trust.quarantined(_words(draft))
        and trust.without(_words(draft), known) == _words(draft)
        and not any(
            source.turn == turn.id
            and (
                (ordered and source.side == "response")
                or _overlaps(spans[source.side], source.start, source.end)
            )
            for source in draft.sources
        )
    ]


def _values(turn: Turn) -> dict[str, str]:
    return {**trust.values(turn.query), **trust.values(turn.response)}


def _words(draft: Draft) -> str:
    return "\n".join((draft.sentence, f"{draft.subject} {draft.relation} {draft.object}"))


def _overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)
