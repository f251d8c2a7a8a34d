"""Turns for the places that are left: what was said right beside a find, and, of few turns, the nearest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from thinkback.recall.judge import Judge
from thinkback.recall.search import Search
from thinkback.text.safety.quarantine import withheld
from thinkback.types import Candidate, Ref, Turn

_OPENING = 2000  # characters by which a turn is judged to speak of somebody
_NEARLY = 3  # places that turns below the threshold may take
_STANDS_OUT = 1.25  # times the score of the nearest that takes none of them
_TALK = timedelta(hours=2)  # what was said within it, in one session, belongs together
_REFERS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|hers|their|its|there)\b|[他她它牠]|[那这這][边邊里裡儿兒]",
    re.IGNORECASE,
)


def joined(
    search: Search,
    kept: list[Candidate],
    left: list[Candidate],
    most: int,
    judge: Judge,
    named: Sequence[Turn],
) -> tuple[list[Candidate], list[Candidate]]:
    """(kept, left), with turns of `left` in the places not taken yet.

    First what was said right before or after one of `named`: "she" is named in the other one. Then, of few
    turns, the nearest.
    """
    if search.strict:
        return kept, left
    talk = [*named, *(item.turn for item in kept if item.turn)]
    beside = {id_ for turn in talk for id_ in search.shelf.beside("turn", turn.id)}
    found: dict[Ref, Candidate] = {}

    def join(item: Candidate, why: str) -> None:
        turn = item.turn
        if turn and len(kept) + len(found) < most and not (withheld(turn) or judge.against(turn)):
            found.setdefault(item.ref, judge.taken(item, turn, why))

    for item in left:
        if item.ref.id in beside and item.turn and any(_same_talk(item.turn, other) for other in talk):
            join(item, "said beside it")
    # where the next is as near, none of them is the one
    others = _STANDS_OUT * max((item.score.total for item in left[_NEARLY:]), default=0.0)
    for item in left[:_NEARLY] if search.few else ():
        if item.score.total >= max(search.preset.nearly / 2, others):
            join(item, "near")
    return kept + list(found.values()), [item for item in left if item.ref not in found]


def _same_talk(one: Turn, other: Turn) -> bool:
    """Whether the later of two turns speaks of somebody or something whom only the earlier may name."""
    later = max(one, other, key=lambda turn: turn.id)
    near = one.session == other.session and abs(one.at - other.at) <= _TALK
    return near and bool(_REFERS.search(later.query[:_OPENING]))
