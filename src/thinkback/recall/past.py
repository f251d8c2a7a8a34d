"""What is past: raw turns whose facts are held true no more, and how they are told so that nobody errs.

A turn that would be recalled for a retired thought must not come back as if it were so now. What was replaced
is told as past, with what took its place; what was denied, taken back or corrected is not told at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.recall.fate import Fates
from thinkback.recall.search import Search
from thinkback.text.safety.quarantine import redacted, withheld
from thinkback.text.scripts import has_han
from thinkback.types import Past, Source, Thought, Turn

Outdated = Callable[[Turn], Sequence[Thought]]

_RETIRED = 64  # thoughts, retired ones included, by which turns are judged to be outdated


def outdated(search: Search, limit: int) -> Outdated:
    """Which retired thoughts, if any, are all that a turn would be recalled for; the first decides.

    That is so if the thought itself would matter, or if it is all that the user said in the turn: a thought
    is worded differently, so its turn may match where it does not.
    """
    if not search.shelf.any_retired("thought"):
        return lambda turn: ()
    known = search.hits("thought", max(_RETIRED, limit), whenever=True)
    held = replace(search, reaches_back=False).hits("thought", max(_RETIRED, limit))
    gone = set(known.ids.tolist()) - set(held.ids.tolist())
    if not gone:
        return lambda turn: ()
    thoughts = search.lookup.thoughts(known.ids.tolist())
    kept = {source for thought in thoughts if thought.id not in gone for source in thought.sources}
    columns = zip(known.ids.tolist(), known.score, known.lexical, strict=True)
    mattering = {id_ for id_, score, lexical in columns if search.nearly(score, lexical)}
    retired: dict[int, list[tuple[Thought, Source]]] = {}
    for thought in thoughts:
        for source in thought.sources:
            if thought.id in gone and not thought.current and source not in kept:
                retired.setdefault(source.turn, []).append((thought, source))

    def judge(turn: Turn) -> Sequence[Thought]:
        words = turn.query
        facts = retired.get(turn.id, ())
        for thought, source in facts:
            if source.side == "query":
                words = words[: source.start] + " " * (source.end - source.start) + words[source.end :]
            if thought.id in mattering or not words.strip():
                return [thought, *(each for each, _ in facts if each is not thought)]
        return ()

    return judge


def past_thought(fates: Fates, thought: Thought) -> Past | None:
    """As what a retired thought may be told; None if it is to be forgotten."""
    became = fates(thought)
    return None if became.became == "forgotten" else Past(_ended(thought), _shown([became.heir]))


def past_turn(search: Search, fates: Fates, turn: Turn, facts: Sequence[Thought]) -> Past | None:
    """As what a turn may be told that told these retired facts; None if one of its facts must not be.

    A question that reaches back may hear what was denied since; any other only what was replaced.
    """
    ids = search.shelf.of_turn("thought", turn.id)
    told = {thought.id: thought for thought in (*facts, *search.lookup.thoughts(ids))}
    gone = {id_: (thought, fates(thought)) for id_, thought in told.items() if not thought.current}
    allowed = {"held", "replaced", "denied"} if search.reaches_back else {"held", "replaced"}
    if any(became.became not in allowed for _, became in gone.values()):
        return None
    if not search.reaches_back and not all(_held(thought) for thought, _ in gone.values()):
        return None
    heirs = [gone[fact.id][1].heir for fact in facts]
    return Past(max(map(_ended, facts)), _shown(heirs), _shown(facts))


def marked(text: str, past: Past | None) -> str:
    """A text that says if it is past, since when, and what is so now: a reader must not take it for now."""
    if past is None:
        return text
    han = has_han(text)
    facts, now = (_listed(thoughts, han) for thoughts in (past.facts, past.replaced_by))
    if han:
        return (
            f"{text}（已成过去{facts and f'：{facts}'}，至{past.until:%Y-%m-%d}{now and f'；现在：{now}'}）"
        )
    return f"{text} (past{facts and f': {facts}'}, until {past.until:%Y-%m-%d}{now and f'; now: {now}'})"


def _listed(thoughts: Sequence[Thought], han: bool) -> str:
    return ("；" if han else "; ").join(thought.sentence.rstrip(".。 ") for thought in thoughts)


def _shown(thoughts: Sequence[Thought | None]) -> tuple[Thought, ...]:
    """Each once, without what is quarantined."""
    found = {thought.id: thought for thought in thoughts if thought is not None and not withheld(thought)}
    return tuple(redacted(thought) for thought in found.values())


def _ended(thought: Thought) -> datetime:
    return thought.valid_to or thought.retired_at or thought.recorded_at


def _held(thought: Thought) -> bool:
    """Whether it was so for a time at all; what was corrected holds at none."""
    start, end = thought.valid_from, thought.valid_to
    return end is None or start is None or start < end
