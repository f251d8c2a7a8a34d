"""Turns for the places that are left: what was said right beside a find, and, of few turns, the nearest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from thinkback.language.safety.quarantine import withheld_reason
from thinkback.recall.search import Search
from thinkback.recall.selection import Selector
from thinkback.types import Candidate, Ref, Turn

_MAX_REFERENCE_CHARS = 2000  # characters by which a turn is judged to speak of somebody
_MAX_NEAREST_TURNS = 3  # places that turns below the threshold may take
_MIN_SCORE_RATIO = 1.25  # times the score of the nearest that takes none of them
_CONVERSATION_GAP = timedelta(hours=2)  # what was said within it, in one session, belongs together
_REFERENCE_WORDS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|hers|their|its|there)\b|[他她它牠]|[那这這][边邊里裡儿兒]",
    re.IGNORECASE,
)


def add_neighbours(
    search: Search,
    kept: list[Candidate],
    dropped: list[Candidate],
    limit: int,
    selector: Selector,
    covered_turns: Sequence[Turn],
) -> tuple[list[Candidate], list[Candidate]]:
    """(kept, left), with turns of `left` in the places not taken yet.

    First what was said right before or after one of `named`: "she" is named in the other one. Then, of few
    turns, the nearest.
    """
    if search.strict:
        return kept, dropped
    talk = [*covered_turns, *(item.turn for item in kept if item.turn)]
    beside = {id_ for turn in talk for id_ in search.index.adjacent_ids("turn", turn.id)}
    found: dict[Ref, Candidate] = {}

    def join(item: Candidate, why: str) -> None:
        turn = item.turn
        if (
            turn
            and len(kept) + len(found) < limit
            and not (withheld_reason(turn) or selector.rejection_reason(turn))
        ):
            found.setdefault(item.ref, selector.accept(item, turn, why))

    for item in dropped:
        if item.ref.id in beside and item.turn and any(_refers_back(item.turn, other) for other in talk):
            join(item, "said beside it")
    # where the next is as near, none of them is the one
    others = _MIN_SCORE_RATIO * max((item.score.total for item in dropped[_MAX_NEAREST_TURNS:]), default=0.0)
    for item in dropped[:_MAX_NEAREST_TURNS] if search.accepts_nearest else ():
        if item.score.total >= max(search.preset.fill_threshold / 2, others):
            join(item, "near")
    return kept + list(found.values()), [item for item in dropped if item.ref not in found]


def _refers_back(one: Turn, other: Turn) -> bool:
    """Whether the later of two turns speaks of somebody or something whom only the earlier may name."""
    later = max(one, other, key=lambda turn: turn.id)
    near = one.session == other.session and abs(one.at - other.at) <= _CONVERSATION_GAP
    return near and bool(_REFERENCE_WORDS.search(later.query[:_MAX_REFERENCE_CHARS]))
