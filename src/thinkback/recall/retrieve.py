"""The thought retriever (TiM 002, 3.3): groups first, similarity inside them, then the bank if need be.

Stage 1 picks the groups, stage 2 scores what they hold; both happen in `index.shelf`. Where fewer than k
thoughts matter, raw turns fill up, so that what was not turned into a thought is still found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from thinkback.index.shelf import Hits, Shelf
from thinkback.presets import Preset
from thinkback.text.names import normalise
from thinkback.text.sentences import is_question
from thinkback.types import Candidate, Hashing, Recollection, Ref, Score, Thought, Turn

if TYPE_CHECKING:
    from thinkback.types import Terms, Vector

_CONSIDERED = 4  # candidates looked at for each one wanted


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query, ready to be searched with."""

    text: str
    vector: Vector
    terms: Terms
    k: int
    as_of: datetime | None = None
    explain: bool = False


class Lookup:
    """Where the words of a hit are read."""

    def __init__(
        self,
        thoughts: Callable[[Sequence[int]], Sequence[Thought]],
        turns: Callable[[Sequence[int]], Sequence[Turn]],
    ) -> None:
        self.thoughts = thoughts
        self.turns = turns


def retrieve(
    question: Question, shelf: Shelf, hashing: Hashing | None, preset: Preset, lookup: Lookup
) -> Recollection:
    """The k memories that matter most, thoughts before turns; with `explain`, what was dropped as well."""
    found = _search(shelf, "thought", question, hashing, preset)
    thoughts = _thought_candidates(found, question, lookup, preset)
    items, dropped = _split(thoughts, question.k, preset)
    if len(items) < question.k:
        covered = {source.turn for item in items if item.thought for source in item.thought.sources}
        bank = _search(shelf, "turn", question, hashing, preset)
        turns = _turn_candidates(bank, question, lookup, preset, covered)
        filling, left = _split(turns, question.k - len(items), preset)
        items, dropped = items + filling, dropped + left
        found = found if len(found) else bank
    return Recollection(
        query=question.text,
        items=tuple(items),
        dropped=tuple(dropped) if question.explain else (),
        threshold=preset.threshold,
        group=found.group,
        probes=found.probes,
        exact=found.exact,
    )


def _split(candidates: list[Candidate], most: int, preset: Preset) -> tuple[list[Candidate], list[Candidate]]:
    """Candidates come best first: those that matter, and the rest."""
    count = sum(item.score.total >= preset.threshold for item in candidates[:most])
    return candidates[:count], candidates[count:]


def _search(shelf: Shelf, kind: str, question: Question, hashing: Hashing | None, preset: Preset) -> Hits:
    return shelf.search(
        "thought" if kind == "thought" else "turn",
        question.vector,
        question.terms,
        limit=question.k * _CONSIDERED,
        hashing=hashing,
        scan_below=preset.scan_below,
        as_of=None if question.as_of is None else question.as_of.timestamp(),
        current_only=question.as_of is None,
        weights=(preset.cosine, preset.lexical),
    )


def _scored(hits: Hits) -> list[tuple[int, int, Score]]:
    return [
        (int(id_), int(group), Score(float(total), float(cosine), float(lexical)))
        for id_, group, total, cosine, lexical in zip(
            hits.ids, hits.groups, hits.score, hits.cosine, hits.lexical, strict=True
        )
    ]


def _thought_candidates(hits: Hits, question: Question, lookup: Lookup, preset: Preset) -> list[Candidate]:
    scored = _scored(hits)
    if not question.explain:  # read only what will be returned
        scored = [item for item in scored[: question.k] if item[2].total >= preset.threshold]
    known = {thought.id: thought for thought in lookup.thoughts([id_ for id_, _, _ in scored])}
    candidates = []
    for id_, group, score in scored:
        thought = known.get(id_)
        if thought is not None:  # erased by another process since the shelf was read
            source = thought.sources[0] if thought.sources else None
            origin = (
                f"said by {source.speaker} in {Ref('turn', source.turn)}" if source else "without a source"
            )
            candidates.append(
                Candidate(
                    ref=thought.ref,
                    text=thought.sentence,
                    score=score,
                    group=group,
                    reason=_reason(score, group, hits, preset, origin),
                    thought=thought,
                )
            )
    return candidates


def _turn_candidates(
    hits: Hits, question: Question, lookup: Lookup, preset: Preset, covered: set[int]
) -> list[Candidate]:
    """Raw turns, without those that only ask, repeat the query, or are spoken for by a recalled thought."""
    scored = [item for item in _scored(hits) if item[0] not in covered]
    known = {turn.id: turn for turn in lookup.turns([id_ for id_, _, _ in scored])}
    asked = normalise(question.text)
    candidates = []
    for id_, group, score in scored:
        turn = known.get(id_)
        if turn is None or normalise(turn.query) == asked or (not turn.response and is_question(turn.query)):
            continue
        origin = f"raw turn of {turn.at:%Y-%m-%d}"
        candidates.append(
            Candidate(
                ref=turn.ref,
                text=turn.text,
                score=score,
                group=group,
                reason=_reason(score, group, hits, preset, origin),
                turn=turn,
            )
        )
    return candidates


def _reason(score: Score, group: int, hits: Hits, preset: Preset, origin: str) -> str:
    verdict = "matters" if score.total >= preset.threshold else "too far"
    comparison = ">=" if score.total >= preset.threshold else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    return (
        f"{verdict}: {score.total:.2f} {comparison} {preset.threshold:.2f} "
        f"(meaning {score.cosine:.2f}, words {score.lexical:.2f}); "
        f"group {group}, query in {hits.group}, {how}; {origin}"
    )
