"""Turns without what the user took back, for the summary and the context of a session.

Forgetting or correcting a thought leaves the turn that it was drawn from. The sentences that state it are
blanked in place, so that positions in the turn stay valid, and so is the reply, which may repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thinkback.language.sentences import split_sentences
from thinkback.protocols import Store
from thinkback.types import Source, Thought, Turn


def without_forgotten(store: Store, space: str, turns: Sequence[Turn]) -> list[Turn]:
    """The turns with the sentences blanked of which a thought was forgotten or corrected."""
    return [_blank(turn, _forgotten_sources(store, space, turn)) for turn in turns]


def _forgotten_sources(store: Store, space: str, turn: Turn) -> list[Source]:
    """Where a turn states thoughts that are forgotten."""
    if turn.thought_at is None:
        return []
    drawn = {thought.id for action in store.journal(space, turn=turn.id) for thought in action.after}
    retired = (
        thought
        for thought in (store.thoughts(space, ids=sorted(drawn), current=False) if drawn else ())
        if not thought.current and _is_forgotten(store, space, thought)
    )
    return [source for thought in retired for source in thought.sources if source.turn == turn.id]


def _is_forgotten(store: Store, space: str, thought: Thought) -> bool:
    return any(
        action.action == "forget"
        and action.undone_by is None
        and any(changed.id == thought.id for changed in action.before)
        for action in store.journal(space, thought=thought.id)
    )


def _blank(turn: Turn, sources: Sequence[Source]) -> Turn:
    if not sources:
        return turn
    query = turn.query
    for sentence in split_sentences(turn.query):
        if any(
            source.side == "query" and source.start < sentence.end and sentence.start < source.end
            for source in sources
        ):
            query = query[: sentence.start] + " " * (sentence.end - sentence.start) + query[sentence.end :]
    return replace(turn, query=query, response="")
