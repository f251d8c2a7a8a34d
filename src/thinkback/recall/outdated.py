"""What is past: raw turns whose facts are held true no more, and how they are told so that nobody errs.

A turn that would be recalled for a retired thought must not come back as if it were so now. What was replaced
is told as past, with what took its place; what was denied or corrected, only to a question that reaches back;
what was taken back, to none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from thinkback.language.safety.quarantine import redact_memory, withheld_reason
from thinkback.language.scripts import has_han
from thinkback.recall.lifecycle import LifecycleResolver
from thinkback.recall.search import Search
from thinkback.types import OutdatedInfo, Ref, Source, Thought, Turn

OutdatedFinder = Callable[[Turn], Sequence[Thought]]

_RETIRED_SEARCH_LIMIT = 64  # thoughts, retired ones included, by which turns are judged to be outdated
_MAX_RETIRED_LOOKUP = 256  # retired thoughts, each of which is worth a look before there is a search


def outdated_finder(search: Search, limit: int) -> OutdatedFinder:
    """Which retired thoughts, if any, are all that a turn would be recalled for; the first decides.

    That is so if the thought itself would matter, or if it is all that the user said in the turn: a thought
    is worded differently, so its turn may match where it does not.
    """
    if not search.index.has_retired("thought"):
        return lambda turn: ()
    sources = _retired_source_turns(search)
    found: list[OutdatedFinder] = []  # searched for at the first turn that needs it

    def judge(turn: Turn) -> Sequence[Thought]:
        if sources is not None and turn.id not in sources:
            return ()
        if not found:
            found.append(_search_outdated(search, limit))
        return found[0](turn)

    return judge


def _retired_source_turns(search: Search) -> Collection[int] | None:
    """The turns of which something is held true no more; None where that takes longer than to search."""
    if search.query.snapshot is not None:
        return None  # what was retired then is not what is retired now
    ids = search.index.retired_ids("thought")
    if len(ids) > _MAX_RETIRED_LOOKUP:
        return None
    return {source.turn for thought in search.loader.thoughts(ids) for source in thought.sources}


def _search_outdated(search: Search, limit: int) -> OutdatedFinder:
    known = search.hits("thought", max(_RETIRED_SEARCH_LIMIT, limit), include_retired=True)
    ids = known.ids.tolist()
    gone = set(ids) - search.valid_ids("thought", ids)
    if not gone:
        return lambda turn: ()
    told: dict[int, list[tuple[Thought, Source]]] = {}
    for thought in search.loader.thoughts(ids):
        for source in thought.sources:
            told.setdefault(source.turn, []).append((thought, source))
    scores = dict(zip(ids, zip(known.score.tolist(), known.lexical.tolist(), strict=True), strict=True))

    def judge(turn: Turn) -> Sequence[Thought]:
        words = turn.query
        here = told.get(turn.id, ())
        kept = [source for thought, source in here if thought.id not in gone]
        facts = [each for each in here if each[0].id in gone and not each[0].current and each[1] not in kept]
        for thought, source in facts:
            if source.side == "query":
                words = words[: source.start] + " " * (source.end - source.start) + words[source.end :]
            if search.is_nearly_relevant(*scores[thought.id]) or not words.strip():
                return [thought, *(each for each, _ in facts if each is not thought)]
        return ()

    return judge


class PastResolver:
    """As what memories may be told that are past, wholly or in part; each is looked up once."""

    def __init__(self, search: Search, outdated: OutdatedFinder) -> None:
        self._search = search
        self._outdated = outdated
        self._lifecycles = LifecycleResolver(search.loader.journal, search.loader.lifecycles)
        self._resolved: dict[Ref, OutdatedInfo | None] = {}

    def __call__(self, memory: Thought | Turn) -> OutdatedInfo | None:
        """Until when it was so and what is so now; None if nothing of it is past, or all is to be forgotten.

        Who asks what held at a time, or was known then, is not told what came later.
        """
        if self._search.query.as_of is not None or self._search.query.snapshot is not None:
            return None
        if memory.ref not in self._resolved:
            self._resolved[memory.ref] = self._resolve(memory)
        return self._resolved[memory.ref]

    def may_show(self, turn: Turn) -> bool:
        """Whether a turn may be told for what is past in it.

        Not if a fact of it was to be forgotten; and what was denied since, or never so, only to a question
        that reaches back.
        """
        back = self._search.reaches_back
        ends = [(fact, self._lifecycles(fact).status) for fact in self._facts(turn)]
        return all(
            became != "forgotten" and (back or (became != "denied" and _was_valid(fact)))
            for fact, became in ends
        )

    def _resolve(self, memory: Thought | Turn) -> OutdatedInfo | None:
        if isinstance(memory, Thought):
            if memory.current:
                return None
            became, heir = self._lifecycles(memory)
            return (
                None if became == "forgotten" else OutdatedInfo(_end_time(memory), _visible_thoughts([heir]))
            )
        ends = [(fact, self._lifecycles(fact)) for fact in self._facts(memory)]
        gone = [(fact, became.successor) for fact, became in ends if became.status in ("replaced", "denied")]
        if not gone:
            return None
        facts, heirs = [fact for fact, _ in gone], [heir for _, heir in gone]
        return OutdatedInfo(max(map(_end_time, facts)), _visible_thoughts(heirs), _visible_thoughts(facts))

    def _facts(self, turn: Turn) -> Sequence[Thought]:
        """The retired thoughts of a turn, those first for which it would be recalled."""
        facts = {each.id: each for each in self._outdated(turn)}
        ids = [id_ for id_ in self._search.index.retired_from_turn("thought", turn.id) if id_ not in facts]
        if ids:
            facts |= {each.id: each for each in self._search.loader.thoughts(ids) if not each.current}
        return list(facts.values())


def mark_outdated(text: str, outdated: OutdatedInfo | None) -> str:
    """A text that says if it is past, since when, and what is so now: a reader must not take it for now."""
    if outdated is None:
        return text
    han = has_han(text)
    facts, now = (_join_sentences(thoughts, han) for thoughts in (outdated.facts, outdated.replaced_by))
    if han:
        return f"{text}（已成过去{facts and f'：{facts}'}，至{outdated.until:%Y-%m-%d}{now and f'；现在：{now}'}）"
    return f"{text} (past{facts and f': {facts}'}, until {outdated.until:%Y-%m-%d}{now and f'; now: {now}'})"


def _join_sentences(thoughts: Sequence[Thought], han: bool) -> str:
    return ("；" if han else "; ").join(thought.sentence.rstrip(".。 ") for thought in thoughts)


def _visible_thoughts(thoughts: Sequence[Thought | None]) -> tuple[Thought, ...]:
    """Each once, without what is quarantined."""
    found = {
        thought.id: thought for thought in thoughts if thought is not None and not withheld_reason(thought)
    }
    return tuple(redact_memory(thought) for thought in found.values())


def _end_time(thought: Thought) -> datetime:
    return thought.valid_to or thought.retired_at or thought.recorded_at


def _was_valid(thought: Thought) -> bool:
    """Whether it was so for a time at all; what was corrected holds at none."""
    start, end = thought.valid_from, thought.valid_to
    return end is None or start is None or start < end
