"""Turns without what the user took back, for the summary and the context of a session.

Forgetting or correcting a thought leaves the turns that it was drawn from. The sentences that state it are
blanked in place, so that positions in the turn stay valid, and so is the reply, which may repeat them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from thinkback.language.sentences import split_sentences
from thinkback.protocols import Store
from thinkback.types import Source, Turn


def without_forgotten(store: Store, space: str, turns: Sequence[Turn]) -> list[Turn]:
    """The turns with the sentences blanked of which the user forgot or corrected a thought."""
    if not turns:
        return []
    by_turn: defaultdict[int, list[Source]] = defaultdict(list)
    for source in store.forgotten_sources(space, [turn.id for turn in turns]):
        by_turn[source.turn].append(source)
    return [_blank(turn, by_turn[turn.id]) if turn.id in by_turn else turn for turn in turns]


def _blank(turn: Turn, sources: Sequence[Source]) -> Turn:
    query = turn.query
    for sentence in split_sentences(turn.query):
        if any(
            source.side == "query" and source.start < sentence.end and sentence.start < source.end
            for source in sources
        ):
            query = query[: sentence.start] + " " * (sentence.end - sentence.start) + query[sentence.end :]
    return replace(turn, query=query, response="")
